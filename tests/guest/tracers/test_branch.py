"""The tracer `branch` and its counters, in kernels of make BRANCH=1, against gcc's own counters of the same run."""

import fcntl
import os
import re
import subprocess

import pytest
from elftools.elf.elffile import ELFFile
from gcov_counts import executed
from monitor import MonitoredGuest
from vitrine_guest import ROOT

pytestmark = pytest.mark.soak
COUNTED = ("kernel/fs/namei.c", "kernel/fs/pipe/pipe.c")  # reading the counts walks no path once its file is open
STAT = "/sys/kernel/tracing/trace_stat/branch_annotated"
SYMBOL = r"[A-Za-z_]\w*"
# What seed 002 prints, and what ours match: a line of the trace, the two lines of titles, a row.
PRINTED = {
    "  Xorg-2491   [000] 688.561593: [ ok ] fput_light:file.h:29": (
        r" +\S.*-\d+ +\[\d{3}\] (?:\S{5} +)?\d+\.\d{6}: \[ (ok|MISS) \] (" + SYMBOL + r"):([\w-]+\.[chS]):(\d+)"
    ),
    " correct incorrect    %      function            file        line": (
        r" correct incorrect +% +function +file +line"
    ),
    " ------- ----------  ---- ------------------ -------------- -----": (r" -{7} -{10} +-{4} -{18} -{14} -{5}"),
    " 0       46          100   pre_schedule_rt    sched_rt.c     1449": (
        r" (\d+) +(\d+) +(\d+|X) +(" + SYMBOL + r") +([\w-]+\.[chS]) +(\d+)"
    ),
}
LINE, _, _, ROW = PRINTED.values()


