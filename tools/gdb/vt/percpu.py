"""vt-percpu: a per-CPU variable of every CPU."""

import re

import gdb

from vt import command, kernel

NAME = re.compile(r"((?:'[^']+'::)?[A-Za-z_]\w*)(.*)", re.S)


def parts(text):
    """("runqueues", ".cfs.nr_running") of runqueues.cfs.nr_running."""
    found = NAME.fullmatch(text)
    if not found:
        raise gdb.GdbError(
            f"{text}: the name of a per-CPU variable is wanted, maybe with members: runqueues.nr_running"
        )
    return found.groups()


class Percpu(command.Command):
    """Print a per-CPU variable of every CPU, or a member of it: vt-percpu runqueues.cfs.nr_running

    One of a file's own is named as gdb names it: vt-percpu 'softirq.c'::softirq_pending"""

    name = "vt-percpu"
    usage = "vt-percpu NAME[.MEMBER...]"

    def invoke(self, argument, from_tty):
        self.argument = argument.strip()  # quotes belong to the name
        super().invoke("", from_tty)

    def run(self, words):
        if not self.argument:
            raise gdb.GdbError(f"usage: {self.usage}")
        name, rest = parts(self.argument)
        template = kernel.variable(name)
        start, end = kernel.address_of("__per_cpu_start"), kernel.address_of("__per_cpu_end")
        if template.address is None or not start <= int(template.address) < end:
            raise gdb.GdbError(f"{name} is no per-CPU variable")
        for cpu in kernel.cpus():
            copy = kernel.per_cpu_of(template, cpu)
            if rest:
                gdb.set_convenience_variable("vt_this", copy.address)
                copy = kernel.variable(f"(*$vt_this){rest}")
            yield f"CPU {cpu}: {copy.format_string()}"


Percpu()
