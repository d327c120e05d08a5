"""What differs between machines: names of registers, and where a task's are while it does not run."""

import contextlib

import gdb

from vt import kernel


class Aarch64:
    pc, fp, sp = "pc", "x29", "sp"
    # What a call keeps, and what says who runs (arch/aarch64/include/asm/current.h).
    kept = [f"x{n}" for n in range(19, 31)] + ["sp", "pc", "SP_EL0"]

    @staticmethod
    def asleep_at(task):
        context = task["thread"]["ctx"]
        return int(context["pc"]), int(context["fp"])

    @staticmethod
    def current(cpu):
        """In SP_EL0, while the CPU is in the kernel."""
        with selected(cpu) as frame:
            if register(frame, "pc") < kernel.address_of("_text"):
                return None
            return register(frame, "SP_EL0")

    @staticmethod
    def stacks(cpu):
        yield kernel.per_cpu("irq_stack_end", cpu), kernel.stack_size()
        yield kernel.per_cpu("overflow_stack_end", cpu), 4096

    @staticmethod
    def mark(registers):
        """What return_to_handler goes by (fgraph_ret_mark)."""
        return registers("x29")

    @staticmethod
    @contextlib.contextmanager
    def privileged():
        """QEMU reads memory with the rights that the CPU has: those of EL0 are not enough, so for a moment it has EL1h's."""
        state = register(gdb.newest_frame(), "cpsr")
        if state & 0xC:
            yield
            return
        set_newest("cpsr", state | 5)
        try:
            yield
        finally:
            set_newest("cpsr", state)


class X86:
    pc, fp, sp = "rip", "rbp", "rsp"
    kept = ["rbx", "rbp", "r12", "r13", "r14", "r15", "rsp", "rip"]

    @staticmethod
    def asleep_at(task):
        left = kernel.at(int(task["thread"]["sp"]), "struct switch_frame")
        return int(left["pc"]), int(left["rbp"])

    @staticmethod
    def current(cpu):
        return int(kernel.per_cpu("current_task", cpu))

    @staticmethod
    def stacks(cpu):
        yield kernel.per_cpu("irq_stack_end", cpu), kernel.stack_size()
        ends = kernel.per_cpu("ist_stack_end", cpu)
        for number in range(ends.type.range()[1] + 1):
            yield ends[number], 2 * 4096

    @staticmethod
    def mark(registers):
        return registers("rsp") - 8

    @staticmethod
    @contextlib.contextmanager
    def privileged():
        """Nothing to do: QEMU reads memory whatever the CPU may."""
        yield


def machine():
    """Of the kernel whose symbols are loaded."""
    return X86 if "x86" in gdb.selected_inferior().architecture().name() else Aarch64


def register(frame, name):
    return int(frame.read_register(name)) & kernel.ALL


def set_newest(name, value):
    """A register of the CPU itself, whatever frame is selected."""
    frame = gdb.selected_frame()
    gdb.newest_frame().select()
    gdb.execute(f"set variable ${name} = {value}")
    if frame.is_valid():
        frame.select()


@contextlib.contextmanager
def privileged():
    """In here all the kernel's memory can be read."""
    if gdb.selected_thread() is None:
        yield
        return
    with machine().privileged():
        yield


@contextlib.contextmanager
def selected(cpu):
    """The newest frame of a CPU, selected meanwhile."""
    thread, frame = gdb.selected_thread(), gdb.selected_frame()
    kernel.thread_of(cpu).switch()
    try:
        yield gdb.newest_frame()
    finally:
        thread.switch()
        frame.select()
