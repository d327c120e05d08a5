"""What the tests take from sources of Debian's packages: the suites that come with bash and busybox.

apt fetches a source with lists of its own, without root; what is named here is kept in build/host/debian-source.
Nothing of it is in this tree.
"""

import fcntl
import glob
import os
import re
import shutil
import subprocess
import tempfile

from vitrine_guest import ROOT

CACHE = os.path.join(ROOT, "build", "host", "debian-source")
KEPT = {"bash": ("tests", "support"), "busybox": ("testsuite", "debian/config/pkg")}


def sources(folder):
    """A file for apt that names the sources of the packages that this computer's own files name."""
    text = ""
    for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
        with open(path, encoding="utf-8") as file:
            text += file.read() + "\n\n"
    parts = [part for part in re.split(r"\n\s*\n", text) if re.search(r"^URIs:.*debian", part, re.M)]
    with open(os.path.join(folder, "parts", "all.sources"), "w", encoding="utf-8") as file:
        file.write("\n\n".join(re.sub(r"^Types:.*", "Types: deb-src", part, flags=re.M) for part in parts) + "\n")
    lines = ""
    if os.path.exists("/etc/apt/sources.list"):
        with open("/etc/apt/sources.list", encoding="utf-8") as file:
            lines = "".join(re.sub(r"^deb ", "deb-src ", line) for line in file if line.startswith("deb "))
    with open(os.path.join(folder, "list"), "w", encoding="utf-8") as file:
        file.write(lines)


def apt(folder, *words):
    """apt-get with its state in this folder. CalledProcessError when it fails."""
    options = {
        "Dir::State": f"{folder}/state",
        "Dir::State::status": f"{folder}/nothing-is-installed",
        "Dir::Cache": f"{folder}/cache",
        "Dir::Etc::sourceparts": f"{folder}/parts",
        "Dir::Etc::sourcelist": f"{folder}/list",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
    }
    subprocess.run(
        ["apt-get", "-q", "-y", *(word for pair in options.items() for word in ("-o", "=".join(pair))), *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )


def fetch(package):
    """Fill the package's folder of the cache: its archive as its authors made it, and what Debian adds."""
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        for name in ("state/lists/partial", "cache/archives/partial", "parts", "unpacked"):
            os.makedirs(os.path.join(scratch, name))
        with open(f"{scratch}/nothing-is-installed", "w", encoding="ascii"):
            pass
        sources(scratch)
        apt(scratch, "update")
        apt(scratch, "--download-only", "source", package)
        (first,) = glob.glob(f"{scratch}/{package}_*.orig.tar.*")
        (added,) = glob.glob(f"{scratch}/{package}_*.debian.tar.*")
        subprocess.run(["tar", "-x", "--strip-components=1", "-C", f"{scratch}/unpacked", "-f", first], check=True)
        subprocess.run(["tar", "-x", "-C", f"{scratch}/unpacked", "-f", added], check=True)
        os.mkdir(f"{scratch}/kept")
        for name in KEPT[package]:
            shutil.copytree(f"{scratch}/unpacked/{name}", f"{scratch}/kept/{name}", symlinks=True)
        os.rename(f"{scratch}/kept", os.path.join(CACHE, package))


def debian_source(package):
    """Where the package's files are; None when they cannot be had here. Two test processes fetch them once."""
    os.makedirs(CACHE, exist_ok=True)
    with open(f"{CACHE}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = os.path.join(CACHE, package)
        if not os.path.exists(found):
            try:
                fetch(package)
            except (OSError, ValueError, subprocess.CalledProcessError):
                return None
    return found
