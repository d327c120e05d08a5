"""gcc's own counters of a kernel file (make GCOV=FILE), read out of a running guest, as gcov shows them.

A kernel writes no .gcda file, so this makes one: the file's .gcno says which functions there are, each of which has its
counters in an object __gcov0.NAME. The formats are those of gcc 12."""

import json
import os
import shutil
import struct
import subprocess

from elftools.elf.elffile import ELFFile

FUNCTION, ARCS = 0x01000000, 0x01A10000


def functions(gcno):
    """Of a .gcno file: [(name, ident, lineno_checksum, cfg_checksum)], and (version, stamp, checksum)."""
    head = struct.unpack_from("<IIII", gcno)
    assert head[0] == struct.unpack("<I", b"oncg")[0]
    at = 16
    at += 4 + struct.unpack_from("<I", gcno, at)[0] + 4  # the folder, and a flag
    found = []
    while at + 8 <= len(gcno):
        tag, length = struct.unpack_from("<II", gcno, at)
        if tag == FUNCTION:
            ident, lines, cfg, size = struct.unpack_from("<IIII", gcno, at + 8)
            found.append((gcno[at + 24 : at + 24 + size].rstrip(b"\0").decode(), ident, lines, cfg))
        at += 8 + length
    return found, head[1:]


def counters(vmlinux):
    """{function: (address, bytes)} of the objects that gcc counts in."""
    with open(vmlinux, "rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {
            symbol.name.removeprefix("__gcov0."): (symbol["st_value"], symbol["st_size"])
            for symbol in table.iter_symbols()
            if symbol.name.startswith("__gcov0.")
        }


def executed(build, source, memory, scratch, gcov):
    """{line: times} of one source. `memory`: what reads kernel memory, by address and size."""
    stem = os.path.splitext(os.path.basename(source))[0]
    folder = os.path.join(build, os.path.dirname(source))
    with open(os.path.join(folder, f"{stem}.gcno"), "rb") as file:
        gcno = file.read()
    shutil.copy(os.path.join(folder, f"{stem}.gcno"), scratch)
    known, (version, stamp, checksum) = functions(gcno)
    where = counters(os.path.join(build, "vmlinux"))
    gcda = struct.pack("<IIII", struct.unpack("<I", b"adcg")[0], version, stamp, checksum)
    for name, ident, lines, cfg in known:
        gcda += struct.pack("<IIIII", FUNCTION, 12, ident, lines, cfg)
        if name in where:
            data = memory(*where[name])
            gcda += struct.pack("<II", ARCS, len(data)) + data
    with open(os.path.join(scratch, f"{stem}.gcda"), "wb") as file:
        file.write(gcda)
    text = subprocess.run(
        [gcov, "--json-format", "--stdout", os.path.join(scratch, f"{stem}.gcda")],
        cwd=scratch,
        capture_output=True,
        check=True,
    ).stdout
    (shown,) = [file for file in json.loads(text)["files"] if file["file"].endswith(source)]
    times = {}
    for line in shown["lines"]:
        times[line["line_number"]] = times.get(line["line_number"], 0) + line["count"]
    return times
