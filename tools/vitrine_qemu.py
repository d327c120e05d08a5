#!/usr/bin/python3
"""QEMU itself: its version, and a line that helps when it is missing, too old, does not start, or lets nothing be heard.

Each line is for somebody who has never met it before, on any computer: it says what was seen, which QEMU that was, and
what to do. docs/hosts.md explains them. Run as a program, this says so of each QEMU that is too old (tools/deps.sh).
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys

from vitrine_machines import MACHINES

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NEEDED = "7.2"
PAGE = "docs/hosts.md"
# What has been asked already: {path of a QEMU: [its date and size, what it said]}.
ANSWERS = os.path.join(ROOT, "build", "qemu-versions")
PATIENCE = 10  # seconds for an answer, which takes some hundredths
MANAGERS = {"apt-get": "apt-get install", "dnf": "dnf install", "pacman": "pacman -S", "brew": "brew install"}
MANAGERS["apk"] = "apk add"

# What QEMU says when it gives up, and what helps. The first row that fits is taken.
REMEDIES = {
    r"could not load PC BIOS .*(OVMF|edk2)": "UEFI's firmware is missing; Debian's package is ovmf",
    r"could not load PC BIOS": "QEMU's own firmware is missing; it may be in another package (Debian: qemu-system-data, "
    "Arch: qemu-system-x86-firmware), or BOARD=pc does without this one",
    r"unsupported machine type": "it has no such board: choose another BOARD= (--board), or install a QEMU that has all "
    "of them, which a distribution's qemu-kvm has not",
    r"CPU model": "its option `-cpu help` lists the names that CPU= (--cpu) takes",
    r"annot (set up guest|allocate) memory": "this computer cannot give so much memory: try a smaller MEM= (--mem)",
    r"fsdev|virtio-9p": "it is built without shared folders (virtfs): do without SHARE= and ROOT=, or install another",
    r"'user'|-netdev user": "it is built without user networking, which ICOUNT=1 with several CPUs needs: SMP=1, or "
    "tools/vrun --icount --turn 0",
    r"kvm|hvf|accel": "ACCEL=tcg runs on every computer",
    r"shared librar|Library not loaded": "its installation is not complete: install it again",
    r"invalid option|Property .* not found|Invalid parameter": f"it does not know a word that it is given: unless the "
    f"word is yours, version {NEEDED} or later is needed",
}


def read_answers():
    try:
        with open(ANSWERS, encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError):
        return {}


def note_answer(path, stamp, said):
    """Where this may not be written, the next run asks again."""
    part = f"{ANSWERS}.{os.getpid()}"
    answers = {one: answer for one, answer in read_answers().items() if os.path.exists(one)}
    try:
        with open(part, "w", encoding="utf-8") as file:
            json.dump({**answers, path: [stamp, said]}, file)
        os.replace(part, ANSWERS)
    except OSError:
        pass


def ask(path):
    """What it says to --version; nothing, if it is no QEMU."""
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        return done.stdout
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""


@functools.cache
def version(qemu):
    """Of this program, as text ("7.2.22"). It is asked once, until it is another file. None: it does not answer."""
    path = os.path.realpath(shutil.which(qemu) or qemu)
    try:
        seen = os.stat(path)
    except OSError:
        return None
    stamp = [seen.st_mtime_ns, seen.st_size]
    asked, said = read_answers().get(path, (None, ""))
    if asked != stamp:
        said = ask(path)
        note_answer(path, stamp, said)
    number = re.search(r"version (\d+(?:\.\d+)+)", said)
    return number[1] if number else None


def is_too_old(qemu):
    number = version(qemu)
    return bool(number) and [int(part) for part in number.split(".")[:2]] < [int(part) for part in NEEDED.split(".")]


def named(qemu):
    """For a message."""
    return f"{os.path.basename(qemu)} (version {version(qemu) or 'unknown'})"


def install_words(program, otherwise=f"install QEMU {NEEDED} or later"):
    """How this computer's package manager is asked for it, by the table of `make deps`."""
    manager = next((name for name in MANAGERS if shutil.which(name)), None)
    try:
        with open(os.path.join(ROOT, "tools", "deps.list"), encoding="utf-8") as table:
            rows = [line.split() for line in table if line.startswith(("#job", "run "))]
    except OSError:
        rows = []
    columns = {"apt-get": "apt"}
    for row in rows[1:]:
        if manager and os.path.basename(program) in row[1].split("|"):
            return f"{MANAGERS[manager]} {row[rows[0].index(columns.get(manager, manager))]}"
    return otherwise


def too_old_line(qemu):
    return (
        f"{named(qemu)} is too old, {NEEDED} or later is needed: {install_words(qemu)} (Debian 12, Ubuntu 24.04 and later "
        f"have it), or name another by VITRINE_QEMU=path; {PAGE}"
    )


def missing_line(qemu, error):
    """It cannot be started, for this reason (OSError)."""
    return f"cannot start {qemu}: {error.strerror}: {install_words(qemu)}, or name another by VITRINE_QEMU=path; {PAGE}"


def silence_line(qemu, why):
    """Nothing has been heard of the guest; why: for how long."""
    if is_too_old(qemu):
        advice = f"version {NEEDED} or later is needed: {install_words(qemu)}"
    else:
        advice = "try it without CPU=, BOARD=, IRQCHIP=, ACCEL= and APPEND=, if you have given any of them"
    return f"nothing was heard from the guest {why}. This is {named(qemu)}: {advice}; {PAGE}"


def ended_line(qemu, status, said):
    """It has ended before the guest has said anything; said: what it has shown."""
    help_ = next((help_ for seen, help_ in REMEDIES.items() if re.search(seen, said)), None)
    if is_too_old(qemu):
        help_ = f"version {NEEDED} or later is needed: {install_words(qemu)}"
    return (
        f"{named(qemu)} ended with status {status} before the guest began: {help_ or 'what it says is above'}; {PAGE}"
    )


def told_apart(console, qemu):
    """(what the guest has written, what QEMU itself has said in place of it before it ended): one of them is empty.
    QEMU's warnings are neither."""
    own = rf"(?:qemu|{re.escape(os.path.basename(qemu))})[^\s:]*: "
    rest = re.sub(rf"(?m)^{own}warning: .*\n?", "", console).lstrip()
    return ("", rest) if re.match(own, rest) else (rest, "")


def main():
    for machine in MACHINES.values():
        if shutil.which(machine.qemu) and is_too_old(machine.qemu):
            print(f"deps: {too_old_line(machine.qemu)}", file=sys.stderr)


if __name__ == "__main__":
    main()
