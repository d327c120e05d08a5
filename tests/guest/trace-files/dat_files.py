"""Small trace.dat files made by hand, whole ones and such as nobody writes: each part may be replaced."""

import struct

PAGE = 4096
ENTRY, EXIT, SWITCH, IRQ = 11, 10, 59, 60
COMMON = (
    ("unsigned short common_type", 0, 2),
    ("unsigned char common_flags", 2, 1),
    ("unsigned char common_preempt_count", 3, 1),
    ("int common_pid", 4, 4),
)


def field_lines(fields):
    return "".join(f"\tfield:{name};\toffset:{offset};\tsize:{size};\tsigned:0;\n" for name, offset, size in fields)


def event_format(name, number, *fields, common=COMMON):
    text = f"name: {name}\nID: {number}\nformat:\n{field_lines(common)}\n{field_lines(fields)}\n"
    return (text + 'print fmt: "text"\n').encode()


FTRACE = (
    event_format("funcgraph_entry", ENTRY, ("unsigned long func", 8, 8), ("int depth", 16, 4)),
    event_format(
        "funcgraph_exit",
        EXIT,
        ("unsigned long func", 8, 8),
        ("unsigned long retval", 16, 8),
        ("int depth", 24, 4),
        ("unsigned int overrun", 28, 4),
        ("unsigned long long calltime", 32, 8),
        ("unsigned long long rettime", 40, 8),
    ),
)
SWITCH_FIELDS = (
    ("pid_t next_pid", 12, 4),
    ("long prev_state", 16, 8),
    ("char prev_comm[16]", 24, 16),
    ("char next_comm[16]", 40, 16),
)
SYSTEMS = {
    "sched": (event_format("sched_switch", SWITCH, ("pid_t prev_pid", 8, 4), *SWITCH_FIELDS),),
    "irq": (event_format("irq_handler_entry", IRQ, ("int irq", 8, 4)),),
}


def entry(pid, func, depth):
    return struct.pack("<HBBiQi", ENTRY, 0, 0, pid, func, depth)


def leave(pid, func, depth, since, until):
    return struct.pack("<HBBiQQiIQQ", EXIT, 0, 0, pid, func, 0, depth, 0, since, until)


def switch(prev, following, prev_comm=b"task", next_comm=b"task", state=0):
    return struct.pack("<HBBiiiq16s16s", SWITCH, 0, 0, prev, prev, following, state, prev_comm, next_comm)


def irq(pid, number):
    return struct.pack("<HBBii", IRQ, 0, 0, pid, number)


def record(data):
    """10 ns after the one before; its length has a word of its own when it is long."""
    return (
        struct.pack("<I", 10 << 5 | len(data) // 4) if len(data) <= 112 else struct.pack("<II", 10 << 5, len(data) + 4)
    ) + data


def page(ts, *records):
    """The first is at ts + 10."""
    data = b"".join(map(record, records))
    assert len(data) <= PAGE - 16
    return struct.pack("<QQ", ts, len(data)) + data.ljust(PAGE - 16, b"\0")


def pages(records, ts=1000):
    """As many pages as they need."""
    room = (PAGE - 16) // (4 + max(map(len, records)))
    return b"".join(page(ts + 10 * at, *records[at : at + room]) for at in range(0, len(records), room))


def sized(data):
    return struct.pack("<Q", len(data)) + data


def headers(header_page=b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"):
    return b"header_page\0" + sized(header_page) + b"header_event\0" + sized(b"")


def formats(events):
    return struct.pack("<I", len(events)) + b"".join(map(sized, events))


def systems(found):
    return struct.pack("<I", len(found)) + b"".join(
        name.encode() + b"\0" + formats(events) for name, events in found.items()
    )


def text(lines, size="<I"):
    return struct.pack(size, len(lines)) + lines


def parts(header=None, ftrace=FTRACE, events=None, symbols=b"", printk=b""):
    """{section: what it has}, in the order of both versions."""
    return {
        16: headers() if header is None else headers(header),
        17: formats(ftrace),
        18: systems(SYSTEMS if events is None else events),
        19: text(symbols),
        20: text(printk),
        21: text(b"", "<Q"),
    }


def start(version):
    return b"\x17\x08\x44tracing" + version + b"\0\0\x08" + struct.pack("<I", PAGE)


def option(number, data):
    return struct.pack("<HI", number, len(data)) + data


def version_7(buffers, again=(), **replaced):
    """buffers: [(name, clock, {cpu: pages} or [(cpu, pages)])]; again: sections whose option comes more than once."""
    file = bytearray(start(b"7") + b"none\0\0" + bytes(8))
    options = option(8, struct.pack("<I", 2))
    for number, data in parts(**replaced).items():
        options += option(number, struct.pack("<Q", len(file))) * (2 if number in again else 1)
        file += struct.pack("<HHI", number, 0, 0) + sized(data)
    for name, clock, cpus in buffers:
        table, cpus = b"", list(cpus.items() if isinstance(cpus, dict) else cpus)
        for cpu, data in cpus:
            if isinstance(data, tuple):
                at, size = data
            else:
                file += bytes(-len(file) % PAGE)
                at, size = len(file), len(data)
                file += data
            table += struct.pack("<IQQ", cpu, at, size)
        options += option(
            3, bytes(8) + name.encode() + b"\0" + clock.encode() + b"\0" + struct.pack("<II", PAGE, len(cpus)) + table
        )
    options += option(0, bytes(8))
    struct.pack_into("<Q", file, len(start(b"7")) + 6, len(file))
    return bytes(file) + struct.pack("<HHI", 0, 0, 0) + sized(options)


def version_6(clock, *cpus, **replaced):
    """One buffer; clock: the text of trace_clock, or None: no option tells."""
    head = start(b"6") + b"".join(parts(**replaced).values()) + struct.pack("<I", len(cpus)) + b"options  \0"
    head += (b"" if clock is None else option(4, clock.encode())) + struct.pack("<H", 0) + b"flyrecord\0"
    at = len(head) + 16 * len(cpus)
    data, at = bytes(-at % PAGE), at + -at % PAGE
    for one in cpus:
        head += struct.pack("<QQ", at, len(one))
        data, at = data + one, at + len(one)
    return head + data
