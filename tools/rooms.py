#!/usr/bin/python3
"""Count the code of each room of the tree, and hold it against its budget in docs/architecture.md.

    rooms.py             a table: files, lines, lines of code (no comments, no empty lines), budget
    rooms.py --check     one line for each room that has outgrown its budget; exit status 1 when there is one
    rooms.py --pages     write the lengths of files into docs/reading.md, the code of folders into README.md, the
                         figures of rooms into docs/architecture.md
    rooms.py --budgets   rows for the table of budgets as they would be today: code and 5 %, rounded up to tens

A room is the innermost folder of the table that a file is in. C, headers, assembly, Python and shell scripts are
counted.
"""

import argparse
import functools
import glob
import os
import re
import statistics
import sys

import style

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = "docs/architecture.md"
CODE = (".c", ".h", ".S", ".s", ".py", ".sh")
GROWTH = 1.05
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
ROW = re.compile(r"^\| `([\w./-]+)` \|(?:[^|\n]*[^|\d,\n][^|\n]*\|)? ([\d,]+) \|", re.M)
KERNEL = ("arch", "boot", "drivers", "kernel", "samples", "trace")
FIGURES = r"^\| room \| files \| lines of a file.*\n\|[-|]+\n((?:\|.*\n)+)"
DOCSTRING = re.compile(r'^\s*""".*?"""[ \t]*$', re.S | re.M)


def budgets(page=None):
    """{room: lines} of the table under the heading Budgets."""
    if page is None:
        with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
            page = file.read()
    section = page.partition("\n## Budgets\n")[2].partition("\n## ")[0]
    return {
        room: int(lines.replace(",", "")) for room, lines in re.findall(r"^\| `([^`]+)` \| ([\d,]+) \|", section, re.M)
    }


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
    """One line for each room that has more code than its budget."""
    for room, limit in limits.items():
        code = counted[room][2]
        if code > limit:
            yield (
                f"{room} has {code} lines of code, and its budget is {limit}: make it smaller, or raise the budget in {PAGE} "
                "and say there in a sentence what the lines are for"
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
    limits = budgets(page)
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
            file.write(refreshed(text, length))
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
        file.write(with_figures(text))


def today(code):
    """A budget for so many lines of code."""
    return -(-round(code * GROWTH) // 10) * 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="say which rooms have outgrown their budgets")
    parser.add_argument(
        "--pages",
        action="store_true",
        help="write lengths into the tables of docs/reading.md and README.md, figures into docs/architecture.md",
    )
    parser.add_argument("--budgets", action="store_true", help="print budgets as they would be today")
    args = parser.parse_args()
    if args.pages:
        write_pages()
        return 0
    limits = budgets()
    counted = count(tuple(limits))
    if args.check:
        lines = list(outgrown(limits, counted))
        print("\n".join(lines), end="\n" if lines else "")
        return 1 if lines else 0
    if args.budgets:
        for room, (_, _, code) in counted.items():
            print(f"| `{room}` | {today(code)} | |")
        return 0
    print(f"{'room':<22} {'files':>5} {'lines':>7} {'code':>7} {'budget':>7}")
    for room, (files, lines, code) in counted.items():
        print(f"{room:<22} {files:>5} {lines:>7} {code:>7} {limits[room]:>7}")
    files, lines, code = (sum(column) for column in zip(*counted.values()))
    print(f"{'all':<22} {files:>5} {lines:>7} {code:>7} {sum(limits.values()):>7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
