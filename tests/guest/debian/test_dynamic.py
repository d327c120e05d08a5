"""Programs of Debian's glibc, linked in each way: what they find when they start (the auxiliary vector, the vDSO, rseq),
and that the library works on top of it; random addresses; and on the computer's own machine Debian's own programs."""

import glob
import os
import re
import shutil
import subprocess

import pytest
from vitrine_guest import ROOT
from vitrine_machines import SHARE_PLACE

SOURCE = os.path.join(ROOT, "tests", "guest", "debian", "glibc", "startup.c")
COMPILER = {"aarch64": "aarch64-linux-gnu-gcc", "x86_64": "gcc"}
# Where the computer has the libraries, and where programs look for their dynamic linker and for the others.
LIBRARIES = {
    "aarch64": ("/usr/aarch64-linux-gnu/lib", "lib/ld-linux-aarch64.so.1", "lib"),
    "x86_64": ("/lib/x86_64-linux-gnu", "lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu"),
}
NAMES = ("libc.so.6", "libm.so.6", "libgcc_s.so.1")
WAYS = {
    "static": ["-static", "-no-pie"],
    "static-pie": ["-static-pie", "-fPIE"],
    "pie": ["-pie", "-fPIE", "-DDYNAMIC"],
    "no-pie": ["-no-pie", "-DDYNAMIC"],
}
STACKS = {"execstack": "rwxp", "noexecstack": "rw-p"}
SOAK = int(os.environ.get("SOAK_MINUTES", "0"))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def libraries(arch):
    """{path in the guest: (mode, bytes)} of the dynamic linker and the libraries; nothing where they are not there."""
    folder, linker, place = LIBRARIES[arch]
    found = {linker: f"{folder}/{os.path.basename(linker)}"} | {f"{place}/{name}": f"{folder}/{name}" for name in NAMES}
    if not all(map(os.path.exists, found.values())):
        return {}
    return {path: (0o755, read(source)) for path, source in found.items()}


def programs(machine, scratch):
    """The program in each way, and what the dynamic ones need."""
    compiler, files = COMPILER[machine.arch], libraries(machine.arch)
    if not shutil.which(compiler) or not files:
        pytest.skip(f"there is no {compiler} with the libraries of Debian's glibc")
    ways = WAYS | {stack: ["-pie", "-fPIE", "-DDYNAMIC", "-z", stack] for stack in STACKS}
    for way, options in ways.items():
        out = scratch / f"startup-{way}"
        words = [compiler, "-O2", "-Wall", "-Werror", *options, "-o", out, SOURCE]
        subprocess.run([*words, "-static-libgcc", "-lm", "-ldl", "-pthread"], check=True, stderr=subprocess.DEVNULL)
        files[f"bin/startup-{way}"] = (0o755, read(out))
    return files


@pytest.fixture(scope="module", name="built")
def fixture_built(tmp_path_factory):
    """The programs of each machine, made once."""
    made = {}

    def build(machine):
        if machine.arch not in made:
            made[machine.arch] = programs(machine, tmp_path_factory.mktemp(machine.arch))
        return made[machine.arch]

    return build


@pytest.mark.parametrize("cpu", (0, -1))
def test_startup(machine, built, cpu):
    """The checks of startup.c, on the first and the last model of CPU."""
    with machine.guest(smp=2, cpu=machine.cpus[cpu], files=built(machine), timeout=120) as guest:
        guest.run("test -e /proc/version || mount -t proc proc /proc")
        for way in WAYS:
            for check in ("aux", "vdso", "library", "unwind", "shared:/tmp/shared", "rseq", "torn"):
                assert guest.run(f"/bin/startup-{way} {check}") == (0, ""), (way, check)


def test_stack(machine, built):
    """The header PT_GNU_STACK says whether the stack may be executed."""
    with machine.guest(files=built(machine)) as guest:
        guest.run("test -e /proc/version || mount -t proc proc /proc")
        for stack, rights in STACKS.items():
            assert guest.run(f"startup-{stack} stack") == (0, f"[stack] {rights}\n"), stack


@pytest.mark.skipif(not SOAK, reason="takes minutes: runs under make soak")
@pytest.mark.parametrize("way", ("linker", "pie", "no-pie"))
def test_damaged_files(machine, built, way):
    """A dynamic program, or the dynamic linker by itself, cut short and with each bit of its headers flipped, thousands
    of files: an error or a signal, and the kernel goes on."""
    files = built(machine) | machine.programs("badelf")
    path = f"/{LIBRARIES[machine.arch][1]}" if way == "linker" else f"/bin/startup-{way}"
    with machine.guest(smp=2, files=files, timeout=1800) as guest:
        status, text = guest.run(f"badelf {path} 2> /dev/null")
        assert status == 0, text


