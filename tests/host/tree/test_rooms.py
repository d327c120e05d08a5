"""Rooms keep to their ceilings (the file `rooms`), some can be left out, and pages that say how large things are say what
is so."""

import collections
import fnmatch
import os
import re
import subprocess

import pytest
import rooms
from tree import files

LIST = """# a comment

kernel        1  1700 core     -            messages
kernel/mm     2    40 core     -            pages
kernel/net    3    90 optional -            sockets
kernel/net/inet 3  30 optional -            packets
trace/hist    5    50 optional trace/synth  counted by keys
trace/synth   4    20 optional -            made events
tools         -   500 tool     -            the build
"""


def kernel_folders():
    done = subprocess.run(
        ["git", "ls-files", "*.c", "*.S", "*.h"], cwd=rooms.ROOT, capture_output=True, text=True, check=True
    )
    return {os.path.dirname(path) for path in done.stdout.split() if not path.startswith("tests/")}


def test_a_folder_of_tests_has_at_most_25_files():
    """What a script is expected to print counts with the script."""
    paths = [path for path in files() if path.startswith("tests/") and not path.endswith((".expected", "/README.md"))]
    folders = collections.Counter(map(os.path.dirname, paths))
    assert len(folders) > 100
    assert not {folder: number for folder, number in folders.items() if number > 25}


# Folders that are too full still: how many files they may have.
FULL = {"samples/modules": 43}


def test_a_folder_has_at_most_25_files():
    """Headers of include and asm have the names that others expect, and are not read from the first to the last."""
    kernel = re.compile(r"(arch|boot|drivers|kernel|samples|trace|userland|vdso)/(?!.*/asm/|include/).*[^/]+\.[chS]")
    folders = collections.Counter(os.path.dirname(path) for path in files() if kernel.fullmatch(path))
    assert len(folders) > 60 and set(FULL) <= set(folders)
    assert not {folder: number for folder, number in folders.items() if number > FULL.get(folder, 25)}


def test_a_name_is_enough():
    """Programs of guests lie in one folder there, and unit tests in one of build/; tests/run finds a test by its name."""
    for pattern in ("tests/guest/progs/*.c", "tests/guest/stories/*.sh", "tests/*_test.c", "tests/*/test_*.py"):
        names = [os.path.basename(path) for path in files() if fnmatch.fnmatch(path, pattern)]
        assert len(names) > 50 and len(names) == len(set(names)), pattern
    scripts = [os.path.basename(path) for path in files() if re.match(r"tests/guest/(?!stories/).*\.sh$", path)]
    assert len(scripts) > 100 and len(scripts) == len(set(scripts))


def test_what_a_kernel_lacks(tmp_path):
    """By the objects of its link; no folder of the tests stands for another room than the one that it is about."""
    (tmp_path / "kernel.objects").write_text("ld | build/x/kernel/net/socket.o build/x/trace/hist/map.o\n")
    lacking = rooms.lacking(str(tmp_path))
    assert "trace/hist" not in lacking and "kernel/net" not in lacking
    assert {"kernel/net/inet", "trace/synth", "samples"} <= lacking and "kernel" not in lacking
    assert rooms.called("boot", rooms.read()) == ["boot"] and rooms.called("hist", rooms.read()) == ["trace/hist"]
    assert rooms.called("nosuch", rooms.read()) == [] and rooms.called("debug", rooms.read()) == ["kernel/debug"]
    assert rooms.called("text", rooms.read()) == ["arch/aarch64/probes/text", "arch/x86_64/probes/text"]


def test_no_room_has_outgrown_its_ceiling():
    limits = rooms.budgets()
    assert not list(rooms.outgrown(limits, rooms.count(tuple(limits))))


def test_ceilings_are_of_this_day():
    """Every folder with code has one, every one is of a folder with code, and none has twice what its room needs."""
    limits = rooms.budgets()
    counted = rooms.count(tuple(limits))
    assert not [folder for folder in kernel_folders() if not rooms.room_of(folder, limits)]
    assert not [room for room in limits if not counted[room][0]]
    assert not [room for room, limit in limits.items() if limit > 2 * counted[room][2]]


