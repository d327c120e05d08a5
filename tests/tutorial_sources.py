"""The texts of the tutorials, and where in them commands stand.

Some documents are files beside this tree (../shared/seeds). Linux's own are in Debian's package linux-source-6.12: its archive of
150 MB is fetched once, without root and without installing it, and only Documentation/trace is kept, in build/host/linux-doc.
"""

import glob
import os
import re
import subprocess
import tempfile

from tutorial_tables import ROOT

PACKAGE = "linux-source-6.12"
SEEDS = os.path.join(os.path.dirname(ROOT), "shared")
CACHE = os.path.join(ROOT, "build", "host", "linux-doc")
KEPT = "Documentation/trace"

# What a line of shell begins with, in these documents.
VERBS = (r"(?:echo|cat|cd|mount|umount|sysctl|ls|mkdir|rmdir|grep|sleep|usleep|chrt|zcat|sudo|trace-cmd|insmod|rmmod|pwd|wc|sync|head"
         r"|tail|exec|\./\w+|TRACE_DIR=|debugfs=)")
# A prompt with a command behind it, anywhere in a line; or a command that has an indented line of its own.
MARKED = re.compile(rf"(?:\[root@[^\]]*\]#|(?:^|(?<=\s))(?:/\S*|\S+@\S+:?\S*)?[#$])\s?(?=>?\s?{VERBS}(?:\s|$|(?<==)))", re.M)
INDENTED = re.compile(rf"^[ \t]+(?={VERBS}(?:\s|$)(?! \w+ \w+ \w+ \w+ \w+ \w))", re.M)


def fetch_linux_doc():
    """Fill the cache. OSError when the package cannot be had here."""
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        fetch = subprocess.run(["apt-get", "-q", "download", PACKAGE], cwd=scratch, capture_output=True, text=True)
        packages = glob.glob(f"{scratch}/*.deb")
        if fetch.returncode or not packages:
            raise OSError(f"apt-get download {PACKAGE}: {fetch.stderr.strip()}")
        archive = f"./usr/src/{PACKAGE}.tar.xz"
        unpack = (f"dpkg-deb --fsys-tarfile {packages[0]} | tar -xO {archive} | xz -dc -T2 | "
                  f"tar -x -C {scratch} --wildcards '{PACKAGE}/{KEPT}/*.rst'")
        subprocess.run(["bash", "-c", f"set -o pipefail; {unpack}"], check=True)
        os.rename(f"{scratch}/{PACKAGE}/Documentation", f"{CACHE}/Documentation")


def document_text(document):
    """A document's text (PATH, or PATH FIRST-LAST for these lines of it); None when it cannot be had on this machine."""
    where, _, lines = document.partition(" ")
    first, last = map(int, lines.split("-")) if lines else (1, None)
    if where.startswith("linux:"):
        path = f"{CACHE}/{where.removeprefix('linux:')}"
        if not os.path.exists(path):
            try:
                fetch_linux_doc()
            except (OSError, subprocess.CalledProcessError):
                return None
        paths = [path]
    else:
        paths = glob.glob(f"{SEEDS}/{where}")
    if not paths:
        return None
    with open(paths[0], encoding="utf-8") as file:
        return "\n".join(file.read().split("\n")[first - 1 : last])


def squeezed(text):
    """Text with its white space and line continuations as single blanks: documents break lines where they like."""
    return re.sub(r"(?:\\?\s)+", " ", text).strip()


def command_places(text):
    """Where a command begins: [the text from there on, squeezed, as long as any command is]."""
    ends = sorted(match.end() for pattern in (MARKED, INDENTED) for match in pattern.finditer(text))
    return [squeezed(text[end:end + 400]) for end in ends]
