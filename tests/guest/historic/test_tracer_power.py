"""The tracer power, its events and files: lines of 2.6.28, and idle times that agree with each other."""

import re

import pytest
from stories import story

LINE = re.compile(
    r"\[ *(?P<at>\d+\.\d{9})\] CSTATE: Going to C(?P<state>\d) on cpu (?P<cpu>\d+) for (?P<ns>\d+\.\d{9})"
)
# As a kernel of 2.6.28 to 2.6.31 prints them. TOOLS is what scripts/tracing/power.pl, which drew them, looked for.
PRINTED = [
    "[  234.145230491] CSTATE: Going to C1 on cpu 0 for 0.000099345",
    "[   12.000001000] CSTATE: Going to C3 on cpu 1 for 1.020304050",
]
TOOLS = re.compile(r"([0-9\.]+)\] CSTATE: Going to C([0-9]) on cpu ([0-9]+) for ([0-9\.]+)")
EVENT = re.compile(r"\[000\] \S+ +(\d+\.\d+): (cpu_idle|power_start|power_end): (.*)")

# CPU 0 does not idle between a mark and the look beside it: the shell stays there and runs nothing else meanwhile.
SCRIPT = story("power")


@pytest.fixture(scope="module")
def parts(machine):
    """{label: text} of the script. By instructions: else the time that the host takes from a CPU between an interrupt and
    the switch away from the idle task is idle for /proc/stat, and for nobody else."""
    run = machine.script(SCRIPT.encode(), smp=2, icount=True, timeout=200)
    try:
        run.wait_start()
        status = run.wait_exit()
    finally:
        run.guest.close()
    assert status == 0, run.output
    return dict(part.split("\n", 1) for part in run.output.split("@")[1:])


def change(parts, before, after):
    """What usage, time (us), POLL's usage and /proc/stat's idle (10 ms) have grown by."""
    looks = [[int(n) for n in parts[label].split()] for label in (before, after)]
    return [last - first for first, last in zip(*looks)]


def between(text):
    return text.split("tracing_mark_write: mark\n")[1].splitlines()


@pytest.mark.parametrize("line", PRINTED)
def test_the_pattern_accepts_what_is_printed(line):
    assert LINE.fullmatch(line) and TOOLS.search(line)


def test_lines_are_those_of_the_old_kernels(parts):
    lines = between(parts["tracer"])
    rows = [LINE.fullmatch(line) for line in lines[:-1]]
    assert len(rows) >= 12 and all(rows), lines
    assert all(TOOLS.search(line) for line in lines[:-1])
    assert {row["cpu"] for row in rows} == {"0", "1"} and {row["state"] for row in rows} == {"1"}


def test_the_tracer_tells_of_each_sleep(parts):
    usage, time, _, jiffies = change(parts, "tracer_before", "tracer_after")
    sleeps = [float(row["ns"]) for row in map(LINE.fullmatch, between(parts["tracer"])) if row and row["cpu"] == "0"]
    assert len(sleeps) == usage
    assert abs(sum(sleeps) * 1e6 - time) < 0.02 * time + 1000
    assert abs(jiffies * 10_000 - time) < 0.01 * time + 20_000


def test_counts_are_those_of_the_events(parts):
    """usage and time against cpu_idle, exactly and within 2 %; against /proc/stat, which counts the way to the wait too."""
    usage, time, poll, jiffies = change(parts, "before", "after")
    begun, slept, entries, pairs = None, 0.0, 0, []
    for line in between(parts["events"]):
        if match := EVENT.search(line):
            at, event, text = float(match[1]), match[2], match[3]
            if event == "cpu_idle":
                assert text.endswith(" cpu_id=0")
                if text.startswith("state=1 "):
                    begun, entries = at, entries + 1
                else:
                    assert text.startswith("state=4294967295 ")
                    slept += at - begun
            else:
                pairs.append((event, text))
    assert entries == usage >= 6 and poll >= 0
    assert abs(slept * 1e6 - time) < 0.02 * time + 1000
    assert 400_000 < time and abs(jiffies * 10_000 - time) < 0.01 * time + 20_000
    assert pairs == [("power_start", "type=1 state=1 cpu_id=0"), ("power_end", "cpu_id=0")] * usage


def test_the_table_is_what_the_files_say(parts):
    header, _, *rows = parts["stat"].splitlines()
    assert header.split() == "# CPU STATE NAME USAGE TIME us AVG us MAX us".split()
    table = {(int(row[0]), int(row[1])): row[2:3] + [int(n) for n in row[3:]] for row in map(str.split, rows)}
    assert set(table) == {(cpu, state) for cpu in (0, 1) for state in (0, 1)}
    assert parts["states"].split() == ["state0", "state1"]
    name = re.search(r"state1/name:(\w+)", parts["names"])[1]
    assert name in ("WFI", "C1") and re.search(r"state0/name:POLL\n", parts["names"])
    for (cpu, state), (label, usage, time, average, longest) in table.items():
        assert label == ("POLL", name)[state]
        assert average == (time // usage if usage else 0) or abs(average - time / usage) <= 1
        assert average <= longest <= time
    usage, time, poll, _ = (int(n) for n in parts["last"].split())
    first = [int(n) for n in parts["tracer_after"].split()]
    assert first[0] <= table[0, 1][1] <= usage and first[1] <= table[0, 1][2] <= time and table[0, 0][1] <= poll
