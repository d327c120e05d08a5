"""Programs of Debian at their work: the tests that come with bash, busybox and python3; coreutils, gawk, perl and dash
beside those of this computer; debuggers; tools that trace; load (docs/programs.md has the table)."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from debian_root import debian_root
from debian_source import debian_source
from programs_root import COMPILER, LIBRARIES, debian_files, folder_files, here, run_story, with_mode
from vitrine_guest import ROOT

SOAK_MINUTES = int(os.environ.get("SOAK_MINUTES", "0"))
only_in_soak = pytest.mark.soak(only=True)
# Packages beside those that the root always has.
MORE = ("perl", "rtla", "python3", "libpython3.11-testsuite", "linux-perf")
# Scripts that show less than they do, or none.
NOT_A_TEST = ("run-all", "run-minimal", "run-gprof")
BASH_TOOLS = ("recho", "zecho", "printenv", "xcase")
COREUTILS = (
    "b2sum base32 base64 basename basenc cat chmod cksum comm cp csplit cut date dd dirname du env expand expr factor fmt fold head "
    "id install join link ln ls md5sum mkdir mktemp mv nl nproc numfmt od paste pathchk pr printenv printf readlink realpath rm rmdir "
    "seq sha1sum sha224sum sha256sum sha384sum sha512sum shuf sleep sort split stat sum tac tail tee test timeout touch tr "
    "truncate tsort uname unexpand uniq wc yes cmp"
).split()


def source_of(package):
    folder = debian_source(package)
    if not folder:
        pytest.skip(f"the source of Debian's {package} cannot be had here")
    return folder


def on_debian():
    """Is this computer a Debian of the same release, whose programs may be compared?"""
    try:
        with open("/etc/debian_version", encoding="ascii") as file:
            return file.read().startswith("12.")
    except OSError:
        return False


def parts_of(text):
    """{test: what it printed} of a run of bash's tests, which came to its end."""
    parts = re.split(r"^==> (.*)$", text, flags=re.M)[1:]
    parts = dict(zip(parts[::2], parts[1::2]))
    assert "end" in parts, text[-2000:]
    del parts["end"]
    return parts


def differing(text):
    """The tests whose output is another than the one that bash's authors expect: diff has printed a difference."""
    return {name for name, said in parts_of(text).items() if re.search(r"^[<>] ", said, re.M)}


def bash_tools(compiler, source, folder, *words):
    """The small programs that bash's tests print words by. Their source wants two headers of bash's own."""
    (folder / "include").mkdir(parents=True)
    (folder / "include/config.h").write_text("#include <stdlib.h>\n#include <string.h>\n")
    (folder / "include/bashansi.h").write_text("")
    (folder / "bin").mkdir()
    for name in BASH_TOOLS:
        out = folder / "bin" / name
        subprocess.run(
            [compiler, "-w", *words, f"-I{folder}/include", "-o", out, f"{source}/support/{name}.c"], check=True
        )
    return folder / "bin"


def bash_suite(machine, folder):
    """bash's tests, here and in the guest: their names, and those that do not pass on each."""
    root, source = debian_root(machine.arch), source_of("bash")
    if not on_debian() or not shutil.which(COMPILER[machine.arch]):
        pytest.skip("there is no Debian 12 here whose bash could be compared, or no compiler")
    work = shutil.copytree(f"{source}/tests", folder / "tests")
    tests = sorted(name for name in os.listdir(work) if name.startswith("run-") and name not in NOT_A_TEST)
    files = folder_files(work, "tests")
    files |= folder_files(bash_tools(COMPILER[machine.arch], source, folder / "guest", "-static"), "tools")
    files |= debian_files(root, "bash", "dash", "diff", "grep", "sed", "gawk", *COREUTILS)
    files["usr/bin/awk"] = files["usr/bin/gawk"]
    files["usr/bin/egrep"] = with_mode(f"{root}/usr/bin/egrep")  # a script
    said_here = here("bash_suite", work, bash_tools("gcc", source, folder / "here"), *tests)
    said = run_story(machine, "bash_suite", "/tests", "/tools", *tests, files=files, icount=False, timeout=3000)
    assert list(parts_of(said)) == list(parts_of(said_here)) == tests
    return tests, differing(said_here), differing(said)


