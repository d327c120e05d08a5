"""The archive of `make release`: what is in it, that it is the same each time, and that a guest starts from it with QEMU
and python3 alone."""

import hashlib
import importlib.machinery
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile

import pytest
from tree import ROOT, cloned, read
from vitrine_guest import MACHINES

DEBIAN = "bookworm"
# What a bare one has, and no more: of QEMU the package's own needs.
PACKAGES = "python3,qemu-system-arm,qemu-system-x86"


@pytest.fixture(scope="module")
def pack():
    loader = importlib.machinery.SourceFileLoader("pack", os.path.join(ROOT, "tools/release/pack"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("pack", loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


@pytest.fixture
def stand_ins(pack, tmp_path, monkeypatch):
    """Small files in place of kernels and of newlib's licence: for what does not start a guest."""

    def put(folder):
        for arch, machine in MACHINES.items():
            (folder / "build" / arch).mkdir(parents=True)
            for name in {machine.kernel, "vmlinux", "pages.cpio"}:
                (folder / "build" / arch / name).write_text(f"{arch} {name}")
        for name in ("tools", "docs", "LICENSE"):
            (folder / name).symlink_to(os.path.join(ROOT, name))
        monkeypatch.setattr(pack, "ROOT", str(folder))

    monkeypatch.setattr(pack, "newlib_licence", lambda: b"a licence\n")
    return put


def run_pack(pack, monkeypatch, output):
    monkeypatch.setattr(sys, "argv", ["pack", str(output), *MACHINES])
    return pack.main()


def test_the_same_bytes_from_any_folder(pack, stand_ins, tmp_path, monkeypatch, capsys):
    """Whoever packs it, with which umask, and when."""
    for name, umask, when in (("one", 0o022, 1), ("two/with-a-longer-name", 0o077, 2**30)):
        before = os.umask(umask)
        stand_ins(tmp_path / name)
        os.umask(before)
        for path in (tmp_path / name).rglob("*.cpio"):
            os.utime(path, (when, when))
        assert run_pack(pack, monkeypatch, tmp_path / name / "out.tar.xz") == 0
    assert "one/out.tar.xz: " in capsys.readouterr().out
    assert (tmp_path / "one/out.tar.xz").read_bytes() == (tmp_path / "two/with-a-longer-name/out.tar.xz").read_bytes()


def test_what_is_in_it_is_listed(pack, stand_ins, tmp_path, monkeypatch):
    """With its checksum, and in the table of its manual; all belongs to root."""
    stand_ins(tmp_path)
    assert run_pack(pack, monkeypatch, tmp_path / "out.tar.xz") == 0
    with tarfile.open(tmp_path / "out.tar.xz") as tar:
        members = tar.getmembers()
        texts = {one.name: tar.extractfile(one).read() for one in members if one.isfile()}
    assert {(one.mtime, one.uid, one.gid, one.uname, one.gname) for one in members} == {
        (1577836800, 0, 0, "root", "root")
    }
    assert all(one.mode == (0o755 if one.isdir() or texts[one.name].startswith(b"#!") else 0o644) for one in members)
    listed = dict(line.split("  ")[::-1] for line in texts.pop("vitrine/CONTENTS").decode().splitlines())
    assert listed == {name.removeprefix("vitrine/"): hashlib.sha256(text).hexdigest() for name, text in texts.items()}
    manual = read("tools/release/README.md").partition("## What is in it")[2]
    for name in listed.keys() - {"README.md"}:
        tops = [name, *(f"{name.rsplit('/', depth)[0]}/" for depth in range(1, name.count("/") + 1))]
        assert (
            any(f"`{top}`" in manual for top in tops)
            or name.startswith("tools/")
            and "the other files beside" in manual
        ), name
    assert "busybox" not in " ".join(listed), "it is not ours to hand on"


def test_one_that_is_too_large_or_lacks_something_is_refused(pack, stand_ins, tmp_path, monkeypatch, capsys):
    stand_ins(tmp_path)
    monkeypatch.setattr(pack, "MOST", 1000)
    assert run_pack(pack, monkeypatch, tmp_path / "out.tar.xz") == 1
    assert re.match(r"release: the archive has [\d,]+ bytes, and is to have 1,000 at most\n", capsys.readouterr().err)
    (tmp_path / "build/aarch64/Image").unlink()
    assert run_pack(pack, monkeypatch, tmp_path / "out.tar.xz") == 1
    assert "build/aarch64/Image" in capsys.readouterr().err
    assert not (tmp_path / "out.tar.xz").exists()


def test_the_licence_of_newlib_comes_from_its_source(pack, tmp_path, monkeypatch):
    monkeypatch.setattr(
        pack.glob, "glob", lambda pattern: [f"{tmp_path}/n.tar"] if pattern.startswith(str(tmp_path)) else []
    )
    monkeypatch.setenv("SOURCES", str(tmp_path))
    with tarfile.open(tmp_path / "n.tar", "w") as tar:
        for name in ("newlib-9/COPYING", "newlib-9/COPYING.NEWLIB"):
            member = tarfile.TarInfo(name)
            member.size = len(name)
            tar.addfile(member, io.BytesIO(name.encode()))
    assert pack.newlib_licence() == b"newlib-9/COPYING.NEWLIB"
    monkeypatch.delenv("SOURCES")
    with pytest.raises(pack.ReleaseError, match="newlib-source"):
        pack.newlib_licence()


@pytest.fixture(scope="module")
def only_qemu_and_python(tmp_path_factory):
    """A folder for PATH."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("python3", *(machine.qemu for machine in MACHINES.values())):
        (folder / name).symlink_to("/usr/bin/python3" if name == "python3" else shutil.which(name))
    return folder


def start(top, path, *words, **more):
    """./run of an unpacked archive. -S and an empty HOME would be python's: it finds no packages in an empty prefix."""
    command = [top / "run", *words]
    environment = {"PATH": str(path), "PYTHONNOUSERSITE": "1", "PYTHONPATH": str(top / "no-packages")}
    return subprocess.run(
        command, env=environment, cwd=top, text=True, capture_output=True, timeout=600, check=False, **more
    )


def no_packages(top):
    """Modules that a bare python does not have are not found."""
    folder = top / "no-packages"
    folder.mkdir()
    for name in ("pexpect", "ptyprocess", "elftools"):
        (folder / f"{name}.py").write_text(f"raise ModuleNotFoundError('{name}')\n")


def starts(top, path, machine):
    """A script, whose status is that of `run`, with arguments and with a trace to take out; and a session."""
    (top / "script.sh").write_text('echo "<$1>"; uname -m; ls /usr/share/doc/vitrine | grep -c hosts.md; exit 7\n')
    done = start(top, path, machine.arch, "script.sh", "a b")
    assert (done.returncode, done.stdout, done.stderr) == (7, f"<a b>\n{machine.arch}\n1\n", "")
    done = start(top, path, machine.make, "first.sh")
    assert done.returncode == 0 and "vfs_write() {" in done.stdout and "ramfs_write" in done.stdout, done.stderr
    session = start(top, path, machine.make, "--smp", "2", input="\n\ngrep -c ^processor /proc/cpuinfo\npoweroff\n")
    assert session.returncode == 0 and re.search(r"cpuinfo\s+2\s", session.stdout), session.stdout + session.stderr


def test_a_guest_starts_from_an_empty_folder(pack, tmp_path, only_qemu_and_python, machine):
    """As the archive has it: of the tree, only what is built and what is packed."""
    build = os.path.join(ROOT, "build", machine.arch)
    if not os.path.exists(f"{build}/session.cpio"):
        pytest.skip("nothing is built for this machine")
    subprocess.run(["make", "-s", f"ARCH={machine.arch}", f"build/{machine.arch}/pages.cpio"], cwd=ROOT, check=True)
    found = {name: pack.read(source) for name, source in pack.files([machine.arch]).items()}
    with tarfile.open(fileobj=io.BytesIO(pack.archive(found))) as tar:
        tar.extractall(tmp_path)
    no_packages(tmp_path / "vitrine")
    starts(tmp_path / "vitrine", only_qemu_and_python, machine)


def test_what_is_missing_there_is_told_in_a_line(pack, tmp_path):
    """A python that is not there or too old, and no QEMU."""
    top = tmp_path / "vitrine"
    shutil.copytree(os.path.join(ROOT, "tools"), top / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(os.path.join(ROOT, "tools/release/run"), top / "run")
    empty = tmp_path / "empty"
    empty.mkdir()
    text = (top / "run").read_text()
    (top / "run").write_text(text.replace("/usr/bin/python3", "/nonexistent/python3"))
    done = start(top, empty, "x86_64")
    assert (done.returncode, done.stderr) == (126, "run: python 3.9 or later is needed: install the package python3\n")
    (empty / "python3").write_text("#!/bin/sh\nexit 1\n")
    (empty / "python3").chmod(0o755)
    assert "run: python 3.9 or later is needed, and python3 is older: " in start(top, empty).stderr
    (top / "run").write_text(text)
    (empty / "python3").unlink()
    for machine in MACHINES.values():
        build = top / "build" / machine.gdb.replace("i386:x86-64", "x86_64")
        build.mkdir(parents=True)
        for name in (machine.kernel, "initramfs.cpio"):
            (build / name).write_text("")
    (top / "script.sh").write_text("")
    for words in (("x86_64",), ("arm64", "script.sh")):
        done = start(top, empty, *words)
        assert done.returncode == 126 and "No such file or directory: install QEMU 7.2 or later" in done.stderr
    done = start(top, empty, "x86")
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr == "run: x86: there is no such script; the machines are arm64 and x86_64\n"
    (top / "tools/bootconfig").unlink()  # which is not in the archive
    for words in (("x86_64", "--bootconfig", "script.sh"), ("x86_64", "--bootconfig", "script.sh", "script.sh")):
        done = start(top, empty, *words)
        assert done.returncode == 126
        assert "vrun: --bootconfig needs the source tree, which has tools/bootconfig\n" in done.stderr


@pytest.mark.soak(only=True)
def test_two_clones_give_the_same_archive(tmp_path):
    trees = [cloned(tmp_path / "tree"), cloned(tmp_path / "another-place/of-the-tree")]
    for tree in trees:
        subprocess.run(["make", "-s", "release"], cwd=tree, check=True)
    one, other = ((tree / "build/vitrine.tar.xz").read_bytes() for tree in trees)
    assert one == other and len(one) < 15_000_000


@pytest.mark.soak(only=True)
def test_a_bare_debian_starts_it(tmp_path):
    """Made by debootstrap, with QEMU, python3 and what they depend on."""
    if not shutil.which("debootstrap") or os.getuid():
        pytest.skip("debootstrap is not here, or may not be used")
    subprocess.run(["make", "-s", "release"], cwd=ROOT, check=True)
    root = tmp_path / "root"
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", DEBIAN, root]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("a Debian cannot be fetched or made here")
    assert not (root / "usr/bin/gcc").exists() and not (root / "usr/bin/make").exists()
    shutil.copy(os.path.join(ROOT, "build/vitrine.tar.xz"), root / "root")
    inside = "mount -t devtmpfs dev /dev; mount -t devpts -o ptmxmode=666 pts /dev/pts; mount -t proc proc /proc; cd /root && "
    inside += "python3 -m tarfile -e vitrine.tar.xz && cd vitrine && sha256sum --quiet -c CONTENTS"
    for machine in MACHINES.values():
        inside += f" && ./run {machine.goal} first.sh"
    command = ["unshare", "--mount", "--pid", "--fork", "chroot", root, "/bin/sh", "-c", inside]
    done = subprocess.run(command, text=True, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0 and done.stdout.count("ramfs_write()") >= len(MACHINES), done.stdout + done.stderr
