"""CONTRIBUTING.md works: its examples, cut out of the page and put into a copy of the tree, are built, booted and
used."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from machines import AARCH64
from style import check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BLOCK = re.compile(r"^(New file|At the end of) `([^`]+)`:\n\n((?:    .*\n|\n)+)", re.M)
SESSION = re.compile(r"In a guest[^\n]*:\n\n((?:    .*\n|\n)+)")
SHELL = re.compile(r"^    \$ (.*)\n((?:    (?!\$ ).*\n)*)", re.M)


def unindented(block):
    return re.sub(r"^    ", "", block, flags=re.M).strip("\n") + "\n"


def page():
    with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as file:
        return file.read()


def edits():
    """(how, path, text) of the page's files, in its order."""
    return [(how, path, unindented(block)) for how, path, block in BLOCK.findall(page())]


def exchanges(session):
    """[prompt, command, the answer that stands below it] of a session."""
    found = []
    for line in unindented(session).splitlines():
        prompt = re.match(r"(#|\(qemu\)) (.*)", line)
        if prompt:
            found.append([*prompt.groups(), ""])
        else:
            found[-1][2] += line + "\n"
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree and of what one machine's build has made, so that make has little to do, with the page's
    examples in it."""
    to = tmp_path_factory.mktemp("contributing") / "tree"
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"), symlinks=True)
    (to / "build").mkdir()
    for folder in (AARCH64.arch, "newlib"):
        if os.path.exists(os.path.join(ROOT, "build", folder)):
            shutil.copytree(
                os.path.join(ROOT, "build", folder),
                to / "build" / folder,
                symlinks=True,
                ignore=shutil.ignore_patterns("*.sock"),
            )
    for how, path, text in edits():
        file = to / path
        assert (how == "New file") != file.exists(), path
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as out:
            out.write(text)
    return to


def make(tree, *words):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE") and key != "MFLAGS"}
    return subprocess.run(
        ["make", *words],
        cwd=tree,
        env=environment,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def by_script(commands, **settings):
    """The answers to these commands, as a script gives them under icount: times are the guest's, and a sleep is a
    sleep."""
    script = "".join(f"{command}\necho answered-{number}\n" for number, command in enumerate(commands))
    run = AARCH64.script(f"exec 2>&1\n{script}".encode(), icount=True, **settings)
    with run.guest:
        run.wait_start()
        run.wait_exit()
    answers = re.split(r"^answered-\d+\n", run.output, flags=re.M)
    return answers[: len(commands)]


def by_hand(rows, scratch, **settings):
    """The answers to what is typed at the shell's prompt and at the monitor's."""
    with AARCH64.monitored(scratch, **settings) as guest:
        return [guest.run(command)[1] if prompt == "#" else guest.human(command) for prompt, command, _ in rows]


def test_examples_work_aarch64(tree, tmp_path):
    """One build for all of them; then the sessions of the page, and the test that it adds."""
    built = make(tree, "-j2", "ARCH=aarch64", "kernel", "build/aarch64/initramfs.cpio")
    assert built.returncode == 0, built.stdout
    settings = {"append": "loglevel=4", "build": str(tree / "build/aarch64")}
    sessions = [exchanges(session) for session in SESSION.findall(page())]
    plain = [row for rows in sessions for row in rows if all(prompt == "#" for prompt, _, _ in rows)]
    keyed = [row for rows in sessions for row in rows if any(prompt != "#" for prompt, _, _ in rows)]
    assert len(plain) > 10 and len(keyed) >= 3
    for rows, answers in (
        (plain, by_script([command for _, command, _ in plain], **settings)),
        (keyed, by_hand(keyed, tmp_path, **settings)),
    ):
        assert list(zip([command for _, command, _ in rows], answers)) == [
            (command, answer) for _, command, answer in rows
        ]
    without = make(
        tree, "ARCH=aarch64", "WITHOUT=tasks_made", "kernel", "build/aarch64-without-tasks_made/initramfs.cpio"
    )
    assert without.returncode == 0, without.stdout
    settings["build"] = str(tree / "build/aarch64-without-tasks_made")
    assert "No such file" in by_script(["cat /sys/kernel/tracing/tasks_made"], **settings)[0]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/guest/proc/switches.sh",
            "-k",
            "aarch64",
        ],
        cwd=tree,
        check=False,
        capture_output=True,
        text=True,
    )
    assert "1 passed" in done.stdout, done.stdout


def test_commands_of_the_page(tree):
    """What stands behind a $ prints what stands below it."""
    found = SHELL.findall(page())
    assert found
    for command, answer in found:
        done = make(tree, *command.removeprefix("make ").split())
        assert done.stdout.startswith(unindented(answer)), (command, done.stdout)


def test_examples_keep_our_layout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new = [(path, text) for how, path, text in edits() if how == "New file"]
    assert len(new) >= 6
    for path, text in new:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        assert not list(check(path)), path


def test_the_page_covers_what_people_add():
    """A section for each row of its table, each with an example that the tests above try; each session has answers."""
    rows = re.findall(r"^\| \[([^]]+)\]", page(), re.M)
    sections = re.findall(r"^## (.*)", page(), re.M)
    assert [row.capitalize() for row in rows] == sections and len(rows) == 8
    for section in page().split("\n## ")[1:]:
        assert BLOCK.search(section), section.splitlines()[0]
    assert all(any(answer for _, _, answer in exchanges(session)) for session in SESSION.findall(page()))
