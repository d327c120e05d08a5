"""A session and a script in a folder with programs of Debian (make debian-root, ROOT=debian): they run as they are, and
this tree's programs beside them."""

import os
import subprocess

import pytest
from debian_root import debian_root
from vitrine_guest import ROOT

# A command and what it prints: a program of each package, and some of this tree's.
USED = [
    ("echo ${BASH_VERSION%%.*}; set -- {a..c}; echo ${@^^}", "5\nA B C\n"),
    ("seq 5 | sort -rn | paste -sd+ | tee /tmp/sum; cat /tmp/sum", "5+4+3+2+1\n" * 2),
    ("python3 -c 'import json; print(json.dumps({\"a\": [1, 2]}))'", '{"a": [1, 2]}\n'),
    ('awk \'BEGIN { print (PROCINFO["version"] > 0), gensub("b", "x", 2, "bb") }\'', "1 bx\n"),
    ("strace -f -o /tmp/calls sh -c 'echo here'; grep -c 'write(1, \"here' /tmp/calls", "here\n1\n"),
    (
        "trace-cmd start -e sched_process_exec >/dev/null; /bin/true; trace-cmd show | grep -c 'filename=/bin/true'; trace-cmd reset",
        "1\n",
    ),
    ("stress-ng --cpu 1 --cpu-ops 50 -q --verify; echo $?", "0\n"),
    ("cyclictest -q -l 50 -i 1000 2> /dev/null | grep -c '^T: 0'", "1\n"),
    ("ps -o comm= -p 1; sysctl -n kernel.ostype", "init\nVitrine\n"),
    ("gdbserver --version | head -n 1 | cut -c 1-13; perl -e 'print 6 * 7, qq(\\n)'", "GNU gdbserver\n42\n"),
    ("type -p trinity funccount-perf | wc -l", "2\n"),
    # This tree's own are behind Debian's.
    (
        "command -v ls trace-cmd latency trace-fn",
        "/usr/bin/ls\n/usr/bin/trace-cmd\n/vitrine/bin/latency\n/vitrine/bin/trace-fn\n",
    ),
    ("/vitrine/bin/ls --help | head -n 1 | cut -c 1-9", "Usage: ls\n"),
    (
        "man ftrace | head -n 1; man irqsoff | grep -c irqsoff > /dev/null; echo $?; man -k hwlat | wc -l",
        "VITRINE\n0\n1\n",
    ),
    # Links with a slash in front lead to what is inside.
    ("ln -sf /etc/debian_version /tmp/link; cmp /tmp/link /etc/debian_version; readlink -f /var/run", "/run\n"),
    (
        "stat -fc %T /dev /run /tmp /vitrine; cat /sys/kernel/tracing/current_tracer; test -c /dev/null; echo $?",
        "tmpfs\ntmpfs\ntmpfs\ntmpfs\nnop\n0\n",
    ),
    ("id -un; hostname; pwd; echo $HOME", "root\nvitrine\n/\n/root\n"),
]


@pytest.mark.soak(only=True)
def test_session(machine, tmp_path):
    """At the prompt of bash: what each package has, a shared folder beside, and bash comes back after its end."""
    root = debian_root(machine.arch)
    (tmp_path / "word").write_text("shared\n")
    with machine.guest(root=root, share=str(tmp_path), mem="512M", smp=2, timeout=600) as guest:
        wrong = [(command, got) for command, expected in USED if (got := guest.run(command)[1]) != expected]
        assert not wrong, "\n".join(map(repr, wrong))
        assert guest.run("cat /host/word; echo back > /host/reply; ls /debian 2>&1 | wc -l")[1] == "shared\n1\n"
        assert (tmp_path / "reply").read_text() == "back\n"
        name = f"debian-root-test-{os.getpid()}"
        assert guest.run(f"echo kept > /root/{name}")[0] == 0
        with open(os.path.join(root, "root", name), encoding="ascii") as file:
            assert file.read() == "kept\n"
        assert guest.run(f"rm /root/{name}")[0] == 0
        before = guest.run("echo $$")[1]
        guest.send("exit\n")
        guest.expect(r"exit\r?\n")
        guest.expect(guest.PROMPT)
        assert guest.run("echo ${BASH_VERSION%%.*}")[1] == "5\n" and guest.run("echo $$")[1] != before
    assert not os.listdir(os.path.join(root, "vitrine")) and not os.listdir(os.path.join(root, "tmp"))


def vrun(machine, script, *words):
    return subprocess.run(
        [os.path.join(ROOT, "tools", "vrun"), "--arch", machine.arch, *words, script],
        capture_output=True,
        text=True,
        check=False,
    )


def test_script(machine, tmp_path):
    """vrun --root: the script and the files that it brings, its status, a trace of it."""
    root = debian_root(machine.arch)
    script, brought = tmp_path / "script", tmp_path / "brought"
    script.write_text("readlink /proc/$$/exe; cat /vitrine/there; python3 -c 'print(sum(range(5)))'; exit 7\n")
    brought.write_text("brought\n")
    done = vrun(machine, script, "--root", root, "--file", f"{brought}:/there", "--trace", tmp_path / "trace.dat")
    assert (done.returncode, done.stdout) == (7, "/usr/bin/dash\nbrought\n10\n"), done.stderr
    report = subprocess.run(
        ["trace-cmd", "report", "-i", tmp_path / "trace.dat"], capture_output=True, text=True, check=True
    ).stdout
    assert "filename=/usr/bin/python3" in report


def test_what_is_wrong(machine, tmp_path):
    """A folder that is none, an empty one, one whose shell is no program: a line, and a shell of this tree."""
    script = tmp_path / "script"
    script.write_text("true\n")
    for folder, said in (
        (script, "not a folder"),
        (tmp_path / "debian", f"there is no such folder: make debian-root ARCH={machine.make} makes it"),
        (tmp_path / "nowhere", "there is no such folder"),
    ):
        done = vrun(machine, script, "--root", folder)
        assert (done.returncode, done.stderr) == (126, f"vrun: root {folder}: {said}\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    with machine.guest(root=str(empty), timeout=60) as guest:
        assert "enter-root: the folder has no /bin/bash and no /bin/sh: make debian-root fills it" in guest.console
        assert guest.run("mountpoint /debian")[0] == 0
        assert guest.run("uname -s")[1] == "Linux\n"  # what programs of another root ask for
    (empty / "bin").mkdir()
    (empty / "bin/sh").write_bytes(b"\x7fELF" + bytes(100))
    (empty / "bin/sh").chmod(0o755)
    with machine.guest(root=str(empty), timeout=60) as guest:
        assert "enter-root: /bin/sh of the folder does not run: is it for another machine?" in guest.console
        assert guest.run("mountpoint /debian")[0] == 0


@pytest.mark.parametrize("word, folder", [("debian", "build/ARCH/debian"), ("/some/where", "/some/where")])
def test_make_has_it(machine, word, folder):
    for goal in ("qemu", "run"):
        said = subprocess.run(
            ["make", "-n", "-o", machine.make, "-o", "deps-run", f"{goal}-{machine.make}", f"ROOT={word}", "SCRIPT=x"],
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert f"--root '{folder.replace('ARCH', machine.arch)}'" in said, said
