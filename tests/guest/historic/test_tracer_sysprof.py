"""The tracer sysprof: a profile that is right, and lines as the tutorials describe them."""

import collections
import os
import re
import subprocess

import pytest
from stories import story

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
# The part of a line behind the time, in the words of a tutorial: "Identifier address frame_pointer/pid", where the
# identifier 0 begins a sample and the third number is the pid, 1 is of the kernel, 2 of the program, and 3 ends it.
LINE = re.compile(
    r" *(?P<comm>\S.*?)-(?P<pid>\d+) +\[(?P<cpu>\d{3})\] \S{5} +\d+\.\d{6}: "
    r"# (?P<id>-?\d) (?P<address>-?\d+) (?P<third>-?\d+)"
)
ROUNDS = 50_000  # of 20,000 instructions, each a nanosecond: a second
PERIOD = 100  # microseconds
SCRIPT = f"PERIOD={PERIOD} ROUNDS={ROUNDS}\n" + story("sysprof")


@pytest.fixture(scope="module")
def profile(machine, tmp_path_factory):
    """(stacks of the program with how many samples each has, lines of the trace)."""
    folder = tmp_path_factory.mktemp("sysprof")
    program = os.path.join(ROOT, "build", machine.arch, "guest-tests", "profile")
    symbols = os.path.join(ROOT, "build", machine.arch, "guest-tests", "debug", "profile")
    (folder / "script").write_text(SCRIPT)
    run = subprocess.run(
        [
            *(os.path.join(ROOT, "tools/vrun"), "--arch", machine.arch, "--icount", "--timeout", "300"),
            *("--file", f"{program}:/bin/profile", "--trace", folder / "trace.dat"),
            *("--trace-args=-p sysprof -b 16384", folder / "script"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    folded = subprocess.run(
        [os.path.join(ROOT, "tools/vtrace"), "folded", "-e", symbols, folder / "trace.dat"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    stacks = collections.Counter()
    for line in folded.splitlines():
        stack, count = line.rsplit(" ", 1)
        task, *frames = stack.split(";")
        if re.fullmatch(r"profile-\d+", task):
            stacks[tuple(frames)] += int(count)
    return stacks, run.stdout.splitlines()


def test_a_profile_is_right(profile):
    """70, 20 and 10 percent, within two points, of some 10,000 samples."""
    stacks, _ = profile
    total = sum(stacks.values())
    assert abs(total - ROUNDS * 20 / PERIOD) < 300
    shares = collections.Counter()
    for frames, count in stacks.items():
        shares[frames[-1]] += 100 * count / total
    assert all(
        abs(shares[name] - wanted) < 2 for name, wanted in (("seventy", 70), ("twenty", 20), ("ten", 10))
    ), shares


def test_stacks_lead_to_the_beginning(profile):
    """Every sample of the program leads back to its first function; in the kernel's there is the system call or the
    interrupt."""
    stacks, _ = profile
    assert all(frames[0] == "_start" for frames in stacks if "seventy" in frames or "main" in frames)
    assert stacks[next(frames for frames in stacks if frames[-1] == "seventy")] > 0


def test_lines(profile):
    """A program's samples: begin, addresses, end, each once and in this order."""
    _, lines = profile
    rows = [LINE.fullmatch(line) for line in lines if "profile-" in line]
    assert len(rows) == 200 and all(rows), lines
    text = "".join(row["id"] for row in rows)
    assert re.fullmatch(r"[123]*(01*2*3)+[012]*", text), text
    assert re.search(r"022*3", text)
    for row in rows:
        pid = row["third"] if row["id"] == "0" else row["address"] if row["id"] == "3" else row["pid"]
        assert pid == row["pid"] and (row["id"] != "0" or row["address"] == "0")
