"""tools/bootconfig: what it puts behind an initramfs, shows, takes away and refuses; and what vrun makes of --bootconfig."""

import os
import struct
import subprocess
import sys

import pytest
from machines import params
from tree import ROOT
from vitrine_guest import MACHINES, GuestError, Setup

TOOL = os.path.join(ROOT, "tools", "bootconfig")
KEYS = "# a comment\nftrace { tracer = function; events = 'a:*', \"b's\" }\nkernel.quiet\na = 1\na.b.c = 2\n"
LIST = """ftrace.tracer = "function"
ftrace.events = "a:*", "b's"
kernel.quiet = ""
a = "1"
a.b.c = "2"
"""
TREE = """ftrace {
    tracer = "function";
    events = "a:*", "b's";
}
kernel.quiet;
a = "1";
a {
    b.c = "2";
}
"""


def tool(*words):
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, check=False)


@pytest.fixture
def files(tmp_path):
    """A file of keys, and something to put it behind, whose size is no multiple of 4."""
    (tmp_path / "keys").write_text(KEYS, encoding="ascii")
    (tmp_path / "initrd").write_bytes(bytes(range(256)) * 4 + b"x")
    return tmp_path / "keys", tmp_path / "initrd"


def test_the_form_is_linuxs(files):
    """[initramfs][text][zeros][size][checksum]["#BOOTCONFIG\\n"], all of it a multiple of four bytes."""
    keys, initrd = files
    before = initrd.read_bytes()
    done = tool("-a", keys, initrd)
    assert (done.returncode, done.stderr) == (0, "")
    data = initrd.read_bytes()
    size, checksum = struct.unpack("<II", data[-20:-12])
    text = data[len(before) : -20]
    assert data.startswith(before) and data.endswith(b"#BOOTCONFIG\n") and len(data) % 4 == 0
    assert text == KEYS.encode() + bytes(size - len(KEYS)) and 1 <= size - len(KEYS) <= 4
    assert checksum == sum(text)
    assert done.stdout.splitlines()[1:] == ["\tNumber of nodes: 13", f"\tSize: {size} bytes", f"\tChecksum: {checksum}"]


def test_applying_twice_replaces_and_deleting_restores(files):
    keys, initrd = files
    before = initrd.read_bytes()
    tool("-a", keys, initrd)
    once = initrd.read_bytes()
    tool("-a", keys, initrd)
    assert initrd.read_bytes() == once
    assert tool("-d", initrd).returncode == 0 and initrd.read_bytes() == before
    assert tool("-d", initrd).returncode == 0 and initrd.read_bytes() == before


def test_showing(files):
    """A file of keys and what stands behind an initramfs look the same; what is shown is such a file again."""
    keys, initrd = files
    tool("-a", keys, initrd)
    assert tool("-l", keys).stdout == tool("-l", initrd).stdout == LIST
    assert tool(keys).stdout == tool(initrd).stdout == TREE
    keys.write_text(TREE, encoding="ascii")
    assert tool("-l", keys).stdout == LIST


def test_what_is_refused(files):
    """With the place, and nothing is changed."""
    keys, initrd = files
    before = initrd.read_bytes()
    for text, said in (
        ("a {\n  b = 1\n", f"{keys}: Parse Error: Brace is not closed at 1:3"),
        ("a = 1\n  a = 2\n", f"{keys}: Parse Error: Value is redefined at 2:5"),
        ("a = 1\0\n", f"{keys}: byte 5 is a zero: this is no text"),
        ("a = " + 32763 * "b", f"{keys}: Parse Error: Config data is too big at 1:1"),
    ):
        keys.write_text(text, encoding="ascii")
        for words in (("-a", keys, initrd), ("-l", keys)):
            done = tool(*words)
            if words[0] == "-l" and "too big" in said:
                said = f"{keys}: no bootconfig at its end, and too large to be one itself"
            assert (done.returncode, done.stdout, done.stderr) == (1, "", f"bootconfig: {said}\n")
    keys.write_text("a = " + 32762 * "b", encoding="ascii")
    assert tool("-a", keys, initrd).returncode == 0
    tool("-d", initrd)
    assert initrd.read_bytes() == before
    assert tool("-a", keys, "/nonexistent").stderr == "bootconfig: /nonexistent: No such file or directory\n"
    for words in ((), ("-a", keys), ("-d", "-l", keys), ("-x", keys), (keys, initrd)):
        assert tool(*words).returncode == 2
    assert tool("-h").returncode == 0 and "usage: bootconfig" in tool("-h").stdout


def test_a_damaged_one_is_not_touched(files):
    keys, initrd = files
    tool("-a", keys, initrd)
    data = bytearray(initrd.read_bytes())
    data[-30] ^= 1
    initrd.write_bytes(data)
    for words in (("-a", keys, initrd), ("-d", initrd), (initrd,)):
        done = tool(*words)
        assert done.returncode == 1
        assert done.stderr == f"bootconfig: {initrd}: the bootconfig at its end is damaged: checksum failed\n"
    assert initrd.read_bytes() == data


@pytest.fixture(params=params())
def build(tmp_path, request):
    machine = MACHINES[request.param.arch]
    (tmp_path / machine.kernel).write_bytes(b"")
    (tmp_path / "initramfs.cpio").write_bytes(b"files")
    return {"arch": request.param.arch, "build": str(tmp_path)}


def test_a_guest_has_it_behind_all_files(build, files):
    setup = Setup(bootconfig=str(files[0]), append="quiet -- word", **build)
    assert setup.argv([])[-1] == "bootconfig quiet -- word"
    handle = setup.first_files({"a": (0o644, b"b")})
    data = os.pread(handle, 1 << 20, 0)
    os.close(handle)
    assert (
        data.startswith(b"files\0\0\x00" + b"070701")
        and data.endswith(b"#BOOTCONFIG\n")
        and KEYS.encode() + b"\0" in data
    )
    assert Setup(**build).first_files({}) is None


def test_vrun_says_what_is_wrong(build, files):
    keys, _ = files
    keys.write_text("a {", encoding="ascii")
    words = [sys.executable, os.path.join(ROOT, "tools/vrun"), "--arch", build["arch"], "--build", build["build"]]
    done = subprocess.run(
        [*words, "--bootconfig", str(keys), str(keys)], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (
        126,
        f"vrun: --bootconfig: {keys}: Parse Error: Brace is not closed at 1:3\n",
    )
    if "cdrom" in MACHINES[build["arch"]].boots:
        with pytest.raises(GuestError, match="make iso BOOTCONFIG"):
            (files[0].parent / "vitrine.iso").write_bytes(b"")
            Setup(boot="cdrom", bootconfig=str(keys), iso=str(files[0].parent / "vitrine.iso"), **build)
