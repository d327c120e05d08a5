"""A guest's run, recorded instruction by instruction (QEMU's icount, rr=record), and replayed as often as one likes,
backwards too.

What a recording needs lies in a folder, build/ARCH/replay: what came from outside of the guest (rr.bin), the files that
it was given, and a disk that the guest does not see, for the machine's state at the beginning: going backwards starts
from there. A recording is of one kernel, and of one command line for QEMU."""

import functools
import json
import os
import struct
import subprocess
import sys

from vitrine_guest import (
    NO_STATUS,
    TIMED_OUT,
    GuestError,
    apply_bootconfig,
    cpio_archive,
    die_with_parent,
    first_program,
)
from vitrine_lifetime import Lifetime, Silence
from vitrine_qemu import ended_line, silence_line

CLUSTER = 1 << 16
TOKEN = "recorded"


def write_empty_qcow2(path, size=1 << 20):
    """A qcow2 image without data, version 2: header, a refcount table with one block, a first-level table of one entry.
    It is the one format that keeps snapshots."""
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, size, 0, 1, 3 * CLUSTER, CLUSTER, 1, 0, 0)
    image = bytearray(4 * CLUSTER)
    image[: len(header)] = header
    struct.pack_into(">Q", image, CLUSTER, 2 * CLUSTER)
    struct.pack_into(">4H", image, 2 * CLUSTER, 1, 1, 1, 1)
    with open(path, "wb") as file:
        file.write(image)


class Recording:
    """The last one in a folder; by default there is one for a build."""

    def __init__(self, setup, folder=None):
        self.setup, self.folder = setup, os.path.abspath(folder or os.path.join(setup.build, "replay"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def argv(self, mode, console):
        words = [
            "-icount",
            f"shift=0,rr={mode},rrfile={self.path('rr.bin')},rrsnapshot=begin",
            "-drive",
            f"file={self.path('state.qcow2')},if=none,id=state",
        ]
        return (
            self.setup.argv(
                ["-chardev", f"file,id=console,path={self.path(console)}", "-serial", "chardev:console"],
                self.path("initrd"),
                "init=/run/vrun-init",
            )
            + words
        )

    def record(self, script, arguments, files, timeout):
        """Run a script to its end: its status. What it prints is shown then."""
        os.makedirs(self.folder, exist_ok=True)
        init = first_program(TOKEN, "/run/script", arguments)
        inside = {"run/vrun-init": (0o755, init), "run/script": (0o755, script), **files}
        with open(self.setup.initrd, "rb") as base, open(self.path("initrd"), "wb") as file:
            data = base.read()
            file.write(data + bytes(-len(data) % 4) + cpio_archive(inside))
        if self.setup.bootconfig:
            apply_bootconfig(self.setup.bootconfig, self.path("initrd"))
        write_empty_qcow2(self.path("state.qcow2"))
        for name in ("console.log", "argv"):  # of the recording before: this one may not come to its own
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        argv = self.argv("record", "console.log")
        with subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid()),
        ) as qemu:
            try:
                self._wait(qemu, timeout, self.path("console.log"))
            finally:
                qemu.terminate()  # it completes its file
        if not os.path.exists(self.path("console.log")):
            raise GuestError(ended_line(argv[0], qemu.returncode, ""), NO_STATUS)
        with open(self.path("argv"), "w", encoding="utf-8") as file:
            json.dump(self.argv("replay", "replay.log"), file)
        return self._status()

    @staticmethod
    def _wait(qemu, seconds, console):
        life, silence = Lifetime(seconds), Silence(qemu.pid)
        for portion in life.portions(qemu.pid):
            try:
                qemu.wait(portion)
                return
            except subprocess.TimeoutExpired:
                pass
            if silence and os.path.exists(console) and os.path.getsize(console):
                silence = None
            why = silence and silence.look()
            if why:
                print(f"vrun: {silence_line(qemu.args[0], why)}", file=sys.stderr, flush=True)
                silence = None
        print(f"vrun: {life.why}: the recording ends here", file=sys.stderr)

    def _status(self):
        with open(self.path("console.log"), encoding="utf-8", errors="replace") as file:
            console = file.read().replace("\r\n", "\n")
        output, _, end = console.partition(f"vrun-start-{TOKEN}\n")[2].partition(f"vrun-exit-{TOKEN} ")
        sys.stdout.write(output or console)
        sys.stdout.flush()
        return int(end.split()[0]) if end else TIMED_OUT

    def replay_argv(self):
        """QEMU's command line for the recording that there is; of the same kernel only."""
        if not os.path.exists(self.path("argv")):
            raise GuestError(f"nothing is recorded in {self.folder}: SCRIPT= names a script to record", NO_STATUS)
        if os.path.getmtime(self.setup.kernel) > os.path.getmtime(self.path("argv")):
            raise GuestError("the kernel is newer than the recording: SCRIPT= records anew", NO_STATUS)
        with open(self.path("argv"), encoding="utf-8") as file:
            return json.load(file)
