"""What differs between machines: names of registers, and where a task's are while it does not run."""

import contextlib

import gdb

from vt import kernel


class Aarch64:
    pc, fp, sp = "pc", "x29", "sp"
    # What a call keeps, and what says who runs (asm/current.h).
    kept = [f"x{n}" for n in range(19, 31)] + ["sp", "pc", "SP_EL0"]

    @staticmethod
    def asleep_at(task):
        context = task["thread"]["ctx"]
        return int(context["pc"]), int(context["fp"])

    @staticmethod
    def current(cpu):
        """In SP_EL0, while the CPU is in the kernel: but for the first and last instructions there, when it is user
        mode's."""
        with selected(cpu) as frame:
            task = register(frame, "SP_EL0")
            return task if min(task, register(frame, "pc")) >= kernel.HIGH_HALF else None

    @staticmethod
    def stacks(cpu):
        yield kernel.per_cpu("irq_stack_end", cpu), kernel.stack_size()
        yield kernel.per_cpu("overflow_stack_end", cpu), 4096

    @staticmethod
    def handler_frame(frame, depth):
        """return_to_handler, so many bytes on its stack: (stack pointer before, caller's frame pointer, return address,
        mark)."""
        end = register(frame, "sp") + depth
        fp, address = kernel.words(end - 32, 2) if depth else (register(frame, "x29"), register(frame, "x30"))
        return end, fp, address, fp

    @staticmethod
    def current_of(frame):
        """Of a frame of the kernel's: nothing changes SP_EL0 there but a switch of tasks."""
        return register(frame, "SP_EL0")

    @staticmethod
    def rights():
        """QEMU reads memory with the rights that the CPU has; those of EL0 are not enough, EL1h's are: (register, as it
        is, with them)."""
        state = register(gdb.newest_frame(), "cpsr")
        return None if state & 0xC else ("cpsr", state, state | 5)


class X86:
    pc, fp, sp = "rip", "rbp", "rsp"
    kept = ["rbx", "rbp", "r12", "r13", "r14", "r15", "rsp", "rip", "gs_base"]
    current_task = 0  # where it is in per-CPU memory: set by note_symbols()

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
    def handler_frame(frame, depth):
        end = register(frame, "rsp") + depth
        fp = kernel.word(end - 16) if depth >= 16 else register(frame, "rbp")
        return end, fp, kernel.word(end - 8) if depth >= 8 else None, end - 8

    @classmethod
    def current_of(cls, frame):
        return kernel.word(register(frame, "gs_base") + cls.current_task)

    @staticmethod
    def rights():
        """QEMU reads memory whatever the CPU may."""
        return None


def machine():
    """Of the kernel whose symbols are loaded."""
    return X86 if "x86" in gdb.selected_inferior().architecture().name() else Aarch64


def note_symbols():
    """What unwinders need: they must not look symbols up."""
    if machine() is X86:
        X86.current_task = kernel.address_of("current_task")


def register(frame, name):
    return int(frame.read_register(name)) & kernel.ALL


def set_newest(name, value):
    """A register of the CPU itself, whatever frame is selected."""
    frame = gdb.selected_frame()
    gdb.newest_frame().select()
    gdb.execute(f"set variable ${name} = {value}")
    if frame.is_valid():
        frame.select()


class Rights:
    """The one CPU that has more rights than the guest gave it. Whoever lets the guest run gives them back first."""

    lent = None  # (thread, register, what it holds in truth)

    @classmethod
    def take(cls):
        wanted = machine().rights() if gdb.selected_thread() else None
        if wanted:
            name, state, more = wanted
            cls.lent = gdb.selected_thread(), name, state
            set_newest(name, more)

    @classmethod
    def give_back(cls):
        if not cls.lent:
            return
        (thread, name, state), cls.lent = cls.lent, None
        if not thread.is_valid():
            return  # the guest has gone meanwhile
        chosen = gdb.selected_thread()
        thread.switch()
        set_newest(name, state)
        if chosen != thread:
            chosen.switch()


@contextlib.contextmanager
def privileged():
    """In here all the kernel's memory can be read. The guest runs by resume() alone."""
    if Rights.lent:
        yield
        return
    try:
        Rights.take()
        yield
    finally:
        Rights.give_back()


def resume(command):
    """For a command of gdb that lets the guest run, inside of privileged(): it runs with its own rights."""
    Rights.give_back()
    try:
        gdb.execute(command, to_string=True)
    finally:
        Rights.take()


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
