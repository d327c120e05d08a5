"""Kernels that leave rooms out (the file `rooms`): each links, some boot, and the core boots, traces itself, and says
what it lacks. The long form boots each, and builds and boots the tree without each folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import rooms
from machines import TARGETS
from vitrine_guest import ROOT

OPTIONAL = [name for name, room in rooms.read().items() if room.kind == "optional"]
ARCHES = ("aarch64", "x86_64")
SOAK = "SOAK_MINUTES" in os.environ
# Their absence is felt most: files that everybody reads, code that comes later, breakpoints, stops, hooks of a tracer.
BOOTED = {
    "kernel/procfs",
    "kernel/module",
    "kernel/fs/sysfs",
    "trace/kprobes",
    "kernel/proc/ptrace",
    "trace/tracers/stat",
}


def make(arch, *words, top=ROOT):
    """One link at a time for each machine: they share what is generated."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    return subprocess.run(
        ["make", "-s", "-C", top, f"ARCH={arch}", *words],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=1200,
    )


def functions(*files):
    """What they define. No ordinary kernel has objects of the tracer of branches."""
    if not files:
        return set()
    rows = subprocess.check_output(["nm", "-g", "--defined-only", *files], text=True, cwd=ROOT).splitlines()
    return {row.split()[-1] for row in rows if " T " in row}


def objects_of(arch, room):
    """Those of the room and of its parts of the machine. Of a room that one machine alone has, the other one has none."""
    full = Path(ROOT, "build", arch)
    parts = [name for name, part in rooms.read().items() if name.startswith(f"arch/{arch}/") and room in part.needs]
    return [
        path
        for folder in (room, *parts)
        for path in (full / folder).rglob("*.o")
        if any(Path(ROOT, path.with_suffix(end).relative_to(full)).exists() for end in (".c", ".S"))
    ]


def test_core_boots_and_traces_itself(machine):
    done = make(machine.arch, "CORE=1", "kernel", f"build/{machine.arch}-core/initramfs.cpio")
    assert done.returncode == 0, done.stdout
    script = Path(ROOT, "tests/guest/stories/boot/core.sh").read_bytes()
    run = machine.script(script, build=os.path.join(ROOT, "build", f"{machine.arch}-core"), mem="64M", icount=True)
    try:
        run.wait_exit()
    finally:
        run.guest.close()
    output = run.output
    lines = output.splitlines()
    assert lines[:3] == ["functions", "graph", "events"], output
    tracers = set(lines[3].split())
    assert {"function", "function_graph", "irqsoff", "wakeup_rt", "nop"} <= tracers, output
    assert not {"hwlat", "osnoise", "timerlat"} & tracers, output
    assert int(lines[4]) > 60 and lines[5] == "sys_enter", output
    assert "events/syscalls: No such file" in lines[6], output
    assert "no file system type 9p" in lines[7] and "No such file" in lines[8], output
    assert "this kernel has no modules" in lines[9] and "no modules" in lines[10], output
    assert "events/module: No such file" in lines[11], output
    assert lines[-5:-3] == ["Invalid argument", "0"], output  # no function commands
    assert lines[-3:] == ["Invalid argument", "0", "1"], output  # no explanation; Linux's own words are there
    assert {"full 137", "Out of memory: Killed process  (dd), which needed a page"} <= set(lines), output
    words = ["--arch", machine.arch, "--build", f"build/{machine.arch}-core", "--share", ROOT, os.devnull]
    done = subprocess.run([os.path.join(ROOT, "tools/vrun"), *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 126 and "--share: this kernel is without drivers/virtio/9p" in done.stderr, done
    config = Path(ROOT, "build", f"{machine.arch}-core", "config").read_text(encoding="ascii")
    assert "# CONFIG_NET is not set\n" in config and "# CONFIG_HIST_TRIGGERS is not set\n" in config
    assert "# CONFIG_MODULES is not set\n" in config


def traces_itself(arch, build):
    """Boots a kernel: does the function tracer see it? And its output."""
    machine = next(target for target in TARGETS if target.arch == arch)
    script = Path(ROOT, "tests/guest/stories/boot/functions.sh").read_bytes()
    run = machine.script(script, build=os.path.join(ROOT, build))
    try:
        run.wait_exit()
    finally:
        run.guest.close()
    return run.output.splitlines() == ["functions"], run.output


@pytest.mark.parametrize("room", OPTIONAL)
def test_links_without(room):
    """Each on one machine, and some boot; all on both in the long form."""
    arches = [arch for arch in ARCHES if objects_of(arch, room)] or ARCHES
    for arch in arches if SOAK else [arches[OPTIONAL.index(room) % len(arches)]]:
        folder = f"build/{arch}-without-{room.replace('/', '_')}"
        boots = SOAK or room in BOOTED
        done = make(
            arch, f"WITHOUT={room}", *(["kernel", f"{folder}/initramfs.cpio"] if boots else [f"{folder}/vmlinux.1"])
        )
        assert done.returncode == 0, done.stdout
        assert not functions(*objects_of(arch, room)) & functions(f"{folder}/vmlinux.1")
        if boots:
            good, output = traces_itself(arch, folder)
            assert good, output


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the tree with what was built of its kernels, programs and C libraries."""
    top = tmp_path_factory.mktemp("tree")
    subprocess.run(["rsync", "-a", "--exclude=/build", "--exclude=/.git", f"{ROOT}/", top], check=True)
    heavy = [f"--exclude={name}" for name in ("/debian*", "/guest-tests", "/busybox", "/*.cpio", "/*.iso")]
    for arch in ARCHES:
        subprocess.run(["rsync", "-a", "--mkpath", *heavy, f"{ROOT}/build/{arch}/", f"{top}/build/{arch}"], check=True)
    if os.path.isdir(f"{ROOT}/build/newlib"):
        subprocess.run(["rsync", "-a", "--mkpath", f"{ROOT}/build/newlib/", f"{top}/build/newlib"], check=True)
    yield top
    shutil.rmtree(top)


@pytest.mark.soak(only=True)
@pytest.mark.parametrize("room", OPTIONAL)
def test_tree_without_its_folder(copy, room):
    """The folder is gone, and nothing else is edited: the rest builds, boots and traces itself."""
    order = (*ARCHES[OPTIONAL.index(room) % 2 :], *ARCHES)
    arch = next((arch for arch in order if objects_of(arch, room)), order[0])
    away = copy / "away"
    (copy / room).rename(away)
    try:
        done = make(arch, "kernel", f"build/{arch}/initramfs.cpio", top=copy)
        assert done.returncode == 0, done.stdout
        good, output = traces_itself(arch, copy / "build" / arch)
        assert good, output
    finally:
        away.rename(copy / room)
