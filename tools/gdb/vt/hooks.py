"""vt-hooks: the life of one hooked call, instruction by instruction, with a comment for each."""

import gdb

from vt import command, kernel, stack
from vt.ftrace import Sites, decoded, decoded_text
from vt.machine import X86, machine, register, resume

CALLS = ("call", "callq", "bl", "blr")
# What is said where one of these begins.
PLACES = {
    "ftrace_call": "patched to call the tracer, while there is one",
    "ftrace_graph_call": "patched to jump to ftrace_graph_caller, while returns are traced",
    "ftrace_entry_call": "patched to call the tracer",
}
MOST_STEPS, MOST_RETURNS = 200, 100


def registers():
    names = (
        ([f"x{n}" for n in range(31)] + ["sp"])
        if machine() is not X86
        else [
            "rax",
            "rbx",
            "rcx",
            "rdx",
            "rsi",
            "rdi",
            "rbp",
            "r8",
            "r9",
            "r10",
            "r11",
            "r12",
            "r13",
            "r14",
            "r15",
            "rsp",
        ]
    )
    frame = gdb.newest_frame()
    return {name: register(frame, name) for name in names}


def meaning(value):
    """A number, or the place in the kernel's text that it is."""
    start, end = kernel.address_of("_stext"), kernel.address_of("_etext")
    return kernel.symbols().place(value) if start <= value < end else f"{value:#x}"


def comment(before, after):
    """What an instruction did to the stack and to registers."""
    sp, parts = machine().sp, []
    moved = before[sp] - after[sp]
    if moved > 0:
        parts.append("pushes " + ", ".join(meaning(word) for word in kernel.words(after[sp], moved // 8)))
    elif moved < 0:
        parts.append(f"takes {-moved} bytes off the stack")
    parts += [f"{name} = {meaning(after[name])}" for name in before if name != sp and before[name] != after[name]]
    return "; ".join(parts) or "changes no register"


def instruction():
    pc = gdb.newest_frame().pc()
    return gdb.newest_frame().architecture().disassemble(pc)[0]["asm"].replace("\t", " ")


def step(into=False):
    """One instruction, or all of a call that is not gone into. Its line."""
    pc, text, before = gdb.newest_frame().pc(), instruction(), registers()
    called = not into and text.split()[0] in CALLS
    resume("nexti" if called else "stepi")
    said = "the call has returned" if called else comment(before, registers())
    return f"    {kernel.symbols().place(pc):<34} {text:<44} ; {said}"


def steps_to(end, site=None):
    """Lines up to an address. site: whose call is gone into."""
    places = {kernel.address_of(name): f"  {name}: {text}" for name, text in PLACES.items()}
    for _ in range(MOST_STEPS):
        pc = gdb.newest_frame().pc()
        if pc == end:
            return
        if pc in places:
            yield f"{places[pc]}: {decoded_text(pc)}"
        yield step(pc == site)
    raise gdb.GdbError(f"after {MOST_STEPS} instructions {meaning(end)} has not come")


def go_to(address):
    """Until a CPU is there."""
    place = gdb.Breakpoint(f"*{address:#x}", gdb.BP_HARDWARE_BREAKPOINT, internal=True)
    try:
        resume("continue")
    finally:
        place.delete()
    if gdb.newest_frame().pc() != address:
        raise gdb.GdbError(f"stopped at {meaning(gdb.newest_frame().pc())} on the way to {meaning(address)}")


def go_to_return(call, places):
    """Until the handler is entered for this call."""
    for _ in range(MOST_RETURNS):
        go_to(places.handler)
        if machine().handler_frame(gdb.newest_frame(), 0)[3] == call["mark"]:
            return
        resume("stepi")
    raise gdb.GdbError("the call did not come back: it may sleep for long")


class Hooks(command.Command):
    """Go along with one hooked call, instruction by instruction, with comments.

    It waits until the function is called, then steps each instruction of the tracer's entry code with a
    comment on what it did, and, while returns are traced, of its return by return_to_handler.

    The function's site must hold a call: trace it first (vt-ftrace FUNCTION tells). The guest runs until it is called,
    ^C gives up.
    """

    name = "vt-hooks"
    usage = "vt-hooks FUNCTION"
    least = most = 1

    def run(self, words):
        sites = Sites()
        site = sites.addresses[sites.of(words[0])[0]]
        if decoded(site) == "nop":
            raise gdb.GdbError(f"{words[0]} is not traced now, its site holds a nop: vt-ftrace {words[0]}")
        gdb.write(f"waiting for a call of {words[0]}; ^C gives up\n")
        gdb.flush()
        lines = []
        try:
            for line in self._entry(words[0], site):
                lines.append(line)
        finally:
            yield from lines  # in one piece, also when it came to an end early: gdb has told of each stop meanwhile

    def _entry(self, name, site):
        go_to(site)
        size = 5 if machine() is X86 else 4
        task, parent = kernel.current(), gdb.newest_frame().older()
        yield f"{name} is called by {parent.name()}, in the task {kernel.comm(task)}-{int(task['pid'])}; its site holds {decoded_text(site)}"
        yield from steps_to(site + size, site)
        yield f"back in {name}, behind its site: all that it may rely on is as it was"
        shadow, places = stack.Shadow(int(task.address)), stack.layout()
        call = shadow.frames[-1] if shadow.frames and shadow.frames[-1]["func"] == site else None
        if not call:
            yield "its return is not traced: it goes back to its caller by itself"
            return
        yield (
            f"its return address, at {call['slot']:#x}, is {meaning(kernel.word(call['slot']))} now; on the shadow stack: "
            f"{kernel.symbols().place(call['ret'], 1)}"
        )
        yield from self._return(name, call, shadow, places)

    @staticmethod
    def _return(name, call, shadow, places):
        go_to_return(call, places)
        yield f"{name} has returned, into return_to_handler"
        yield from steps_to(shadow.return_by_mark(call["mark"]))
        yield f"back in {kernel.symbols().name(gdb.newest_frame().pc() - 1)}: what {name} returned is as it was"


Hooks()
