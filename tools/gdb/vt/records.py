"""The texts of records that are tracers' own, as the functions beside their writers make them (struct trace_event,
trace/core/tracer.h)."""

import struct

from vt import events, kernel, printfmt

USER_FRAMES = 8


def u64s(data, at, count):
    return struct.unpack_from(f"<{count}Q", data, at)


class Texts:
    """Lines for records of one array."""

    def __init__(self, array):
        self.array = array
        self.makers = {
            kernel.enumerator(name): maker
            for name, maker in (
                ("TRACE_FN", self.function),
                ("TRACE_CTX", lambda line: self.switch(line, "==>")),
                ("TRACE_WAKE", lambda line: self.switch(line, "  +")),
                ("TRACE_STACK", self.stack),
                ("TRACE_PRINT", self.print),
                ("TRACE_BPRINT", self.bprint),
                ("TRACE_BPUTS", self.bputs),
                ("TRACE_SPECIAL", self.special),
                ("TRACE_USER_STACK", self.user_stack),
                ("TRACE_RAW_DATA", self.raw_data),
                ("TRACE_FUNC_REPEATS", self.repeats),
                ("TRACE_GRAPH_ENT", self.graph_entry),
                ("TRACE_GRAPH_RET", self.graph_return),
            )
        }
        self.entry_text = kernel.address_of("__entry_text_start"), kernel.address_of("__entry_text_end")

    def text(self, line):
        """What stands behind a line's time stamp; with its newline."""
        event = events.event_of(line.kind)
        if event:
            return event.text(line.data) + "\n"
        maker = self.makers.get(line.kind)
        return maker(line) if maker else f"Unknown type {line.kind}\n"

    # ---- Names

    def symbol(self, address, looked_up=None):
        """sym, sym+0x10/0x40 or sym <address>, as the options say."""
        if not address:
            return "0"
        looked_up = address if looked_up is None else looked_up
        found = kernel.symbols().lookup(looked_up)
        if not found:
            return f"{address:#x}"
        text = found[0]
        if self.array.option("SYM_OFFSET"):
            text += f"+{found[1] + address - looked_up:#x}/{found[2]:#x}"
        return text + (f" <{address:016x}>" if self.array.option("SYM_ADDR") else "")

    def caller_text(self, ip, parent):
        return self.symbol(ip) + (f" <-{self.symbol(parent)}" if self.array.option("PRINT_PARENT") else "")

    # ---- One for each type

    def function(self, line):
        return self.caller_text(*u64s(line.data, 8, 2)) + "\n"

    def repeats(self, line):
        count, top, bottom = struct.unpack_from("<HHI", line.data, 24)
        last = line.stamp - (top << 32 | bottom)
        return f"{self.caller_text(*u64s(line.data, 8, 2))} (repeats: {count}, last_ts:{self.array.time(last)})\n"

    def switch(self, line, arrow):
        before, after, cpu, prio, state, next_prio, next_state = struct.unpack_from("<IIIBBBB", line.data, 8)
        prio, next_prio = (-1 if value == 255 else value for value in (prio, next_prio))
        return (
            f" {before:7}:{prio:3}:{kernel.state_letter(state)} {arrow} [{cpu:03}] {after:7}:{next_prio:3}:"
            f"{kernel.state_letter(next_state)} {self.array.comm(after)}\n"
        )

    def stack(self, line):
        (count,) = struct.unpack_from("<i", line.data, 8)
        text, exact = "<stack trace>\n", False
        for address in u64s(line.data, 16, count):
            text += f" => {self.symbol(address, address if exact else address - 1)}\n"
            exact = self.entry_text[0] <= address < self.entry_text[1]
        return text

    def user_stack(self, line):
        text = "<user stack trace>\n"
        for address in u64s(line.data, 16, USER_FRAMES):
            if not address:
                break
            text += f" =>  <{address:016x}>\n"
        return text

    def print(self, line):
        (ip,) = u64s(line.data, 8, 1)
        return f"{self.symbol(ip)}: {printfmt.text_of(line.data[16:])}"

    @staticmethod
    def message(line):
        """Of a bprint or bputs record, without its place; with a newline."""
        (address,) = u64s(line.data, 16, 1)
        text = kernel.constant_text(address)
        if line.kind == kernel.enumerator("TRACE_BPRINT"):
            text = printfmt.sprintf(text, Packed(line.data[24:]).next)
        return text if text.endswith("\n") else text + "\n"

    def bprint(self, line):
        return f"{self.symbol(u64s(line.data, 8, 1)[0])}: {self.message(line)}"

    bputs = bprint

    @staticmethod
    def special(line):
        return "# {} {} {}\n".format(*struct.unpack_from("<3q", line.data, 8))

    @staticmethod
    def raw_data(line):
        (number,) = struct.unpack_from("<I", line.data, 8)
        return f"# {number:x} buf:" + "".join(f" {byte:02x}" for byte in line.data[12:]) + "\n"

    # Where the array shows no graph.

    @staticmethod
    def graph_entry(line):
        func, depth = struct.unpack_from("<Qi", line.data, 8)
        return f"--> {kernel.symbols().name(func)} ({depth})\n"

    @staticmethod
    def graph_return(line):
        func, _, depth = struct.unpack_from("<QQi", line.data, 8)
        return f"<-- {kernel.symbols().name(func)} ({depth})\n"


class Packed:
    """Arguments as vbin_printf keeps them: numbers at multiples of four, strings in full."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self, letter, length):
        if letter == "s":
            end = self.data.find(b"\0", self.at)
            text, self.at = self.data[self.at : end], end + 1
            return text
        size = 8 if letter == "p" or length in ("l", "ll", "L") else 4
        at = (self.at + 3) & ~3
        self.at = at + size
        return int.from_bytes(self.data[at : at + size], "little")
