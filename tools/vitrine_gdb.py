"""A guest under gdb: where the two meet, which gdb, and what it is told first."""

import functools
import os
import select
import shutil
import signal
import socket
import subprocess
import threading

from vitrine_guest import ROOT, die_with_parent
from vitrine_machines import NO_STATUS, GuestError
from vitrine_qemu import ended_line, install_words


class Stub:
    """Where QEMU waits for gdb: a TCP port of this computer, or a socket, which is the path of a file. for_qemu, for_gdb:
    what either is told."""

    def __init__(self, text):
        """ValueError when it is neither, as argparse wants it."""
        self.family, self.address, self.name = socket.AF_UNIX, text, text
        self.for_qemu, self.for_gdb = f"unix:{text},server=on,wait=off", text
        if "/" not in text:
            if not 0 < int(text) < 65536:
                raise ValueError(text)
            self.family, self.address, self.name = socket.AF_INET, ("127.0.0.1", int(text)), f"port {text}"
            self.for_qemu, self.for_gdb = f"tcp:127.0.0.1:{text}", f"127.0.0.1:{text}"

    def __str__(self):
        return self.name

    def answers(self):
        """Does somebody listen there?"""
        with socket.socket(self.family) as probe:
            return probe.connect_ex(self.address) == 0


def find_gdb(machine):
    """GDB= of the environment, gdb-multiarch, Homebrew's for this machine, or a plain gdb, which knows its own host's."""
    own = f"{machine.qemu.removeprefix('qemu-system-')}-elf-gdb"
    gdb = os.environ.get("GDB") or next((name for name in ("gdb-multiarch", own, "gdb") if shutil.which(name)), None)
    if not gdb or not shutil.which(gdb):
        raise GuestError(f"{gdb or 'gdb-multiarch'} is not there: {install_words(own, 'install it')}", NO_STATUS)
    tried = subprocess.run(
        [gdb, "-nx", "-batch", "-ex", f"set architecture {machine.gdb}"],
        stdin=subprocess.DEVNULL,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if "ndefined" in tried.stdout:
        raise GuestError(f"{gdb} knows no {machine.goal}: {install_words(own, 'install gdb-multiarch')}", NO_STATUS)
    return gdb


def gdb_arguments(args, setup):
    """Symbols and our commands, then where the guest is; on a terminal our windows, last of all. What is loaded from
    /host is found where the folder is here (vt-symbols)."""
    words = [
        "-q",
        os.path.join(setup.build, "vmlinux"),
        "-ex",
        f"directory {ROOT}",  # which the kernel's debugging information calls .
        "-x",
        os.path.join(ROOT, "tools/gdb/vitrine.py"),
        *(["-ex", f"python vt.modules.FOLDERS.append({os.path.abspath(args.share)!r})"] if args.share else []),
        "-ex",
        "set remotetimeout 100",  # a QEMU that waits for its turn is not gone
        "-ex",
        f"target remote {args.gdb.for_gdb}",
    ]
    if os.isatty(0) and os.isatty(1) and args.layout != "none" and "-batch" not in args.gdb_arg:
        words += ["-ex", f"layout {args.layout}"]
    return words + args.gdb_arg


def under_gdb(args, setup, argv, note):
    """QEMU by these words, stopped; then gdb, until it ends."""
    gdb = find_gdb(setup.machine)
    if args.gdb.answers():  # else another user's stub would be taken for ours
        raise GuestError(f"{args.gdb} is in use: GDB_PORT= chooses another", NO_STATUS)
    argv = argv + ["-S", "-gdb", args.gdb.for_qemu]
    # A session of its own: ^C in gdb stops the guest's CPUs, it must not end QEMU.
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=False,
        preexec_fn=functools.partial(die_with_parent, os.getpid()),
    ) as qemu:
        try:
            wait_for(args.gdb, qemu)
            print(note, flush=True)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # gdb's business
            if os.isatty(0):
                threading.Thread(target=wait_for_hangup, daemon=True).start()
            return subprocess.call(
                [gdb, *gdb_arguments(args, setup)], preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
            )
        finally:
            qemu.kill()


def wait_for_hangup():
    """A terminal that is closed tells only who leads its session: that may be make, which then waits for us."""
    terminal = select.poll()
    terminal.register(0, 0)
    terminal.poll()
    os.kill(os.getpid(), signal.SIGHUP)


def wait_for(stub, qemu):
    """Until QEMU listens: its end is noticed as well. gdb itself retries no connection."""
    while qemu.poll() is None:
        if stub.answers():
            return
        try:
            qemu.wait(0.02)
        except subprocess.TimeoutExpired:
            pass
    raise GuestError(ended_line(qemu.args[0], qemu.returncode, ""), NO_STATUS)
