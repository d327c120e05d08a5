"""tools/debroot and `make debian-root`, with packages of this test's own in a folder, and as an ordinary user: what is in
the root that they make, and what is said when something is wrong."""

import errno
import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

import pytest
from tree import ROOT

DEBROOT = os.path.join(ROOT, "tools", "debroot")
NOBODY = 65534
# The essential packages of this test's Debian, and others: name, more lines of its description, files and links.
PACKAGES = [
    (
        "base",
        "Essential: yes",
        {"bin/dash": "#!", "etc/base": "base\n", "var/run": "-> /run", "run/here": "1\n", "var/lock/keep": "2\n"},
    ),
    ("usr-is-merged", "", {"usr/share/doc/merged": "text\n"}),
    ("mount", "", {"bin/mount": "mount\n"}),
    (
        "base-passwd",
        "",
        {
            "var/lock/x": "-> keep",
            "usr/share/base-passwd/passwd.master": "root:x:0:0::/root:/bin/bash\n",
            "usr/share/base-passwd/group.master": "root:x:0:\n",
        },
    ),
    (
        "tool",
        "Depends: needed",
        {"usr/bin/tool": "tool\n", "lib/tool.so": "-> /usr/lib/other.so", "var/run/tool": "state\n"},
    ),
    ("needed", "", {"usr/bin/gawk": "gawk\n", "sbin/needed": "needed\n"}),
    ("later", "", {"usr/bin/later": "later\n"}),
    ("broken", "Depends: nowhere", {"usr/bin/broken": "\n"}),
]
pytestmark = pytest.mark.skipif(
    not (shutil.which("apt-get") and shutil.which("dpkg-deb")), reason="there is no apt on this computer"
)


def build_package(folder, scratch, name, more, files):
    """A package for arm64 in a folder, and its lines for the list of packages."""
    for path, text in files.items():
        place = os.path.join(scratch, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if text.startswith("-> "):
            os.symlink(text.removeprefix("-> "), place)
            continue
        with open(place, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(place, 0o4755)
    about = f"Package: {name}\nVersion: 1:2.0\nArchitecture: arm64\nMaintainer: nobody\n{more}\nDescription: {name}\n"
    about = about.replace("\n\n", "\n")
    os.makedirs(f"{scratch}/DEBIAN")
    with open(f"{scratch}/DEBIAN/control", "w", encoding="ascii") as file:
        file.write(about)
    deb = f"{folder}/{name}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", scratch, deb], check=True, capture_output=True)
    with open(deb, "rb") as file:
        data = file.read()
    return f"{about}Filename: ./{name}.deb\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n\n"


class Box:
    """A folder with this test's packages, and one where a root is to be; debroot runs as somebody without rights."""

    def __init__(self, top):
        self.top, self.repository, self.root = top, f"{top}/packages", f"{top}/out/root"
        os.makedirs(self.repository)
        os.makedirs(f"{top}/out")
        os.makedirs(f"{top}/tools")
        for name in ("debroot", "vitrine_machines.py"):  # the tree may lie where that user cannot go, as in /root
            shutil.copy(os.path.join(ROOT, "tools", name), f"{top}/tools")
        with open(f"{self.repository}/Packages", "w", encoding="ascii") as file:
            file.writelines(build_package(self.repository, f"{top}/scratch-{one[0]}", *one) for one in PACKAGES)
        self.sources(f"deb [trusted=yes] copy:{self.repository} ./")
        subprocess.run(["chmod", "-R", "a+rX", top], check=True)
        if os.getuid() == 0:
            os.chown(f"{top}/out", NOBODY, NOBODY)

    def sources(self, line):
        """What apt knows in this box."""
        with open(f"{self.top}/sources.list", "w", encoding="ascii") as file:
            file.write(f"{line}\n")
        with open(f"{self.top}/apt.conf", "w", encoding="ascii") as file:
            file.write(f'Dir::Etc::sourcelist "{self.top}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n')

    def debroot(self, *words, path=None):
        return subprocess.run(
            [sys.executable, f"{self.top}/tools/debroot", "--into", self.root, *words],
            env={**os.environ, "APT_CONFIG": f"{self.top}/apt.conf", "PATH": path or os.environ["PATH"]},
            cwd=f"{self.top}/out",
            capture_output=True,
            text=True,
            check=False,
            **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}),
        )

    def text(self, name):
        with open(f"{self.root}/{name}", encoding="ascii") as file:
            return file.read()


@pytest.fixture
def box():
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        yield Box(top)


def refused(done, line, status):
    assert (done.returncode, done.stderr) == (status, f"debroot: {line}\n"), done.stdout


def test_a_root(box):
    """What it names, what that depends on and what is essential, in merged folders, with what scripts would have made."""
    done = box.debroot("tool")
    assert done.returncode == 0, done.stderr
    assert "6 packages; 6 to fetch, 6 to unpack\n" in done.stdout
    for name in ("bin", "sbin", "lib"):
        assert os.readlink(f"{box.root}/{name}") == f"usr/{name}"
    assert (box.text("usr/bin/tool"), box.text("usr/sbin/needed"), box.text("etc/base")) == (
        "tool\n",
        "needed\n",
        "base\n",
    )
    assert os.readlink(f"{box.root}/usr/lib/tool.so") == "/usr/lib/other.so"
    assert (os.readlink(f"{box.root}/bin/sh"), os.readlink(f"{box.root}/usr/bin/awk")) == ("dash", "gawk")
    assert (
        box.text("etc/passwd").startswith("root:")
        and box.text("etc/hosts") == "127.0.0.1 localhost\n127.0.1.1 vitrine\n"
    )
    assert not os.path.exists(f"{box.root}/usr/bin/later")
    # As anybody may make it: no set-user-id bits, which would be somebody else's, and all may read it.
    assert os.stat(f"{box.root}/usr/bin/tool").st_mode & 0o7777 == 0o755
    if os.getuid() == 0:
        assert os.stat(f"{box.root}/usr/bin/tool").st_uid == NOBODY


