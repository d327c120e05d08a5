"""The stack tracer: its table, a planted chain of known frames, interrupts' stacks, hooked returns, the command
line."""

import re

import pytest
from test_formats import read_format
from stories import story
from test_graph import script

ROW = re.compile(r"(?P<nr>[ \d]{3})\) (?P<depth>[ \d]{8})   (?P<size>[ \d]{5})   (?P<name>[\w.]+)\+0x[\da-f]+/0x[\da-f]+")
ENABLED = "/proc/sys/kernel/stack_tracer_enabled"
FRAMES = {"plant_stack_1": 512, "plant_stack_2": 1024, "plant_stack_3": 1536}


def table(text):
    """[(function, depth, size)] of exactly this form, each depth the sum of the sizes from there on."""
    lines = text.splitlines()
    head = re.fullmatch(r" {8}Depth    Size   Location    \((\d+) entries\)", lines[0])
    assert head and lines[1] == "        -----    ----   --------", lines[:2]
    rows = [ROW.fullmatch(line) for line in lines[2 : 2 + int(head[1])]]
    assert all(rows), text
    assert [int(row["nr"]) for row in rows] == list(range(len(rows)))
    frames = [(row["name"], int(row["depth"]), int(row["size"])) for row in rows]
    for i, (_, depth, _) in enumerate(frames):
        assert depth == sum(size for _, _, size in frames[i:]), text
    return frames


def test_these_checks_accept_linux():
    assert table(read_format("stack_trace.txt"))[0] == ("preempt_count_sub", 2728, 16)


def test_these_checks_refuse_a_wrong_sum():
    with pytest.raises(AssertionError):
        table(read_format("stack_trace.txt").replace("   408 ", "   400 "))


@pytest.fixture(scope="module")
def parts(machine):
    return script(machine, story("stack_tracer"), append="quiet stacktrace_filter=ksys_read,vfs_*")


def test_the_command_line_starts_it_with_a_filter(parts):
    *names, enabled, size = parts["boot"].split()
    assert "ksys_read" in names and "vfs_read" in names and all(re.match("ksys_read|vfs_", name) for name in names)
    assert enabled == "1" and 0 < int(size) < 16384


def test_before_the_first_time_it_says_how(parts):
    assert parts["off"] == read_format("stack_trace_off.txt")


@pytest.mark.parametrize("part", ["plant", "hooked"])
def test_planted_frames_are_found_with_their_sizes(parts, part):
    frames = table(parts[part])
    names = [name for name, _, _ in frames]
    bottom = names.index("plant_stack_3")
    assert names[bottom : bottom + 5] == [
        "plant_stack_3",
        "plant_stack_2",
        "plant_stack_1",
        "plant_stack_store",
        "text_file_write",
    ]
    for name, _, size in frames:
        assert name not in FRAMES or FRAMES[name] <= size <= FRAMES[name] + 64
    assert names[-1] in ("entry_SYSCALL_64", "el0t_64_sync")


def test_the_size_is_that_of_the_trace(parts):
    assert int(parts["size"]) == table(parts["plant"])[0][1]


def test_what_is_below_a_size_set_does_not_count(parts):
    size, trace = parts["threshold"].split("\n", 1)
    assert size == "100000" and table(trace) == table(parts["hooked"])


def test_an_interrupts_stack_is_its_own(parts):
    frames = table(parts["irq"])
    assert "hrtimer_interrupt" in [name for name, _, _ in frames] and frames[0][1] < 8192
    assert not {"entry_SYSCALL_64", "el0t_64_sync", "ret_from_fork"} & {name for name, _, _ in frames}


def test_each_of_three_users_gets_its_own_calls(parts):
    """The function tracer and the profiler go by set_ftrace_filter, the stack tracer by a filter of its own."""
    users = {line.split()[0]: line.split()[1] for line in parts["users"].splitlines()}
    assert users == {"plant_recurse": "(2)", "plant_stack_1": "(1)", "plant_stack_2": "(1)"}
    calls = [re.search(r": (\w+) <-", line)[1] for line in parts["function"].splitlines()]
    assert calls == ["plant_recurse"] * 21
    assert [line.split()[:2] for line in parts["profile"].splitlines()] == [["plant_recurse", "21"]]
    assert table(parts["stack"])[0][0] == "plant_stack_2"


@pytest.mark.parametrize(
    "what, error, value",
    [
        (f"{ENABLED} x", "Invalid argument", "1"),
        ("stack_max_size -1", "Invalid argument", None),
        ("stack_max_size 99999999999999999999", "range", None),
    ],
)
def test_bad_input_changes_nothing(parts, what, error, value):
    message, now = parts[what].splitlines()
    assert error in message
    assert now == value if value else 0 < int(now) < 16384
