"""How many instructions a kernel spends in a function, and what its text holds behind it, both seen from outside: QEMU
counts the instructions, and gdb reads the memory. What the kernel says of itself, or does to its clocks, is not asked."""

import contextlib
import os
import re
import resource
import subprocess
import tempfile
import time

from catalogue import LabError
from lost import EVIDENCE_LINES, Lost
from vitrine_guest import Setup

OUTPUT_BYTES = 16 << 20

# The number of instructions is a part of what QEMU says of a recording; the recording itself is not wanted. gdb hands
# the monitor's answers on to its output, and not to Python. A machine that has ended has no registers: then the script
# ends here.
GDB = r"""
set pagination off
set confirm off
set remotetimeout 100
target remote %(socket)s
hbreak *%(function)d
hbreak *%(panic)d
continue
printf "at %%lu\n", $pc
monitor info replay
set $back = %(back)s
hbreak *$back
continue
printf "at %%lu\n", $pc
monitor info replay
printf "back %%lu\n", $back
python
for address in %(addresses)s:
    print("holds", address, gdb.selected_inferior().read_memory(address, %(size)d).tobytes().hex())
end
kill
"""
BACK = {"aarch64": "$x30", "x86_64": "*(unsigned long *)$rsp"}


def limited():
    """Before gdb or QEMU runs."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def spent_in(attempt, function, addresses, watched):
    """(instructions from the entry of a function, at its first call, to its return; {address: bytes in memory then}).
    Lost when the kernel does not get there. watched(pid): a context, within which a QEMU that never ends is ended."""
    kernel = attempt.kernel
    with tempfile.TemporaryDirectory() as scratch:
        setup = Setup(arch=attempt.arch, build=attempt.build, append="quiet")
        console, gate, script = (os.path.join(scratch, name) for name in ("console", "gdb", "script.gdb"))
        qemu = setup.argv(["-chardev", f"file,id=console,path={console}", "-serial", "chardev:console"])
        qemu += ["-S", "-gdb", f"unix:{gate},server=on,wait=off"]
        qemu += ["-icount", f"shift=0,rr=record,rrfile={scratch}/run", "-seed", "1"]
        with open(script, "w", encoding="utf-8") as file:
            file.write(
                GDB
                % {
                    "socket": gate,
                    "function": kernel.symbols[function],
                    "panic": kernel.symbols["panic"],
                    "back": BACK[attempt.arch],
                    "addresses": list(addresses),
                    "size": kernel.code.SIZE,
                }
            )
        with started(qemu) as guest, watched(guest.pid):
            while not os.path.exists(gate):
                if guest.poll() is not None:
                    raise LabError(f"QEMU does not start:\n{guest.stdout.read()}")
                time.sleep(0.02)
            words = ["gdb-multiarch", "-nx", "-batch", os.path.join(setup.build, "vmlinux"), "-x", script]
            with started(words) as gdb:
                said = gdb.communicate()[0]
        with open(console, encoding="utf-8", errors="replace") as file:
            lines = file.read().replace("\r\n", "\n").splitlines()
    stops, counts = re.findall(r"^at (\d+)$", said, re.M), re.findall(r"instruction count = (\d+)", said)
    back = re.search(r"^back (\d+)$", said, re.M)
    if not back or stops != [str(kernel.symbols[function]), back[1]]:
        raise Lost(f"a kernel that comes back from {function}()", "it never does", "\n".join(lines[-EVIDENCE_LINES:]))
    held = re.findall(r"^holds (\d+) (\w+)$", said, re.M)
    return int(counts[1]) - int(counts[0]), {int(address): bytes.fromhex(data) for address, data in held}


@contextlib.contextmanager
def started(argv):
    """A process, which has ended behind it."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=limited,
        )
    except FileNotFoundError as error:
        raise LabError(f"{argv[0]} is not there: make deps installs it") from error
    with process:
        try:
            yield process
        finally:
            process.kill()