def test_what_is_counted():
    assert (
        rooms.code_lines("x.c", '/* a\n b */\n\nint a; /* c */\n// d\nchar *b = "/* no */";\n#define E \\\n\t1\n') == 4
    )
    assert (
        rooms.code_lines(
            "x.py", '"""Why.\n\nHow.\n"""\n\n# c\nx = 1  # d\n\n\ndef f():\n    """What."""\n    return "# no"\n'
        )
        == 3
    )
    assert rooms.code_lines("x.sh", "#!/bin/sh\n# a\n\necho '# b'\n") == 1
    assert rooms.room_of("kernel/mm/fault.c", {"kernel", "kernel/mm"}) == "kernel/mm"
    assert rooms.room_of("kernel/sched/core.c", {"kernel", "kernel/mm"}) == "kernel"
    assert rooms.room_of("tools/x.py", {"kernel"}) is None


def test_message_of_a_room_that_has_grown():
    lines = list(
        rooms.outgrown({"kernel": 1700, "kernel/mm": 40}, {"kernel": (1, 2000, 1700), "kernel/mm": (1, 50, 41)})
    )
    assert (
        len(lines) == 1
        and "kernel/mm has 41 lines of code, and its ceiling is 40" in lines[0]
        and "another" in lines[0]
    )


def test_measures_show_ceilings():
    done = subprocess.run([os.path.join(rooms.ROOT, "tools/rooms.py")], capture_output=True, text=True, check=True)
    rows = dict(re.findall(r"^(\S+) +\d+ +\d+ +\d+ +(\d+)  \w+ ", done.stdout, re.M))
    assert {room: int(rows[room]) for room in rooms.budgets()} == rooms.budgets()


def choice(**given):
    """Short names that are left out, and what is said of others."""
    out, said = rooms.left_out(rooms.parse(LIST), **{"core": False, "wanted": [], "unwanted": [], **given})
    return [name.rpartition("/")[2] for name in out], said


def test_choices_of_rooms():
    assert rooms.parse(LIST)["trace/hist"] == rooms.Room(
        "trace/hist", 5, 50, "optional", ("trace/synth",), "counted by keys"
    )
    assert choice() == ([], [])
    assert choice(unwanted=["hist"]) == (["hist"], [])
    assert choice(unwanted=["synth"]) == (
        ["hist", "synth"],
        ["trace/hist needs trace/synth, and is left out, too"],
    )
    assert choice(unwanted=["kernel/net"])[0] == ["net", "inet"]
    assert choice(core=True) == (["net", "inet", "hist", "synth"], [])
    assert choice(core=True, wanted=["hist", "inet"]) == (
        [],
        ["trace/hist needs trace/synth, which comes along", "kernel/net/inet needs kernel/net, which comes along"],
    )
    assert choice(absent=["trace/synth"])[0] == ["hist", "synth"]


def test_star_stands_for_each_machine():
    """Slots and what they call need each other: whichever is not wanted, the other one goes as well."""
    text = "".join(
        f"{path} 0 9 optional {needs} what it is for\n"
        for path, needs in (("arch/a/slots", "probes"), ("arch/b/slots", "probes"), ("probes", "arch/*/slots"))
    )
    found = rooms.parse(text)
    assert found["probes"].needs == ("arch/a/slots", "arch/b/slots")
    assert rooms.left_out(found, False, [], ["probes"])[0] == list(found)
    assert rooms.left_out(found, False, [], ["arch/b/slots"])[0] == list(found)
    assert rooms.left_out(found, True, ["probes"], [])[0] == []


@pytest.mark.parametrize(
    "given, text",
    [
        ({"wanted": ["nett"]}, "there is no room 'nett' (is it kernel/net?): `make rooms` lists what can be left out"),
        ({"unwanted": ["mm"]}, "every kernel has kernel/mm: `make rooms` lists what can be left out"),
        ({"unwanted": ["tools"]}, "every kernel has tools"),
        (
            {"wanted": ["hist"], "absent": ["trace/synth"]},
            "trace/hist is wanted, but what it needs is not there: trace/synth",
        ),
    ],
)
def test_wrong_choices_are_one_line(given, text):
    with pytest.raises(rooms.Mistake) as mistake:
        choice(core=True, **given)
    assert str(mistake.value).startswith(text) and "\n" not in str(mistake.value)


def dry_run(*given):
    """Make's words for a run in the kernel of this choice; with ARCH= for its build, too."""
    goals = ["make", "-n", "-o", "deps-run", "-o", "x86_64", "run-x86_64", "SCRIPT=x", *given]
    environment = {**os.environ, "CORE": "2", "WITH": "hist"}  # an environment may have such names
    return subprocess.run(goals, cwd=rooms.ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "given, folder", [((), None), (("CORE=0", "WITH="), None), (("CORE=no",), None), (("CORE=yes",), "core")]
)
def test_a_core_or_not(given, folder):
    done = dry_run(*given)
    assert (done.returncode, re.findall(r"--build \S*x86_64-?(\S+)", done.stdout)) == (0, [folder] if folder else [])


