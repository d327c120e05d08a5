#!/usr/bin/python3
"""Make the table of instrumented call sites, and fail the build when a site is lost, doubled or out of place.

With -pg each function calls _mcount (aarch64) or __fentry__ (x86_64). Boot turns these calls into nops, so it must know
where each is. gcc writes that list on x86_64 (section __mcount_loc, kept as .mcount_gcc by linker.ld); on aarch64 it
has no such option, and the list is what the relocations against _mcount say, which --emit-relocs keeps through the
link.

Table: section .mcount_table between __start_mcount_loc and __stop_mcount_loc, one little-endian u32 a site: the offset
of the call instruction from _text, ascending. Half the size of addresses, and enough for a kernel of 4 GiB.

Both lists are held against the instructions: each `bl _mcount` in text must be listed, each listed must be one.

    mcount.py -o tables/mcount.S --objects 'a.o b.o' --never 'b.o' vmlinux.1     write the table
    mcount.py --verify vmlinux vmlinux.1                                         compare the finished kernel with it
    mcount.py --module my.o                                                      check the sites of a module
"""

import argparse
import struct
from bisect import bisect_right
from collections import Counter

from elfimage import EM_AARCH64, EM_X86_64, SHF_EXECINSTR, STT_FUNC, BuildError, Image, main_wrapper

R_AARCH64_JUMP26, R_AARCH64_CALL26 = 282, 283
CALL_SIZE_X86 = 5


def aarch64_calls(section, target):
    """Addresses in the section of every `bl target`."""
    calls = set()
    for index, (word,) in enumerate(struct.iter_unpack("<I", section.data[: len(section.data) & ~3])):
        if word >> 26 == 0b100101:
            distance = (word & 0x3FFFFFF) << 2
            if distance & 1 << 27:
                distance -= 1 << 28
            if section.addr + index * 4 + distance == target:
                calls.add(section.addr + index * 4)
    return calls


def x86_64_calls(section, target):
    """Addresses in the section of every `call target`. Bytes that only look like one would have to hit it exactly."""
    calls, at = set(), section.data.find(b"\xe8")
    while 0 <= at <= len(section.data) - CALL_SIZE_X86:
        (distance,) = struct.unpack_from("<i", section.data, at + 1)
        if section.addr + at + CALL_SIZE_X86 + distance == target:
            calls.add(section.addr + at)
        at = section.data.find(b"\xe8", at + 1)
    return calls


class Machine:
    """What differs: the hook's name, how a call is found in bytes, and where the compiler listed it."""

    def __init__(self, image):
        if image.machine == EM_AARCH64:
            self.hook, self.calls, self.listed = "_mcount", aarch64_calls, self.from_relocs
        elif image.machine == EM_X86_64:
            self.hook, self.calls, self.listed = "__fentry__", x86_64_calls, self.from_section
        else:
            raise BuildError(f"{image.path}: machine {image.machine} is neither aarch64 nor x86_64")

    def from_relocs(self, image):
        """Addresses of the relocations against the hook (offsets, in an object file)."""
        sites = []
        for reloc in image.relocs:
            if reloc.symbol.name != self.hook or reloc.addend:
                continue
            where = image.sections[reloc.section]
            if not where.flags & SHF_EXECINSTR:
                continue  # a pointer to the hook (an exported symbol, debug information) is not a call
            if reloc.type == R_AARCH64_JUMP26:
                raise BuildError(f"{image.path}: {reloc.offset:#x}: jumps to {self.hook} in place of a call")
            if reloc.type == R_AARCH64_CALL26:
                sites.append(reloc.offset)
        return sites

    def from_section(self, image):
        """gcc's own list: addresses in a linked image; in an object the relocations of that section."""
        listed = image.section(".mcount_gcc")
        if listed is not None:
            return [site for (site,) in struct.iter_unpack("<Q", listed.data)]
        sections = {section.index for section in image.sections if section.name == "__mcount_loc"}
        return [reloc.addend for reloc in image.relocs if reloc.section in sections]


class Functions:
    """Which function an address lies in."""

    def __init__(self, image):
        found = sorted((s.value, s.value + s.size, s.name) for s in image.symbols if s.type == STT_FUNC and s.size)
        self.starts = [start for start, _, _ in found]
        self.found = found

    def at(self, address):
        """Name of the function around the address, or None."""
        index = bisect_right(self.starts, address) - 1
        if index < 0 or address >= self.found[index][1]:
            return None
        return self.found[index][2]


