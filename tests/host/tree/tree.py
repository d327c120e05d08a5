"""What the tests of pages and names share: the files of the tree, and their texts."""

import functools
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


@functools.cache
def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


@functools.cache
def files():
    """Paths from ROOT of all files that git knows or would take."""
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True, capture_output=True, check=True
    )
    return [path for path in done.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, path))]


def cloned(tree):
    """The tree as it is, with no build but the C library."""
    for name in files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), tree / name, follow_symlinks=False)
    (tree / "build").mkdir()
    if os.path.exists(os.path.join(ROOT, "build/newlib")):
        (tree / "build/newlib").symlink_to(os.path.join(ROOT, "build/newlib"))
    return tree
