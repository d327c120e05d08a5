#!/usr/bin/python3
"""The rooms of the tree, which the file `rooms` lists: how much code each has beside its ceiling, and which are left out.

    rooms.py             a table: files, lines, lines of code (no comments, no empty lines), ceiling, kind, needs
    rooms.py --check     one line for each room that has outgrown its ceiling; exit status 1 when there is one
    rooms.py --left-out [--core] [--with NAMES] [--without NAMES]    what such a kernel leaves out, for make
    rooms.py --pages     write the lengths of files into docs/reading.md, the code of folders into README.md, the
                         figures of rooms into docs/architecture.md

A room is the innermost folder of the table that a file is in. C, headers, assembly, Python and shell scripts are
counted.
"""

import argparse
import collections
import difflib
import fnmatch
import functools
import glob
import os
import re
import statistics
import subprocess
import sys

import style

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = "docs/architecture.md"
LIST = "rooms"
CODE = (".c", ".h", ".S", ".s", ".py", ".sh")
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
ROW = re.compile(r"^\| `([\w./-]+)` \|(?:[^|\n]*[^|\d,\n][^|\n]*\|)? ([\d,]+) \|", re.M)
KERNEL = ("arch", "boot", "drivers", "kernel", "samples", "trace")
FIGURES = r"^\| room \| files \| lines of a file.*\n\|[-|]+\n((?:\|.*\n)+)"
DOCSTRING = re.compile(r'^\s*""".*?"""[ \t]*$', re.S | re.M)


Room = collections.namedtuple("Room", "path floor ceiling kind needs subject")
KINDS = ("core", "optional", "tool")


class Mistake(Exception):
    """What is wrong with the list, or with a name that somebody gave, in one line."""


