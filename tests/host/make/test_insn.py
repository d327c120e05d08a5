"""The lengths of x86_64 instructions, for kprobes: held against objdump, for each instruction of the kernel."""

import ctypes
import os
import re
import subprocess

import pytest
from vitrine_guest import ROOT

LIBC = "/lib/x86_64-linux-gnu/libc.so.6"
FIRST = "_stext"  # before it there is what the boot protocols read, which is data


@pytest.fixture(name="decode", scope="module")
def fixture_decode(tmp_path_factory):
    library = tmp_path_factory.mktemp("insn") / "insn.so"
    folders = [f"-I{ROOT}/tests/unit/include", "-idirafter", f"{ROOT}/include"]
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", library, *folders, f"{ROOT}/arch/x86_64/probes/insn.c"], check=True
    )
    decode = ctypes.CDLL(str(library)).insn_decode
    decode.restype = ctypes.c_bool
    return decode


def disassembled(path):
    words = ["x86_64-linux-gnu-objdump", "-d", "-w", path]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def wrong_lengths(decode, said):
    """Lines of objdump whose length the decoder does not find, and how many there are in all."""
    insn, wrong, count = (ctypes.c_uint8 * 32)(), [], 0
    for line in said.splitlines():
        if found := re.match(r"\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)", line):
            code = bytes.fromhex(found[1])
            if "(bad)" in line:
                continue
            count += 1
            if not decode(insn, (ctypes.c_uint8 * 16)(*(code + bytes(16))[:16]), 16) or insn[0] != len(code):
                wrong.append(line)
    return wrong, count


def test_lengths(decode):
    said = disassembled(os.path.join(ROOT, "build/x86_64/vmlinux"))
    first = "<vectors_end>:" if "<vectors_end>:" in said else f"<{FIRST}>:"
    wrong, count = wrong_lengths(decode, said[said.index(first) :])
    assert count > 100000 and not wrong, wrong[:10]


@pytest.mark.skipif(not os.path.exists(LIBC), reason="there is no libc of x86_64 here")
def test_lengths_of_programs(decode):
    """The C library has vector instructions, by VEX and by EVEX."""
    wrong, count = wrong_lengths(decode, disassembled(LIBC))
    assert count > 300000 and not wrong, (len(wrong), wrong[:10])
