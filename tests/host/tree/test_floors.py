"""Calls go down: no object of the kernel takes a symbol from a floor above its own, but through a door
(the file `rooms` has the floors, docs/architecture.md the doors)."""

import collections
import fnmatch
import functools
import os
import re
import subprocess

import pytest
import rooms

ARCHES = ("aarch64", "x86_64")


def doors():
    """[(rooms, symbols)]: the rows of the table of doors in docs/architecture.md; no rooms: every room."""
    with open("docs/architecture.md", encoding="utf-8") as file:
        text = file.read().partition("## Rooms and floors")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    words = re.compile(r"`([^`]+)`")
    return [(words.findall(row[0]), words.findall(row[1])) for row in rows[1:]]


FLOORS, DOORS = rooms.floors(), doors()


@functools.cache
def room(path):
    """The innermost room of the list that a file is in."""
    name = rooms.room_of(path, FLOORS)
    assert name, f"{path} is in no room of the file `rooms`"
    return name


@functools.cache
def uses(arch):
    """{(object, the object that defines the symbol, symbol)} of a machine's kernel."""
    top = f"build/{arch}/"
    objects = [
        path for folder in ("arch", "boot", "kernel", "trace", "drivers", "samples") for path in find(top + folder)
    ]
    assert objects, f"{top} has no objects: build that machine's kernel first (make all)"
    defined, wanted = {}, []
    for line in subprocess.run(
        ["nm", "-g", "-A", *objects], capture_output=True, text=True, check=True
    ).stdout.splitlines():
        name, *_, kind, symbol = line.removeprefix(top).replace(":", " ", 1).split()
        if kind == "U":
            wanted.append((name, symbol))
        else:
            defined[symbol] = name
    return {(name, defined[symbol], symbol) for name, symbol in wanted if symbol in defined}


def find(top):
    """Objects below a folder whose source is there still: a build folder may hold some of an older tree."""
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            source = os.path.join(folder.split(os.sep, 2)[2], name[:-2])
            if name.endswith(".o") and (os.path.exists(source + ".c") or os.path.exists(source + ".S")):
                yield os.path.join(folder, name)


def named_for(source, users):
    """The one of these rooms that a file is in; a room stands for those of its folder that are on the same floor."""
    name = room(source)
    return next(
        (user for user in users if f"{name}/".startswith(f"{user}/") and FLOORS[name] == FLOORS[user]),
        None,
    )


def is_machine(path):
    """The rule does not hold for it."""
    return path.startswith(("arch/", "boot/"))


def door_of(source, symbol):
    """The number of the door through which a symbol is used, None: there is none."""
    for number, (users, symbols) in enumerate(DOORS):
        if (not users or named_for(source, users)) and any(fnmatch.fnmatchcase(symbol, pattern) for pattern in symbols):
            return number
    return None


@pytest.mark.parametrize("arch", ARCHES)
def test_calls_go_down(arch):
    seen = uses(arch)
    assert len(seen) > 4000
    up = [
        f"{source} uses {symbol} of {target}: {room(source)} is below {room(target)}"
        for source, target, symbol in sorted(seen)
        if not is_machine(source)
        and FLOORS[room(source)] < FLOORS[room(target)]
        and door_of(source, symbol) is None
    ]
    assert not up, "\n".join(up)


def test_every_door_is_used():
    """By some room for each of its symbols: a door that nobody needs is closed."""
    used = collections.defaultdict(set)
    for arch in ARCHES:
        for source, target, symbol in uses(arch):
            if not is_machine(source) and FLOORS[room(source)] < FLOORS[room(target)]:
                used[door_of(source, symbol)].add((source, symbol))
    for number, (users, symbols) in enumerate(DOORS):
        assert not set(users) - {named_for(source, users) for source, _ in used[number]}, (users, symbols)
        for pattern in symbols:
            assert any(fnmatch.fnmatchcase(symbol, pattern) for _, symbol in used[number]), pattern


def test_every_folder_has_a_floor():
    folders = subprocess.run(
        ["git", "ls-files", "*.c", "*.S"], capture_output=True, text=True, check=True
    ).stdout.split()
    kernel = {
        os.path.dirname(path)
        for path in folders
        if path.split("/")[0] in ("arch", "boot", "kernel", "trace", "drivers", "samples")
    }
    assert {room(folder) for folder in kernel} == set(FLOORS)


def test_rule_and_doors():
    """What the tables mean: a call up is refused, one down or through a door is not."""
    assert (
        FLOORS["kernel/mm"]
        < FLOORS["kernel/sched"]
        == FLOORS["kernel/lock"]
        < FLOORS["trace/core"]
        < FLOORS["kernel/init"]
    )
    assert room("trace/tracers/graph/print.o") == "trace/tracers/graph" and room("drivers/tty/n_tty.o") == "drivers"
    assert (
        door_of("kernel/mm/oom_kill.o", "send_sig") is not None and door_of("kernel/mm/oom_kill.o", "vfs_read") is None
    )
    assert (
        door_of("kernel/lib/string.o", "preempt_schedule") is not None
        and door_of("kernel/lib/string.o", "schedule") is None
    )


def largest_knot(uses_of):
    """How many files are in the largest set of which each one reaches every other one. uses_of: {file: files}."""
    order, number, lowest, stack, sizes = {}, iter(range(len(uses_of) + 10**6)), {}, [], [0]

    def visit(file):
        order[file] = lowest[file] = next(number)
        stack.append(file)
        for used in uses_of.get(file, ()):
            if used not in order:
                visit(used)
            if used in stack:
                lowest[file] = min(lowest[file], lowest[used])
        if lowest[file] == order[file]:
            at = stack.index(file)
            sizes.append(len(stack) - at)
            del stack[at:]

    for file in list(uses_of):
        if file not in order:
            visit(file)
    return max(sizes)


def arrows_up(pairs):
    return [(source, target) for source, target in pairs if FLOORS[room(source)] < FLOORS[room(target)]]


@pytest.mark.parametrize("arch", ARCHES)
def test_figures_are_those_of_today(arch):
    """The last column of the first table under In figures. Where x86_64 differs, its figure is in brackets."""
    with open("docs/architecture.md", encoding="utf-8") as file:
        text = file.read().partition("\n## In figures\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines() if row.startswith("| ")]
    said = {row[0]: row[-1] for row in rows if len(row) == 4}

    pairs = {(source, target) for source, target, _ in uses(arch) if source != target}
    within = {
        top: {pair for pair in pairs if all(file.startswith(top) for file in pair)} for top in ("trace/", "kernel/")
    }
    uses_of = collections.defaultdict(set)
    for source, target in within["trace/"]:
        uses_of[source].add(target)
    figures = {
        "folders of `trace/`": len([name for name in FLOORS if name.startswith("trace/")]),
        "floors that its calls stand on": len({floor for name, floor in FLOORS.items() if name.startswith("trace/")}),
        "arrows up between its files": len(arrows_up(within["trace/"])),
        "files of its largest knot": largest_knot(uses_of),
        "arrows up between files of `kernel/`": len(arrows_up(within["kernel/"])),
    }
    for name, figure in figures.items():
        first, _, second = said[name].rstrip(")").partition(" (")
        assert figure == int((arch == "x86_64" and second) or first), name


def test_what_a_knot_is():
    assert largest_knot({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}}) == 3
    assert largest_knot({"a": {"b"}, "b": {"c"}}) == 1