@pytest.mark.parametrize(
    "given, said",
    [
        (("WITH=hist",), "WITH=hist: it is for CORE=1, "),
        (("CORE=0", "WITH=hist"), "WITH=hist: it is for CORE=1, "),
        (("CORE=2",), "CORE=2: it is 1 or yes "),
    ],
)
def test_words_of_make_that_mean_nothing_are_one_line(given, said):
    for more in ((), ("ARCH=x86_64",)):
        done = dry_run(*given, *more)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("line", ["kernel 1 x core - a", "kernel 1 2 main - a", "kernel 1 2 core -", "a 1 2 core b c"])
def test_wrong_lists_are_one_line(line):
    with pytest.raises(rooms.Mistake) as mistake:
        rooms.parse(line)
    assert str(mistake.value).startswith("rooms:")


@pytest.mark.parametrize("page, far", [("README.md", 0.1), ("docs/reading.md", 0.2)])
def test_lengths_in_pages_are_about_right(page, far):
    """tools/rooms.py --pages writes them again."""
    with open(os.path.join(rooms.ROOT, page), encoding="utf-8") as file:
        said = rooms.table_rows(file.read())
    assert len(said) >= 10
    assert not [
        (path, number) for path, number in said if abs(rooms.PAGES[page](path) - number) > max(20, far * number)
    ]


def test_readme_says_how_large_the_core_is():
    """Within a twentieth, and the number of optional rooms exactly. tools/rooms.py --pages writes both. What is counted
    is what the core of aarch64 is linked of, without headers and without files of another machine."""
    with open(os.path.join(rooms.ROOT, "README.md"), encoding="utf-8") as file:
        page = file.read()
    lines, optional = rooms.core_code(), rooms.optional_rooms()
    linked = subprocess.run(
        ["make", "-s", "ARCH=aarch64", "CORE=1", "sources"], cwd=rooms.ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    folders = {os.path.dirname(path) for path in linked}
    assert {"kernel", "trace/ftrace", "arch/aarch64"} <= folders and "trace/hist" not in folders
    assert not [path for path in linked if not path.endswith((".c", ".S")) or path.startswith("arch/x86_64")]
    assert len(linked) > 300 and 50 * len(linked) < lines < 300 * len(linked)
    said = int(re.search(r"\*\*([\d,]+) lines of code\*\*", page)[1].replace(",", ""))
    assert abs(said - lines) <= lines / 20 and f"**{optional} rooms**" in page
    written = rooms.with_core("**1 lines of code** **2 rooms**")
    assert written == f"**{rooms.rounded(lines, 100):,} lines of code** **{optional} rooms**"


def test_lengths_are_written():
    text = "| `a/` | what (1) | 0 |\n| `b.c` | 1,000 | look |\n| `c` | 5 things | else |\n"
    assert rooms.table_rows(text) == [("a/", 0), ("b.c", 1000)]
    assert (
        rooms.refreshed(text, {"a/": 1200, "b.c": 30}.get)
        == "| `a/` | what (1) | 1,200 |\n| `b.c` | 30 | look |\n| `c` | 5 things | else |\n"
    )


def test_figures_are_about_right():
    """Of the table that compares rooms: each room of the kernel has its row. tools/rooms.py --pages writes it again."""
    with open(os.path.join(rooms.ROOT, rooms.PAGE), encoding="utf-8") as file:
        page = file.read()
    row = re.compile(r"^\| `([\w/]+)` \| (\d+) \| \d+ / (\d+) \|(?: \d+ / \d+ / (\d+)) \| (\d+) % \|$", re.M)
    said, today = (
        {name: map(int, rest) for name, *rest in row.findall(text)} for text in (page, rooms.with_figures(page))
    )
    assert list(said) == list(today) and len(said) > 30
    for room, numbers in said.items():
        assert all(abs(a - b) <= max(3, b / 5) for a, b in zip(numbers, today[room])), room
    code = int(re.search(r"^\| lines of code of the kernel .* ([\d,]+) \|$", page, re.M)[1].replace(",", ""))
    kernel = sum(
        rooms.count((*rooms.KERNEL, "include"))[top][2] for top in (*rooms.KERNEL, "include") if top != "samples"
    )
    assert abs(code - kernel) < kernel / 10