@only_in_soak
def test_bash(machine, tmp_path, monkeypatch):
    """bash's own tests: each that passes with bash on this computer passes in the guest."""
    # Those of jobs sleep for half a minute, seconds at a time, and do so little in between that it counts as nothing.
    monkeypatch.setenv("VITRINE_MOST_IDLE", "100")
    tests, wrong_here, wrong = bash_suite(machine, tmp_path)
    print(f"{len(tests)} tests; {len(wrong_here)} do not pass on this computer: {sorted(wrong_here)}")
    assert not wrong - wrong_here, sorted(wrong - wrong_here)
    assert len(wrong) < len(tests) / 4, sorted(wrong)


def verdicts(text):
    """{test: PASS, FAIL, ...} of a run of busybox's tests, which came to its end. A name that comes twice is numbered."""
    assert text.endswith("==> end\n"), text[-2000:]
    found = {}
    for word, name in re.findall(r"^(PASS|FAIL|SKIPPED|UNTESTED): (.*)$", text, re.M):
        while name in found:
            name += "'"
        found[name] = word
    return found


# What busybox's tests make their files with, and compare with.
BESIDE_BUSYBOX = "bash bzip2 dash diff find gawk grep gzip hostname sed tar xargs".split()
# They want strings of binutils, and zip.
NOT_IN_THE_ROOT = {"strings-works-like-GNU", "unzip (subdir only)"}


@only_in_soak
def test_busybox(machine, tmp_path):
    """busybox's own tests: each that passes with Debian's busybox on this computer passes in the guest."""
    root, source = debian_root(machine.arch), source_of("busybox")
    folders = {
        arch: os.path.join(ROOT, "build", arch, "busybox", "busybox") for arch in {machine.arch, os.uname().machine}
    }
    if not all(map(os.path.exists, folders.values())):
        pytest.skip("Debian's busybox cannot be had here")
    for arch, program in folders.items():
        place = tmp_path / arch
        shutil.copytree(f"{source}/testsuite", place / "testsuite", symlinks=True)
        for script in (place / "testsuite").glob("*.tests"):  # their echo is that of bash, busybox's authors' /bin/sh
            script.write_bytes(script.read_bytes().replace(b"#!/bin/sh\n", b"#!/bin/bash\n", 1))
        shutil.copy(f"{source}/debian/config/pkg/static", place / ".config")
        shutil.copy(program, place / "busybox")
    files = folder_files(tmp_path / machine.arch, "busybox")
    files |= debian_files(root, *BESIDE_BUSYBOX, *COREUTILS)
    # What they compare with stands there by its path, and a name is looked up there.
    files |= {"bin/date": with_mode(f"{root}/usr/bin/date"), "etc/hosts": with_mode(f"{root}/etc/hosts")}
    files["dash/sh"] = files["usr/bin/dash"]  # /bin/sh of the guest refuses what dash takes for a word, {a,b}
    expected = verdicts(here("busybox_suite", tmp_path / os.uname().machine))
    found = verdicts(run_story(machine, "busybox_suite", "/busybox", files=files, timeout=3000))
    passed = {name for name, word in expected.items() if word == "PASS"} - NOT_IN_THE_ROOT
    worse = {name: found.get(name) for name in sorted(passed) if found.get(name) != "PASS"}
    print(f"{list(expected.values()).count('PASS')} of {len(expected)} pass on this computer")
    assert not worse, "\n".join(f"{word}: {name}" for name, word in worse.items())
    assert list(found.values()).count("PASS") > 400


def real_data(folder):
    """Text, source and bytes, the same on each machine."""
    folder.mkdir()
    for name, pattern in (("text", "docs/*.md"), ("code", "kernel/fs/*.c")):
        whole = b"".join(path.read_bytes() for path in sorted(Path(ROOT).glob(pattern)))
        (folder / name).write_bytes(whole[:200000].rpartition(b"\n")[0] + b"\n")
    state, data = 1, bytearray()
    for _ in range(60000):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        data += state.to_bytes(4, "little")
    (folder / "binary").write_bytes(data)
    return folder


