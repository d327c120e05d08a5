#!/usr/bin/python3
"""Write the checksum that ends a module's file, in place of the one that is there.

    modsum.py FILE.ko...

The link of a module does this (mk/modules.mk), and so must whoever changes the file afterwards, for example with strip.
The loader refuses a file whose checksum is missing or wrong (kernel/module/sum.c, which says what sum it is).
"""

import re
import struct
import sys

sys.dont_write_bytecode = True
from elfimage import BuildError, main_wrapper  # noqa: E402

LINE = re.compile(rb"~module sum [0-9a-f]{16}~\n\Z")
FACTOR = 0x9E3779B97F4A7C15
ELF_64 = b"\x7fELF\2\1"  # the first bytes of a little-endian file
ET_REL = b"\1\0"  # its type, from byte 16 on


def sum_of(data):
    """Over words of 64 bits, the last one filled up with zeroes."""
    rest = len(data) % 8
    total = len(data)
    for (word,) in struct.iter_unpack("<Q", data + bytes(8 - rest)):
        total ^= word
        total = (total << 29 & 0xFFFFFFFFFFFFFFFF | total >> 35) * FACTOR & 0xFFFFFFFFFFFFFFFF
    return total


def with_sum(data):
    """The bytes of a module's file, with the right checksum at their end."""
    data = LINE.sub(b"", bytes(data))
    return data + b"~module sum %016x~\n" % sum_of(data)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for path in sys.argv[1:]:
        try:
            with open(path, "r+b") as file:
                data = file.read()
                if not data.startswith(ELF_64) or data[16:18] != ET_REL:
                    raise BuildError(f"{path}: not a module: no ELF file that can be linked on (relocatable)")
                data = with_sum(data)
                file.seek(0)
                file.write(data)
                file.truncate()
        except OSError as error:
            raise BuildError(f"{path}: {error.strerror}") from error
    return 0


if __name__ == "__main__":
    main_wrapper(main)
