"""The lengths of x86_64 instructions, for kprobes: held against objdump, for each instruction of the kernel."""

import ctypes
import os
import re
import subprocess

from vitrine_guest import ROOT

FIRST = "_stext"  # before it there is what the boot protocols read, which is data


def test_lengths(tmp_path):
    library = tmp_path / "insn.so"
    folders = [f"-I{ROOT}/tests/unit/include", "-idirafter", f"{ROOT}/include"]
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", library, *folders, f"{ROOT}/arch/x86_64/insn.c"], check=True
    )
    decode = ctypes.CDLL(str(library)).insn_decode
    decode.restype = ctypes.c_bool
    said = subprocess.run(
        ["x86_64-linux-gnu-objdump", "-d", "-w", os.path.join(ROOT, "build/x86_64/vmlinux")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    insn, wrong, count = (ctypes.c_uint8 * 32)(), [], 0
    for line in said[
        said.index("<vectors_end>:") if "<vectors_end>:" in said else said.index(f"<{FIRST}>:") :
    ].splitlines():
        if found := re.match(r"\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)", line):
            code = bytes.fromhex(found[1])
            count += 1
            if not decode(insn, (ctypes.c_uint8 * 16)(*(code + bytes(16))[:16]), 16) or insn[0] != len(code):
                wrong.append(line)
    assert count > 100000 and not wrong, wrong[:10]
