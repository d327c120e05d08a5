"""What the tests take from Linux's source: documents whose commands are typed, and its own tests of system calls.

It is in Debian's package linux-source-6.12: its archive of 150 MB is fetched once, without root and without installing
it, and what is named here is kept in build/host/linux-source. Nothing of it is in this tree.
"""

import fcntl
import glob
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = "linux-source-6.12"
CACHE = os.path.join(ROOT, "build", "host", "linux-source")
PATTERNS = os.path.join(CACHE, "patterns")  # what the cache was filled by
KEPT = (
    "Documentation/trace/*.rst",
    "tools/testing/selftests/*.[chS]",
    "tools/testing/selftests/ftrace/*",
    "tools/include/*.h",
    "arch/arm64/include/uapi/asm/*.h",
)
WANTED = " ".join(f"'{PACKAGE}/{pattern}'" for pattern in KEPT)


def fetch():
    """Fill the cache. OSError or CalledProcessError when the package cannot be had here."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(CACHE)) as scratch:
        done = subprocess.run(
            ["apt-get", "-q", "download", PACKAGE], cwd=scratch, capture_output=True, text=True, check=False
        )
        packages = glob.glob(f"{scratch}/*.deb")
        if done.returncode or not packages:
            raise OSError(f"apt-get download {PACKAGE}: {done.stderr.strip()}")
        unpack = (
            f"dpkg-deb --fsys-tarfile {packages[0]} | tar -xO ./usr/src/{PACKAGE}.tar.xz | xz -dc -T2 | "
            f"tar -x -C {scratch} --wildcards {WANTED}"
        )
        subprocess.run(["bash", "-c", f"set -o pipefail; {unpack}"], check=True)
        with open(f"{scratch}/{PACKAGE}/patterns", "w", encoding="ascii") as file:
            file.write(WANTED)
        shutil.rmtree(CACHE, ignore_errors=True)
        os.rename(f"{scratch}/{PACKAGE}", CACHE)


def is_filled():
    """Does the cache have what is named above?"""
    try:
        with open(PATTERNS, encoding="ascii") as file:
            return file.read() == WANTED
    except OSError:
        return False


def linux_file(path):
    """Where a file or folder of Linux's source is; None when it cannot be had on this machine. Two test processes fetch
    it once."""
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    with open(f"{CACHE}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_filled():
            try:
                fetch()
            except (OSError, subprocess.CalledProcessError):
                pass  # what an earlier cache has is still there
    found = os.path.join(CACHE, path)
    return found if os.path.exists(found) else None
