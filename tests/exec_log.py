"""QEMU's log of a run (`log exec,nochain,int`, each instruction translated alone), and the taken branches that follow
from it: what hw-branch-tracer must have recorded of the same run.

The log has a line for each instruction that was begun, and one or more for each exception, with the address that will
be gone back to. The debug exceptions of the tracer are in there, and all that it does in them: they are cut out. What
the tracer says that it cannot see (docs/tracer-hw-branch.md) is passed over, and no more than that.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass

KERNEL = 1 << 63
BEGUN = r"Trace \d+: \S+ \[[0-9a-f]+/(?P<pc>[0-9a-f]{16})/"


def lines(path):
    """The log's lines. An instruction that QEMU has put off, as its turn was over, is logged when it is put off and when
    it is executed: the former is left out."""
    held = ""
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("Stopped execution of TB chain before"):
                held = ""
                continue
            if held:
                yield held
            held = line
    yield held


@dataclass
class Taken:
    """An exception."""

    back: int  # where it will be gone back to
    debug: bool  # one of the kernel's own debug exceptions
    step: bool  # and of these a single step
    entry: int  # the symbol of entry.S that the tracer names


class A64Log:
    """aarch64: an exception is several lines. Instructions are words."""

    LINE = re.compile(
        BEGUN + r"|\.\.\.with ESR 0x(?P<kind>[0-9a-f]+)/|\.\.\.with ELR 0x(?P<back>[0-9a-f]+)"
        r"|\.\.\.to EL1 PC 0x(?P<to>[0-9a-f]+)|(?P<begin>Taking exception \d+ \[(?P<name>.*)\])"
    )
    DEBUG = (0x31, 0x33, 0x35)  # classes: breakpoint, step, watchpoint of the kernel
    STEP = 0x33
    ENTRIES = {0x200: "el1h_64_sync", 0x280: "el1h_64_irq", 0x400: "el0t_64_sync", 0x480: "el0t_64_irq"}
    ERET = 0xD69F03E0

    def __init__(self, kernel):
        self.kernel, self.sites, self.static = kernel, set(kernel.sites), kernel.branches
        self.tables = sorted(kernel.symbols[name] for name in ("vectors", "step_vectors"))
        text = range(kernel.symbols["__entry_text_start"], kernel.symbols["__entry_text_end"], 4)
        # MSR DAIFClr and MSR DAIFSet of PSTATE.D: between an entry and the first, between the second and ERET.
        self.opens = {at for at in text if self.word(at) & 0xFFFFF8FF == 0xD50348FF}
        self.masks = {at for at in text if self.word(at) & 0xFFFFF8FF == 0xD50348DF}
        self.masked = set()
        for at in self.masks:
            while self.word(at) != self.ERET:
                at += 4
                self.masked.add(at)

    def word(self, at):
        return int.from_bytes(self.kernel.read(at, 4), "little")

    def tokens(self, path):
        """Addresses of instructions, and exceptions."""
        kind, back, interrupt = 0, 0, False
        for match in filter(None, map(self.LINE.match, lines(path))):
            if match["pc"]:
                yield int(match["pc"], 16)
            elif match["begin"]:
                interrupt = match["name"] == "IRQ"
            elif match["kind"]:
                kind = 0 if interrupt else int(match["kind"], 16)  # an interrupt leaves ESR as it was
            elif match["back"]:
                back = int(match["back"], 16)
            else:
                to = int(match["to"], 16)
                offset = to - max(table for table in self.tables if table <= to)
                yield Taken(back, kind in self.DEBUG, kind == self.STEP, self.kernel.symbols[self.ENTRIES[offset]])

    def ends_debug(self, at):
        return self.word(at) == self.ERET

    def is_taken(self, at, to):
        """The instruction at `at` has led to `to`: was it a branch?"""
        word = self.word(at)
        if at in self.sites:
            return False  # a nop
        if at in self.static or word & 0xFF000010 == 0x54000000 or word & 0x7C000000 == 0x34000000:
            return to != at + 4
        return word & 0x7C000000 == 0x14000000 or word & 0xFE000000 == 0xD6000000

    def came_to(self, at):
        """`at` has been executed: where it was come to. Store-exclusive and MSR DAIFSet of PSTATE.D are done by the
        handler of the step."""
        back = at - 4
        return back if self.word(back) & 0xBFE00000 & 0x3FFFFFFF == 0x08000000 or back in self.masks else at

    def is_hidden(self, at):
        return at in self.masked and self.word(at) != self.ERET

    def starts(self, at):
        """The first instruction after an entry that is stepped?"""
        return at - 4 in self.opens

    def system_call(self, at):
        return None  # an exception


class X64Log:
    """x86_64: an exception is a line with its vector. Instructions are what objdump says."""

    LINE = re.compile(
        BEGUN
        + r"| *\d+: v=(?P<vector>[0-9a-f]{2}) e=[0-9a-f]{4} i=\d+ cpl=(?P<cpl>\d) IP=[0-9a-f]+:(?P<back>[0-9a-f]{16})"
    )
    BRANCH = re.compile(r"(?:bnd |notrack )?(?:call|jmp|ret|iret)")
    CONDITIONAL = re.compile(r"(?:j(?!mp)|loop)")

    def __init__(self, kernel):
        self.kernel, self.sites, self.static = kernel, set(kernel.sites), kernel.branches
        objdump = next(name for name in ("x86_64-elf-objdump", "x86_64-linux-gnu-objdump") if shutil.which(name))
        command = [objdump, "-d", "--no-show-raw-insn", kernel.path]
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = re.findall(r"^([0-9a-f]{16}):\t(.*)", listing, re.M)
        self.insns = {
            int(at, 16): (text, int(after, 16)) for (at, text), (after, _) in zip(found, found[1:] + [("0", "")])
        }
        entry = kernel.symbols["entry_SYSCALL_64"]
        self.call_start = entry
        for _ in range(3):  # swapgs and the change of stacks
            self.call_start = self.insns[self.call_start][1]
        self.debug_end = self.first("debug_entry", "iretq")

    def first(self, symbol, text):
        at = self.kernel.symbols[symbol]
        while not self.insns[at][0].startswith(text):
            at = self.insns[at][1]
        return at

    def tokens(self, path):
        for match in filter(None, map(self.LINE.match, lines(path))):
            if match["pc"]:
                yield int(match["pc"], 16)
                continue
            vector, back = int(match["vector"], 16), int(match["back"], 16)
            debug = vector == 1 and match["cpl"] == "0"
            entry = self.kernel.symbols["exception_entry" if vector < 32 else "interrupt_entry"]
            yield Taken(back, debug, debug, entry)

    def ends_debug(self, at):
        return at == self.debug_end

    def is_taken(self, at, to):
        text, after = self.insns[at]
        if at in self.sites:
            return False  # a nop
        if at in self.static or self.CONDITIONAL.match(text):
            return to != after
        return bool(self.BRANCH.match(text))

    def came_to(self, at):
        return at

    def is_hidden(self, at):
        return False

    def starts(self, at):
        return at in (self.call_start, *(self.kernel.symbols[name] for name in ("interrupt_entry", "exception_entry")))

    def system_call(self, at):
        """The entry, when this is the first instruction of SYSCALL."""
        return self.kernel.symbols["entry_SYSCALL_64"] if at == self.kernel.symbols["step_SYSCALL_64"] else None


def visible(log, path):
    """The tokens without what happens in debug exceptions, from the first step to the last; of the steps, only these two
    are kept."""
    tokens, inside, steps = [], False, []
    for token in log.tokens(path):
        if isinstance(token, Taken) and token.debug:
            inside = True
            if token.step:
                steps.append((len(tokens), token))
        elif inside:
            inside = isinstance(token, Taken) or not log.ends_debug(token)
        else:
            tokens.append(token)
    return tokens[steps[0][0] : steps[-1][0]], steps[-1][1].back


def taken_branches(log, path):
    """[(to, from)] in their order. `before`: the instruction executed last, None while the tracer does not see any."""
    tokens, end = visible(log, path)
    found, before, program, entering = [], None, 0, False

    def came(to):
        """To a program as well, when its instruction cannot be fetched: the log has only the exception, the tracer not
        the way to the program."""
        if before is not None and KERNEL <= to != before and log.is_taken(before, to):
            found.append((to, before))

    for token in tokens:
        if isinstance(token, Taken):
            came(token.back)
            found.append((token.entry, token.back))
            before, entering = None, True
        elif token < KERNEL:
            before, program, entering = None, token, False
        elif log.system_call(token):
            found.append((log.system_call(token), program + 2))
            before, entering = None, True
        elif not entering or log.starts(token):
            came(log.came_to(token))
            before, entering = None if log.is_hidden(token) else token, False
    came(end)
    return found
