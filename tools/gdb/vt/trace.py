"""vt-trace: what the file `trace` would show, from memory."""

import contextlib
import heapq
import struct

import gdb

from vt import command, kernel
from vt.graphtext import GraphText
from vt.records import Texts
from vt.ring import Ring

IRQS_OFF, NEED_RESCHED, HARDIRQ, SOFTIRQ, PREEMPT_RESCHED, NMI, BH_OFF = 0x01, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
DEPTHS = ".123456789abcdef"
COLUMNS = """#                            {0}  _-----=> irqs-off/BH-disabled
#                            {0} / _----=> need-resched
#                            {0}| / _---=> hardirq/softirq
#                            {0}|| / _--=> preempt-depth
#                            {0}||| / _-=> migrate-disable
#                            {0}|||| /     delay
#           TASK-PID  {1} CPU#  |||||  TIMESTAMP  FUNCTION
#              | |    {2}   |   |||||     |         |
"""
WITHOUT_FLAGS = """#           TASK-PID    {0} CPU#     TIMESTAMP  FUNCTION
#              | |      {1}   |         |         |
"""


class Line:
    """A record with what is common to all."""

    def __init__(self, cpu, stamp, lost, data):
        self.cpu, self.stamp, self.lost, self.data = cpu, stamp, lost, data
        self.kind, self.flags, self.count, self.pid = struct.unpack_from("<HBBi", data)

    def flag_letters(self):
        flags = self.flags
        irqs = "D" if flags & BH_OFF else "d"
        if not flags & IRQS_OFF:
            irqs = "b" if flags & BH_OFF else "."
        resched = ".npN"[bool(flags & NEED_RESCHED) + 2 * bool(flags & PREEMPT_RESCHED)]
        context = ".shH"[bool(flags & SOFTIRQ) + 2 * bool(flags & HARDIRQ)]
        if flags & NMI:
            context = "Z" if flags & HARDIRQ else "z"
        return irqs + resched + context + DEPTHS[self.count & 15] + DEPTHS[self.count >> 4]


class Names:
    """Names of tasks that records tell the pids of: as trace_find_cmdline() has them."""

    def __init__(self):
        self.saved = kernel.variable("'trace/core/comm.c'::saved")
        self.known = {0: "<idle>"}

    def name(self, pid):
        if pid not in self.known:
            self.known[pid] = self._find(pid)
        return self.known[pid]

    def _find(self, pid):
        if pid < 0:
            return "<XXX>"
        slot = 0
        if int(self.saved) and pid <= self.saved["pid_to_slot"].type.range()[1]:
            slot = int(self.saved["pid_to_slot"][pid])
        if not slot:
            return "<...>"
        entry = self.saved["slot"].address.cast(self.saved["slot"].type.target().pointer())[slot - 1]
        return kernel.chars(entry["comm"])[:15]


def arrays():
    """(name, struct trace_array) of all, the top one first."""
    top = kernel.variable("global_trace")
    yield None, top
    for array in kernel.list_entries(top["list"], "struct trace_array", "list"):
        yield kernel.text(array["name"]), array


class Array:
    """A struct trace_array, with what its text depends on."""

    def __init__(self, name):
        found = [array for one, array in arrays() if one == name]
        if not found:
            names = ", ".join(one for one, _ in arrays() if one)
            raise gdb.GdbError(f"no instance {name}: {f'there are {names}' if names else 'there are none'}")
        self.value = found[0]
        self.buffer = self.value["buffer"]
        if not int(self.buffer):
            raise gdb.GdbError("there is no trace buffer yet")
        self.tracer = kernel.constant_text(int(self.value["current_trace"]["name"]))
        self.flags = int(self.value["trace_flags"])
        clocks = kernel.variable("'trace/core/clock.c'::trace_clocks")
        self.in_ns = bool(clocks[int(self.value["clock_id"])]["in_ns"])
        self.names = Names()
        self.texts = Texts(self)
        self.graph = GraphText(self, self.texts) if self.tracer == "function_graph" else None

    def option(self, name):
        return self.flags >> kernel.enumerator(f"OPT_{name}") & 1

    def comm(self, pid):
        return self.names.name(pid)

    def tgid(self, pid):
        table = kernel.variable("'trace/core/comm.c'::tgids")
        known = int(table[pid]) if int(table) and 0 < pid < 32768 else 0
        return f"({known:7}) " if known else "(-------) "

    def time(self, stamp):
        if not self.in_ns:
            return f" {stamp:12}"
        us = (stamp + 500) // 1000
        return f" {us // 10**6:5}.{us % 10**6:06}"

    # ---- Text

    def header(self, entries, total):
        text = f"# tracer: {self.tracer}\n#\n"
        if self.graph:
            return text + self.graph.header()
        if not self.option("CONTEXT_INFO"):
            return text
        text += f"# entries-in-buffer/entries-written: {entries}/{total}   #P:{len(kernel.online_cpus())}\n#\n"
        tgid = self.option("RECORD_TGID")
        if self.option("IRQ_INFO"):
            return text + COLUMNS.format(
                " " * (12 if tgid else 2), ("     TGID   " if tgid else "  "), "       |    " if tgid else "  "
            )
        return text + WITHOUT_FLAGS.format("   TGID   " if tgid else "", "     |    " if tgid else "")

    def context(self, line):
        if not self.option("CONTEXT_INFO"):
            return ""
        return (
            f"{self.comm(line.pid):>16}-{line.pid:<7} {self.tgid(line.pid) if self.option('RECORD_TGID') else ''}"
            f"[{line.cpu:03}] {line.flag_letters() if self.option('IRQ_INFO') else ''}{self.time(line.stamp)}: "
        )

    def text(self, line, leaf):
        graph = self.graph.text(line, leaf) if self.graph else None
        return self.context(line) + self.texts.text(line) if graph is None else graph