def parse(text):
    """{path: Room} of the file `rooms`, whose head says what its columns are. needs is a tuple of paths."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 5)
        if len(words) < 6 or not re.fullmatch(r"\d+|-", words[1]) or not words[2].isdigit() or words[3] not in KINDS:
            raise Mistake(f"{LIST}:{number}: '{line}' is not PATH FLOOR CEILING core|optional|tool NEEDS SUBJECT")
        path, floor, ceiling, kind, needs, subject = words
        needs = () if needs == "-" else tuple(needs.split(","))
        found[path] = Room(path, None if floor == "-" else int(floor), int(ceiling), kind, needs, subject)
    for room in list(found.values()):
        for name in room.needs:
            if not fnmatch.filter(found, name):
                raise Mistake(f"{LIST}: {room.path} needs {name}, which is no room")
        needs = tuple(path for name in room.needs for path in fnmatch.filter(found, name))
        found[room.path] = room._replace(needs=needs)
    return found


@functools.cache
def read():
    with open(os.path.join(ROOT, LIST), encoding="utf-8") as file:
        return parse(file.read())


def budgets():
    """{path: ceiling}"""
    return {room.path: room.ceiling for room in read().values()}


def floors():
    """{path: floor} of the rooms of the kernel."""
    return {room.path: room.floor for room in read().values() if room.floor is not None}


# ---- Rooms that are left out


def called(word, rooms):
    """The rooms of this path, or of this last part of a path. A room of all machines goes before its parts in arch/."""
    found = [word] if word in rooms else [name for name in rooms if name.rpartition("/")[2] == word]
    return [name for name in found if not name.startswith("arch/")] or found


def named(word, rooms):
    """The same when it is one room, and optional."""
    found = called(word, rooms)
    listed = "`make rooms` lists what can be left out"
    if not found:
        optional = [name for name, room in rooms.items() if room.kind == "optional"]
        last = {name.rpartition("/")[2]: name for name in optional}
        near = [last.get(name, name) for name in difflib.get_close_matches(word, [*optional, *last], 1)]
        raise Mistake(f"there is no room '{word}'{''.join(f' (is it {name}?)' for name in near)}: {listed}")
    if len(found) > 1:
        raise Mistake(f"several rooms end in '{word}': {' '.join(found)}")
    if rooms[found[0]].kind != "optional":
        raise Mistake(f"every kernel has {found[0]}: {listed}")
    return found[0]


def all_needs(room, rooms):
    """Optional rooms without which this one cannot be, as far as the list goes; it is none of them. A room inside of
    another one needs that."""
    needs, new = set(), [room]
    while new:
        path = new.pop()
        outer = room_of(os.path.dirname(path), rooms)
        for name in (*rooms[path].needs, *([outer] if outer else [])):
            if name not in needs:
                needs.add(name)
                new.append(name)
    return {name for name in needs if rooms[name].kind == "optional"}


@functools.cache
def lacking(build):
    """Optional rooms that the kernel in this build folder leaves out: its link has no object of theirs."""
    with open(os.path.join(build, "kernel.objects"), encoding="utf-8") as file:
        objects = {re.sub(r"^build/[^/]*/", "", os.path.dirname(word)) for word in file.read().split()}
    there = {room_of(folder, read()) for folder in objects}
    return {name for name, room in read().items() if room.kind == "optional" and name not in there}


def left_out(rooms, core, wanted, unwanted, absent=()):
    """(paths that are left out, lines that say what goes or comes along). absent: those whose folder is not there."""
    optional = [name for name, room in rooms.items() if room.kind == "optional"]
    wanted, unwanted = [named(word, rooms) for word in wanted], [named(word, rooms) for word in unwanted]
    out, said = set(absent), []
    if core:
        out |= set(optional)
        for name in wanted:
            more = sorted(all_needs(name, rooms) & out - set(wanted))
            said += [f"{name} needs {' '.join(more)}, which comes along"] if more else []
            out -= {name, *more}
    out |= set(unwanted) | set(absent)
    for name in optional:
        lacking = sorted(all_needs(name, rooms) & out)
        if name not in out and lacking:
            said.append(f"{name} needs {' '.join(lacking)}, and is left out, too")
    out |= {name for name in optional if all_needs(name, rooms) & out}
    for name in wanted:
        if name in out:
            raise Mistake(
                f"{name} is wanted, but what it needs is not there: {' '.join(sorted(all_needs(name, rooms) & out))}"
            )
    return sorted(out), said


def code_lines(path, text):
    """How many lines have something other than comments."""
    if path.endswith((".c", ".h", ".S", ".s")):
        text = C_TOKEN.sub(lambda token: token[0] if token[0][0] in "\"'" else " ", text)
    else:
        text = re.sub(r"^\s*#.*$", "", DOCSTRING.sub("", text), flags=re.M)
    return sum(1 for line in text.splitlines() if line.strip())


def is_code(path):
    """By name, or, for scripts without an ending, by their #! line."""
    if path.endswith(CODE):
        return True
    if "." in os.path.basename(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def room_of(path, rooms):
    """The innermost of these folders that the file is in, None: it is in none."""
    while path and path not in rooms:
        path = os.path.dirname(path)
    return path or None


@functools.cache
def count(rooms):
    """{room: (files, lines, lines of code)} of these folders."""
    found = dict.fromkeys(rooms, (0, 0, 0))
    for top in sorted({room.split("/")[0] for room in rooms}):
        for path in glob.glob(f"{top}/**", root_dir=ROOT, recursive=True):
            room = room_of(path, rooms)
            if room and is_code(os.path.join(ROOT, path)):
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    text = file.read()
                now = found[room]
                found[room] = (now[0] + 1, now[1] + len(text.splitlines()), now[2] + code_lines(path, text))
    return found


def outgrown(limits, counted):
    """One line for each room that has more code than its ceiling."""
    for room, limit in limits.items():
        code = counted[room][2]
        if code > limit:
            yield (
                f"{room} has {code} lines of code, and its ceiling is {limit}: make it smaller, or take lines from another "
                f"room's ceiling in the file {LIST}"
            )


def file_lines(path):
    """Lines of a file, comments and all."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return len(file.read().splitlines())


def rounded(lines, to):
    return max(to, (lines + to // 2) // to * to)


def table_rows(text):
    """(path, number) of each row whose first column is a file's or folder's path and whose last number is its
    length."""
    return [(path, int(number.replace(",", ""))) for path, number in ROW.findall(text)]


def refreshed(text, length):
    """The page with length(path) in each row of table_rows()."""
    return ROW.sub(
        lambda row: row[0][: row.start(2) - row.start()] + f"{length(row[1]):,}" + row[0][row.end(2) - row.start() :],
        text,
    )


def folder_code(folder):
    """Lines of code of a folder with all below it, in round figures."""
    return rounded(count((folder.rstrip("/"),))[folder.rstrip("/")][2], 100)


@functools.cache
def core_code():
    """Lines of code of what the core is linked of on aarch64, by make's own list of its C and assembly files."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    words = ["make", "-s", "-C", ROOT, "--no-print-directory", "ARCH=aarch64", "CORE=1", "sources"]
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    lines = 0
    for path in done.stdout.split():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            lines += code_lines(path, file.read())
    return lines


def optional_rooms():
    """How many can be left out. Parts of machines go with the rooms that need them, and are not counted."""
    return sum(room.kind == "optional" and not path.startswith("arch/") for path, room in read().items())


def with_core(page):
    """README.md with what it says of the core, in round figures."""
    page = re.sub(r"\*\*[\d,]+ lines of code\*\*", f"**{rounded(core_code(), 100):,} lines of code**", page)
    return re.sub(r"\*\*\d+ rooms\*\*", f"**{optional_rooms()} rooms**", page)


def figures_of(room, rooms):
    """A room's row of the table of figures, which counts its C files."""
    files = [
        path for path in glob.glob(f"{room}/**/*.c", root_dir=ROOT, recursive=True) if room_of(path, rooms) == room
    ]
    f = style.Figures([os.path.join(ROOT, path) for path in files])
    lengths = f"{statistics.median(f.lengths):.0f} / {style.percentile(f.lengths, 0.9)} / {max(f.lengths)}"
    sizes = f"{statistics.median(f.sizes):.0f} / {max(f.sizes)}"
    return f"| `{room}` | {len(files)} | {sizes} | {lengths} | {f.comments:.0%} |\n".replace("%", " %")


def with_figures(page):
    """docs/architecture.md with the table of figures as it is today: a row for each room of the kernel."""
    limits = budgets()
    head, rows = re.search(FIGURES, page, re.M).span(1)
    kernel = [room for room in limits if room.split("/")[0] in KERNEL]
    return page[:head] + "".join(figures_of(room, tuple(limits)) for room in kernel) + page[rows:]


# Pages with such tables, and what their numbers are.
PAGES = {"docs/reading.md": lambda path: rounded(file_lines(path), 10), "README.md": folder_code}


def write_pages():
    for page, length in PAGES.items():
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(ROOT, page), "w", encoding="utf-8") as file:
            file.write(with_core(refreshed(text, length)))
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
        file.write(with_figures(text))