# A script, what it needs in the guest, and whether this computer's programs are Debian's of the same version.
BESIDE = {
    "coreutils": ("dash", "gawk", "grep", *COREUTILS),
    "gawk": ("dash", "gawk", "sort", "cksum", "cat", "uniq", "seq", "head"),
    "dash": ("dash", "cat", "wc", "sort", "sleep", "ls", "cut", "head"),
    "perl": ("dash", "perl", "cksum", "cmp", "echo", "sleep"),
}
# Where perl looks for its modules.
PERL = ("usr/share/perl/5.*[0-9]", "usr/lib/*-linux-gnu/perl/5.*[0-9]", "usr/lib/*-linux-gnu/perl-base")


def gawk_here(root, folder):
    """This computer's gawk: that of the root, since few computers have one."""
    folder.mkdir()
    libraries = f"{root}/usr/lib/x86_64-linux-gnu"
    linker = f"{libraries}/ld-linux-x86-64.so.2"
    (folder / "gawk").write_text(f'#!/bin/sh\nexec {linker} --library-path {libraries} {root}/usr/bin/gawk "$@"\n')
    (folder / "gawk").chmod(0o755)
    return folder


@only_in_soak
@pytest.mark.parametrize("program", BESIDE)
def test_as_here(machine, program, tmp_path):
    """What a script prints in the guest is what it prints on this computer, byte for byte."""
    root = debian_root(machine.arch, *MORE)
    if not on_debian() or os.uname().machine != "x86_64":
        pytest.skip("there is no Debian 12 here whose programs could be compared")
    data = real_data(tmp_path / "data")
    files = folder_files(data, "data") | debian_files(root, *BESIDE[program])
    if program == "perl":
        # A version has two names, of which the shorter leads to the other and is the one that perl looks for.
        folders = [folder for pattern in PERL for folder in Path(root).glob(pattern) if folder.name.count(".") < 2]
        for folder in folders:
            files |= folder_files(folder, str(folder.relative_to(root)))
    path = f"{gawk_here(debian_root('x86_64'), tmp_path / 'bin')}:{os.environ['PATH']}"
    expected = here(program, data, path=path)
    found = run_story(machine, program, "/data", files=files, timeout=1800)
    wrong = [pair for pair in zip(expected.splitlines(), found.splitlines()) if pair[0] != pair[1]]
    assert found == expected, wrong[:10]
    assert expected.count("\n") > 30


# Modules of python3 -m test, and what they show.
PYTHON = (
    "test_grammar test_dict test_generators test_re test_json test_struct test_math test_zlib test_hashlib test_random "
    "test_os test_posix test_subprocess test_signal test_threading test_thread test_select test_poll test_fileio test_selectors "
    "test_mmap test_pty test_pipes test_fork1 test_wait4 test_tempfile test_shutil test_io test_time test_resource"
).split()


@only_in_soak
@pytest.mark.parametrize("module", PYTHON)
def test_python(machine, module):
    """Modules of python's own tests, which skip what is not there."""
    root = debian_root(machine.arch, *MORE)
    said = run_story(machine, "python_suite", module, root=root, timeout=3300)
    assert said.startswith(f"{module} 0 SUCCESS"), said


def calls_of_strace(text):
    """[(name, what it returned)] of a file of strace -ff, without those that have no event behind them, since they do not
    return to where they were made. None where it says no number."""
    found = []
    for name, result in re.findall(r"^(\w+)\(.*?\) += (\S+)", text, re.M):
        if name in ("exit_group", "rt_sigreturn"):
            continue
        found.append((name, None if result == "?" else int(result, 0) if re.match(r"-?\w+$", result) else None))
    return found


# strace's names of calls whose events have another.
EVENTS = {
    "uname": "newuname",
    "stat": "newstat",
    "fstat": "newfstat",
    "lstat": "newlstat",
    "sendfile": "sendfile64",
    "umount2": "umount",
}


