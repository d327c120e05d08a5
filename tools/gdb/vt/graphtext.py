"""Function graph as text: calls as blocks in braces, a call that calls nothing in one line, everything else a comment.

As trace/tracers/graph/print.c makes it. Lines belong to CPUs, so what is kept from line to line is kept for each
CPU."""

import struct

from vt import kernel

OPTIONS = ("overrun", "cpu", "overhead", "proc", "duration", "abstime", "irqs", "tail", "retval", "retval-hex")
MARKS = ((10**9, "$"), (10**8, "@"), (10**7, "*"), (10**6, "#"), (10**5, "!"), (10**4, "+"))
PROC_WIDTH = 14
MOST_DEPTH = 1000


class Cpu:
    """What a CPU's next line depends on."""

    def __init__(self):
        self.last_pid, self.depth, self.depth_irq, self.calls = -1, 0, None, {}


def check_depth(depth):
    """No shadow stack is as deep as a damaged record may say."""
    if depth > MOST_DEPTH:
        raise ValueError(f"a depth of {depth}")


class Call:
    """A funcgraph_entry record."""

    def __init__(self, data):
        self.func, self.depth = struct.unpack_from("<Qi", data, 8)
        check_depth(self.depth)
        self.args = struct.unpack_from(f"<{(len(data) - 20) // 8}Q", data, 20)


class Return:
    """A funcgraph_exit record."""

    def __init__(self, data):
        self.func, self.retval, self.depth, self.overrun, self.begin, self.end = struct.unpack_from("<QQiIQQ", data, 8)
        check_depth(self.depth)

    @property
    def duration(self):
        return self.end - self.begin


