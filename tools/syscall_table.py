#!/usr/bin/python3
"""Make <generated/syscall_table.h> of one machine from the table of numbers and from the definitions of the system calls.

    syscall_table.py --arch x86_64 -o syscall_table.h include/uapi/syscall.tbl SOURCE...

Each call of the machine becomes a line, in the order of the numbers, with what SYSCALL_DEFINEn says of its arguments:

    SYSCALL(3, close, 1, unsigned int, fd)

A call without a definition in the sources, or a definition without a line in the table, is an error of one line. With
--left-out, for a kernel that lacks rooms, a call without a definition is left out: it answers ENOSYS. The header is
written only when its text changes, so that what includes it is not compiled again without need.
"""

import argparse
import re
from pathlib import Path

DEFINITION = re.compile(r"^SYSCALL_DEFINE([0-6])\((\w+)((?:,[^()]*)?)\)$", re.M)
HEAD = (
    "/* Made by tools/syscall_table.py: SYSCALL(number, name, how many arguments, type, argument, ...). No guard. */\n"
)


def read_table(path, arch):
    """{name: number, None if the machine lacks the call}. The last comment before the rows names the columns."""
    columns, numbers = [], {}
    for row, line in enumerate(Path(path).read_text().splitlines(), 1):
        words = line.split()
        if line.startswith("#"):
            columns = words[1:]
            continue
        if arch not in columns:
            raise SystemExit(f"{path}: no column is named {arch}")
        if len(words) != len(columns) or not all(re.fullmatch(r"\d+|-", word) for word in words[:-1]):
            raise SystemExit(f"{path}:{row}: '{line.strip()}' is not {' '.join(columns)}")
        *_, name = words
        number = words[columns.index(arch)]
        if name in numbers or (number != "-" and int(number) in numbers.values()):
            raise SystemExit(f"{path}:{row}: {name} or its number {number} stands there twice")
        numbers[name] = None if number == "-" else int(number)
    return numbers


def read_definitions(paths):
    """{name: (path, how many arguments, the text of the arguments)}"""
    found = {}
    for path in paths:
        for count, name, arguments in DEFINITION.findall(Path(path).read_text()):
            found[name] = (path, count, " ".join(arguments.split()))
    return found


def header_text(numbers, definitions, table, arch, left_out):
    for name, (path, *_) in definitions.items():
        if name not in numbers:
            raise SystemExit(f"{path}: the system call {name} is defined, but has no line in {table}")
    rows = []
    for name, number in sorted((item for item in numbers.items() if item[1] is not None), key=lambda item: item[1]):
        if name not in definitions and left_out:
            continue
        if name not in definitions:
            raise SystemExit(f"{table}: the system call {name} has a number on {arch}, but no SYSCALL_DEFINEn there")
        _, count, arguments = definitions[name]
        rows.append(f"SYSCALL({number}, {name}, {count}{arguments})\n")
    return HEAD + "".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", required=True)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    parser.add_argument("--left-out", action="store_true", help="the sources are not those of all rooms")
    parser.add_argument("table")
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()
    numbers = read_table(args.table, args.arch)
    text = header_text(numbers, read_definitions(args.sources), args.table, args.arch, args.left_out)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    if not args.output.exists() or args.output.read_text() != text:
        args.output.write_text(text)


if __name__ == "__main__":
    main()