def calls_of_events(trace, pid):
    """[(name, what it returned)] of a task's events."""
    lines = re.findall(rf"^ *.*-{pid} +\[.*?: sys_(\w+) -> (0x[0-9a-f]+)$", trace, re.M)
    return [(name, int(value, 16) - (1 << 64) * (int(value, 16) >> 63)) for name, value in lines]


def same_call(said, event):
    """strace shows -1 and a name where the event has the number of the error, and `?` where a call starts again."""
    (name, value), (event_name, returned) = said, event
    return EVENTS.get(name, name) == event_name and (
        value is None or value == (-1 if -4096 < returned < 0 else returned)
    )


def test_strace(machine, tmp_path):
    """strace -f of a pipeline: no call is unknown, and strace and the events of the same calls agree, call by call."""
    root = debian_root(machine.arch)
    said = run_story(machine, "strace_agrees", root=root, share=str(tmp_path))
    assert said == "0\n<c>\n<b>\n1\ntold\n", said
    trace = (tmp_path / "trace").read_text()
    processes = {int(path.suffix[1:]): path.read_text() for path in tmp_path.glob("calls.*")}
    assert len(processes) >= 8, processes.keys()
    for pid, text in processes.items():
        calls, events = calls_of_strace(text), calls_of_events(trace, pid)
        assert "ENOSYS" not in text, text
        # strace holds a process at its first execve, or behind the call that made it.
        start = next(
            n for n, event in enumerate(events) if same_call(calls[0], event) and same_call(calls[1], events[n + 1])
        )
        differ = [pair for pair in zip(calls, events[start:]) if not same_call(*pair)]
        assert not differ and len(calls) == len(events) - start, (pid, differ[:3], len(calls), len(events) - start)


def copy_bytes(source, target):
    """All that one socket gets, to another, until it ends."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other side has gone


@contextlib.contextmanager
def served(channel, path):
    """A socket at this path: what connects there talks to the other end of the channel."""

    def serve():
        with contextlib.suppress(OSError):
            near, _ = listener.accept()
            threading.Thread(target=copy_bytes, args=(channel, near), daemon=True).start()
            copy_bytes(near, channel)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        threading.Thread(target=serve, daemon=True).start()
        yield


def connected(path, seconds=30):
    """A connection to a socket that comes into being in this time."""
    for _ in range(seconds * 20):
        channel = socket.socket(socket.AF_UNIX)
        try:
            channel.connect(path)
            return channel
        except OSError:
            channel.close()
            time.sleep(0.05)
    raise AssertionError(f"nobody listens on {path}")


GDB = "break work|continue|info threads|bt 1|thread apply all bt 1|watch shared|continue|continue|stepi|print shared|delete|continue"


def test_gdbserver(machine, tmp_path):
    """This computer's gdb with gdbserver in the guest, over a port: a program with two threads."""
    root = debian_root(machine.arch)
    if not shutil.which("gdb-multiarch") or not shutil.which(COMPILER[machine.arch]):
        pytest.skip("there is no gdb-multiarch or no compiler here")
    program = tmp_path / "threaded"
    source = os.path.join(ROOT, "tests", "guest", "debian", "glibc", "threaded.c")
    subprocess.run([COMPILER[machine.arch], "-g", "-O0", "-pthread", "-o", program, source], check=True)
    files = debian_files(root, "gdbserver") | {"threaded": with_mode(program)}
    thread_db = next(path for path in LIBRARIES if os.path.exists(f"{root}/{path}/libthread_db.so.1"))
    files[f"{thread_db.removeprefix('usr/')}/libthread_db.so.1"] = with_mode(f"{root}/{thread_db}/libthread_db.so.1")
    port = str(tmp_path / "port")
    words = ["set pagination off", "set remotetimeout 60", f"set sysroot {root}", f"target remote {port}.gdb"]
    with machine.guest(smp=2, files=files, ports={"gdb": f"socket:{port}"}, timeout=200, wait_prompt=False) as guest:
        # gdbserver takes a port that has nobody behind it for a debugger that has gone, so this comes first.
        with connected(port) as channel, served(channel, f"{port}.gdb"):
            guest.expect(guest.PROMPT)
            guest.run("test -e /proc/version || mount -t proc proc /proc")
            guest.send("/usr/bin/gdbserver --once /dev/virtio-ports/gdb /threaded\n")
            guest.expect("Remote debugging using")
            out = subprocess.run(
                [
                    "gdb-multiarch",
                    "-nx",
                    "-batch",
                    *(part for word in words + GDB.split("|") for part in ("-ex", word)),
                    program,
                ],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=150,
            ).stdout
            guest.expect("shared 6")
            guest.expect(guest.PROMPT)
    lines = out.splitlines()
    assert any("hit Breakpoint 1, work" in line for line in lines), out
    assert sum(bool(re.match(r"[* ] +\d +Thread ", line)) for line in lines) == 2, out
    assert sum(bool(re.match(r"Thread \d+ \(Thread ", line)) for line in lines) == 2, out
    values = [line for line in lines if re.match(r"(Old|New) value|\$1 = ", line)]
    assert values == ["Old value = 0", "New value = 1", "Old value = 1", "New value = 3", "$1 = 3"], out
    assert any("exited normally" in line for line in lines), out


