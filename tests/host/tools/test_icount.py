"""What tools/vitrine_icount.py asks QEMU before it counts instructions: whether the only CPU may wait. A QEMU that hangs
then gets a timer of its own, which QEMU 8.2 was seen to need for aarch64; one that is well gets nothing."""

import re
import shutil
import subprocess

import vitrine_icount
from vitrine_machines import MACHINES


def qemu(folder, text):
    path = folder / "qemu"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def arguments(name, arch, smp=1, turn=None):
    return vitrine_icount.icount_arguments(name, MACHINES[arch], smp, turn)


def test_a_qemu_that_hangs_gets_a_timer(tmp_path):
    name = qemu(tmp_path, f'echo "$@" >> {tmp_path}/asked\ntrap "" TERM\nwhile :; do :; done')
    for _ in range(2):
        words = arguments(name, "aarch64")
        assert words[:4] == ["-icount", "shift=0,sleep=off", "-seed", "1"]
        assert words[-1].startswith("filter-buffer,") and words[-1].endswith(f",interval={vitrine_icount.RARELY}")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 1 and "-cpu cortex-a57" in asked[0] and "-icount shift=0,sleep=off" in asked[0]


def test_others_get_none(tmp_path):
    real = shutil.which(MACHINES["aarch64"].qemu)
    if re.search(
        r"version (7\.2|10\.)", subprocess.run([real, "--version"], capture_output=True, text=True, check=True).stdout
    ):
        assert arguments(real, "aarch64") == arguments("no-such-qemu", "x86_64")
    assert arguments("no-such-qemu", "aarch64")[-1] == arguments(qemu(tmp_path, "exit 1"), "aarch64")[-1] == "1"


def test_turns_of_several_cpus():
    words = {turn: arguments("no-such-qemu", "aarch64", 2, turn)[4:] for turn in (None, 0, 20)}
    assert not words[0] and words[20][-1].endswith("interval=20") and words[None][-1].endswith("interval=1000")
