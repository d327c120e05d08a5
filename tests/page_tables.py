"""The kernel's half of a guest's page tables, read from outside: every mapping with what it permits."""

import re
import struct
from dataclasses import dataclass

PAGE = 4096
ADDRESS = 0x000FFFFFFFFFF000  # of the next table or the page, bits 51:12


@dataclass(frozen=True)
class Mapping:
    virtual: int
    physical: int
    size: int
    writable: bool
    executable: bool  # by the kernel
    user: bool


class AArch64:
    """Arm ARM D8.3: three levels of 4 KiB tables below TTBR1, whose address the kernel's symbol gives."""

    LEVELS, TOP = 3, -1 << 39 & (1 << 64) - 1
    READ_ONLY, PXN, USER = 1 << 7, 1 << 53, 1 << 6
    TABLE_READ_ONLY, TABLE_PXN, TABLE_NO_USER = 1 << 62, 1 << 59, 1 << 61

    @staticmethod
    def root(guest, kernel):
        return kernel.physical(kernel.symbols["swapper_pg_dir"]), range(512)

    @staticmethod
    def left_of_boot(guest, kernel):
        """The identity map has a table of its own, which no user's or kernel's address is looked up in."""
        return b""

    @staticmethod
    def present(entry):
        return entry & 1

    @staticmethod
    def is_leaf(entry, level):
        return level == 1 or not entry & 2

    @classmethod
    def narrow(cls, entry, leaf, permits):
        """What (writable, executable, user) becomes by this entry."""
        writable, executable, user = permits
        read_only, pxn = (cls.READ_ONLY, cls.PXN) if leaf else (cls.TABLE_READ_ONLY, cls.TABLE_PXN)
        user = user and bool(entry & cls.USER if leaf else not entry & cls.TABLE_NO_USER)
        return writable and not entry & read_only, executable and not entry & pxn, user


class X86_64:
    """Intel SDM 3A 4.5: four levels below CR3, of which the upper half is the kernel's."""

    LEVELS, TOP = 4, -1 << 48 & (1 << 64) - 1
    WRITABLE, USER, LARGE, NX = 1 << 1, 1 << 2, 1 << 7, 1 << 63

    @staticmethod
    def root(guest, kernel):
        return int(re.search(r"CR3=([0-9a-f]+)", guest.human("info registers")).group(1), 16) & ADDRESS, range(256, 512)

    @staticmethod
    def left_of_boot(guest, kernel):
        """What boot mapped one to one is below the kernel's half, in the table that kernel threads run on."""
        return guest.memory(kernel.physical(kernel.symbols["swapper_pg_dir"]), PAGE // 2).replace(b"\0", b"")

    @staticmethod
    def present(entry):
        return entry & 1

    @classmethod
    def is_leaf(cls, entry, level):
        return level == 1 or bool(entry & cls.LARGE)

    @classmethod
    def narrow(cls, entry, leaf, permits):
        writable, executable, user = permits
        return (
            writable and bool(entry & cls.WRITABLE),
            executable and not entry & cls.NX,
            user and bool(entry & cls.USER),
        )


FORMS = {"aarch64": AArch64, "x86_64": X86_64}


def left_of_boot(guest, kernel):
    """Bytes other than 0 of the kernel's own top table where a user's addresses would be: none once it runs."""
    return FORMS[kernel.arch].left_of_boot(guest, kernel)


def kernel_mappings(guest, kernel):
    """All of them, in order of virtual address. The guest stands still meanwhile."""
    form = FORMS[kernel.arch]

    def walk(table, level, virtual, indices, permits):
        size = PAGE << 9 * (level - 1)
        for index, entry in enumerate(struct.unpack("<512Q", guest.memory(table, PAGE))):
            if index not in indices or not form.present(entry):
                continue
            leaf = form.is_leaf(entry, level)
            at, narrowed = virtual + index * size, form.narrow(entry, leaf, permits)
            if leaf:
                yield Mapping(at, entry & ADDRESS & -size, size, *narrowed)
            else:
                yield from walk(entry & ADDRESS, level - 1, at, range(512), narrowed)

    guest.qmp("stop")
    table, indices = form.root(guest, kernel)
    mappings = list(walk(table, form.LEVELS, form.TOP, indices, (True, True, True)))
    guest.qmp("cont")
    return mappings
