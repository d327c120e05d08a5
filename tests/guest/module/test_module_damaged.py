"""Damaged files of modules: refused by their checksum, and harmless when they have the right one. And what remains of the
loader when a task dies with its lock."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from ko_file import KoFile
from stories import story
from test_modules import make, run
from vitrine_guest import ROOT

SOURCES = pathlib.Path(ROOT, "tests/guest/module/damaged")
TRACING = "/sys/kernel/tracing"
CRASH = r"Unable to handle|Internal error|Oops|BUG|WARNING|Call trace|panic"
SOAK_MINUTES = int(os.environ.get("SOAK_MINUTES", "0"))
# What is loaded before, and the parameters that the kernel is given with each file.
KINDS = {
    "plain": ((), ""),
    "params": ((), "small=7 yes=0 no=1 who=me list=5,6 words=x,y,z flags=1 early=3 earlies=1,2 wrapped=9 room=abc"),
    "events": ((), ""),
    "code": ((), ""),
    "user": (("plain", "events"), ""),
}


@pytest.fixture(scope="module", params=["aarch64", "x86_64"])
def damaged(request, tmp_path_factory):
    """(machine, folder) with the modules of tests/guest/module/damaged, and one whose parameters' `free` dies."""
    folder = tmp_path_factory.mktemp("damaged")
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    status, said = make(folder, request.param, "EXTRA_CFLAGS=-g0", makefile=(SOURCES / "Makefile").read_text() + "#{}")
    assert status == 0 and "warning" not in said, said
    return request.param, folder


def guest(damaged, script, *names, options=(), programs=()):
    arch, folder = damaged
    files = [folder / f"{name}.ko" for name in names]
    files += [f"{ROOT}/build/{arch}/guest-tests/{name}" for name in programs]
    if ". /run/prelude" in script:
        options = [*options, "--file", f"{ROOT}/tests/guest/prelude:/run/prelude"]
    return run(arch, files, script, folder, *options)


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_do_the_kernel_no_harm(damaged, kind):
    """Each of a thousand is refused, or loaded whole, looked at and taken out; nothing is left, and no memory is lost. So
    it is with the checksum that fits, and without that each is refused. The long form has 4,000 files of a kind."""
    count = 4000 if SOAK_MINUTES else 800
    before, params = KINDS[kind]
    names = [f"damaged_{name}" for name in (kind, *before)]
    out = guest(
        damaged,
        f"KIND={names[0]} BEFORE='{' '.join(names[1:])}' COUNT={count} PARAMS='{params}'\n"
        + story("module_damaged", "fuzz"),
        *names,
        programs=["kofuzz"],
        options=["--append", "oops=panic"],
    )
    wrong, right, *rest = out.splitlines()
    assert wrong == f"0 loaded, {count // 4} refused", out
    assert (found := re.fullmatch(r"(\d+) loaded, (\d+) refused", right)), out
    loaded, refused = map(int, found.groups())
    # Neither is everything refused, nor does damage pass unseen.
    assert loaded > count / 10 and refused > count / 10 and rest == ["kept", "0"], out


# A table, the place of a pointer in its first entry, and what the log says of one that leads elsewhere.
POINTERS = {
    "plain": [("__ksymtab", 0), ("__ksymtab", 8)],
    "params": [("__param", 0), ("__param", 8), ("__param", 24)],
    "events": [
        ("__jump_table", 0),
        ("__jump_table", 8),
        ("__jump_table", 16),
        ("ptrs_tracepoints", 0),
        ("ptrs_ftrace_events", 0),
        ("ptrs_trace_eval_maps", 0),
    ],
    "code": [("ptrs_printk_formats", 0), ("__jump_table", 16)],
}
# Where 4 bytes further is as good: the end of a text, another function or variable, another place to jump to.
HARMLESS = [
    ("__ksymtab", 0),
    ("__ksymtab", 8),
    ("__param", 0),
    ("__param", 24),
    ("ptrs_printk_formats", 0),
    ("__jump_table", 8),
]


