#!/usr/bin/python3
"""Pack a folder as an initramfs: newc.py FOLDER [BEFORE] > OUTPUT. BEFORE is an archive that stands in front of it.

The same files give the same bytes, whoever packs them, when and where: names are sorted, all belongs to root, all times
are 2020-01-01, inode numbers are given in that order. The host's cpio is not used, because those of GNU, BSD and
busybox have no option for this in common. Of hard links each becomes a file of its own.
"""

import os
import stat
import sys

TIME = 1577836800  # 2020-01-01 00:00:00 UTC
BLOCK = 512


def names(folder):
    """All that is in the folder, itself included, as paths relative to it, sorted as bytes."""
    found = [b"."]
    for where, folders, files in os.walk(os.fsencode(folder)):
        found += [os.path.relpath(os.path.join(where, name), os.fsencode(folder)) for name in folders + files]
    return [b"."] + sorted(found[1:], key=lambda name: b"./" + name)


def padded(data):
    return data + bytes(-len(data) % 4)


def record(number, name, mode, links, data):
    """One member: its head of 13 numbers, its name, its bytes; each part ends at a multiple of four."""
    head = [number, mode, 0, 0, links, TIME if mode else 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    return padded(b"070701" + b"".join(b"%08X" % field for field in head) + name + b"\0") + padded(data)


def member(number, folder, name):
    path = os.path.join(os.fsencode(folder), name)
    seen = os.lstat(path)
    if stat.S_ISDIR(seen.st_mode):
        # As most file systems count: its name, its own "." and one ".." for each folder in it.
        inside = sum(entry.is_dir(follow_symlinks=False) for entry in os.scandir(path))
        return record(number, name, seen.st_mode, 2 + inside, b"")
    if stat.S_ISLNK(seen.st_mode):
        return record(number, name, stat.S_IFLNK | 0o777, 1, os.readlink(path))
    with open(path, "rb") as file:
        return record(number, name, seen.st_mode, 1, file.read())


def pack(folder, before=b""):
    inside = names(folder)[1:] if before else names(folder)  # the first archive has made the root
    out = b"".join(member(number, folder, name) for number, name in enumerate(inside))
    out += record(0, b"TRAILER!!!", 0, 1, b"")
    return padded(before) + out + bytes(-len(out) % BLOCK)


def main():
    before = b""
    if len(sys.argv) > 2:
        with open(sys.argv[2], "rb") as file:
            before = file.read()
    sys.stdout.buffer.write(pack(sys.argv[1], before))


if __name__ == "__main__":
    main()
