"""A guest under gdb in batch: commands that know the kernel (tools/gdb), each with its answer."""

import contextlib
import os
import subprocess

from vitrine_guest import ROOT

MARK = "-- answer --"
BACKSTOP = 600  # seconds


class Gdb:
    """gdb at a guest's stub. The guest runs on when ask() returns."""

    def __init__(self, machine, socket, program="gdb-multiarch"):
        self.socket, self.program = socket, program
        self.vmlinux = os.path.join(ROOT, "build", machine.arch, "vmlinux")

    def batch(self, commands, timeout=BACKSTOP):
        """All that gdb printed."""
        script = "\n".join(
            [
                "set pagination off",
                "set confirm off",
                "set remotetimeout 100",  # a QEMU that waits for its turn is not gone
                "set width 0",
                "set style enabled off",
                f"source {ROOT}/tools/gdb/vitrine.py",
                f"target remote {self.socket}",
                *commands,
                "detach",
                "quit",
            ]
        )
        # On its standard input: there gdb goes on behind a command that fails, in a file it does not.
        return subprocess.run(
            [self.program, "-q", "-nx", "-nh", self.vmlinux],
            input=script + "\n",
            text=True,
            timeout=timeout,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ).stdout

    def ask(self, *commands, timeout=BACKSTOP):
        """The answers, one text for each command."""
        script = []
        for command in commands:
            script += [f"echo \\n{MARK}\\n", command]
        output = self.batch([*script, f"echo \\n{MARK}\\n"], timeout)
        answers = output.split(f"{MARK}\n")[1:-1]
        assert len(answers) == len(commands), output
        return [answer.removesuffix("(gdb) ").replace("(gdb) ", "").rstrip("\n") for answer in answers]


@contextlib.contextmanager
def under_gdb(machine, tmp_path, **settings):
    """(a booted guest, its Gdb)."""
    socket = tmp_path / "gdb"
    stub = ["-chardev", f"socket,id=gdb,path={socket},server=on,wait=off", "-gdb", "chardev:gdb"]
    with machine.guest(qemu_args=stub, **{"timeout": 150, **settings}) as guest:
        yield guest, Gdb(machine, socket)
