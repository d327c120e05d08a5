"""What a guest does when its time is up: its CPUs' registers, where each of them stands, all tasks. A hang is found by
this, as it may not come a second time.

Each guest of the tests has a second monitor for it, at an abstract address, that nobody talks to before."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile

from vitrine_guest import ROOT

LINES = 300
# What sleeps comes first: a long report is cut in the middle by some who show it. A timer that did not come shows in
# what the kernel waits for, and in Arm's comparators, which gdb does not find on x86_64.
COMMANDS = (
    "vt-ps",
    "vt-runq",
    "vt-percpu 'hrtimer.c'::hrtimer_bases",
    "thread apply all printf \"%#lx %#lx\\n\", $CNTV_CTL_EL0, $CNTV_CVAL_EL0",
    "vt-irq",
    "info threads",
    "thread apply all backtrace 12",
    "vt-bt all",
    "vt-dmesg 20",
)
# Floating-point and system registers say nothing here.
NOT_SHOWN = r"(FP|FC|XMM|YMM|ST|Q\d|P\d+=|Z\d+|[C-GS]S =|[LGI]DT=|TR =|CR|DR|EFER|$)"


def arguments():
    """For QEMU's command line. The name is in it, so report() finds it there."""
    name = f"vitrine-{os.getpid()}-{secrets.token_hex(8)}"
    return [
        "-chardev",
        f"socket,id=postmortem,path={name},abstract=on,server=on,wait=off",
        "-mon",
        "chardev=postmortem,mode=control",
    ]


class Monitor:
    """A connection to the second monitor of a guest."""

    def __init__(self, argv):
        name = next(re.search(r"path=(vitrine-[^,]*)", word)[1] for word in argv if "id=postmortem" in word)
        self.link = socket.socket(socket.AF_UNIX)
        self.link.settimeout(100)
        self.link.connect("\0" + name)
        self.replies = self.link.makefile("rb")
        self.replies.readline()  # the greeting
        self.command("qmp_capabilities")

    def command(self, name, **settings):
        self.link.sendall(json.dumps({"execute": name, "arguments": settings}).encode())
        while True:
            reply = json.loads(self.replies.readline())
            if "return" in reply or "error" in reply:
                return reply.get("return", reply)

    def human(self, line):
        """What the monitor for people prints."""
        return str(self.command("human-monitor-command", **{"command-line": line})).replace("\r", "")


def by_gdb(monitor, kernel, stub):
    """Backtraces and tasks, by the commands of tools/gdb. The guest stands meanwhile, and stays so."""
    monitor.human(f"gdbserver unix:{stub},server=on,wait=off")
    words = [
        "set pagination off",
        "set width 0",
        "set confirm off",
        "set remotetimeout 100",
        f"source {ROOT}/tools/gdb/vitrine.py",
    ]
    words += [f"target remote {stub}", *COMMANDS, "kill"]
    done = subprocess.run(
        ["gdb-multiarch", "-q", "-nx", "-nh", kernel],
        input="\n".join(words) + "\n",
        text=True,
        errors="replace",
        timeout=600,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.replace("(gdb) ", "")


def report(guest):
    """A text of at most LINES lines. Never an exception: the time-out itself is what the reader must see."""
    try:
        monitor = Monitor(guest.argv)
        registers = monitor.human("info registers -a")
        text = monitor.human("info status")
        vmlinux = os.path.join(guest.setup.build, "vmlinux")
        if shutil.which("gdb-multiarch") and os.path.exists(vmlinux):
            with tempfile.TemporaryDirectory() as folder:
                text += by_gdb(monitor, vmlinux, os.path.join(folder, "gdb"))
        text += registers
    except (OSError, ValueError, StopIteration, subprocess.SubprocessError) as error:
        text = f"(its state cannot be seen: {error!r})"
    kept = [line for line in text.splitlines() if not re.match(NOT_SHOWN, line)]
    return "\n--- the guest when its time was up:\n" + "\n".join(kept[:LINES])
