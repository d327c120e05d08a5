"""The timerlat tracer by instructions (icount): each period has its lines, timers are due at equal distances, what was
planted is the latency, and what the events tell adds up to it."""

import re

import pytest
from stories import story
from tracetext import read_format

PERIOD_US, PLANTED_US = 1000, 5000
AROUND_NS = 6000  # as in test_tracer_osnoise.py

SCRIPT = f"PLANTED_US={PLANTED_US}\n" + story("timerlat")

LINE = re.compile(r" *(?P<comm>\S+)-(?P<pid>\d+) +\[000\] (?P<flags>\S{5}) +(?P<at>\d+\.\d{6}): (?P<text>.*)")
PERIOD = re.compile(r"#(\d+) +context +(irq|thread) timer_latency +(\d+) ns")
# As Linux 6.12 prints them.
PRINTED = [
    "#5     context    irq timer_latency   1786752 ns",
    "#6     context thread timer_latency    121520 ns",
    "#40    context user-ret timer_latency     38112 ns",
]


@pytest.fixture(scope="module")
def parts(machine):
    run = machine.script(SCRIPT.encode(), icount=True, timeout=200)
    try:
        run.wait_start()
        status = run.wait_exit()
    finally:
        run.guest.close()
    assert status == 0, run.output
    return dict(part.split("\n", 1) for part in run.output.replace("\r", "").split("@")[1:])


def rows(text):
    """(at in us, flags, task, text) of each line below the header."""
    for line in text.splitlines():
        if not line.startswith("#") and line:
            match = LINE.fullmatch(line)
            assert match, line
            yield int(match["at"].replace(".", "")), match["flags"], match["comm"], match["text"]


def periods(text):
    """{number: {context: (at, latency in ns)}}"""
    found = {}
    for at, flags, task, line in rows(text):
        match = PERIOD.fullmatch(line)
        if not match:
            continue
        assert line == f"#{match[1]:<5} context {match[2]:>6} timer_latency {match[3]:>9} ns"
        assert (match[2] == "irq") == (flags[2] in "hH") and (match[2] == "irq" or task == "timerlat/0")
        period = found.setdefault(int(match[1]), {})
        assert match[2] not in period
        period[match[2]] = (at, int(match[3]))
    return found


def whole(text):
    """Those of which both lines are there, in order."""
    return [(number, p) for number, p in sorted(periods(text).items()) if len(p) == 2]


def test_the_forms_are_those_of_linux(parts):
    assert parts["quiet"].startswith(read_format("header_timerlat.txt"))
    pattern = re.compile(r"#\d+ +context +(irq|thread|user-ret) timer_latency +\d+ ns")
    assert all(pattern.fullmatch(line) for line in PRINTED)
    assert "ID: 17\n" in parts["record"]
    fields = re.findall(r"field:([^;]*) (\w+);\toffset:(\d+);\tsize:(\d+);\tsigned:(\d)", parts["record"])[4:]
    assert fields == [
        ("unsigned int", "seqnum", "8", "4", "0"),
        ("int", "context", "12", "4", "1"),
        ("u64", "timer_latency", "16", "8", "0"),
    ]


@pytest.mark.parametrize("run", ["quiet", "irqs_off", "preempt_off", "busy"])
def test_timers_are_due_at_equal_distances(parts, run):
    """A line's time less its latency is when the timer was due: each time whole periods after the one before."""
    found = whole(parts[run])
    assert len(found) > 10
    due = [p["irq"][0] - p["irq"][1] / 1000 for _, p in found]
    for before, after in zip(due, due[1:]):
        count = round((after - before) / PERIOD_US)
        assert count >= 1 and abs(after - before - count * PERIOD_US) < 3, (before, after)
    numbers = [number for number, _ in found]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert all(p["irq"][1] <= p["thread"][1] for _, p in found)


def test_at_rest_nothing_is_late(parts):
    latencies = [p["thread"][1] for _, p in whole(parts["quiet"])]
    assert sorted(latencies)[len(latencies) // 2] < 10_000


def test_interrupts_off_make_the_interrupt_late(parts):
    """By as much as is left of the section when the timer is due, which is within its first period."""
    longest = max(p["irq"][1] for _, p in whole(parts["irqs_off"]))
    assert (PLANTED_US - PERIOD_US) * 1000 - AROUND_NS < longest < PLANTED_US * 1000 + AROUND_NS
    late = [p for _, p in whole(parts["irqs_off"]) if p["irq"][1] == longest]
    assert late[0]["thread"][1] - longest < 2 * AROUND_NS


def test_preemption_off_makes_the_thread_late_and_not_the_interrupt(parts):
    found = whole(parts["preempt_off"])
    longest = max(p["thread"][1] for _, p in found)
    assert (PLANTED_US - PERIOD_US) * 1000 - AROUND_NS < longest < PLANTED_US * 1000 + 2 * AROUND_NS
    late = [p for _, p in found if p["thread"][1] == longest]
    assert late[0]["irq"][1] < AROUND_NS


@pytest.mark.parametrize("run", ["irqs_off", "preempt_off", "busy"])
def test_the_events_add_up_to_the_latency(parts, run):
    """rtla's arithmetic: from the timer's interrupt to its thread, the net times of what came in are the thread's
    latency less the interrupt's, but for a little around each."""
    seen, irq, sums, checked = [], None, 0, 0
    for _, _, _, line in rows(parts[run]):
        match = PERIOD.fullmatch(line)
        if match and match[2] == "irq":
            irq, seen = int(match[3]), []
        elif match:
            if irq is None:
                continue
            rest = int(match[3]) - irq - sum(seen)
            assert -AROUND_NS < rest < AROUND_NS * (len(seen) + 1), (line, seen)
            sums, checked = max(sums, sum(seen)), checked + 1
        elif "_noise: " in line and irq is not None:
            seen.append(int(re.search(r"duration (\d+) ns", line)[1]))
    assert checked > 10
    if run == "preempt_off":
        assert sums > (PLANTED_US - PERIOD_US) * 1000 - AROUND_NS


def test_a_planted_softirq_delays_the_thread(parts):
    """The planted ones last 400 us, every 10 ms: a timer that is due meanwhile finds its thread held up by what is left."""
    late = [p["thread"][1] - p["irq"][1] for _, p in whole(parts["busy"]) if p["thread"][1] - p["irq"][1] > 50_000]
    assert all(latency < 400_000 + 2 * AROUND_NS for latency in late)
    text = parts["busy"]
    tasklets = [int(n) for n in re.findall(r"softirq_noise: +TASKLET:4 start \S+ duration (\d+) ns", text)]
    assert len(tasklets) == len(late)
    for found in tasklets:
        assert any(abs(found - latency) < 2 * AROUND_NS for latency in late), (found, late)
