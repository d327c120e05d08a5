# Reading an ELF file for the table makers: sections, symbols and relocations as plain tuples, quickly.

import struct
import sys
from collections import namedtuple

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


def string_at(names, place):
    """The string there in a table of strings."""
    return names[place : names.index(b"\0", place)].decode()


class Image:
    """A little-endian 64-bit ELF file (object or executable), read once."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                self._read(file.read())
        except (OSError, ValueError, IndexError, struct.error) as error:
            raise BuildError(f"{path}: {error}") from error

    def _read(self, whole):
        # pyelftools makes an object of each entry, which is slow for the hundreds of objects of a kernel.
        if whole[:6] != b"\x7fELF\2\1":
            raise BuildError(f"{self.path}: not a little-endian 64-bit ELF file")
        (self.machine,), (table,) = struct.unpack_from("<H", whole, 18), struct.unpack_from("<Q", whole, 40)
        size, number, names_index = struct.unpack_from("<HHH", whole, 58)
        headers = [struct.unpack_from("<IIQQQQII", whole, table + at * size) for at in range(number)]
        if not headers:
            raise BuildError(f"{self.path}: no sections")
        bytes_of = [whole[header[4] : header[4] + header[5]] if header[1] != SHT_NOBITS else b"" for header in headers]
        self.sections, self.symbols, self.relocs = [], [], []
        raw_relocs = []
        for index, (name, kind, flags, addr, _, _, link, info) in enumerate(headers):
            data = bytes_of[index]
            self.sections.append(Section(index, string_at(bytes_of[names_index], name), kind, flags, addr, data))
            if kind == SHT_SYMTAB:
                names = bytes_of[link]
                self.symbols = [self._symbol(names, *entry) for entry in struct.iter_unpack("<IBBHQQ", data)]
            elif kind == SHT_RELA:
                raw_relocs.append((info, data))
        for target, data in raw_relocs:
            if self.sections[target].name.startswith(".debug"):
                continue  # most of them all, and of no table
            for offset, info, addend in struct.iter_unpack("<QQq", data):
                self.relocs.append(Reloc(offset, info & 0xFFFFFFFF, self.symbols[info >> 32], addend, target))

    @staticmethod
    def _symbol(names, name, info, _other, shndx, value, size):
        return Symbol(string_at(names, name), value, size, info & 15, info >> 4, shndx)

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