TRACE_CMD = {
    "show": "1",
    "stat": "1",
    "stopped": "1",
    "extract": "1",
    "snapshot": "1",
    "reset": "0 nop",
    "function": "1",
    "graph": "1",
    "list": "3",
    "record": "0",
}


@only_in_soak
def test_trace_cmd(machine, tmp_path):
    """trace-cmd's commands in the guest, and this computer's trace-cmd reads what it has recorded there."""
    root = debian_root(machine.arch)
    said = run_story(machine, "trace_cmd", root=root, share=str(tmp_path))
    assert dict(line.split(" ", 1) for line in said.splitlines()) == TRACE_CMD, said
    if not shutil.which("trace-cmd"):
        pytest.skip("there is no trace-cmd here")
    report = subprocess.run(
        ["trace-cmd", "report", "-i", tmp_path / "recorded.dat"], capture_output=True, text=True, check=True
    ).stdout
    assert len(re.findall("sched_process_exec: .*filename=/usr/bin/(?:ls|sort|sh)", report)) == 3, report[:2000]
    assert re.search(r"sys_enter_exit_group: +error_code: 0x0*3$", report, re.M), report[-2000:]
    # Of the lines, not one is missing: the guest's report has the names of CPUs and the number of each as well.
    assert len(report.splitlines()) == int((tmp_path / "lines").read_text())


def test_cyclictest(machine):
    """cyclictest beside this tree's latency: the same loop, and what both find is of one size. With one CPU, since a turn
    of another one may come first under icount and lasts a millisecond."""
    said = run_story(machine, "cyclictest", 300, smp=1, root=debian_root(machine.arch))
    lines = re.findall(r"^(cyclictest|latency) ([\d ]+)$", said, flags=re.M)
    found = {name: list(map(int, numbers.split())) for name, numbers in lines}
    assert list(found) == ["cyclictest", "latency"] and all(len(numbers) == 4 for numbers in found.values()), said
    for count, least, mean, most in found.values():
        assert count == 300 and least <= mean <= most < 50, said
    assert abs(found["cyclictest"][2] - found["latency"][2]) <= 5, said


def rtla_parts(text):
    """{what was run: (its status, the lines behind)}"""
    parts = re.split(r"^(\w+ \w+) status (\d+)\n", text, flags=re.M)[1:]
    return {name: (int(status), lines) for name, status, lines in zip(parts[::3], parts[1::3], parts[2::3])}


