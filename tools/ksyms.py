#!/usr/bin/python3
"""Make the symbol table that the kernel carries (kallsyms): everything sorted here, nothing to do at boot.

Read by kernel/ksyms.c. Four arrays in section .ksyms, all little-endian, N symbols:

    __start_ksyms_offset    u32 [N]  symbol's offset from _text, ascending; N = (__stop - __start) / 4
    __start_ksyms_entry     u32 [N]  bits 0-23: where its name starts; bits 24-31: type letter as nm prints it
    __start_ksyms_by_name   u16 [N]  indices into the two above, names ascending as strcmp orders them
    __start_ksyms_names     char []  names, each ended by a zero byte, to __stop_ksyms_names

Address to name is one binary search, name to address another. Of several symbols at one address the preferred stands
first: global before weak before local, functions before objects before labels, then by name.

The table is made from the first link and put between rodata and data by the second. That moves nothing in front of it
and all behind it by the same whole pages, so symbols from _data on are written relative to __data_offset, which
the linker fills in. --verify reads the table back out of the finished kernel and compares it with its symbols.

    ksyms.py -o tables/ksyms.S vmlinux.1
    ksyms.py --verify vmlinux vmlinux.1
"""

import argparse
import re
import struct
from collections import namedtuple

from elfimage import (
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHN_LORESERVE,
    SHN_UNDEF,
    SHT_NOBITS,
    STB_GLOBAL,
    STB_LOCAL,
    STB_WEAK,
    STT_FILE,
    STT_FUNC,
    STT_OBJECT,
    STT_SECTION,
    BuildError,
    Image,
    main_wrapper,
)

NAME_MAX = 127  # KSYM_NAME_LEN of include/kernel/ksyms.h, less the ending zero
NAMES_MAX = 1 << 24
COUNT_MAX = 1 << 16
# Where a part of the text begins and ends, for C to compare with. A tool that asks for the name of the function there
# (trace-cmd) could be given this one in its place.
BOUND = re.compile(r"__\w+_text_(start|end)")
# The tables' own symbols are not listed, since the second link moves them. The last one has the address of _data when a
# table fills its last page.
TABLES = (".ksyms", ".mcount_table")
BOUND_OF_TABLE = re.compile(r"__(start|stop)_(ksyms_\w+|mcount_loc)")

Entry = namedtuple("Entry", "offset type name moves")
Entry.__doc__ = "A symbol; `moves`: the second link, which puts the tables before the data, moves it."


def letter(symbol, section):
    """nm's letter for the symbol: case says local or global."""
    if symbol.bind == STB_WEAK:
        return "W" if section.flags & SHF_EXECINSTR else "V"
    if section.flags & SHF_EXECINSTR:
        kind = "t"
    elif section.type == SHT_NOBITS:
        kind = "b"
    else:
        kind = "d" if section.flags & SHF_WRITE else "r"
    return kind if symbol.bind == STB_LOCAL else kind.upper()


def wanted(symbol):
    """Not what the compiler and the assembler make for themselves (mapping symbols, labels, sections, files), nor
    bounds, nor the thousands of objects that count branches (include/lib/branch.h)."""
    if not symbol.name or symbol.section == SHN_UNDEF or symbol.section >= SHN_LORESERVE:
        return False
    if symbol.type not in (STT_FUNC, STT_OBJECT) and BOUND.fullmatch(symbol.name):
        return False
    return symbol.type not in (STT_SECTION, STT_FILE) and not symbol.name.startswith(("$", ".L", "__branch_"))


def entries(image):
    """All symbols of the kernel in the table's order."""
    base, data, found = image.symbol("_text"), image.symbol("_data"), {}
    for symbol in filter(wanted, image.symbols):
        section = image.sections[symbol.section]
        # Symbols between two sections (_data, _end) count as of the one before: _data is not the tables' own.
        own = section.name in TABLES and (symbol.value < data or BOUND_OF_TABLE.fullmatch(symbol.name))
        if not section.flags & SHF_ALLOC or own:
            continue
        if symbol.value < base or len(symbol.name) > NAME_MAX:
            raise BuildError(f"{image.path}: ksyms: {symbol.name} lies below _text or its name is too long")
        binding = {STB_GLOBAL: 0, STB_WEAK: 1}.get(symbol.bind, 2)
        kind = {STT_FUNC: 0, STT_OBJECT: 1}.get(symbol.type, 2)
        # Where read-only data fills its last page, its last label and the first datum have one address, until the
        # tables come between them: what moves stands behind what stays.
        moves = symbol.value >= data and (section.name in TABLES or section.addr >= data)
        key = (symbol.value - base, moves, kind == 2, binding, kind, symbol.name)
        found[key] = Entry(symbol.value - base, letter(symbol, section), symbol.name, moves)
    if not 0 < len(found) <= COUNT_MAX:
        raise BuildError(f"{image.path}: ksyms: {len(found)} symbols, between 1 and {COUNT_MAX} can be listed")
    return [found[key] for key in sorted(found)]


