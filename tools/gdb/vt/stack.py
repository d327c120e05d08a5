"""Walks by frame records, as kernel/stacktrace.c makes them: {caller's frame pointer, return address} at the frame
pointer.

Hooked returns are shown as what they will be: the task's shadow stack (include/trace/fgraph.h) knows."""

import re
import struct

import gdb

from vt import kernel
from vt.image import kept
from vt.machine import machine, register, selected

MOST = 64  # as the kernel's own dumps


PUSHED = {"push": 8, "pop": -8}


def depths_from(start):
    """{address: bytes on the stack before its instruction} from here to the return, by what the instructions say."""
    depths, depth, architecture = {}, 0, gdb.selected_inferior().architecture()
    for line in architecture.disassemble(start, count=40):
        depths[line["addr"]] = depth
        mnemonic, _, operands = line["asm"].partition(" ")
        moved = re.search(r"\[sp, #-(\d+)\]!|\[sp\], #(\d+)", operands)
        if moved:
            depth += int(moved[1] or 0) - int(moved[2] or 0)
        depth += PUSHED.get(mnemonic.rstrip("q"), 0)
        if mnemonic.startswith("ret"):
            return depths
    raise gdb.GdbError("return_to_handler does not return")


class Layout:
    """Where things are. Looked up when there is no question of frames: an unwinder must not ask gdb for symbols."""

    def __init__(self):
        stack, frame = kernel.type_of("struct fgraph_stack"), kernel.type_of("struct fgraph_frame")
        self.handler = kernel.address_of("return_to_handler_entry")
        self.ret_stack = kernel.offset_of("struct task_struct", "ret_stack")
        self.top = kernel.offset_of("struct fgraph_stack", "top")
        self.frames = kernel.offset_of("struct fgraph_stack", "frames")
        self.depth = stack["frames"].type.range()[1] + 1
        self.size = frame.sizeof
        self.fields = [(field.name, field.bitpos // 8) for field in frame.fields()]
        self.depths = depths_from(self.handler)


def layout():
    return kept("layout", Layout)


def known_layout():
    """For unwinders: None, if it has not been asked for before."""
    return kept("layout")


class Shadow:
    """The hooked calls of a task, innermost last; and what lies behind the last, which was the innermost a moment
    ago."""

    def __init__(self, task, places=None):
        """task: the address of its struct task_struct."""
        places = places or layout()
        self.frames, self.popped = [], None
        self.handler = places.handler
        stack = kernel.word(task + places.ret_stack)
        if not stack:
            return
        base, top = stack + places.frames, kernel.word(stack + places.top)
        count = (top - base) // places.size
        if not 0 <= count <= places.depth:
            raise gdb.GdbError(f"the shadow stack at {stack:#x} makes no sense: its top is {top:#x}")
        data = kernel.read(base, min(count + 1, places.depth) * places.size)
        every = [
            {name: struct.unpack_from("<Q", data, at + offset)[0] for name, offset in places.fields}
            for at in range(0, len(data), places.size)
        ]
        self.frames, self.popped = every[:count], every[count] if count < len(every) else None

    def _chase(self, index):
        """A function that was called by a jump was handed the handler for its return address: the jumper's caller
        counts."""
        while index and self.frames[index]["ret"] == self.handler:
            index -= 1
        return index

    def true_return(self, slot, below):
        """(what the word at `slot` would hold, where to go on looking), of the frames below a position. See
        fgraph_ret_addr."""
        count = min(below, len(self.frames))
        for index in range(count - 1, -1, -1):
            if self.frames[index]["slot"] == slot:
                index = self._chase(index)
                return self.frames[index]["ret"], index
        while count and not self.frames[count - 1]["slot"]:
            count -= 1
        if not count:
            return self.handler, below
        index = self._chase(count - 1)
        return self.frames[index]["ret"], index

    def by_mark(self, mark):
        """The innermost call that left this mark for return_to_handler; None: there is none."""
        return next((frame for frame in reversed(self.frames) if frame["mark"] == mark), None)

    def return_by_mark(self, mark):
        """Where it returns to in truth; None."""
        for index in range(len(self.frames) - 1, -1, -1):
            if self.frames[index]["mark"] == mark:
                return self.frames[self._chase(index)]["ret"]
        return None


def find_caller(frame, places):
    """Of a frame in return_to_handler: (its stack pointer before, caller's frame pointer, true return address);
    None."""
    one = machine()
    before, fp, address, mark = one.handler_frame(frame, places.depths[register(frame, one.pc)])
    # The word is the handler's own address until C has looked the true one up. x86's RET has taken it away at first.
    if address is None or address == places.handler:
        address = Shadow(one.current_of(frame), places).return_by_mark(mark)
    return (before, fp, address) if address else None


def stacks(task, cpu):
    """[(low, high)] of the stacks that a walk may be on: the task's, and those of the CPU it runs on (None: of no
    CPU)."""
    base = int(task["stack"])
    found = [(base, base + kernel.stack_size())]
    if cpu is not None:
        found += [(int(end) - size, int(end)) for end, size in machine().stacks(cpu) if int(end)]
    return found


def walk(task, frame, cpu=None):
    """Return addresses from the frame record at `frame` outwards."""
    shadow, below = None, 1 << 30
    places, on = stacks(task, cpu), None
    low = frame
    for _ in range(MOST):
        if not on or not on[0] <= frame < on[1]:
            if on == places[0]:  # the task's own stack leads nowhere
                return
            on = next((place for place in places if place[0] <= frame < place[1]), None)
            low = frame
        if not on or frame < low or frame % 8 or frame + 16 > on[1]:
            return
        outer, address = kernel.words(frame, 2)
        if not address:
            return
        if address == layout().handler:
            shadow = shadow or Shadow(int(task.address))  # asked for where it is needed: it may be damaged
            address, below = shadow.true_return(frame + 8, below)
        yield address
        low, frame = frame + 16, outer


def running_on(task):
    """The CPU whose task this is at the moment; None: it does not run."""
    for cpu in kernel.cpus():
        if int(kernel.current(cpu).address) == int(task.address):
            return cpu
    return None


def outer_by_rules(frame):
    """Of the function that a frame is in, by gdb's own rules, as find_caller(); all None where they fail."""
    try:
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        frame = frame.older()
        while frame and frame.pc() in layout().depths:
            frame = frame.older()
    except gdb.error:
        frame = None
    return (register(frame, machine().sp), register(frame, machine().fp), frame.pc()) if frame else (None, None, None)


def running(task, cpu):
    """The trace of a task that runs: from the CPU's registers."""
    with selected(cpu) as frame:
        pc, record = register(frame, machine().pc), register(frame, machine().fp)
        yield pc
        if pc < kernel.address_of("_text"):
            return
        _, fp, address = (pc in layout().depths and find_caller(frame, layout())) or outer_by_rules(frame)
    # Who has no record of its own yet (at a function's first instruction) or no more: its caller is not in those.
    if fp == record:
        yield address
    yield from walk(task, record, cpu)


def asleep(task):
    pc, record = machine().asleep_at(task)
    yield pc
    yield from walk(task, record)


def trace(task):
    """(the CPU it runs on or None, addresses innermost first): the first is where it is, the others are return
    addresses.

    They are read one by one: what is behind one that cannot be read is lost, what is before it is not."""
    cpu = running_on(task)
    return cpu, asleep(task) if cpu is None else running(task, cpu)
