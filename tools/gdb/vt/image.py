"""The kernel's own file: constant data are read from there, which is quicker than from the guest and works before it is
up."""

import struct

import gdb

SHT_NOBITS, SHF_WRITE, SHF_ALLOC = 8, 1, 2


class Image:
    """Constant sections of a little-endian 64-bit ELF file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if data[:6] != b"\x7fELF\x02\x01":
            raise gdb.GdbError(f"{path}: no 64-bit ELF file")
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        self.sections = []
        for number in range(count):
            _, kind, flags, address, offset, length = struct.unpack_from("<IIQQQQ", data, table + number * size)
            if flags & SHF_ALLOC and not flags & SHF_WRITE and kind != SHT_NOBITS:
                self.sections.append((address, data[offset : offset + length]))

    def find(self, address):
        """(the section's bytes, where in it); None: no constant data's address."""
        for start, data in self.sections:
            if start <= address < start + len(data):
                return data, address - start
        return None

    def read(self, address, size):
        found = self.find(address)
        if not found or found[1] + size > len(found[0]):
            raise gdb.GdbError(f"{address:#x} is no place of the kernel's constant data")
        return found[0][found[1] : found[1] + size]

    def text(self, address):
        """A constant string; None when the address is of something else."""
        found = self.find(address)
        return found and found[0][found[1] : found[0].index(b"\0", found[1])].decode(errors="replace")


def kept(key, make=None):
    """What make() has made of the kernel's file: once, as long as gdb has these symbols. Without make: None, if it was
    not made yet.

    It hangs on gdb's object for the file: when gdb has read a file again, since it was rebuilt, that is another object.
    """
    program = gdb.current_progspace()
    file = next((one for one in program.objfiles() if one.filename == program.filename), None)
    if make and file is None:
        raise gdb.GdbError("no kernel is loaded: `file build/ARCH/vmlinux`")
    made = vars(file).setdefault("vt_kept", {}) if file else {}
    if make and key not in made:
        made[key] = make()
    return made.get(key)


def image():
    """The file whose symbols gdb has loaded."""
    return kept("image", lambda: Image(gdb.current_progspace().filename))
