"""What libtraceevent, and so trace-cmd, perf and KernelShark, make of raw pages is what `trace` shows of the same
records."""

import collections
import functools
import os
import pathlib
import re
import subprocess

import pytest
from test_formats import lines_of
from tracetext import PLAIN

TRACING = "/sys/kernel/tracing"
SOURCE = os.path.join(os.path.dirname(__file__), "../../host/trace-files/tepdump.c")
HELLO = "/sys/kernel/debug/trace_printk/hello"
CPUS = 2
NUMBERS = re.compile(r"(\d+) (\d+) (\d+) (.*)")  # with the option raw
STATES = "RSDTtXZPI"
ENOUGH = 100 if "SOAK_MINUTES" in os.environ else 30  # records of each event that can be provoked
ROUNDS = 8  # as long as some event has not enough, it is recorded in another, in which more happens
# A little of everything: %d processes that kill themselves, that sleep, and that are killed while they sleep.
WORK = "storm 2 6 > /dev/null; i=0; while [ $i -lt %d ]; do sh -c 'kill $$'; sleep 9 & sleep 0.001; kill $!; i=$((i + 1)); done; wait"
# No thread of this kernel is stopped; others need three CPUs, or have a part of their own.
NOT_PROVOKED = {"sched_kthread_stop", "sched_kthread_stop_ret", "ipi_send_cpumask"}
NOT_PROVOKED |= {"tasklet_entry", "tasklet_exit"}  # only modules have tasklets, and timers by jiffies
NOT_PROVOKED |= {"timer_init", "timer_start", "timer_cancel", "timer_expire_entry", "timer_expire_exit"}
NOT_PROVOKED |= {"workqueue_creation", "workqueue_destruction"}  # and workqueues of their own
NOT_PROVOKED |= {"sample_threshold"}  # each turn of the host is one: no buffer is large enough
NOT_PROVOKED |= {"nmi_noise"}  # one machine has no source of them while nothing is sampled
NOT_PROVOKED |= {"mark_victim", "notifier_run"}  # memory is not full, and no module comes or goes
NOT_PROVOKED |= {"rcu_batch_end"}  # the library has no %c, which Linux's text of it has
NOT_PROVOKED |= {
    "error_apic_entry",
    "error_apic_exit",
    "spurious_apic_entry",
    "spurious_apic_exit",
}  # nothing is broken
# What is typed, what a tracer measures, the network, and what only programs do: no round of the work is for them.
OWN_PART = re.compile(
    "(?:net|skb|sock|udp|filelock|rseq|csd):|irq:irq_handler_|irq_vectors:call_|.*_noise$|sched:sched_pi_setprio$"
)
HEADERS = pathlib.Path(__file__).parents[3] / "include/trace/events"
TRIES = 5  # of a command of those headers before its records are compared
# Many times: programs that lock files, lend priorities, have sequences interrupted, and interrupt all CPUs.
PROGRAMS = (
    f"i=0; while [ $i -lt {ENOUGH + 2} ]; do doevents locks /tmp/l; doevents inherit; doevents rseq; callevents barrier; "
    "i=$((i + 1)); done > /dev/null"
)
UNCOUNTED = (
    "syscalls",
    "initcall",
    "module",
)  # more events than a test can provoke, and those of the boot and of modules, which have tests of their own

Record = collections.namedtuple("Record", "cpu us pid comm flags system name text")


@pytest.fixture(scope="module")
def tepdump(tmp_path_factory):
    program = tmp_path_factory.mktemp("tep") / "tepdump"
    subprocess.run(
        [
            "gcc",
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-parameter",
            "-g",
            "-O1",
            "-fsanitize=address",
            "-o",
            program,
            SOURCE,
            "-ltraceevent",
        ],
        check=True,
    )
    return program


def commands():
    """What provokes all events of a system, with the turn's number in $i, as the head of their header says."""
    found = {}
    for header in sorted(HEADERS.glob("*.h")):
        system, command = (
            re.search(rule, header.read_text(encoding="utf-8"), re.M)
            for rule in (r"^#define TRACE_SYSTEM (\w+)$", r"^ \* Try: (.*)$")
        )
        if command:
            found[system[1]] = command[1]
    return found