def test_without_a_counter(machine, built):
    """Where the machine's counter is not the clock, the vDSO asks the kernel (on aarch64 there is always one)."""
    with machine.guest(smp=2, files=built(machine), append="clocksource=hpet", timeout=120) as guest:
        assert guest.run("startup-pie vdso torn") == (0, "")


def test_cost_of_the_clock(machine, built):
    run = machine.script(b"startup-static cost\nstartup-pie cost\n", files=built(machine), icount=True, timeout=120)
    run.wait_start()
    assert run.wait_exit() == 0
    taken = [int(n) for n in re.findall(r"takes (\d+) instructions", run.output)]
    assert len(taken) == 2 and all(30 < n < 60 for n in taken), taken


def addresses(guest, way, check="places"):
    """Where program, stack, heap and dynamic linker lie, as one start of it says."""
    status, text = guest.run(f"/bin/startup-{way} {check}")
    assert status == 0, text
    return re.findall(r"0x[0-9a-f]+|\b0\b", text)


def test_random_addresses(machine, built):
    """All that is position independent moves from start to start; nothing does when that is switched off."""

    def differ(way, check="places"):
        found = [addresses(guest, way, check) for _ in range(4)]
        return [len(set(column)) > 1 for column in zip(*found)]

    with machine.guest(files=built(machine)) as guest:
        guest.run("test -e /proc/version || mount -t proc proc /proc")
        for way, moves in {
            "pie": [True] * 4,
            "static-pie": [True, True, True, False],
            "static": [False] * 4,
            "no-pie": [False] * 4,
        }.items():
            assert differ(way) == moves, way
            assert not any(differ(way, "fixed")), way
        for way in WAYS:  # with what they need
            assert guest.run(f"/bin/startup-{way} fixed > /dev/null && /bin/startup-{way} aux library")[0] == 0, way
        guest.run("echo 0 > /proc/sys/kernel/randomize_va_space")
        assert not any(differ("pie"))
        guest.run("echo 2 > /proc/sys/kernel/randomize_va_space")
        assert all(differ("pie")) and guest.run("echo 3 > /proc/sys/kernel/randomize_va_space")[0]
    with machine.guest(files=built(machine), append="norandmaps") as guest:
        assert not any(differ("pie")) and guest.run("cat /proc/sys/kernel/randomize_va_space") == (0, "0\n")


# Debian's own programs of this computer: those that are used, and a command with what it prints.
DEBIAN = [
    (
        "bash",
        "bash -c 'a=(1 2 3); echo ${#a[@]} $((6 * 7)); [[ abc =~ b ]] && printf \"%05.2f\\n\" 3.14159'",
        "3 42\n03.14\n",
    ),
    (
        "bash cat",
        "bash -c 'coproc /usr/bin/cat; echo via >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x; trap \"echo gone\" EXIT'",
        "via\ngone\n",
    ),
    ("bash", "printf '#!/usr/bin/bash\\necho script $1\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s arg", "script arg\n"),
    ("dash", "dash -c 'for i in 1 2 3; do echo $i; done | while read n; do echo n$n; done'", "n1\nn2\nn3\n"),
    ("seq shuf sort tail", "seq 1000 | shuf | sort -n | tail -n 1", "1000\n"),
    ("ls cut", "ls -ld /tmp | cut -c 1-5; ls /usr/bin/ls", "drwxr\n/usr/bin/ls\n"),
    ("date", "date -u -d @86400 +%F", "1970-01-02\n"),
    (
        "sha256sum",
        "printf abc | sha256sum",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -\n",
    ),
    ("dd od", "dd if=/dev/zero bs=1k count=3 2> /dev/null | od -An -tx1 -N4", " 00 00 00 00\n"),
    (
        "perl",
        "perl -e 'my %h = (a => 1, b => 2); print join(q(,), map {qq($_$h{$_})} sort keys %h), qq(\\n); print `echo sub`'",
        "a1,b2\nsub\n",
    ),
    (
        "python3",
        "python3 -c 'import json, hashlib, threading, subprocess; t = threading.Thread(target=lambda: print(json.dumps([1.5])));"
        ' t.start(); t.join(); print(hashlib.md5(b"x").hexdigest()[:6], subprocess.check_output(["/bin/echo", "sub"]))\'',
        "[1.5]\n9dd4e4 b'sub\\n'\n",
    ),
    (
        "trace-cmd",
        "trace-cmd start -e sched:sched_switch > /dev/null; cat set_event; trace-cmd stop; trace-cmd reset",
        "sched:sched_switch\n",
    ),
    (
        "python3",
        'python3 -c \'import socket; a, b = socket.socketpair(); a.sendall(b"over"); socket.send_fds(b, [b"fd"], [1]);'
        " print(b.recv(9), socket.recv_fds(a, 9, 9)[0])'",
        "b'over' b'fd'\n",
    ),
    (
        "script tty bash cut",
        "export SHELL=/usr/bin/bash;"
        " script -q -e -c 'tty; exit 3' /tmp/typescript < /dev/null > /tmp/seen; echo $?; cut -c 1-9 /tmp/seen",
        "3\n/dev/pts/\n",
    ),
    ("strace", "strace -V | head -n 1 | cut -d ' ' -f 1-3", "strace -- version\n"),
]
MODULES = "/usr/lib/python3.11"


