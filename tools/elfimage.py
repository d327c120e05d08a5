# Reading an ELF file for the table makers: sections, symbols and relocations as plain tuples, quickly.

import struct
import sys
from collections import namedtuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

Section = namedtuple("Section", "index name type flags addr data")
Symbol = namedtuple(
    "Symbol", "name value size type bind section"
)  # section: index, or 0 / 0xfff1 (undefined / absolute)
Reloc = namedtuple("Reloc", "offset type symbol addend section")  # section: index of the one it applies to

SHT_SYMTAB, SHT_RELA, SHT_NOBITS = 2, 4, 8
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
SHN_UNDEF, SHN_ABS, SHN_LORESERVE = 0, 0xFFF1, 0xFF00
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE = 0, 1, 2, 3, 4
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
EM_X86_64, EM_AARCH64 = 62, 183


class BuildError(Exception):
    """What is wrong with the image, in one line for whoever runs make."""


class Image:
    """A little-endian 64-bit ELF file (object or executable), read once."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                self._read(file)
        except (OSError, ELFError, struct.error) as error:
            raise BuildError(f"{path}: {error}") from error

    def _read(self, file):
        # pyelftools finds the sections; its per-entry objects are slow, so the two big tables are unpacked here.
        elf = ELFFile(file)
        if elf.elfclass != 64 or not elf.little_endian:
            raise BuildError(f"{self.path}: not a little-endian 64-bit ELF file")
        self.machine = elf.header["e_machine"]
        self.machine = {"EM_AARCH64": EM_AARCH64, "EM_X86_64": EM_X86_64}.get(self.machine, self.machine)
        self.sections, self.symbols, self.relocs = [], [], []
        raw_relocs = []
        for index, section in enumerate(elf.iter_sections()):
            header = section.header
            kind = {"SHT_SYMTAB": SHT_SYMTAB, "SHT_RELA": SHT_RELA, "SHT_NOBITS": SHT_NOBITS}.get(header["sh_type"], 0)
            loaded = (
                header["sh_flags"] & SHF_ALLOC or kind in (SHT_SYMTAB, SHT_RELA) or section.name.startswith(".mcount")
            )
            data = section.data() if loaded and kind != SHT_NOBITS else b""
            self.sections.append(Section(index, section.name, kind, header["sh_flags"], header["sh_addr"], data))
            if kind == SHT_SYMTAB:
                names = elf.get_section(header["sh_link"]).data()
                self.symbols = [self._symbol(names, *entry) for entry in struct.iter_unpack("<IBBHQQ", data)]
            elif kind == SHT_RELA:
                raw_relocs.append((header["sh_info"], data))
        for target, data in raw_relocs:
            for offset, info, addend in struct.iter_unpack("<QQq", data):
                self.relocs.append(Reloc(offset, info & 0xFFFFFFFF, self.symbols[info >> 32], addend, target))

    @staticmethod
    def _symbol(names, name, info, _other, shndx, value, size):
        text = names[name : names.index(b"\0", name)].decode()
        return Symbol(text, value, size, info & 15, info >> 4, shndx)

    def section(self, name):
        """The section of that name, or None."""
        return next((section for section in self.sections if section.name == name), None)

    def symbol(self, name):
        """The value of a defined symbol; BuildError when there is none."""
        for symbol in self.symbols:
            if symbol.name == name and symbol.section != SHN_UNDEF:
                return symbol.value
        raise BuildError(f"{self.path}: no symbol {name}")


def main_wrapper(main):
    """Run main(); print a BuildError as one line and exit 1."""
    try:
        sys.exit(main())
    except BuildError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
