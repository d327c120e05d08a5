"""A tree as it is cloned, with nothing built: make knows how to make everything, and every file it wants is in the clone."""

import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The files that a clone has: those git knows, as they are now; all but build/ where there is no git."""
    to = tmp_path_factory.mktemp("clone") / "tree"
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=False,
                            capture_output=True, text=True)
    if listed.returncode:
        shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns("build", "__pycache__", "compile_commands.json"), symlinks=True)
        return to
    for name in listed.stdout.split("\0"):
        if name and os.path.lexists(os.path.join(ROOT, name)):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), to / name, follow_symlinks=False)
    return to


def dry_run(clone, *goals):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(["make", "-n", "-C", clone, *goals], env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_built_in_it(clone):
    assert not (clone / "build").exists()


def test_make_knows_the_way_to_a_prompt(clone):
    commands = dry_run(clone, "qemu-arm64")
    steps = ["tools/deps.sh build", "userland/newlib.sh aarch64", "tools/mcount.py", "tools/ksyms.py", "build/aarch64/Image",
             "userland/mkroot.sh", "tools/vrun"]
    places = [commands.find(step) for step in steps]
    assert min(places) >= 0, dict(zip(steps, places))
    assert places[0] < min(places[1:]) and max(places) == places[-1], "first what is missing, last the guest"


def test_make_knows_the_way_through_the_tests(clone):
    commands = dry_run(clone, "test")
    assert "tools/deps.sh all" in commands and "guest-tests" in commands and "tests/run" in commands
