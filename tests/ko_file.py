"""A module's file, taken apart so that a test can damage it at a place that it names: headers, symbols, relocations."""

import struct

from modsum import with_sum

SECTION = struct.Struct("<IIQQQQIIQQ")
FIELDS = ("name", "type", "flags", "addr", "offset", "size", "link", "info", "addralign", "entsize")
SHT_NOBITS, SHT_RELA = 8, 4
E_SHOFF, E_SHNUM, E_SHSTRNDX = 0x28, 0x3C, 0x3E


class KoFile:
    """The bytes of the file in `data`; the sections' headers by number and by name."""

    def __init__(self, data):
        self.data = bytearray(data)
        (self.shoff,) = struct.unpack_from("<Q", data, E_SHOFF)
        (self.shnum,) = struct.unpack_from("<H", data, E_SHNUM)
        self.sections = [
            dict(zip(FIELDS, SECTION.unpack_from(data, self.shoff + i * SECTION.size))) for i in range(self.shnum)
        ]
        (names,) = struct.unpack_from("<H", data, E_SHSTRNDX)
        self.names = [self.string(names, section["name"]) for section in self.sections]

    def file(self):
        """The bytes of the damaged file, with the checksum that fits them."""
        return with_sum(self.data)

    def string(self, section, offset):
        begin = self.sections[section]["offset"] + offset
        return self.data[begin : self.data.index(b"\0", begin)].decode()

    def number(self, name):
        return self.names.index(name)

    def section(self, name):
        return self.sections[self.number(name)]

    def put_header(self, name, **fields):
        """Change fields of a section's header."""
        at = self.shoff + self.number(name) * SECTION.size
        SECTION.pack_into(self.data, at, *({**self.section(name), **fields}[field] for field in FIELDS))
        return self

    def put_shoff(self, offset):
        struct.pack_into("<Q", self.data, E_SHOFF, offset)
        return self

    def relocations(self, symbol):
        """Where in the file the relocations against this symbol stand: (offset in the file, r_offset, type)."""
        for section in self.sections:
            if section["type"] != SHT_RELA:
                continue
            symbols = self.sections[section["link"]]
            for at in range(section["offset"], section["offset"] + section["size"], 24):
                offset, info = struct.unpack_from("<QQ", self.data, at)
                (name,) = struct.unpack_from("<I", self.data, symbols["offset"] + (info >> 32) * 24)
                if self.string(symbols["link"], name) == symbol:
                    yield at, offset, info & 0xFFFFFFFF

    def put_relocation(self, at, offset=None, kind=None):
        """Change the place or the type of the relocation at this offset in the file."""
        if offset is not None:
            struct.pack_into("<Q", self.data, at, offset)
        if kind is not None:
            struct.pack_into("<I", self.data, at + 8, kind)
        return self

    def bend(self, name, offset, by):
        """Let the relocation of this place in the section lead so many bytes further."""
        table = self.section(f".rela{name}")
        for at in range(table["offset"], table["offset"] + table["size"], 24):
            place, _, addend = struct.unpack_from("<QQq", self.data, at)
            if place == offset:
                struct.pack_into("<q", self.data, at + 16, addend + by)
                return self
        raise AssertionError(f"{name} has no relocation at {offset}")