def collect(image):
    """The ascending offsets from _text of all sites, each checked. BuildError names the first that is wrong."""
    machine = Machine(image)
    text = image.section(".text")
    if text is None:
        raise BuildError(f"{image.path}: no .text section")
    listed = machine.listed(image)
    defined = any(symbol.name == machine.hook and symbol.section for symbol in image.symbols)
    calls = machine.calls(text, image.symbol(machine.hook)) if defined else set()
    functions = Functions(image)
    seen = set(listed)
    if len(seen) != len(listed):
        site = next(site for site, times in Counter(listed).items() if times > 1)
        raise BuildError(f"{image.path}: mcount: site {site:#x} in {functions.at(site)} is listed twice")
    for site in sorted(seen):
        where = functions.at(site)
        if not text.addr <= site < text.addr + len(text.data):
            raise BuildError(f"{image.path}: mcount: site {site:#x} lies outside .text")
        if where is None:
            raise BuildError(f"{image.path}: mcount: site {site:#x} lies in no function")
        if site not in calls:
            raise BuildError(
                f"{image.path}: mcount: site {site:#x} in {where} is listed but does not call {machine.hook}"
            )
    lost = calls - seen
    if lost:
        site = min(lost)
        raise BuildError(
            f"{image.path}: mcount: the call of {machine.hook} at {site:#x} in {functions.at(site)} is not listed"
        )
    base = image.symbol("_text")
    return [site - base for site in sorted(seen)]


def check_objects(objects, never, linked_sites):
    """Hold the objects against the link: none that must stay bare has a site, and the link dropped none."""
    bare, total = set(never), 0
    for path in objects:
        image = Image(path)
        machine = Machine(image)
        sites = len(machine.listed(image))
        if sites and path in bare:
            raise BuildError(
                f"{path}: mcount: {sites} sites in a file that must not call {machine.hook} (mk/kernel.mk, NOTRACE)"
            )
        total += sites
    if total != linked_sites:
        raise BuildError(f"mcount: the objects have {total} sites, the link has {linked_sites}")


def write_table(path, offsets):
    """The table as assembly."""
    with open(path, "w", encoding="ascii") as out:
        out.write("/* Made by tools/mcount.py: offsets from _text of the instrumented call sites. */\n")
        out.write('\t.section .mcount_table, "a"\n\t.balign 4\n')
        out.writelines(f"\t.long {offset:#x}\n" for offset in offsets)
        out.write('\t.section .note.GNU-stack, "", %progbits\n')


def verify(final, first):
    """The finished kernel's table must be what the first link's sites say, and its own sites must agree."""
    image = Image(final)
    base = image.symbol("_text")
    table = image.section(".mcount_table")
    start, stop = image.symbol("__start_mcount_loc"), image.symbol("__stop_mcount_loc")
    data = table.data[start - table.addr : stop - table.addr] if table else b""
    embedded = [offset for (offset,) in struct.iter_unpack("<I", data)]
    if embedded != collect(Image(first)):
        raise BuildError(f"{final}: mcount: the embedded table is not that of {first}")
    machine, text = Machine(image), image.section(".text")
    calls = machine.calls(text, image.symbol(machine.hook)) if embedded else set()
    if sorted(site - base for site in calls) != embedded:
        raise BuildError(f"{final}: mcount: call sites moved between the first link and the second")


def check_module(path):
    """The sites of a relocatable file, which the loader takes from its relocations: each is a call at the entry of a
    function, and gcc's own list, where it makes one, names the same."""
    image = Image(path)
    machine = Machine(image)
    field = 1 if image.machine == EM_X86_64 else 0
    opcode = b"\xe8" if field else b"\x00\x00\x00\x94"
    functions = {}
    for symbol in image.symbols:
        if symbol.type == STT_FUNC and symbol.size:
            functions.setdefault(symbol.section, []).append((symbol.value, symbol.value + symbol.size))
    sites = 0
    for reloc in image.relocs:
        section = image.sections[reloc.section]
        if reloc.symbol.name != machine.hook or not section.flags & SHF_EXECINSTR:
            continue
        site = reloc.offset - field
        if not any(start <= site < end for start, end in functions.get(section.index, ())):
            raise BuildError(f"{path}: mcount: site {site:#x} of {section.name} lies in no function")
        if section.data[site : site + len(opcode)] != opcode:
            raise BuildError(f"{path}: mcount: site {site:#x} of {section.name} does not call {machine.hook}")
        sites += 1
    if field and len(machine.listed(image)) != sites:
        raise BuildError(f"{path}: mcount: {sites} calls of {machine.hook}, but gcc lists {len(machine.listed(image))}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", help="assembly file to write")
    parser.add_argument("--objects", default="", help="the objects that were linked, in one word")
    parser.add_argument("--never", default="", help="those of them that must have no site")
    parser.add_argument("--verify", metavar="VMLINUX", help="compare the table in VMLINUX with the sites in IMAGE")
    parser.add_argument("--module", action="store_true", help="only check the sites of a module's object")
    parser.add_argument("image", help="the first link, made with --emit-relocs")
    args = parser.parse_args()
    if args.module:
        return check_module(args.image)
    if args.verify:
        return verify(args.verify, args.image)
    if not args.output:
        parser.error("one of --output and --verify is needed")
    offsets = collect(Image(args.image))
    check_objects(args.objects.split(), args.never.split(), len(offsets))
    write_table(args.output, offsets)
    return 0


if __name__ == "__main__":
    main_wrapper(main)