def microseconds(ns):
    """Seven digits, with as many of the nanoseconds as the column has room for, and the unit."""
    text = str(ns // 1000)
    if len(text) < 7:
        text += "." + f"{ns % 1000:03}"[: min(7 - len(text), 3)]
    return (text + " us ").ljust(12)


class GraphText:
    """Lines of one array, whose tracer is function_graph."""

    def __init__(self, array, texts):
        self.array, self.texts, self.cpus = array, texts, {}
        flags = kernel.variable("graph_flags")
        self.options, at = set(), flags["opts"]
        while int(at["name"]):
            if int(flags["val"]) & int(at["bit"]):
                self.options.add(kernel.constant_text(int(at["name"])).removeprefix("funcgraph-"))
            at += 1
        self.cpu_width = 2 if len(kernel.cpus()) > 10 else 1
        self.irq_text = kernel.address_of("__irqentry_text_start"), kernel.address_of("__irqentry_text_end")
        self.entry, self.exit = kernel.enumerator("TRACE_GRAPH_ENT"), kernel.enumerator("TRACE_GRAPH_RET")
        self.others = {kernel.enumerator(name) for name in ("TRACE_FN", "TRACE_STACK", "TRACE_USER_STACK")}
        self.messages = {kernel.enumerator(name) for name in ("TRACE_BPRINT", "TRACE_BPUTS")}

    def header(self):
        if not self.array.option("CONTEXT_INFO"):
            return ""
        first, second = "#", "\n#"
        for option, one, two in (
            ("abstime", "     TIME       ", "      |         "),
            ("cpu", " CPU", " |  "),
            ("proc", "  TASK/PID       ", "   |    |        "),
            ("duration", "  DURATION   ", "   |   |      "),
        ):
            first += one if option in self.options else ""
            second += two if option in self.options else ""
        return f"{first}               FUNCTION CALLS{second}               |   |   |   |\n"

    def is_leaf(self, line, following):
        """A call whose return is the CPU's next record: both are one line."""
        if line.kind != self.entry or following is None or following.kind != self.exit or following.pid != line.pid:
            return False
        try:
            call, end = Call(line.data), Return(following.data)
        except kernel.NONSENSE:
            return False  # whichever it is will be told of by itself
        return call.func == end.func and call.depth == end.depth

    def text(self, line, leaf):
        """None: not shown in this form."""
        if line.kind in self.others:
            return None
        cpu = self.cpus.setdefault(line.cpu, Cpu())
        if line.kind == self.entry:
            return self._entry(cpu, line, Call(line.data), leaf and Return(leaf.data))
        if line.kind == self.exit:
            return self._return(cpu, line, Return(line.data))
        return self._comment(cpu, line)

    # ---- Columns

    def _columns(self, line):
        if not self.array.option("CONTEXT_INFO"):
            return ""
        us = line.stamp // 1000
        text = f"{us // 10**6:5}.{us % 10**6:06} |  " if "abstime" in self.options else ""
        text += f" {line.cpu:{self.cpu_width}}) " if "cpu" in self.options else ""
        return text + (f"{self._proc(line.pid)} | " if "proc" in self.options else "")

    def _proc(self, pid):
        """Name, cut off behind seven characters, and pid, in the middle of the column."""
        text = f"{self.array.comm(pid)[:7]}-{pid}"
        room = max(PROC_WIDTH - len(text), 0)
        return " " * (room // 2) + text + " " * (room - room // 2)

    @property
    def _timed(self):
        return "duration" in self.options and self.array.option("CONTEXT_INFO")

    def _duration(self, ns):
        if not self._timed:
            return ""
        mark = next((mark for above, mark in MARKS if ns > above), " ") if "overhead" in self.options else " "
        return f"{mark} {microseconds(ns)}|  "

    def _no_duration(self):
        return "              |  " if self._timed else ""

    def _switch(self, cpu, line):
        """Another task than in the CPU's line before."""
        last, cpu.last_pid = cpu.last_pid, line.pid
        if last in (-1, line.pid):
            return ""
        rule = " ------------------------------------------\n"
        return f"{rule} {line.cpu:{self.cpu_width}}) {self._proc(last)} => {self._proc(line.pid)}\n{rule}\n"

    def _is_irq(self, func):
        return self.irq_text[0] <= func < self.irq_text[1]

    def _arrow(self, line, func, arrow):
        if not self._is_irq(func):
            return ""
        return self._columns(line) + (f"  {arrow} |\n" if self._timed else f"{arrow}\n")

    def _hidden(self, cpu, func, depth, end):
        """With funcgraph-irqs off: is this line of an interrupt? end: it may be the last of it."""
        if "irqs" in self.options:
            return False
        if cpu.depth_irq is None:
            if end or not self._is_irq(func):
                return False
            cpu.depth_irq = depth
        elif end and cpu.depth_irq >= depth:
            cpu.depth_irq = None
        return True

    # ---- The three kinds of lines

    def _value(self, value):
        number = value - (1 << 64) if value >> 63 else value
        if value >> 31 == 1:
            number = value - (1 << 32)
        if "retval-hex" not in self.options and -4095 <= number < 0:
            return f"= {number} */\n"
        return f"= {value:#x} */\n"

    def _entry(self, cpu, line, call, leaf):
        if self._hidden(cpu, call.func, call.depth, False):
            if leaf:
                self._hidden(cpu, call.func, call.depth, True)
            return ""
        text = self._switch(cpu, line) + self._arrow(line, call.func, "==========>") + self._columns(line)
        words = f"{'  ' * call.depth}{kernel.symbols().name(call.func)}({', '.join(f'{arg:#x}' for arg in call.args)})"
        cpu.depth = call.depth - 1 if leaf else call.depth
        cpu.calls[call.depth] = 0 if leaf else call.func & 0xFFFFFFFF
        if not leaf:
            return f"{text}{self._no_duration()}{words} {{\n"
        end = f" /* {self._value(leaf.retval)}" if "retval" in self.options else "\n"
        return f"{text}{self._duration(leaf.duration)}{words};{end}" + self._arrow(line, call.func, "<==========")

    def _return(self, cpu, line, end):
        if self._hidden(cpu, end.func, end.depth, True):
            return ""
        named = cpu.calls.get(end.depth, 0) != end.func & 0xFFFFFFFF or "tail" in self.options
        cpu.depth, cpu.calls[end.depth] = end.depth - 1, 0
        text = f"{self._switch(cpu, line)}{self._columns(line)}{self._duration(end.duration)}{'  ' * end.depth}}}"
        if named or "retval" in self.options:
            text += f" /* {kernel.symbols().name(end.func)} "
        text += self._value(end.retval) if "retval" in self.options else "*/\n" if named else "\n"
        if "overrun" in self.options:
            text += f" (Overruns: {end.overrun})\n"
        return text + self._arrow(line, end.func, "<==========")

    def _comment(self, cpu, line):
        text = self._switch(cpu, line) + self._columns(line) + self._no_duration()
        text += "  " * (cpu.depth + 1) if cpu.depth > 0 else ""
        if line.kind == kernel.enumerator("TRACE_PRINT"):
            body = line.data[16:].split(b"\0", 1)[0].decode(errors="replace")
        elif line.kind in self.messages:
            body = self.texts.message(line)
        else:
            body = self.texts.text(line)
        return f"{text}/* {body.removesuffix(chr(10))} */\n"