def needs(program):
    """A program of this computer with its libraries, as the dynamic linker finds them."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [program, *re.findall(r"(/\S+) \(0x", text)]


def test_debian(machine):
    """Unmodified, with what they link; Python's own modules come from a folder of the computer."""
    words = {word for names, _, _ in DEBIAN for word in names.split()}
    if machine.arch != os.uname().machine or not os.path.exists(MODULES) or not all(map(shutil.which, words)):
        pytest.skip("this computer has no such programs for the machine")
    paths = {path for word in words for path in needs(f"/usr/bin/{word}")}
    files = {path[1:]: (0o755, read(path)) for path in paths}
    with machine.guest(smp=2, mem="1G", files=files, share=MODULES, timeout=120) as guest:
        guest.run("test -e /proc/version || mount -t proc proc /proc; cd /sys/kernel/tracing")
        guest.run(
            f"mkdir -p /usr/lib; ln -s {SHARE_PLACE} {MODULES}; export PATH=/usr/bin:$PATH PYTHONDONTWRITEBYTECODE=1"
        )
        for _, command, printed in DEBIAN:
            assert guest.run(command) == (0, printed), command


GDB = "break work|run|info threads|bt 1|watch shared|continue|continue|stepi|print shared|delete|continue"


def test_debuggers_of_debian(machine, tmp_path):
    """strace follows a pipe of the shell, and its calls are those that the kernel's events have; gdb stops a thread at a
    breakpoint, and where a variable changes."""
    programs = ("/usr/bin/strace", "/usr/bin/gdb-multiarch")
    if machine.arch != os.uname().machine or not all(map(os.path.exists, programs)):
        pytest.skip("this computer has no such programs for the machine")
    threaded = str(tmp_path / "threaded")
    source = os.path.join(os.path.dirname(SOURCE), "threaded.c")
    subprocess.run(["gcc", "-g", "-O0", "-pthread", "-o", threaded, source], check=True)
    paths = {path for program in (*programs, threaded) for path in needs(program)}
    paths.add("/usr/lib/x86_64-linux-gnu/libthread_db.so.1")
    files = {path[1:]: (0o755, read(path)) for path in paths if path != threaded}
    files["threaded"] = (0o755, read(threaded))
    files |= {path[1:]: (0o644, read(path)) for path in glob.glob("/usr/share/gdb/python/**/*.py", recursive=True)}
    with machine.guest(smp=2, mem="1G", files=files, share=MODULES, timeout=120) as guest:
        guest.run(
            f"mkdir -p /usr/lib; ln -s {SHARE_PLACE} {MODULES}; export PATH=/usr/bin:$PATH; cd /sys/kernel/tracing"
        )
        guest.run("echo 4096 > buffer_size_kb; echo > trace; echo 1 > events/raw_syscalls/sys_enter/enable")
        status, out = guest.run(
            "strace -f -o /tmp/said sh -c 'echo word | cat' > /tmp/out; cat /tmp/out; wc -l < /tmp/said"
        )
        guest.run("echo 0 > events/raw_syscalls/sys_enter/enable")
        assert status == 0 and out.startswith("word\n"), out
        _, said = guest.run("cat /tmp/said")
        assert "ENOSYS" not in said and said.count("+++ exited with 0 +++") == len(
            set(re.findall(r"^\d+", said, re.M))
        ), said
        for pid in set(re.findall(r"^\d+", said, re.M)):
            # A call that is interrupted is begun once and resumed once; execve is entered before strace has hold of it.
            calls = len(re.findall(rf"^{pid} +\w+\(", said, re.M))
            _, seen = guest.run(f"grep -c -e '-{pid} .*sys_enter' trace")
            assert 0 <= int(seen) - calls <= 20, (pid, calls, seen)
        words = " ".join(f"-ex '{word}'" for word in GDB.split("|"))
        status, out = guest.run(f"gdb-multiarch -nx -batch -ex 'set debuginfod enabled off' {words} /threaded 2>&1")
        lines = out.splitlines()
        assert any("hit Breakpoint 1" in line for line in lines), out
        assert sum(bool(re.match(r"[* ] +\d +Thread 0x", line)) for line in lines) == 2, out
        values = [line for line in lines if re.match(r"(Old|New) value|\$1 = |shared ", line)]
        assert values == ["Old value = 0", "New value = 1", "Old value = 1", "New value = 3", "$1 = 3", "shared 6"], out
        assert any("exited normally" in line for line in lines), out