@only_in_soak
def test_rtla(machine):
    """Debian's rtla: what it computes from the tracers osnoise and timerlat adds up."""
    parts = rtla_parts(run_story(machine, "rtla", root=debian_root(machine.arch, *MORE)))
    assert [status for status, _ in parts.values()] == [0] * 3, parts
    rows = re.findall(r"^ *(\d+) #(\d+) +(.*)$", parts["osnoise top"][1], re.M)
    assert [cpu for cpu, _, _ in rows] == ["0"], parts
    for _, periods, rest in rows:
        runtime, noise, available, most, single, _, _, interrupts, _, _ = map(float, rest.split())
        assert runtime == int(periods) * 5000 and 0 < interrupts, rest
        assert (
            single <= most <= noise < runtime / 10 and abs(available - 100 * (runtime - noise) / runtime) < 0.00002
        ), rest
    ((cpu, count, rest),) = re.findall(r"^ *(\d+) #(\d+) +(.*)$", parts["timerlat top"][1], re.M)
    irq, thread = ([int(number) for number in half.split()] for half in rest.replace("|", "\n").strip().splitlines())
    assert cpu == "0" and 900 < int(count) < 1200, parts
    assert all(least <= mean <= most < 100 for _, least, mean, most in (irq, thread)), parts
    lines = parts["timerlat hist"][1].splitlines()
    buckets = [[int(n) for n in line.split()] for line in lines if re.match(r"\d", line)]
    ends = {
        line.split(":")[0]: [int(n) for n in line.split(":")[1].split()] for line in lines if re.match(r"\w+:", line)
    }
    for column in (1, 2):
        total = sum(bucket[column] for bucket in buckets) + ends["over"][column - 1]
        assert total == ends["count"][column - 1] > 900, lines
        weighed = sum(bucket[0] * bucket[column] for bucket in buckets) // total
        assert weighed == ends["avg"][column - 1] and ends["over"] == [0, 0], lines
        filled = [bucket[0] for bucket in buckets if bucket[column]]
        assert (filled[0], filled[-1]) == (ends["min"][column - 1], ends["max"][column - 1]), lines


PERF_TOOLS = "funccount 1\nfunctrace 1\nfuncgraph 1\nfuncslower 1\ntpoint 1\nreset nop 0\n"


@only_in_soak
def test_perf_tools(machine):
    """The scripts of perf-tools that need no kprobes: each sees the program that ran meanwhile."""
    assert run_story(machine, "perf_tools", root=debian_root(machine.arch)) == PERF_TOOLS


PERF = r"""functions 1 others 0
graph 1 inside 1 deeper 0
latency 1000
list (\d+) \1
  probe:seen           \(on vfs_read with arg1\)
p:probe/seen _text\+\d+ arg1=\$stack
kprobe 1
uprobe 2
record 255 3
"""


@only_in_soak
def test_perf(machine):
    """perf's ftrace, probe and list: what they say is what tracefs has; record says that there is no such call."""
    said = run_story(machine, "perf", root=debian_root(machine.arch, *MORE), icount=False)
    assert re.fullmatch(PERF, said), said


STRESSORS = "cpu vm fork pipe switch timer sem futex mmap signal".split()
# The alarm at the end may come while a pipe is full.
FORGIVEN = re.compile(r"termination write failed, errno=4")
WHOLE = 30  # seconds: in less a stressor may not come to the end of one round


@only_in_soak
def test_stress_ng(machine):
    """stress-ng finds nothing wrong, and in its whole length each stressor makes progress."""
    seconds = min(WHOLE, 3 * SOAK_MINUTES)
    said = run_story(
        machine,
        "stress_ng",
        seconds,
        *STRESSORS,
        root=debian_root(machine.arch),
        icount=False,
        timeout=600 + 20 * seconds,
    )
    found = re.findall(r"^(\w+): (\d+) (\d+) (\d+)$", said, re.M)
    assert [name for name, *_ in found] == STRESSORS, said
    wrong = [row for row in found if row[1] != "0" or (row[3] == "0" and seconds == WHOLE)]
    assert not wrong and all(FORGIVEN.search(line) for line in re.findall("fail:.*", said)), said


@only_in_soak
def test_trinity(machine):
    """Random calls as nobody on four CPUs: the kernel has no complaint, no process and no memory is left behind."""
    calls = min(1000000, 100000 * SOAK_MINUTES)
    said = run_story(
        machine, "trinity", calls, root=debian_root(machine.arch), icount=False, smp=4, timeout=300 + calls // 50
    )
    made, _, left, missing = map(int, re.search(r"made (\d+) rounds (\d+) left (\d+) missing (-?\d+)", said).groups())
    assert made >= calls and left == 0 and missing < 32768, said