def built(machine, suffix, *words):
    """The folder of a kernel of another kind, which make builds there unless it is up to date. One worker at a time."""
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    with open(os.path.join(ROOT, "build", f".branch-{machine.arch}"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = ["make", "-s", "-j2", "-C", ROOT, f"ARCH={machine.arch}", *words, "all"]
        subprocess.run(command, env=environment, check=True, timeout=1200)
    return os.path.join(ROOT, "build", machine.arch + suffix)


@pytest.fixture
def build(machine):
    """A kernel that counts hints, and in two files also as gcc counts."""
    if "SOAK_MINUTES" not in os.environ:
        pytest.skip("builds one more kernel: make soak")
    return built(machine, "-branch-gcov", "BRANCH=1", f"GCOV={' '.join(COUNTED)}")


def make_objects(machine, suffix, words, objects):
    """Compile these objects of a kernel of another kind: {object: names of its sections}."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    folder = os.path.join("build", machine.arch + suffix)
    paths = [os.path.join(folder, name) for name in objects]
    subprocess.run(["make", "-s", "-C", ROOT, f"ARCH={machine.arch}", *words, *paths], env=environment, check=True)
    found = {}
    for name, path in zip(objects, paths):
        with open(os.path.join(ROOT, path), "rb") as file:
            found[name] = {section.name for section in ELFFile(file).iter_sections()}
    return found


@pytest.mark.parametrize("which", ("1", "all"))
def test_hints_have_their_sites(machine, which):
    """The short form of what follows: a file with hints, the tracer and its table are compiled, and sites are in the
    tables that the kernel reads. A file without a hint has none."""
    suffix = "-branch" + ("-all" if which == "all" else "")
    names = ["kernel/fs/pipe/pipe.o", "kernel/lib/sort.o", "trace/tracers/branch/tracer.o", "trace/tracers/branch/stat.o"]
    found = make_objects(machine, suffix, [f"BRANCH={which}"], names)
    tables = {name: {kind for kind in ("annotated", "all") if f"ptrs_branch_{kind}" in found[name]} for name in names}
    assert tables["kernel/fs/pipe/pipe.o"] == ({"annotated"} if which == "1" else {"annotated", "all"})
    assert tables["kernel/lib/sort.o"] == (set() if which == "1" else {"all"})


def shell(guest, command):
    status, output = guest.run(command)
    assert status == 0, f"{command}: status {status}: {output}"
    return output.replace("\r", "")


def rows(text):
    """{(function, file, line): (correct, incorrect)}"""
    return {
        (func, file, int(line)): (int(correct), int(incorrect))
        for correct, incorrect, _, func, file, line in re.findall(f"^{ROW}$", text, re.M)
    }


def test_the_patterns_match_what_the_seed_prints():
    for line, pattern in PRINTED.items():
        assert re.fullmatch(pattern, line)


def test_the_tables(machine, build):
    with machine.guest(build=build) as guest:
        text = shell(guest, f"cat {STAT}")
        lines = text.splitlines()
        for line, pattern in zip(lines, list(PRINTED.values())[1:3] + [ROW] * len(lines)):
            assert re.fullmatch(pattern, line), line
        numbers = [re.fullmatch(ROW, line).groups() for line in lines[2:]]
        assert len(numbers) > 300
        misses = [int(row[1]) for row in numbers]
        assert misses == sorted(misses, reverse=True) and misses[0] > 0
        for correct, incorrect, share, *_ in numbers:
            asked = int(correct) + int(incorrect)
            assert share == (str(100 * int(incorrect) // asked) if asked else "X")
        assert len(rows(text)) == len(numbers), "a place has two rows"
        old = shell(guest, "cat /sys/kernel/tracing/profile_annotated_branch")
        assert set(rows(old)) == set(rows(text)) and old.splitlines()[:2] == lines[:2]
        every = shell(guest, "cat /sys/kernel/tracing/profile_branch")
        assert every == shell(guest, "cat /sys/kernel/tracing/trace_stat/branch_all") and every.count("\n") == 2
        with open(os.path.join(build, "config"), encoding="ascii") as file:  # what /proc/config.gz holds
            config = file.read().splitlines()
        assert {"CONFIG_BRANCH_TRACER=y", "# CONFIG_PROFILE_ALL_BRANCHES is not set"} <= set(config)


def test_the_trace_has_each_question_that_is_counted(machine, build):
    """Hints of pipe.c, whose code nothing else runs: as many lines as the counts grow by, right and wrong."""
    command = (
        f"cd /sys/kernel/tracing; exec 4<{STAT}; echo 20000 > buffer_size_kb; echo branch > current_tracer; "
        "for n in 1 2 3; do seq 2000 | tail -1; ls /proc | cat > /dev/null; done; "
        f"echo nop-not-yet > trace_marker; echo 0 > tracing_on; exec 5<{STAT}; cat <&4 > /tmp/4; cat <&5 > /tmp/5; "
        "cat current_tracer; grep -h '^overrun\\|^dropped' per_cpu/*/stats; "
        "grep -E ': \\[ (ok|MISS) \\]' trace | grep -c . ; grep -F ':pipe.c:' trace > /tmp/6; head -14 trace | tail -1"
    )
    with machine.guest(build=build, smp=2, mem="512M") as guest:
        said = shell(guest, command).splitlines()
        assert said[:4] == ["2000", "2000", "2000", "branch"], said
        assert {line.split(": ")[1] for line in said[4:-2]} == {"0"} and int(said[-2]) > 1000
        assert re.fullmatch(LINE, said[-1]), said[-1]
        before, after = (rows(shell(guest, f"cat /tmp/{n}")) for n in (4, 5))
        seen = {}
        for line in shell(guest, "cat /tmp/6").splitlines():
            answer, func, file, number = re.fullmatch(LINE, line).groups()
            place = (func, file, int(number))
            right, wrong = seen.get(place, (0, 0))
            seen[place] = (right + (answer == "ok"), wrong + (answer == "MISS"))
        grown = {
            place: (after[place][0] - before[place][0], after[place][1] - before[place][1])
            for place in after
            if place[1] == "pipe.c" and after[place] != before[place]
        }
        assert seen == grown and sum(right + wrong for right, wrong in seen.values()) > 10
        shell(guest, "echo nop > /sys/kernel/tracing/current_tracer")
        assert shell(guest, "grep -c ok /sys/kernel/tracing/trace; true") == "0\n"


def hinted(source):
    """(line, hint, condition, body) of each `if` that is one hint alone; the body is the next line."""
    with open(os.path.join(ROOT, source), encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        match = re.fullmatch(r"\s*if \((likely|unlikely)\((.*)\)\)(?: \{)?", line)
        if match and match[2].count("(") == match[2].count(")"):
            yield number, match[1], match[2], lines[number].strip()


def test_counts_are_those_of_gcc(machine, build, tmp_path):
    """On four CPUs at work. A hint is asked as often as its line runs; it is true as often as the line behind it runs.

    Two things gcov does not tell: of a condition of two parts, how often the line runs, since a way from the first part
    to the body counts once more; and a body that is but a jump or a constant to return, for which there is no code.
    """
    walks = "ls -lR /proc/self /sys/kernel/tracing/events/sched | cat > /dev/null; stat /nonexistent"
    work = f"for n in 1 2 3 4; do (for m in 1 2 3; do {walks}; done) > /dev/null 2>&1 & done; wait"
    with MonitoredGuest(tmp_path, arch=machine.arch, build=build, smp=4, timeout=240, append="quiet") as guest:
        shell(guest, work)
        shell(guest, f"sleep 0.3; exec 4<{STAT}")

        def memory(address, size):
            path = str(tmp_path / "counters")
            guest.qmp("memsave", val=address - (1 << 64), size=size, filename=path)
            with open(path, "rb") as file:
                return file.read()

        truth = {
            source: executed(build, source, memory, str(tmp_path), f"{machine.arch}-linux-gnu-gcov")
            for source in COUNTED
        }
        ours = rows(shell(guest, "cat <&4"))
    compared = 0
    for source, times in truth.items():
        for line, hint, condition, body in hinted(source):
            (counts,) = [
                counts for (_, file, at), counts in ours.items() if (file, at) == (os.path.basename(source), line)
            ]
            correct, incorrect = counts
            if not re.fullmatch(r"(return -?\w+|break|continue|goto \w+);", body):
                true = correct if hint == "likely" else incorrect
                assert true == times.get(line + 1, 0), f"{source}:{line}: true"
                compared += true > 0
            if not re.search(r"&&|\|\||\?", condition):
                assert correct + incorrect == times[line], f"{source}:{line}: asked"
                compared += correct + incorrect > 0
    assert compared >= 6 and sum(sum(times.values()) for times in truth.values()) > 10000


@pytest.mark.skipif("SOAK_MINUTES" not in os.environ, reason="builds one more kernel: make soak")
def test_every_if(machine):
    """BRANCH=all: an `if` that is one hint has both counts, and they say the same."""
    counted = built(machine, "-branch-all", "BRANCH=all")
    command = (
        "exec 4<branch_annotated 5<branch_all; cat <&4 > /tmp/4; cat <&5 > /tmp/5; cat /tmp/4; echo ==; cat /tmp/5"
    )
    with machine.guest(build=counted, smp=2, timeout=180) as guest:
        shell(guest, "ls -lR /proc/self /sys/kernel/tracing/events/sched | cat > /dev/null")
        hints, ifs = shell(guest, f"cd {os.path.dirname(STAT)}; {command}").split("==\n")
    misses = [int(row[0]) for row in re.findall(f"^{ROW}$", ifs, re.M)]
    assert len(misses) > 4000 and misses == sorted(misses, reverse=True)
    assert ifs.startswith(" miss    hit          % ")
    places = rows(ifs)  # with their functions: there are two files pipe.c
    compared = 0
    for place, (correct, incorrect) in rows(hints).items():
        _, file, line = place
        if file != "pipe.c" or place not in places:
            continue
        hint = {number: kind for number, kind, _, _ in hinted("kernel/fs/pipe/pipe.c")}.get(line)
        false, true = places[place]
        if hint:
            assert (true, false) == ((correct, incorrect) if hint == "likely" else (incorrect, correct)), line
            compared += 1
    assert compared >= 3


def test_on_and_off_under_load(machine, build):
    """tracer_rounds.sh, which has all tracers, on the kernel whose every hint may be in a tracer's way."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "tracer_rounds.sh"), "rb") as file:
        text = file.read()
    files = machine.programs("storm")
    with open(os.path.join(here, "../prelude"), "rb") as file:
        files["run/prelude"] = (0o644, file.read())
    minutes = os.environ.get("SOAK_MINUTES", "0")
    run = machine.script(text, [minutes], files=files, smp=4, build=build, timeout=400 if minutes == "0" else 3000)
    try:
        run.wait_start()
        assert run.wait_exit() == 0, run.output
    finally:
        run.guest.close()


def test_what_make_takes():
    def make(*words, **environment):
        command = ["make", "-n", "-C", ROOT, "ARCH=aarch64", *words, "config-of-nothing"]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    assert "BRANCH=2: it is 1 (hints are counted) or all" in make("BRANCH=2")
    assert "BRANCH=" not in make(BRANCH="main")