def test_links_stay_inside(box):
    """/var/run of a package is /run of the root: nothing is written elsewhere on this computer."""
    assert box.debroot("tool").returncode == 0
    assert os.readlink(f"{box.root}/var/run") == "/run"
    assert box.text("run/tool") == "state\n" and box.text("run/here") == "1\n"
    assert not os.path.lexists("/run/tool")


def test_again(box):
    """Nothing to do takes no work, and leaves what the guest has written; more packages are added."""
    assert box.debroot("tool").returncode == 0
    with open(f"{box.root}/etc/base", "w", encoding="ascii") as file:
        file.write("mine\n")
    os.remove(f"{box.repository}/tool.deb")
    assert "6 packages; 0 to fetch, 0 to unpack\n" in box.debroot("tool").stdout
    assert "7 packages; 1 to fetch, 1 to unpack\n" in box.debroot("tool", "later").stdout
    assert (box.text("etc/base"), box.text("usr/bin/later")) == ("mine\n", "later\n")


def test_goes_on(box):
    """A package that came broken, or a run that ended between two packages: the next run has the rest to do."""
    assert box.debroot("needed").returncode == 0
    archive = f"{box.root}.apt/cache/archives/tool_1%3a2.0_arm64.deb"
    with open(f"{box.repository}/tool.deb", "rb") as file, open(archive, "wb") as copy:
        copy.write(file.read()[:300].ljust(os.path.getsize(f"{box.repository}/tool.deb"), b"x"))
    # apt fetches a package again whose size is wrong; this one has the right size.
    os.remove(f"{box.root}/var/lib/debroot/needed_1%3a2.0_arm64.deb")
    done = box.debroot("tool")
    assert done.returncode == 1 and done.stderr.startswith(
        "debroot: tool_1%3a2.0_arm64.deb cannot be unpacked, and the next run fetches it again: "
    )
    done = box.debroot("tool")
    assert "6 packages; 1 to fetch, 1 to unpack\n" in done.stdout and box.text("usr/bin/tool") == "tool\n", done.stderr


def test_what_is_wrong(box):
    refused(box.debroot("nosuch"), "for arm64: Unable to locate package nosuch", 1)
    refused(box.debroot("--arch", "mips", "tool"), "no machine 'mips': there are arm64, x86_64", 1)
    done = box.debroot("broken")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "for arm64: " in done.stderr
    for name in ("python3", "bash", "tar"):
        os.makedirs(f"{box.top}/bin", exist_ok=True)
        os.symlink(shutil.which(name), f"{box.top}/bin/{name}")
    refused(
        box.debroot("tool", path=f"{box.top}/bin"),
        "apt-get, dpkg-deb: not here, and packages are fetched with apt and dpkg",
        2,
    )
    with open(f"{box.root}.apt/lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused(box.debroot("tool"), f"{box.root}: another run makes it at this moment", 1)
    os.chmod(f"{box.top}/out", 0o555)
    box.root = f"{box.top}/out/other"
    if os.getuid() == 0 or not os.access(f"{box.top}/out", os.W_OK):
        refused(box.debroot("tool"), f"{box.root}.apt: Permission denied", 1)


def test_without_a_network(box):
    """Nothing answers, or the packages of a list are not there: what is missing is said, and old lists do."""
    box.sources("deb [trusted=yes] http://127.0.0.1:9 ./")
    done = box.debroot("tool")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(
        "debroot: apt has no lists of packages for arm64: Failed to fetch http://127.0.0.1:9/"
    )
    box.sources(f"deb [trusted=yes] copy:{box.repository} ./")
    os.rename(f"{box.repository}/needed.deb", f"{box.top}/needed.deb")
    done = box.debroot("tool")
    assert (
        done.returncode == 2 and "not all packages could be fetched, and the next run goes on" in done.stderr
    ), done.stderr
    os.rename(f"{box.top}/needed.deb", f"{box.repository}/needed.deb")
    os.rename(f"{box.repository}/Packages", f"{box.top}/Packages")
    os.utime(f"{box.root}.apt/lists-fetched", (0, 0))
    done = box.debroot("tool")
    assert done.returncode == 0 and "not all lists could be fetched, and what is here is used: " in done.stdout, done


def test_a_full_disk_is_said_of_a_folder(monkeypatch, capsys):
    """An error of writing names no file."""
    loader = importlib.machinery.SourceFileLoader("debroot", DEBROOT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("debroot", loader))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "make_root", full)
    monkeypatch.setattr(sys, "argv", ["debroot", "--arch", "x86_64"])
    assert module.main() == 1
    assert capsys.readouterr().err == f"debroot: {ROOT}/build/x86_64/debian: No space left on device\n"


def test_make_says_which_machines():
    done = subprocess.run(["make", "debian-root", "ARCH=mips"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.endswith("ARCH=mips: there is arm64 x86_64.  Stop.\n"), done.stderr
    # An ARCH of the environment is for building Linux.
    for words, goals in (["ARCH=arm64"], ["arm64"]), (["ARCH=x86_64"], ["x86_64"]), ([], ["arm64", "x86_64"]):
        done = subprocess.run(
            ["make", "-n", "debian-root", "PACKAGES=bash vim", *words],
            cwd=ROOT,
            env={**{key: value for key, value in os.environ.items() if not key.startswith("MAKE")}, "ARCH": "arm"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines() == [f"/usr/bin/python3 tools/debroot --arch {goal} bash vim" for goal in goals]
