#!/usr/bin/python3
"""Stands in for QEMU in the tests of tools/vrun: unpacks the initramfs it is given and acts as the guest would.

The script in /run/script is run by the host's shell; what it prints is the console. Without an init= on the kernel
command line an interactive shell is the guest, on a terminal that echoes. Words there choose another fate: panic, dump
(a panic whose report takes its time and has no end; endless: it goes on and on), hang, vanish (end without a status),
end=N (with this one), compute (for ever), stay (do not power off; late: panic then), chatter (a boot log first).
"""

import itertools
import os
import subprocess
import sys
import tempfile
import termios
import time
import tty


def unpack(data, folder):
    """Concatenated newc archives, zeros between them."""
    at = 0
    while at < len(data):
        if data[at] == 0:
            at += 4
            continue
        assert data[at : at + 6] == b"070701", "not a newc header, or not at a multiple of 4"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = data[at + 110 : at + 110 + name_size - 1].decode()
        start = (at + 110 + name_size + 3) & ~3
        at = (start + size + 3) & ~3
        path = os.path.join(folder, name)
        if name == "TRAILER!!!":
            continue
        if mode & 0o170000 == 0o040000:
            os.makedirs(path, exist_ok=True)
        else:
            with open(path, "wb") as file:
                file.write(data[start : start + size])
            os.chmod(path, mode & 0o777)


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


def say(text):
    sys.stdout.write(text.replace("\n", "\r\n"))
    sys.stdout.flush()


def interactive():
    """A guest that has booted to its prompt; the pty's line discipline stands for the guest's."""
    modes = termios.tcgetattr(0)
    modes[3] |= termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, modes)
    print("booting\nready", flush=True)
    os.execvpe("sh", ["sh", "-i"], {"PS1": "# ", "PATH": os.environ["PATH"]})


def main():
    if sys.argv[1:] == ["--version"]:
        return print("QEMU emulator version 99.0.0 (a stand-in)")
    words = option("-append").split()
    if "init=/run/vrun-init" not in words and words[:1] == ["shell"]:
        return interactive()
    if os.isatty(1):
        tty.setraw(1)  # as QEMU does: the guest's own \r\n pass unchanged
    with tempfile.TemporaryDirectory() as folder, open(option("-initrd"), "rb") as initrd:
        unpack(initrd.read(), folder)
        if "chatter" in words:
            say("booting\n[    0.000000] a boot message\n")
        if "hang" in words:
            with subprocess.Popen(["sleep", "1000"]):  # a child too: the whole group must go
                time.sleep(1000)
        while "compute" in words:
            pass
        if "vanish" in words:
            return 0
        for word in words:
            if word.startswith("end="):
                return int(word.removeprefix("end="))
        if "panic" in words:
            say(
                "[    0.1] Kernel panic - not syncing: a reason\n[    0.1] Call trace:\n[    0.1]  f+0x1/0x2\n"
                "[    0.1] ---[ end Kernel panic - not syncing: a reason ]---\n"
            )
            time.sleep(1000)
        if "dump" in words:
            say("[    0.1] Kernel panic - not syncing: a reason\n[    0.1] Dumping ftrace buffer:\n")
            for number in itertools.count() if "endless" in words else range(6):
                time.sleep(0.5)  # together longer than the silence that ends it
                say(f"line {number} of the dump\n")
            time.sleep(1000)
        assert "init=/run/vrun-init" in words
        with open(os.path.join(folder, "run/vrun-init"), encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith(("mkdir", "mount", "poweroff"))]
        init = "".join(lines).replace("/run/", f"{folder}/run/")
        with subprocess.Popen(
            ["/bin/sh", "-c", init],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "RUN": f"{folder}/run"},
        ) as shell:
            for line in shell.stdout:
                say(line)
        if "stay" in words:
            say("[    0.2] Kernel panic - not syncing: a late one\n" if "late" in words else "")
            time.sleep(1000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
