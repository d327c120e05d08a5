"""Bare-metal toolchains, where there is one: what `make toolchain` has built, or an aarch64-none-elf-gcc or
x86_64-elf-gcc on PATH. The tree builds with it without a warning, and no call site is lost. Compilers that make code
harder to attack unless they are told otherwise, as Ubuntu's do, make the same bytes."""

import os
import re
import shutil
import subprocess

import pytest
from elfimage import Image
from tree import ROOT, cloned

NAMES = {"aarch64": ("aarch64-none-elf-", "aarch64-elf-"), "x86_64": ("x86_64-elf-",)}
HOOK = {"aarch64": r"\sbl\s.*<_mcount>$", "x86_64": r"\scall\s.*<__fentry__>$"}
BUILT = os.path.join(ROOT, "build/toolchain")


def bare_metal(arch):
    """Its prefix, with its folder."""
    for name in NAMES[arch]:
        if os.path.exists(f"{BUILT}/share/vitrine/{name}newlib"):
            return f"{BUILT}/bin/{name}"
        if found := shutil.which(f"{name}gcc"):
            return found.removesuffix("gcc")
    pytest.skip(f"no bare-metal gcc for {arch} is here: make toolchain builds one")


def make(tree, arch, prefix, *goals):
    done = subprocess.run(
        ["make", f"ARCH={arch}", f"CROSS={prefix}", *goals],
        cwd=tree,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "warning" not in done.stdout


def test_each_kind_of_object(machine, tmp_path):
    prefix = bare_metal(machine.arch)
    tree = cloned(tmp_path / "tree")
    kinds = ["kernel/ksyms.o", "kernel/sched/wait.o", f"arch/{machine.arch}/mm/memory.o", "vdso/vdso.so"]
    make(tree, machine.arch, prefix, *(f"build/{machine.arch}/{kind}" for kind in kinds))
    if not os.path.exists(os.path.join(ROOT, f"build/newlib/{machine.arch}/.ready")):
        pytest.skip("the C library is not built")
    make(tree, machine.arch, prefix, f"build/{machine.arch}/root/bin/basename")


HARD = {
    "aarch64": "-mbranch-protection=standard",
    "x86_64": "-fcf-protection=full",
}


def hardened(folder, arch, cross):
    """The machine's tools with a compiler in front that has such defaults. Returns the prefix of their names."""
    folder.mkdir()
    for tool in ("ld", "nm", "objcopy", "objdump", "ar", "readelf", "as", "strip"):
        (folder / f"hard-{tool}").symlink_to(shutil.which(cross + tool))
    options = f"-D_FORTIFY_SOURCE=3 -fstack-protector-all -fstack-clash-protection {HARD[arch]}"
    (folder / "hard-gcc").write_text(f'#!/bin/sh\nexec {cross}gcc {options} "$@"\n')
    (folder / "hard-gcc").chmod(0o755)
    return f"{folder}/hard-"


def test_defaults_of_the_compiler(machine, tmp_path):
    if not os.path.exists(os.path.join(ROOT, f"build/newlib/{machine.arch}/.ready")):
        pytest.skip("the C library is not built")
    kinds = ["kernel/ksyms.o", "kernel/fs/namei.o", "vdso/vdso.so", "userland/lib/posix/calls.o", "userland/bin/text/tee.o"]
    cross = next(prefix for prefix in machine.host_gcc if shutil.which(f"{prefix}gcc"))
    made = {}
    for name, prefix in ("plain", cross), ("hard", hardened(tmp_path / "bin", machine.arch, cross)):
        tree = cloned(tmp_path / name)
        make(tree, machine.arch, prefix, *(f"build/{machine.arch}/{kind}" for kind in kinds))
        for kind in kinds:  # the debugging information names the options
            file = tree / f"build/{machine.arch}/{kind}"
            subprocess.run([f"{cross}objcopy", "--strip-debug", file], check=True)
            made[name, kind] = file.read_bytes()
    assert all(made["plain", kind] == made["hard", kind] for kind in kinds)


@pytest.mark.soak(only=True)
def test_no_call_site_is_lost(machine, tmp_path):
    prefix = bare_metal(machine.arch)
    tree = cloned(tmp_path / "tree")
    make(tree, machine.arch, prefix, "all", "guest-progs")
    kernel = str(tree / f"build/{machine.arch}/vmlinux")
    words = [f"{prefix}objdump", "-d", kernel + ".1"]
    listing = subprocess.run(words, check=True, text=True, capture_output=True).stdout
    image = Image(kernel)
    table = (image.symbol("__stop_mcount_loc") - image.symbol("__start_mcount_loc")) // 4
    assert table == len(re.findall(HOOK[machine.arch], listing, re.M)) > 2000
    script = tree / "script.sh"
    script.write_text("grep -q gcc /proc/version && wc -l < /sys/kernel/tracing/available_filter_functions\n")
    words = ["tools/vrun", "--arch", machine.arch, "--timeout", "300", str(script)]
    said = subprocess.run(words, cwd=tree, check=True, text=True, capture_output=True).stdout
    assert int(said) == table
