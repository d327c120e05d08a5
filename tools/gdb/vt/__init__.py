"""Vitrine's kernel for gdb, a module for each subject. kernel.py has what all of them use."""

import importlib

import gdb

# Each registers what it has when it is imported.
SUBJECTS = (
    "tasks",
    "log",
    "percpu",
    "irq",
    "user",
    "modules",
    "printers",
    "unwind",
    "graph",
    "trace",
    "ftrace",
    "hooks",
    "lx",
    "watch",
)


HELP = "What there is for Vitrine's kernel. `help vt-NAME` tells more of each.\n\n{}"


class Vitrine(gdb.Command):
    """Also what `help vitrine` shows: each command with the first sentence of its own help."""

    def __init__(self, commands):
        lines = [f"{one.name:<11} {one.__doc__.split('. ')[0].split(chr(10))[0].rstrip('.')}" for one in commands]
        self.__doc__ = HELP.format("\n".join(lines))
        super().__init__("vitrine", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        gdb.execute("help vitrine")


def register():
    for subject in SUBJECTS:
        importlib.import_module(f"vt.{subject}")
    from vt.command import KNOWN  # after them: each has entered itself

    Vitrine(KNOWN)
