"""A tree as it is cloned, with nothing built: make knows how to make everything, and every file it wants is in the
clone."""

import functools
import os
import re
import shutil
import subprocess
import tarfile

import pytest
from vitrine_guest import MACHINES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The files that a clone has: those git knows, as they are now; all but build/ where there is no git."""
    to = tmp_path_factory.mktemp("clone") / "tree"
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=False,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        shutil.copytree(
            ROOT, to, ignore=shutil.ignore_patterns("build", "__pycache__", "compile_commands.json"), symlinks=True
        )
        return to
    for name in listed.stdout.split("\0"):
        if name and os.path.lexists(os.path.join(ROOT, name)):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), to / name, follow_symlinks=False)
    return to


@functools.cache
def dry_run(clone, *goals):
    """What make would do for these goals. The tree does not change between tests, and reading its Makefile takes
    seconds."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        ["make", "-n", "-C", clone, *goals], env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_built_in_it(clone):
    assert not (clone / "build").exists()


def test_make_knows_the_way_to_a_prompt(clone, machine):
    commands = dry_run(clone, f"qemu-{machine.make}")
    steps = [
        "tools/deps.sh build",
        f"userland/newlib.sh {machine.arch}",
        "tools/mcount.py",
        "tools/ksyms.py",
        f"build/{machine.arch}/{MACHINES[machine.arch].kernel}",
        "userland/mkroot.sh",
        "userland/busybox.sh",
        "userland/mksession.sh",
        "tools/vrun",
    ]
    places = [commands.find(step) for step in steps]
    assert min(places) >= 0, dict(zip(steps, places))
    assert places[0] < min(places[1:]) and max(places) == places[-1], "first what is missing, last the guest"


@pytest.mark.parametrize("tools", ["dirname mkdir rmdir touch sleep sh", "dirname mkdir rmdir touch sleep sh flock"])
def test_two_makes_build_the_c_library_once(clone, tmp_path, tools, machine):
    """The second waits until the first has built it, with flock or without, and has nothing left to do."""
    (tmp_path / "bin").mkdir()
    for tool in tools.split():
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or "/nonexistent")
    (tmp_path / "newlib.sh").write_text("echo built >> log\nmkdir began && read -r _\n")
    os.utime(tmp_path / "newlib.sh", (1, 1))
    command = ["sh", f"{clone}/userland/once.sh", "lib/.ready", "newlib.sh", "sh", "newlib.sh"]

    def start():
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env={"PATH": f"{tmp_path}/bin"},
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    with start() as first:
        while not (tmp_path / "began").exists():
            assert first.poll() is None
        with start() as second:
            assert "another make is building lib/.ready: this one waits" in second.stderr.readline()
            first.communicate("go\n", timeout=60)
            second.communicate(timeout=60)
        assert (first.returncode, second.returncode) == (0, 0)
    assert (tmp_path / "log").read_text() == "built\n" and (tmp_path / "lib/.ready").exists()
    assert not (tmp_path / "lib/.ready.lock.d").exists()
    build = [line for line in dry_run(clone, machine.make).splitlines() if "newlib.sh" in line]
    assert build and all("userland/once.sh build/newlib/" in line for line in build)


def test_the_c_library_is_built_from_what_deps_names(clone, tmp_path, machine):
    """Where no package has it, its archive is in build/ by the line of curl that tools/deps.sh prints."""
    with open(os.path.join(ROOT, "tools/deps.sh"), encoding="utf-8") as file:
        place = re.search(r"curl --create-dirs -o (\S+) ", file.read())[1]
    tree = tmp_path / "tree"
    shutil.copytree(clone, tree)
    (tree / place).parent.mkdir(parents=True)
    with tarfile.open(tree / place.replace("3.3.0", "9"), "w:gz") as tar:
        member = tarfile.TarInfo("newlib-9/newlib/configure.host")
        tar.addfile(member)
    subprocess.run(
        ["make", f"ARCH={machine.arch}", f"build/newlib/{machine.arch}/.ready"],
        cwd=tree,
        capture_output=True,
        check=False,
    )
    unpacked = [path.name for path in (tree / f"build/newlib/{machine.arch}/work/src").rglob("*")]
    assert unpacked == ["newlib", "configure.host"]


def test_make_knows_the_way_through_the_tests(clone, machine):
    commands = dry_run(clone, "test")
    goals = re.search(r"^tests/run --make '([\w -]+)'$", commands, re.M).group(1).split()
    assert "tools/deps.sh all" in commands and {machine.make, "guest-programs"} <= set(goals)
    assert f"build/{machine.arch}/guest-tests" in dry_run(clone, *goals)


def test_make_knows_the_way_to_an_image(clone, machine):
    """Where there is one: through everything that goes into it."""
    goals = ["iso"] if machine.boots else []
    for goal in goals:
        commands = dry_run(clone, goal)
        steps = ["tools/deps.sh iso", f"build/{machine.arch}/vmlinux", f"tools/mkiso build/{machine.arch}/vitrine.iso"]
        assert all(step in commands for step in steps)


def test_help_names_every_goal_that_there_is(clone, machine):
    text = (
        dry_run(clone, "help")
        and subprocess.run(["make", "-C", clone, "help"], check=True, capture_output=True, text=True).stdout
    )
    for goal in ("qemu", "run", "gdb", "soak", "bench"):
        assert re.search(rf"\b{goal}-({machine.make}|arm64)\b", text), goal
    assert re.search(rf"make {machine.make}\b", text)
