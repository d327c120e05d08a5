"""Walks by frame records, as kernel/stacktrace.c makes them: {caller's frame pointer, return address} at the frame pointer.

Hooked returns are shown as what they will be: the task's shadow stack (include/trace/fgraph.h) knows."""

import struct

from vt import kernel
from vt.machine import machine, register, selected

MOST = 64  # as the kernel's own dumps


class Shadow:
    """The hooked calls of a task, innermost last."""

    FRAME = "struct fgraph_frame"

    def __init__(self, task):
        self.frames, stack = [], int(task["ret_stack"])
        if not stack:
            return
        size = kernel.type_of(self.FRAME).sizeof
        base = stack + kernel.offset_of("struct fgraph_stack", "frames")
        top = int(kernel.at(stack, "struct fgraph_stack")["top"])
        count = min((top - base) // size, 64)
        data = kernel.read(base, max(count, 0) * size)
        for at in range(0, len(data), size):
            self.frames.append(dict(zip(("ret", "func", "slot", "mark", "calltime", "key", "inner"),
                                        struct.unpack_from("<7Q", data, at))))

    def _chase(self, index, handler):
        """A function that was called by a jump was handed the handler for its return address: the jumper's caller counts."""
        while index and self.frames[index]["ret"] == handler:
            index -= 1
        return index

    def true_return(self, slot, below, handler):
        """(what the word at `slot` would hold, where to go on looking), of the frames below a position. See fgraph_ret_addr."""
        count = min(below, len(self.frames))
        for index in range(count - 1, -1, -1):
            if self.frames[index]["slot"] == slot:
                index = self._chase(index, handler)
                return self.frames[index]["ret"], index
        while count and not self.frames[count - 1]["slot"]:
            count -= 1
        if not count:
            return handler, below
        index = self._chase(count - 1, handler)
        return self.frames[index]["ret"], index

    def by_mark(self, mark, handler):
        """The return address of the innermost call that left this mark for return_to_handler; None: there is none."""
        for index in range(len(self.frames) - 1, -1, -1):
            if self.frames[index]["mark"] == mark:
                return self.frames[self._chase(index, handler)]["ret"]
        return None


def handler_address():
    return kernel.address_of("return_to_handler_entry")


def stacks(task, cpu):
    """[(low, high)] of the stacks that a walk may be on: the task's, and those of the CPU it runs on (None: of no CPU)."""
    base = int(task["stack"])
    found = [(base, base + kernel.stack_size())]
    if cpu is not None:
        found += [(int(end) - size, int(end)) for end, size in machine().stacks(cpu) if int(end)]
    return found


def walk(task, frame, cpu=None):
    """Return addresses from the frame record at `frame` outwards."""
    shadow, handler, below = Shadow(task), handler_address(), 1 << 30
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
        if address == handler:
            address, below = shadow.true_return(frame + 8, below, handler)
        yield address
        low, frame = frame + 16, outer


def running_on(task):
    """The CPU whose task this is at the moment; None: it does not run."""
    for cpu in kernel.cpus():
        if int(kernel.current(cpu).address) == int(task.address):
            return cpu
    return None


def running(task, cpu):
    """The trace of a task that runs: from the CPU's registers."""
    with selected(cpu) as frame:
        pc, record = register(frame, machine().pc), register(frame, machine().fp)
    return [pc, *walk(task, record, cpu)] if pc >= kernel.address_of("_text") else [pc]


def trace(task):
    """(the CPU it runs on or None, addresses innermost first): the first is where it is, the others are return addresses."""
    cpu = running_on(task)
    if cpu is not None:
        return cpu, running(task, cpu)
    pc, record = machine().asleep_at(task)
    return None, [pc, *walk(task, record)]