def test_a_pointer_that_leads_elsewhere_is_refused(damaged):
    """Far away, and also to a place of the module that is for something else: 4 bytes further. Of two tables that claim
    the same place then, the one that is looked at later is named."""
    arch, folder = damaged
    files = {}
    for kind, pointers in POINTERS.items():
        whole = (folder / f"damaged_{kind}.ko").read_bytes()
        for section, offset in pointers:
            files[f"{kind}-{section}-{offset}-far"] = (KoFile(whole).bend(section, offset, 1 << 24), section)
            if (section, offset) not in HARMLESS:
                files[f"{kind}-{section}-{offset}-near"] = (KoFile(whole).bend(section, offset, 4), "")
    for section, flags in (("__param", 3), ("__jump_table", 2)):  # written to, and not
        kind = "params" if section == "__param" else "events"
        file = KoFile((folder / f"damaged_{kind}.ko").read_bytes()).put_header(section, flags=flags)
        files[f"{kind}-{section}-flags"] = (file, section)
    for name, (file, _) in files.items():
        (folder / f"{name}.ko").write_bytes(file.file())
    out = guest(
        damaged,
        "dmesg -c > /dev/null\n"
        + "".join(f"insmod /{name}.ko 2>/dev/null; echo == {name} $?; dmesg -c | cut -d] -f2\n" for name in files)
        + "cat /proc/modules; ls /sys/module; echo == end\n",
        *files,
        options=["--append", "oops=panic"],
    )
    said = dict(re.findall(r"^== (\S+) 1\n(.*)\n", out, re.M))
    good = {name: f"its section {section}" for name, (_, section) in files.items()}
    assert {name: said.get(name, "").partition(": ")[2][: len(good[name])] for name in files} == good, out
    assert not re.search(CRASH, out) and out.endswith("== end\n")


def test_a_file_that_strip_has_changed(damaged):
    """Its checksum has gone; tools/modsum.py writes another one."""
    arch, folder = damaged
    strip = next(
        name
        for name in (f"{arch}-none-elf-strip", f"{arch}-elf-strip", f"{arch}-linux-gnu-strip", "strip")
        if shutil.which(name)
    )
    for name in ("bare", "summed"):
        shutil.copy(folder / "damaged_params.ko", folder / f"{name}.ko")
        subprocess.run([strip, "-d", folder / f"{name}.ko"], check=True)
    subprocess.run([f"{ROOT}/tools/modsum.py", folder / "summed.ko"], check=True)
    out = guest(damaged, story("module_damaged", "strip"), "bare", "summed")
    assert out.splitlines() == [
        "insmod: could not insert /bare.ko: Invalid module format; dmesg says what is wrong",
        "1",
        " bare.ko: no checksum ends it: it was cut off, or changed by a tool such as strip (tools/modsum.py), or "
        "`make modules` has not linked it",
        "0",
        "damaged_params",
    ]


def test_a_task_dies_with_the_loaders_lock(damaged):
    """rmmod dies in a parameter's `free`. Who waits for the lock can be killed, or is refused when it dies; lsmod says
    that it is over, and what only looks goes on."""
    out = guest(damaged, story("module_damaged", "dies"), "damaged_dying", "damaged_plain", options=["--smp", "2"])
    assert re.findall(r"^== .*", out, re.M) == [
        "== killed 137",
        "== refused 1",
        "== lsmod damaged_dying",
        "== lsmod: no module can be loaded or removed any more "
        "(/proc/sys/kernel/modules_disabled is 1; dmesg may say why)",
        "== insmod: could not insert /damaged_plain.ko: Operation not permitted",
        "== rmmod: damaged_dying: Operation not permitted",
        "== said 1",
        "== still Unloading",
        "== probe 0",
        "== disabled 1",
    ], out


def test_modules_can_be_disabled(damaged):
    """As on Linux: 1 can be written, and nothing else, and from then on no module comes or goes."""
    out = guest(damaged, story("module_damaged", "disabled"), "damaged_plain", "damaged_params")
    assert out.splitlines() == ["0", "1", "0", "1", "1", "1", "damaged_plain"]


def test_an_rmmod_that_waits_can_be_killed(damaged):
    """It waits for a task that writes a parameter. The next rmmod takes up what is left to do."""
    out = guest(damaged, story("module_damaged", "waits"), "damaged_dying")
    assert out.splitlines() == ["killed 137", "Unloading", "0", "0 modules"]


def test_each_table_that_is_followed_is_proved():
    """Whoever looks for a section of modules by its name has its pointers proved under that name, too."""
    followed, proved = set(), set()
    for folder in ("kernel", "trace"):
        for path in pathlib.Path(ROOT, folder).rglob("*.c"):
            text = path.read_text()
            followed |= set(re.findall(r'module_section\([\w>.-]+, "(\w+)"', text))
            proved |= set(re.findall(r'module_check_table\(c, "(\w+)"', text))
    assert followed == proved and len(proved) == 8