def pack_names(table):
    """Names one after the other, each once, and where each starts."""
    starts, text = {}, bytearray()
    for entry in table:
        if entry.name not in starts:
            starts[entry.name] = len(text)
            text += entry.name.encode() + b"\0"
    if len(text) >= NAMES_MAX:
        raise BuildError(f"ksyms: {len(text)} bytes of names, below {NAMES_MAX} can be listed")
    return starts, text


def write_table(path, table, data_offset):
    """The table as assembly; data_offset: where _data lies in the first link."""
    starts, _ = pack_names(table)
    by_name = sorted(range(len(table)), key=lambda i: (table[i].name.encode(), i))
    with open(path, "w", encoding="ascii") as out:
        out.write("/* Made by tools/ksyms.py, which explains it: the kernel's symbol table. */\n")
        out.write('\t.section .ksyms.offset, "a"\n\t.balign 4\n')
        for entry in table:
            behind = entry.offset - data_offset
            out.write(f"\t.long __data_offset + {behind:#x}\n" if entry.moves else f"\t.long {entry.offset:#x}\n")
        out.write('\t.section .ksyms.entry, "a"\n\t.balign 4\n')
        out.writelines(f"\t.long {ord(entry.type) << 24 | starts[entry.name]:#x}\n" for entry in table)
        out.write('\t.section .ksyms.by_name, "a"\n\t.balign 2\n')
        out.writelines(f"\t.short {index}\n" for index in by_name)
        out.write('\t.section .ksyms.names, "a"\n')
        out.writelines(f'\t.asciz "{name}"\n' for name in starts)
        out.write('\t.section .note.GNU-stack, "", %progbits\n')


def read_table(image):
    """The table as the kernel will read it."""
    section = image.section(".ksyms")
    if section is None:
        raise BuildError(f"{image.path}: ksyms: no .ksyms section")

    def part(first, last):
        return section.data[image.symbol(first) - section.addr : image.symbol(last) - section.addr]

    offsets = [o for (o,) in struct.iter_unpack("<I", part("__start_ksyms_offset", "__stop_ksyms_offset"))]
    words = part("__start_ksyms_entry", "__start_ksyms_by_name")
    names = part("__start_ksyms_names", "__stop_ksyms_names")
    by_name = part("__start_ksyms_by_name", "__start_ksyms_names")[: 2 * len(offsets)]
    table = []
    for offset, (word,) in zip(offsets, struct.iter_unpack("<I", words)):
        start = word & 0xFFFFFF
        table.append(Entry(offset, chr(word >> 24), names[start : names.index(b"\0", start)].decode(), None))
    return table, [index for (index,) in struct.iter_unpack("<H", by_name)]


def verify(final, first):
    """The finished kernel's table must give its own symbols, and text must not have moved since the first link."""
    image, before = Image(final), Image(first)
    real = entries(image)
    table, by_name = read_table(image)
    for have, want in zip(table, real):
        if have[:3] != want[:3]:
            raise BuildError(
                f"{final}: ksyms: the table has {have.name} at {have.offset:#x} where the kernel has "
                f"{want.name} at {want.offset:#x}"
            )
    if len(table) != len(real):
        raise BuildError(f"{final}: ksyms: the table has {len(table)} symbols, the kernel {len(real)}")
    if [table[i].name.encode() for i in by_name] != sorted(entry.name.encode() for entry in table):
        raise BuildError(f"{final}: ksyms: the index by name is not in order")
    end = before.symbol("_etext") - before.symbol("_text")
    moved = {e for e in entries(before) if e.offset <= end} ^ {e for e in real if e.offset <= end}
    if moved:
        raise BuildError(f"{final}: ksyms: {min(moved).name} moved between the first link and the second")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", help="assembly file to write")
    parser.add_argument("--verify", metavar="VMLINUX", help="compare the table in VMLINUX with its symbols")
    parser.add_argument("image", help="the first link")
    args = parser.parse_args()
    if args.verify:
        return verify(args.verify, args.image)
    if not args.output:
        parser.error("one of --output and --verify is needed")
    image = Image(args.image)
    write_table(args.output, entries(image), image.symbol("_data") - image.symbol("_text"))
    return 0


if __name__ == "__main__":
    main_wrapper(main)
