"""vt-dmesg: the kernel log from memory."""

import gdb

from vt import command, kernel


def records(log):
    """(stamp in ns, level, text) of each record that is kept, the oldest first. kernel/printk.c has the layout."""
    ring, size = kernel.variable("'printk.c'::records"), kernel.variable("'printk.c'::log_text").type.sizeof
    base, count = kernel.address_of("'printk.c'::log_text"), ring.type.range()[1] + 1
    first, after = (int(kernel.variable(f"'printk.c'::{name}")) for name in ("first_seq", "next_seq"))
    if not 0 <= after - first <= count:
        raise gdb.GdbError(f"the log's ends make no sense: {first} to {after}")
    data = kernel.read(base, size)
    for number in range(max(first, after - log), after):
        record = ring[number % count]
        begin = int(record["begin"]) % size
        yield int(record["stamp"]), int(record["level"]), data[begin : begin + int(record["len"])].decode(
            errors="replace"
        )


class Dmesg(command.Command):
    """Print the kernel log, or its last N lines, as the console shows them. The console may be behind, or quiet; this
    is all."""

    name = "vt-dmesg"
    usage = "vt-dmesg [N]"
    most = 1

    def run(self, words):
        for stamp, _, text in records(command.number(words[0], "a number of lines") if words else 1 << 30):
            yield f"[{stamp // 10**9:5}.{stamp // 1000 % 10**6:06}] {text}"


Dmesg()
