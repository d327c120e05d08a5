"""The way of a file out of a guest: its program `tohost` holds the bytes in memory, QEMU's monitor writes them to a file.

Exact (checked by CRC-32), fast (a few ms a megabyte), and the same on all machines; trace data shares no stream with the console.
"""

import json
import os
import shutil
import socket
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
        self.link.connect(self.path)
        self.replies = self.link.makefile("rb")
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


def take_file(guest, monitor, output, instead="(?!)"):
    """`tohost FILE` was started in the guest: write that file's bytes to `output` and let the program end. False when the
    console says `instead`."""
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
    raise GuestError(f"{output}: the guest's file did not come over whole: {fault or 'its checksum differs'}", NO_STATUS)