class Session:
    """A guest whose records are taken as pages and as text."""

    def __init__(self, guest, folder, tepdump):
        self.guest, self.folder, self.tepdump, self.port = guest, folder, tepdump, folder / "port"
        self.seen = collections.Counter()
        self.run("test -e /sys/kernel/debug/trace_printk || mount -t debugfs debugfs /sys/kernel/debug")
        self.run(f"cd {TRACING}; echo 0 > tracing_on; echo 2000 > buffer_size_kb")
        self.run(
            "cd events; for s in *; do for e in $s/*/format; do test -e $e && echo @$s && cat $e; done; done > /tmp/formats; cd .."
        )
        formats = self.fetch("/tmp/formats").decode()
        self.formats = dict(
            zip(re.findall(r"^name: (\w+)$", formats, re.M), re.findall(r"^print fmt: (.*)$", formats, re.M))
        )
        (folder / "formats").write_text(formats)
        self.subbuf(4)
        (folder / "kallsyms").write_bytes(self.fetch("/proc/kallsyms"))

    def run(self, command):
        return lines_of(self.guest, command).replace("\r", "")

    def subbuf(self, kib):
        """The size of pages. Another one than before empties the buffer."""
        self.run(f"echo {kib} > buffer_subbuf_size_kb")
        (self.folder / "header_page").write_text(self.run("cat events/header_page"))

    def fetch(self, path):
        """The bytes of a file in the guest, up to its end or to where a read would wait; by a port, as the console is
        slow."""
        before = self.port.stat().st_size
        self.run(
            f"dd if={path} of=/dev/virtio-ports/out bs=65536 iflag=nonblock 2> /tmp/dd || grep -q 'temporarily unavailable' /tmp/dd"
        )
        with self.port.open("rb") as file:
            file.seek(before)
            return file.read()

    def record(self, before, command, after="true"):
        """Every record that this makes is the same in both."""
        self.run(f"echo > trace; {before}; echo 1 > tracing_on")
        self.run(command)
        self.run("echo 0 > tracing_on")
        self.compare()
        self.run(after)

    def try_system(self, system, command, names):
        """Record a system's events until there is enough of each of these. The number of turns differs, as one hotplug
        is dozens of records and one write to a pipe a single one."""
        turn = 0
        while turn == 0 or any(self.seen[name] < ENOUGH for name in names):
            assert (
                turn < 4 * ENOUGH
            ), f"`{command}` provokes too few of {system}: { {name: self.seen[name] for name in names} }"
            turns = f"i={turn}; while [ $i -lt {turn + TRIES} ]; do {command}; i=$((i + 1)); done > /dev/null"
            self.record(f"echo 1 > events/{system}/enable", turns, "echo > set_event")
            turn += TRIES

    def compare(self):
        """What the buffer has is the same in both."""
        shown = self.text_records()
        for name in ("saved_cmdlines", "printk_formats"):
            (self.folder / name).write_text(self.run(f"test ! -e {name} || cat {name}"))
        raw = self.raw_records()
        for cpu in range(CPUS):
            assert len(raw[cpu]) == len(shown[cpu]), f"CPU {cpu}"
            for one, other in zip(raw[cpu], shown[cpu]):
                assert (one.us, one.pid) == (other.us, other.pid), (one, other)
                if other.comm is not None:
                    # The library does not know that softirqs are off (b; D: interrupts, too).
                    flags = other.flags.replace("b", ".").replace("D", "d")
                    assert (one.comm, one.flags) == (other.comm, flags), (one, other)
                assert same_text(
                    one, other, self.formats
                ), f"\nlibtraceevent: {one.name}: {one.text}\ntrace:         {other.text}"
        self.seen += collections.Counter(record.name for records in raw for record in records)

    def raw_records(self):
        """Takes the buffer's pages; what tepdump says of them, by CPU."""
        for cpu in range(CPUS):
            (self.folder / f"cpu{cpu}").write_bytes(self.fetch(f"per_cpu/cpu{cpu}/trace_pipe_raw"))
        done = subprocess.run([self.tepdump, self.folder, str(CPUS)], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr
        records = [[] for _ in range(CPUS)]
        for line in done.stdout.splitlines():
            cpu, stamp, *rest = line.split("\t", 7)
            assert stamp != "LOST", "the buffer was too small"
            pid, comm, flags, system, name, text = rest
            records[int(cpu)].append(
                Record(int(cpu), (int(stamp) + 500) // 1000, int(pid), comm, flags, system, name, text)
            )
        return records

    def text_records(self):
        """The same from `trace`; the name stays in the text."""
        records = [[] for _ in range(CPUS)]
        last = None
        for line in self.fetch("trace").decode().splitlines():
            match, numbers = PLAIN.fullmatch(line), NUMBERS.fullmatch(line)
            if numbers:
                pid, cpu, ns, rest = numbers.groups()
                records[int(cpu)].append(
                    Record(int(cpu), (int(ns) + 500) // 1000, int(pid), None, None, None, None, rest)
                )
            elif match:
                us = int(match["seconds"]) * 1000000 + int(match["fraction"])
                last = Record(
                    int(match["cpu"]), us, int(match["pid"]), match["comm"], match["flags"], None, None, match["rest"]
                )
                records[last.cpu].append(last)
            elif not line.startswith("#"):
                records[last.cpu][-1] = last = last._replace(text=last.text + "\\n" + line)
        return records


def plain(text):
    """%p in one form: the host's printf has 0x and its digits, ours sixteen digits. %pS without the symbol's length,
    which the host does not know. Arrays (__print_array) as the host has them."""
    text = re.sub(
        r"\{((?:0x[0-9a-f]+,?)*)\}",
        lambda match: " ".join(str(int(one, 16)) for one in match[1].split(",") if one),
        text,
    )
    text = re.sub(r"\b([0-9a-f]{16})\b", lambda match: f"{int(match[1], 16):#x}", text.replace("(nil)", "0x0"))
    return re.sub(r"(\+0x[0-9a-f]+)/0x[0-9a-f]+", r"\1", text)


def fields_of(raw):
    """What tepdump puts before some texts."""
    return {name: int(value, 16) for name, value in re.findall(r"(\w+)=([0-9a-f]+) ", raw.partition("|")[0])}


def same_switch(raw, shown):
    """Of sched_switch's records, field by field."""
    fields = re.match(r" *(\d+): *(-?\d+):(\w) +(==>|\+) \[(\d+)\] +(\d+): *(-?\d+):(\w)", shown)
    prev_pid, prev_prio, prev_state, _, cpu, next_pid, next_prio, next_state = fields.groups()
    wanted = [
        int(prev_pid),
        int(next_pid),
        int(cpu),
        int(prev_prio) & 255,
        STATES.index(prev_state),
        int(next_prio) & 255,
        STATES.index(next_state),
    ]
    return list(fields_of(raw).values()) == wanted


def same_graph(raw, shown):
    """Of function_graph's records, which `trace` shows with the option raw."""
    entry, fields = raw.name == "funcgraph_entry", fields_of(raw.text)
    wanted = [int(number, base) for number, base in zip(shown, [16, 10] if entry else [16, 16, 10, 10, 10, 10])]
    text = re.fullmatch(r".*\| (-->|<--) [\w.]+ \((\d+)\).*", raw.text)
    return list(fields.values()) == wanted and text.groups() == ("-->" if entry else "<--", str(fields["depth"]))


def same_call(raw, shown):
    """Of system calls `trace` shows sys_NAME(argument: value, ...) and sys_NAME -> value."""
    how, call = re.fullmatch(r"sys_(enter|exit)_(\w+)", raw.name).groups()
    if how == "exit":
        return shown == f"sys_{call} -> {raw.text}"
    values = [re.findall(r"(\w+): (?:0x)?0*([0-9a-f]+)", text) for text in (raw.text, shown)]
    return shown.startswith(f"sys_{call}(") and values[0] == values[1]


def same_text(raw, shown, formats):
    """An event's line is made by the same rule in both; what tracers record `trace` shows in its own way."""
    if raw.name == "function":
        return re.fullmatch(r" (.*) <-- (.*)", raw.text).groups() == re.fullmatch(r"(.*) <-(.*)", shown.text).groups()
    if raw.name == "kernel_stack":
        callers = [line.removeprefix(" => ").split("|") for line in raw.text.split("\\n")]
        names = shown.text.split("\\n => ")
        return (
            names[0] == "<stack trace>"
            and len(names) == len(callers) + 1
            and all(map(list.__contains__, callers, names[1:]))
        )
    if raw.name == "osnoise":  # a table: the run time first, and what was left of it in per cent
        seen = [int(value) for value in re.findall(r":(\d+)", raw.text)]
        return [int(value) for value in shown.text.split() if value.isdigit()][1:] == seen
    if raw.name == "user_stack":
        callers = [int(ip, 16) for ip in re.findall(r"=> (0x[0-9a-f]+)", raw.text)]
        return re.findall(r"=>  <([0-9a-f]{16})>", shown.text) == [f"{ip:016x}" for ip in callers if ip]
    if raw.name in ("context_switch", "wakeup"):
        return same_switch(raw.text, shown.text)
    if raw.name.startswith("funcgraph_"):
        return same_graph(raw, shown.text.split())
    if raw.name == "raw_data":
        found = re.fullmatch(r"# ([0-9a-f]+) buf:((?: [0-9a-f]{2})*)", shown.text)
        first = int(found[2].split()[0], 16) if found[2] else 0
        return raw.text == f"id:{int(found[1], 16):04x} {first:08x}"
    if raw.system == "ftrace":
        return raw.text == shown.text
    if raw.system == "syscalls":
        return same_call(raw, shown.text)
    return plain(f"{raw.name}: {raw.text}") == plain(shown.text)


def test_every_record(machine, tmp_path, tepdump):
    """All events that this kernel has, and what tracers, stacks and markers record."""
    append = "trace_event=initcall:* ftrace=function ftrace_filter=*_init*"
    with machine.guest(
        smp=CPUS,
        timeout=400,
        append=append,
        files=machine.programs("storm", "netevents", "doevents", "callevents"),
        ports={"out": str(tmp_path / "port")},
    ) as guest:
        session = Session(guest, tmp_path, tepdump)
        session.compare()  # of the boot, from its beginning
        assert (
            session.seen["initcall_level"] == 5
            and session.seen["initcall_start"] == session.seen["initcall_finish"] > 5
        )
        session.run("echo nop > current_tracer; echo > set_ftrace_filter; echo > set_event")
        events = [line.split(":") for line in session.run("cat available_events").split()]
        wanted = {name for system, name in events if system not in UNCOUNTED and name not in NOT_PROVOKED}
        tries = commands()
        provoked = {
            name
            for system, name in events
            if name in wanted and system not in tries and not OWN_PART.match(f"{system}:{name}")
        }
        for turn in range(ROUNDS):
            rare = sorted(name for name in provoked if session.seen[name] < ENOUGH)
            if not rare:
                break
            session.record(f"echo {' '.join(rare)} > set_event", WORK % (20 << turn), "echo > set_event")
        session.record("echo 1 > events/syscalls/enable", "storm 2 2 > /dev/null", "echo > set_event")
        for system, command in tries.items():
            session.try_system(system, command, [name for of, name in events if of == system and name in wanted])
        # What is typed comes by interrupts, some bytes at a time.
        session.record(
            "echo irq:irq_handler_entry irq:irq_handler_exit > set_event", f": {'x' * 3500}", "echo > set_event"
        )
        # The kernel's messages: text, constant text, constant formats with their arguments; and a program's bytes.
        session.record(
            "echo > set_event",
            f"for c in many kept text puts softirq kept; do echo $c > {HELLO}; done; "
            "for i in 1 2 3 4 5; do for j in '' a ab abc abcd; do echo -n id_$i$j > trace_marker_raw; done; done",
        )
        # Function entries with their stacks, markers, both kinds of stacks behind events.
        session.record(
            "echo 'vfs_read vfs_write' > set_ftrace_filter; echo 1 > options/func_stack_trace; echo function > current_tracer",
            "for i in 0 1 2 3 4 5 6 7 8 9; do for j in 0 1 2 3 4 5 6 7 8 9; do echo $i $j > trace_marker; done; done",
            "echo 0 > options/func_stack_trace; echo nop > current_tracer",
        )
        # The same in larger sub-buffers, with texts of more than a page.
        for kib in (16, 512):
            session.subbuf(kib)
            session.record(
                "echo vfs_read > set_ftrace_filter; echo function > current_tracer",
                "for i in 0 1 2 3 4 5 6 7 8 9; do printf '%04000d\\n' $i > trace_marker; cat /proc/meminfo > /dev/null; done",
                "echo nop > current_tracer",
            )
        session.subbuf(4)
        session.record(
            "echo 1 > options/stacktrace; echo 1 > options/userstacktrace; echo sched_switch > set_event",
            "i=0; while [ $i -lt 60 ]; do sleep 0.001; i=$((i + 1)); done",
            "echo 0 > options/stacktrace; echo 0 > options/userstacktrace; echo > set_event",
        )
        session.record(
            "echo sched_switch > current_tracer",
            "i=0; while [ $i -lt 60 ]; do sleep 0.001; i=$((i + 1)); done",
            "echo nop > current_tracer",
        )
        session.record(
            "echo irq_noise softirq_noise thread_noise > set_event; echo 100000 > osnoise/runtime_us; echo 100000 > osnoise/period_us; "
            "echo osnoise > current_tracer",
            "echo 120 100 > /sys/kernel/debug/busy/softirq; i=0; while [ $i -lt 60 ]; do sleep 0.005; i=$((i + 1)); done",
            "echo nop > current_tracer; echo > set_event",
        )
        session.record(
            "for system in net skb sock udp; do echo 1 > events/$system/enable; done",
            "netevents datagrams 120 100; netevents refused 120 100; netevents full 160 100; netevents echo 120 100",
            "echo > set_event",
        )
        session.record(
            "for s in filelock rseq csd; do echo 1 > events/$s/enable; done; echo sched_pi_setprio >> set_event; "
            "test ! -d events/irq_vectors || echo irq_vectors:call_* >> set_event",
            PROGRAMS,
            "echo > set_event",
        )
        session.record(
            "echo vfs_read > set_graph_function; echo 1 > options/raw; echo function_graph > current_tracer",
            "cat /proc/meminfo > /dev/null",
            "echo 0 > options/raw; echo nop > current_tracer",
        )
        wanted |= {
            "function",
            "kernel_stack",
            "user_stack",
            "context_switch",
            "wakeup",
            "funcgraph_entry",
            "funcgraph_exit",
            "print",
            "bprint",
            "bputs",
        }
        assert not {name: session.seen[name] for name in wanted if session.seen[name] < ENOUGH}