def print_table(counted):
    print(f"{'room':<22} {'files':>5} {'lines':>7} {'code':>7} {'ceiling':>7}  kind      needs")
    for path, (files, lines, code) in counted.items():
        room = read()[path]
        needs = " ".join(room.needs) or "-"
        print(f"{path:<22} {files:>5} {lines:>7} {code:>7} {room.ceiling:>7}  {room.kind:<9} {needs}")
    files, lines, code = (sum(column) for column in zip(*counted.values()))
    print(f"{'all':<22} {files:>5} {lines:>7} {code:>7} {sum(budgets().values()):>7}")
    print(f"core, C and assembly on aarch64: {core_code()}")


def print_left_out(args):
    """For make: the paths on a line; what is said besides goes to the standard error."""
    rooms = read()
    absent = [
        name for name, room in rooms.items() if room.kind == "optional" and not os.path.isdir(os.path.join(ROOT, name))
    ]
    # What belongs to a machine that is not there at all is not missed.
    machines = tuple(f"{path}/" for path in glob.glob("arch/*", root_dir=ROOT))
    absent = [name for name in absent if not name.startswith("arch/") or name.startswith(machines)]
    paths, said = left_out(rooms, args.core, args.with_.split(), args.without.split(), absent)
    for line in said:
        print(f"rooms: {line}", file=sys.stderr)
    print(*paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="say which rooms have outgrown their budgets")
    parser.add_argument(
        "--pages",
        action="store_true",
        help="write lengths into the tables of docs/reading.md and README.md, figures into docs/architecture.md",
    )
    parser.add_argument("--left-out", action="store_true", help="print what a kernel with these choices leaves out")
    parser.add_argument("--core", action="store_true", help="leave all optional rooms out")
    parser.add_argument("--with", dest="with_", default="", metavar="NAMES", help="but these")
    parser.add_argument("--without", default="", metavar="NAMES", help="leave these out")
    args = parser.parse_args()
    if args.pages:
        write_pages()
        return 0
    try:
        if args.left_out:
            print_left_out(args)
            return 0
        limits = budgets()
    except Mistake as mistake:
        print(f"rooms: {mistake}", file=sys.stderr)
        return 1
    counted = count(tuple(limits))
    if args.check:
        lines = list(outgrown(limits, counted))
        print("\n".join(lines), end="\n" if lines else "")
        return 1 if lines else 0
    print_table(counted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
