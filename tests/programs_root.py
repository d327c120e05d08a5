"""Programs of Debian in guests of the tests: in the root that tools/debroot makes, or, where a test starts thousands of
them, some of that root's among a guest's first files, since a page of the root is fetched each time it is touched. The
kernel must have no complaint when a script ends."""

import os
import re
import subprocess

from stories import story
from vitrine_guest import ScriptRun

COMPILER = {"aarch64": "aarch64-linux-gnu-gcc", "x86_64": "gcc"}
# What the kernel's log must not have.
COMPLAINT = re.compile(
    r"^\[ *\d+\.\d+\].*(?:WARNING:|BUG:|Oops|Unable to handle|INFO: task|soft lockup|page_type|Call trace).*", re.M
)


def complaints(console):
    """Lines of the console in which the kernel complains."""
    return [match.group(0) for match in COMPLAINT.finditer(console.replace("\r\n", "\n"))]


def run_story(machine, name, *words, between=lambda guest: None, **settings):
    """What a story prints in a guest; its status is 0, and the kernel has no complaint. `between` runs meanwhile."""
    settings = {"smp": 2, "mem": "1G", "timeout": 900, "icount": True} | settings
    run = ScriptRun(
        (story("programs", "debian_first") + story(name)).encode(),
        [str(word) for word in words],
        arch=machine.arch,
        **settings,
    )
    try:
        run.wait_start()
        between(run.guest)
        status = run.wait_exit()
    finally:
        run.guest.close()
    assert status == 0, run.output[-4000:]
    assert not complaints(run.guest.console), complaints(run.guest.console)
    return run.output


def with_mode(path):
    """(mode, bytes) of a file, as a guest gets it."""
    with open(path, "rb") as file:
        return (os.stat(path).st_mode & 0o777, file.read())


def folder_files(folder, inside):
    """{path in the guest: (mode, bytes)} of all below a folder."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if os.path.exists(path):
                found[os.path.normpath(os.path.join(inside, os.path.relpath(path, folder)))] = with_mode(path)
    return found


LIBRARIES = ("usr/lib/aarch64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib", "usr/lib64")


def needs(root, path):
    """The paths in the root of a program's dynamic linker and libraries, and of what these need."""
    done = subprocess.run(["readelf", "-ld", os.path.join(root, path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{path}: {done.returncode}, {done.stderr}"
    found = set(re.findall(r"interpreter: /([^]]*)", done.stdout))
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout):
        place = next(f"{folder}/{library}" for folder in LIBRARIES if os.path.exists(f"{root}/{folder}/{library}"))
        found |= {place} | needs(root, place)
    return found


def debian_files(root, *programs):
    """{path in the guest: (mode, bytes)} of these programs of the root's /usr/bin, and of the libraries that they need."""
    found = {"bin/bash": with_mode(os.path.join(root, "usr/bin/bash"))} if "bash" in programs else {}
    for name in programs:
        program = f"usr/bin/{name}"
        for path in {program} | needs(root, program):
            # A library is where the dynamic linker looks for it, whether or not its folder is another's name.
            found[re.sub("^usr/(lib/.*-linux-gnu)", r"\1", path)] = with_mode(os.path.join(root, path))
    return found


def here(name, *words, path=os.environ["PATH"]):
    """What a story prints on this computer."""
    return subprocess.run(
        ["sh", "-c", story(name), "-", *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env={"PATH": path, "HOME": "/tmp"},
        check=False,
    ).stdout
