"""The two ways of a file out of a guest, by its program `tohost`. Both are checked by CRC-32 and share no stream with
the console.

Where a program drives the guest (take_file): `tohost -m FILE` holds the bytes in memory, QEMU's monitor writes them to
a file. A few ms a megabyte, and the machine has no device for it. Where a person types (Receiver): `tohost FILE...`
sends them through a virtio port to a process that stands beside QEMU, puts them into a folder and answers where they
are.
"""

import json
import os
import shutil
import signal
import socket
import struct
import tempfile
import zlib

from vitrine_guest import NO_STATUS, GuestError

HANDED = r"tohost ([0-9a-f]+) (\d+) ([0-9a-f]{8})\r?\n"
TRIES = 50  # each finds the program running unless something interrupted it at that moment


class Monitor:
    """QEMU's machine protocol: arguments() are for QEMU, then connect(). The socket's folder goes with close()."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="vrun-")
        self.path = os.path.join(self.folder, "qmp")
        self.link = self.replies = None

    def arguments(self):
        return ["-qmp", f"unix:{self.path},server=on,wait=off"]

    def connect(self):
        self.link = socket.socket(socket.AF_UNIX)
        self.replies = self.link.makefile("rb")
        self.link.connect(self.path)
        self.replies.readline()  # the greeting
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        """One command; None, or what was wrong. Events between are passed over."""
        self.link.sendall(json.dumps({"execute": name, "arguments": arguments}).encode())
        while True:
            line = self.replies.readline()
            reply = json.loads(line) if line else {"error": {"desc": "the monitor is gone"}}
            if "error" in reply:
                return reply["error"]["desc"]
            if "return" in reply:
                return None

    def close(self):
        if self.link:
            self.replies.close()
            self.link.close()
        shutil.rmtree(self.folder, ignore_errors=True)


MAGIC = struct.pack("<I", 0x48545601)
HEAD = struct.Struct("<4sIHH")  # magic, CRC-32 of what follows it, type, bytes of data: userland/bin/system/tohost.c
LONGEST = 4000


def frames(stream):
    """(type, data) of each whole frame of a stream of bytes. A part, as of a killed program, is passed
    over."""
    pending = b""
    for portion in stream:
        pending += portion
        while True:
            at = pending.find(MAGIC)
            if at < 0:
                pending = pending[-len(MAGIC) + 1 :]
                break
            pending = pending[at:]
            if len(pending) < HEAD.size:
                break
            _, crc, kind, size = HEAD.unpack_from(pending)
            if size <= LONGEST and len(pending) < HEAD.size + size:
                break
            if size > LONGEST or zlib.crc32(pending[8 : HEAD.size + size]) != crc:
                pending = pending[1:]
                continue
            yield chr(kind), pending[HEAD.size : HEAD.size + size]
            pending = pending[HEAD.size + size :]


class Receiver:
    """Puts what a guest sends into a folder, under the last part of its name; a file of that name is replaced when the
    new one is whole."""

    def __init__(self, folder):
        self.folder, self.file, self.part, self.name, self.fault = folder, None, None, None, None

    def serve(self, link):
        """Until the other end of the socket is closed, or this process is told to end."""
        try:
            for kind, data in frames(iter(lambda: link.recv(65536), b"")):
                answer = self.take(kind, data)
                if answer:
                    link.sendall(answer.encode(errors="surrogateescape") + b"\n")
        finally:
            self.drop()

    def take(self, kind, data):
        """One frame; the line to answer, if there is one."""
        try:
            if kind == "N":
                self.begin(os.fsdecode(data))
            elif kind == "D" and self.file:
                self.file.write(data)
            elif kind == "E":
                return self.finish()
            elif kind == "X":
                self.drop()
        except OSError as error:
            self.drop()
            self.fault = f"{error.filename2 or error.filename or self.folder}: {error.strerror}"
            if kind == "E":
                return f"no {self.fault}"
        return None

    def begin(self, name):
        self.drop()
        self.fault = None
        if name in ("", ".", "..") or "/" in name or "\n" in name or "\0" in name:
            self.fault = "this is no name for a file of the host"
            return
        os.makedirs(self.folder, exist_ok=True)
        handle, self.part = tempfile.mkstemp(prefix=".tohost-", dir=self.folder)
        self.name, self.file = os.path.join(self.folder, name), os.fdopen(handle, "wb")

    def finish(self):
        if not self.file:
            return f"no {self.fault or 'its name has not come'}"
        size = self.file.tell()
        self.file.close()
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self.part, 0o666 & ~mask)
        os.replace(self.part, self.name)
        self.file = None
        return f"ok {size} bytes, on the host {self.name}"

    def drop(self):
        """Half a file goes. Closing it writes what is buffered, which fails again on a disk that is full."""
        file, self.file = self.file, None
        if file:
            try:
                file.close()
            except OSError:
                pass
            os.unlink(self.part)


def start_receiver(folder):
    """A process that receives into this folder until QEMU has ended; the descriptor of the socket that QEMU is to
    have."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        try:
            theirs.close()
            for number in (signal.SIGINT, signal.SIGTSTP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)  # they are for whoever has the terminal; ours is the end of QEMU
            Receiver(os.path.abspath(folder)).serve(ours)
        finally:
            os._exit(0)
    ours.close()
    os.set_inheritable(theirs.fileno(), True)
    return theirs.detach()


def take_file(guest, monitor, output, instead="(?!)"):
    """`tohost -m FILE` was started in the guest: write that file's bytes to `output` and let the program end. False
    when the console says `instead`."""
    match = guest.expect(f"{HANDED}|{instead}")
    if match.group(1) is None:
        return False
    at, size, crc = match.groups()
    if monitor.link is None:
        monitor.connect()
    for _ in range(TRIES):
        monitor.command("stop")
        fault = monitor.command("memsave", val=int(at, 16), size=int(size), filename=os.path.abspath(output))
        monitor.command("cont")
        if not fault:
            with open(output, "rb") as file:
                if zlib.crc32(file.read()) == int(crc, 16):
                    guest.send("\n")
                    return True
    raise GuestError(
        f"{output}: the guest's file did not come over whole: {fault or 'its checksum differs'}", NO_STATUS
    )
