"""The texts of the tutorials, and where in them commands stand.

Some documents are files beside this tree (../shared/seeds), Linux's own are fetched (linux_source.py).
"""

import glob
import os
import re

from linux_source import linux_file
from tutorial_tables import ROOT

SEEDS = os.path.join(os.path.dirname(ROOT), "shared")

# What a line of shell begins with, in these documents.
VERBS = (
    r"(?:echo|cat|cd|mount|umount|sysctl|ls|mkdir|rmdir|grep|sleep|usleep|chrt|zcat|sudo|trace-cmd|insmod|rmmod|pwd|wc|sync|head"
    r"|tail|exec|\./\w+|TRACE_DIR=|debugfs=)"
)
# A prompt with a command behind it, anywhere in a line; or a command that has an indented line of its own.
MARKED = re.compile(
    rf"(?:\[root@[^\]]*\]#|(?:^|(?<=\s))(?:/\S*|\S+@\S+:?\S*)?[#$])\s?(?=>?\s?{VERBS}(?:\s|$|(?<==)))", re.M
)
INDENTED = re.compile(rf"^[ \t]+(?={VERBS}(?:\s|$)(?! \w+ \w+ \w+ \w+ \w+ \w))", re.M)


def document_text(document):
    """A document's text (PATH, or PATH FIRST-LAST for these lines of it); None when it cannot be had on this
    machine."""
    where, _, lines = document.partition(" ")
    first, last = map(int, lines.split("-")) if lines else (1, None)
    if where.startswith("linux:"):
        path = linux_file(where.removeprefix("linux:"))
        paths = [path] if path else []
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
    return [squeezed(text[end : end + 400]) for end in ends]
