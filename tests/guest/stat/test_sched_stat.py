"""The events sched_stat_wait, sched_stat_sleep and sched_stat_blocked: each delay is the time since what the other
events tell."""

import re

from stories import story
from test_graph import script

SLACK_US = 4  # between the scheduler's look at the clock and an event's
LINE = re.compile(r" +\S.*-\d+ +\[(\d{3})\] \S{5} +(\d+)\.(\d{6}): (sched_\w+): (.*)")
STATES = {"R": "wait", "R+": "wait", "S": "sleep", "D": "blocked", "I": "blocked"}


def events(text):
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        if match:
            yield match[1], int(match[2]) * 1_000_000 + int(match[3]), match[4], dict(
                re.findall(r"(\w+)=(\S+)", match[5])
            ), line


def check(text):
    """What each task does since when, by switches and wake-ups; the delays by kind, in us."""
    since, told, delays = {}, {}, {"wait": [], "sleep": [], "blocked": []}
    for cpu, now, name, fields, line in events(text):
        if name.startswith("sched_stat_"):
            kind, pid, delay = name[11:], fields["pid"], int(fields["delay"]) / 1000
            if pid in since:
                assert since[pid][0] == kind, f"{line}: it was {since[pid]}"
                assert abs(now - since[pid][1] - delay) <= SLACK_US, f"{line}: it is so since {since[pid][1]}"
            told[pid] = kind
            delays[kind].append(delay)
        elif name == "sched_switch":
            before, after = since.pop(fields["next_pid"], None), told.pop(fields["next_pid"], None)
            assert (
                fields["next_pid"] == "0" or "migration" in fields["next_comm"] or before is None or after == "wait"
            ), f"{line}: nothing of its wait"
            if fields["prev_pid"] != "0" and "migration" not in fields["prev_comm"] and fields["prev_state"] in STATES:
                since[fields["prev_pid"]] = STATES[fields["prev_state"]], now
        else:
            before, after = since.get(fields["pid"]), told.pop(fields["pid"], None)
            assert before is None or before[0] == "wait" or after == before[0], f"{line}: nothing of its sleep"
            if before is None or before[0] != "wait":
                since[fields["pid"]] = "wait", now
    return delays


def test_delays_are_true(machine):
    parts = script(machine, story("sched_stat"), smp=2)
    delays = check(parts["events"])
    assert len(delays["wait"]) > 20 and len(delays["sleep"]) > 3 and delays["blocked"], delays
    asleep = [
        float(delay)
        for delay in re.findall(r"sched_stat_sleep: comm=sleep pid=\d+ delay=(\d+) \[ns\]", parts["events"])
    ]
    assert [delay for delay in asleep if 12_999_000 <= delay < 13_200_000], asleep
    assert max(delays["wait"]) > 3000, "nobody waited for the real-time task, nor for the other of two"
    # A sleep that began before the event was on is not told, nor one of long ago.
    slept = [int(delay) for delay in re.findall(r"sched_stat_\w+: .* delay=(\d+) \[ns\]", parts["again"])]
    assert slept and max(slept) < 25_000_000, parts["again"]


def test_the_check_sees_what_is_wrong():
    line = "              sh-9       [000] d..2.     0.00{}: sched_{}"
    text = "\n".join(
        [
            line.format(
                "1000",
                "switch: prev_comm=a prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=b next_pid=6 next_prio=120",
            ),
            line.format("3000", "stat_sleep: comm=a pid=5 delay=2000000 [ns]"),
            line.format("3000", "wakeup: comm=a pid=5 prio=120 target_cpu=000"),
            line.format("3500", "stat_wait: comm=a pid=5 delay=500000 [ns]"),
            line.format(
                "3500",
                "switch: prev_comm=b prev_pid=6 prev_prio=120 prev_state=R ==> next_comm=a next_pid=5 next_prio=120",
            ),
        ]
    )
    assert check(text) == {"wait": [500.0], "sleep": [2000.0], "blocked": []}
    for old, new in (
        ("delay=2000000", "delay=2010000"),
        ("stat_sleep", "stat_blocked"),
        ("stat_wait", "stat_sleep"),
        ("delay=500000", "delay=400000"),
    ):
        assert old in text
        try:
            check(text.replace(old, new))
        except AssertionError:
            continue
        raise AssertionError(f"{new} is taken")
