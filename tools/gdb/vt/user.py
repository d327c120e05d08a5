"""Symbols of user programs: all are linked for the same addresses, so one program's are there at a time.

At a stop in user mode they become those of the program that runs; vt-user chooses, for breakpoints before it runs."""

import os
import re

import gdb

from vt import command, kernel
from vt.machine import privileged


def programs():
    """The folder with the programs' own symbols, beside the kernel's file (mk/userland.mk)."""
    kernel_file = gdb.current_progspace().filename
    return os.path.join(os.path.dirname(kernel_file), "userland", "debug") if kernel_file else ""


def dentry_name(dentry):
    return kernel.text(dentry["d_name"]["name"])


def program_of(task):
    """The name of the file that a task runs; None: a kernel thread."""
    space = task["mm"]
    if not int(space) or not int(space["exe_file"]):
        return None
    return dentry_name(space["exe_file"]["f_dentry"])


class Loaded:
    """The one program whose symbols gdb has."""

    file = None

    @classmethod
    def load(cls, name):
        """False: there are no symbols of it."""
        file = os.path.join(programs(), name)
        if not os.path.exists(file):
            return False
        if file == cls.file:
            return True
        cls.drop()
        gdb.execute(f"add-symbol-file {file}", to_string=True)
        cls.file = file
        return True

    @classmethod
    def drop(cls):
        if cls.file:
            gdb.execute(f"remove-symbol-file {cls.file}", to_string=True)
            cls.file = None


def at_stop(event):
    """Nothing is said here: a program without symbols is none of the user's doing."""
    try:
        if gdb.newest_frame().pc() < kernel.address_of("_text"):
            with privileged():
                name = program_of(kernel.current())
            if name:
                Loaded.load(name)
    except kernel.UNREADABLE:
        return


class User(command.Command):
    """Use the symbols of a user program: of the one named, or of a task's. Without a word: say which are in use.

    At a stop in user mode the program that runs is chosen by itself. All programs lie at the same addresses, so a
    breakpoint in one may stop in another: vt-user tells then in which."""

    name = "vt-user"
    usage = "vt-user [PROGRAM|PID]"
    most = 1

    def run(self, words):
        name = words[0] if words else None
        if name and name.isdigit():
            name = program_of(kernel.task_of_pid(int(name)))
            if not name:
                raise gdb.GdbError(f"the task {words[0]} is a kernel thread")
        if name and not Loaded.load(name):
            raise gdb.GdbError(f"no program {name} in {programs()}")
        yield f"symbols of {os.path.basename(Loaded.file)}" if Loaded.file else "no user program's symbols"


# None of them, with whatever argument, lets the guest run or looks at another CPU, but for calls of the guest's
# functions.
READING = (
    "print",
    "p",
    "inspect",
    "output",
    "printf",
    "x",
    "info",
    "i",
    "backtrace",
    "bt",
    "where",
    "list",
    "l",
    "ptype",
    "whatis",
    "find",
    "disassemble",
)


class Kernel(command.Command):
    """Run a command of gdb that reads with the kernel's rights to memory: vt-kernel print init_tasks

    On aarch64 QEMU lets gdb read what the CPU that is looked at may read, so at a stop in user mode `print`, `x` and
    the like do not reach the kernel's memory. (The commands of ours do.) The CPU itself has those rights meanwhile, so
    nothing that may let it run is done here: print, x, info, backtrace, list, ptype, whatis, find, disassemble and
    their like are; functions are not called.
    """

    name = "vt-kernel"
    usage = "vt-kernel COMMAND"

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError(f"usage: {self.usage}")
        if re.match(r"\w*", argument)[0] not in READING:
            raise gdb.GdbError(
                f"{argument.split()[0]}: vt-kernel knows {', '.join(READING)}: nothing that may let the guest run"
            )
        calls = gdb.parameter("may-call-functions")
        gdb.execute("set may-call-functions off")
        try:
            with command.one_line(self.name), privileged():
                gdb.execute(argument, from_tty)
        finally:
            gdb.execute(f"set may-call-functions {'on' if calls else 'off'}")


User()
Kernel()
gdb.events.stop.connect(at_stop)