def lines_of(ring, cpu):
    for stamp, lost, data in ring.records():
        if len(data) >= 8:
            yield Line(cpu, stamp, lost, data)


def with_leaves(lines, graph):
    """(line, the return that is shown with it): calls whose return is the CPU's next record, if there is a graph to
    show."""
    held = None
    for line in lines:
        if held is not None and graph and graph.is_leaf(held, line):
            yield held, line
            held = None
            continue
        if held is not None:
            yield held, None
        held = line
    if held is not None:
        yield held, None


class Shown:
    """All the texts of an array's buffer, in the order of time; oldest of several with one stamp: the lowest CPU's."""

    def __init__(self, array, cpus):
        self.array, self.rings = array, {}
        self.wrong = []  # what cannot be read
        for cpu in cpus:
            with self._noting(cpu):
                self.rings[cpu] = Ring(array.buffer, cpu)
        self.overrun = sum(ring.overrun for ring in self.rings.values())
        self.entries = 0

    @contextlib.contextmanager
    def _noting(self, cpu):
        try:
            yield
        except kernel.UNREADABLE as error:
            self.wrong.append(f"CPU {cpu}: {kernel.why(error)}")

    def _readable(self, cpu, ring):
        """Its lines up to where it cannot be read."""
        with self._noting(cpu):
            yield from lines_of(ring, cpu)

    def _text(self, line, leaf):
        try:
            return self.array.text(line, leaf)
        except kernel.UNREADABLE as error:
            self.wrong.append(f"CPU {line.cpu}: a record of type {line.kind}: {kernel.why(error)}")
            return f"[{line.cpu:03}]{self.array.time(line.stamp)}: <{kernel.why(error)}>\n"

    def lines(self):
        merged = heapq.merge(
            *(with_leaves(self._readable(cpu, ring), self.array.graph) for cpu, ring in self.rings.items()),
            key=lambda pair: (pair[0].stamp, pair[0].cpu),
        )
        started, annotate = set(), self.overrun and self.array.option("ANNOTATE")
        for number, (line, leaf) in enumerate(merged):
            self.entries += 2 if leaf else 1
            text = f"CPU:{line.cpu} [LOST {line.lost} EVENTS]\n" if line.lost else ""
            graph = self.array.graph and line.kind not in self.array.graph.others
            if annotate and line.cpu not in started and number and not graph:
                text += f"##### CPU {line.cpu} buffer started ####\n"
            started.add(line.cpu)
            yield text + self._text(line, leaf)


class Trace(command.Command):
    """Print the trace from the ring buffers in memory, as the file `trace` shows it: of a kernel that is stopped, hung
    or panicked.

    Options of the array and of its tracer are heeded, but lines are always in the default format (no latency, raw, hex,
    bin or fields form), and a latency tracer's snapshot is not shown but the buffer that it goes on with. Records that
    a reader of trace_pipe has taken are not there any more.

    -i INSTANCE: of instances/INSTANCE. -c CPU: of one CPU. N: only the last N records' lines."""

    name = "vt-trace"
    usage = "vt-trace [-i INSTANCE] [-c CPU] [N]"
    most = 5

    def run(self, words):
        options, rest = command.options(words, ("i", "c"))
        if len(rest) > 1:
            raise gdb.GdbError(f"usage: {self.usage}")
        last = command.number(rest[0], "a number of records") if rest else None
        cpus = list(kernel.cpus())
        if "c" in options:
            cpu = command.number(options["c"], "a CPU")
            if cpu not in cpus:
                raise gdb.GdbError(f"there is no CPU {cpu}: 0 to {len(cpus) - 1}")
            cpus = [cpu]
        array = Array(options.get("i"))
        shown = Shown(array, cpus)
        texts = list(shown.lines())
        yield array.header(shown.entries, shown.entries + shown.overrun).removesuffix("\n")
        for text in texts if last is None else texts[len(texts) - min(last, len(texts)) :]:
            yield text.removesuffix("\n")
        if shown.wrong:
            more = f" (and {len(shown.wrong) - 1} more)" if len(shown.wrong) > 1 else ""
            raise gdb.GdbError(f"vt-trace: {shown.wrong[0]}{more}")


Trace()
