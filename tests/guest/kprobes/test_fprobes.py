"""fprobes: entries and returns of functions that a pattern chooses, counted exactly, with data from one to the other;
what is refused; and calls that find no place for their data."""

import re

import pytest
from module_guest import guest, samples  # noqa: F401
from stories import story

CALLS = "for i in 1 2 3 4 5 6 7; do uname >/dev/null; done"
SHOW = "cat /proc/fprobe_example"


def example(words, calls=CALLS, then=""):
    """What the sample has counted while the calls are made."""
    return f"insmod /fprobe_example.ko {words}\n{calls}\n{SHOW}\n{then}rmmod fprobe_example\n"


def counts(line):
    """entries, exits, strangers (a return with another call's data), missed."""
    return tuple(int(n) for n in re.search(r"(\d+) entries, (\d+) exits, (\d+) strangers, (\d+) missed", line).groups())


def test_counts_are_exact(guest):
    """By name, by names, by pattern; with both handlers, with one, and with returns that the entry does not want."""
    out = guest(
        example("symbol=sys_newuname")
        + example("symbol=sys_newuname,no_such_call_2 || true")
        + example("symbol=sys_newuname,sys_getcpu")
        + example("symbol=sys_newu* nosymbol=sys_newfstat")
        + example("symbol=sys_newuname entry_only=1")
        + example("symbol=sys_newuname skip=1")
        + "grep -c fprobe /sys/kernel/tracing/enabled_functions; cat /sys/kernel/debug/fgraph/stats",
        "fprobe_example",
    )
    lines = [line for line in out.splitlines() if " entries, " in line]
    assert [counts(line) for line in lines] == [
        (7, 7, 0, 0),
        (7, 7, 0, 0),
        (7, 7, 0, 0),
        (7, 0, 0, 0),
        (7, 0, 0, 0),
    ], out
    assert lines[0].endswith("result 0")
    assert "users: 0\n" in out and "frames: 0\n" in out and "mismatches: 0" in out


def test_calls_under_way_need_a_place(guest):
    """Five sleepers, places for two: the other three are missed, and the two that have one come back with their own data.
    Tasks that end within a call, one after the other and each with a stack of its own, give their places back."""
    out = guest(
        story("fprobes"),
        "fprobe_example",
    )
    lines = [counts(line) for line in out.splitlines() if " entries, " in line]
    assert lines[0] == (2, 0, 0, 3), out
    assert lines[1] == (2, 2, 0, 3), out
    assert lines[2][0] >= 9 and lines[2][1:] == (0, 0, 0), out  # none returns, and none keeps its place


@pytest.mark.parametrize(
    "words, said", [("symbol=no_such_function", "Invalid"), ("symbol=sys_newuname maxactive=5000", "Invalid")]
)
def test_refused(guest, words, said):
    out = guest(f"insmod /fprobe_example.ko {words} 2>&1; ls /proc/fprobe_example 2>/dev/null; true", "fprobe_example")
    assert said in out and "/proc/fprobe_example" not in out
