"""find: what GNU's prints, and messages of its own for what a person can do wrong."""

import os
import shutil
import stat
import subprocess
import time

import pytest
from userland_run import run, userland  # noqa: F401 (a fixture)


# What our find and GNU's are given in the tree of find_tree().
FIND = [
    "",
    ".",
    "d d//",
    "none d ''",
    "-- d",
    "/dev/null -type c",
    "d//. l l/",
    "-maxdepth 1",
    "d -maxdepth 0",
    "-mindepth 2",
    "-mindepth 2 -maxdepth 2 -type d",
    "-mindepth 3 -maxdepth 2",
    "d// -name d",
    "/ -maxdepth 0 -name /",
    ". -name .",
    "-name '*.c'",
    "-name '.*'",
    "-name '[!a-d]*'",
    "-iname 'A*'",
    "-iname '*.[C-D]'",
    "-path './d/*'",
    "-path '*e/?*'",
    "d -path 'd/e*'",
    "-type f",
    "-type d",
    "-type l",
    "-type p",
    "-type s",
    "-type b",
    "-type c",
    "-type f,l",
    "-type d,p,s",
    "-size 0",
    "-size 1",
    "-size -2 -type f",
    "-size +2c",
    "-size 3c -o -size 1025c",
    "-size -1k -type f",
    "-size 2k",
    "-size +1k -type f",
    "-size -1M -type f",
    "-size 1M -type f",
    "-size 010c",
    "-newer old",
    "! -newer old",
    "-newer d/e/new -name n*",
    "-empty",
    "-empty -type d",
    "-type d -name d -prune -o -print",
    "-name e -prune",
    "-path ./d -prune -o -type f -name '*.c' -print",
    "-mindepth 2 -name e -prune -o -print",
    "! -type f",
    "-not -name '*.c' -type f",
    "! ! -type f",
    r"! \( -type f -o -type d \)",
    r"\( -name '*.c' -o -name b \) -type f",
    "-name b -o -name '*.c' -a -size -1",
    "-type f -name b -o -type d -empty",
    "-name b -and -type f -or -name old",
    "-type f -print -name b -print",
    "-name b -print -o -name c.c",
    "-name none -a -print -o -type l",
    r"\( \( -type l \) -o \( ! -name '*' \) \)",
    "-type d -print0",
    r"-name '*.c' -exec echo x{}y{} \;",
    r"-type f -exec test -s {} \; -print",
    r"-type f ! -exec grep -q x {} \; -print",
    r"-exec false \;",
    r"d -exec echo + \;",
    "-type f -exec echo a b {} +",
    "-exec false {} + -name b -print",
    "-name none -exec false {} +",
    r"d -exec echo {} + -exec echo one {} \; -print",
    "-name b -exec echo {} + -o -name c.c -exec echo no {} +",
    "l -name l",
    "dangling -type l",
]


@pytest.fixture(scope="session")
def find_tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("find")
    for name in ("d/e/f", "d/empty", ".hidden"):
        (top / name).mkdir(parents=True)
    for name, size in (
        ("b", 0),
        ("c.c", 3),
        ("d/A.c", 1025),
        ("d/e/a.D", 1024),
        ("d/e/b", 1),
        ("d/e/f/b c", 600),
        (".hidden/.x", 2000),
    ):
        (top / name).write_text("x" * size)
    for name, seconds in (("old", 1000), ("d/e/new", time.time() + 9)):
        (top / name).touch()
        os.utime(top / name, (seconds, seconds))
    os.mkfifo(top / "fifo")
    os.mknod(top / "socket", 0o600 | stat.S_IFSOCK)
    (top / "l").symlink_to("d")
    (top / "dangling").symlink_to("nowhere")
    return top


def gnu_find(userland, cwd, words):
    """What GNU's find prints; the commands that it runs are ours."""
    find = shutil.which("find")
    done = subprocess.run(
        ["/bin/sh", "-c", f"{find} {words}"],
        cwd=cwd,
        capture_output=True,
        timeout=600,
        env={"PATH": str(userland.path), "LC_ALL": "C"},
    )
    return done.stdout.decode("latin-1"), done.stderr.decode("latin-1").replace(f"{find}: ", "find: "), done.returncode


@pytest.mark.parametrize("words", FIND)
def test_find(userland, find_tree, words):
    assert run(userland, find_tree, f"env find {words}") == gnu_find(userland, find_tree, words)


FIND_ERRORS = [
    ("-name", "missing argument to `-name'"),
    ("-foo", "unknown predicate `-foo'"),
    (r"\( -print", "invalid expression; " "I was expecting to find a ')' somewhere but did not see one."),
    (
        r". -print \(",
        "invalid expression; "
        "expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '('",
    ),
    (r"-print \)", "you have too many ')'"),
    (r". \( \)", "invalid expression; empty parentheses are not allowed."),
    ("-o -print", "invalid expression; you have used a binary operator '-o' with nothing before it."),
    ("-print -o", "invalid expression"),
    ("-print -a -a -print", "invalid expression; you have used a binary operator '-a' with nothing before it."),
    ("!", "expected an expression after '!'"),
    (r"\( -print -o \)", "expected an expression between '-o' and ')'"),
    ("-print x", "paths must precede expression: `x'"),
    ("-name b c.c", "paths must precede expression: `c.c'\nfind: possible unquoted pattern after predicate `-name'?"),
    ("-type x", "Unknown argument to -type: x"),
    ("-type fd", "Must separate multiple arguments to -type using: ','"),
    ("-maxdepth -1", "Expected a positive decimal integer argument to -maxdepth, but got '-1'"),
    ("-mindepth x", "Expected a positive decimal integer argument to -mindepth, but got 'x'"),
    ("-size 1x", "invalid -size type `x'"),
    ("-size 1kk", "Invalid argument `1kk' to -size"),
    ("-size k", "Invalid argument `k' to -size"),
    ("-newer none", "'none': No such file or directory"),
    ("-exec echo +", "missing argument to `-exec'"),
    (r"-exec \;", "invalid argument `;' to `-exec'"),
    ("-exec echo {} {} +", "Only one instance of {} is supported with -exec ... +"),
]


@pytest.mark.parametrize("words, message", FIND_ERRORS)
def test_find_errors(userland, find_tree, words, message):
    """The words are those of GNU 4.9; other releases have their own."""
    assert run(userland, find_tree, f"env find {words}") == ("", f"find: {message}\n", 1)
    assert gnu_find(userland, find_tree, words)[::2] == ("", 1)


def test_find_in_a_deep_tree(userland, tmp_path):
    """Few descriptors do for any depth, and a path longer than the kernel takes is told."""
    (tmp_path / ("d/" * 400)).mkdir(parents=True)
    (tmp_path / ("d/" * 400) / "end").touch()
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -n 12; exec {userland.qemu} -0 find {userland.bin}/find . -type f"],
        cwd=tmp_path,
        capture_output=True,
        timeout=600,
    )
    assert (done.stdout.decode(), done.stderr.decode(), done.returncode) == gnu_find(userland, tmp_path, ". -type f")
    (tmp_path / "long").mkdir()
    here = os.open(tmp_path / "long", os.O_RDONLY)
    for _ in range(21):
        os.mkdir("n" * 200, dir_fd=here)
        below = os.open("n" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    out, err, status = run(userland, tmp_path, "env find long -name 'n*'")
    assert (out.count("\n"), status) == (20, 1)
    assert err.count("\n") == 1 and err.startswith("find: 'long/nnn") and len(err) == 512  # as long as messages get


def test_find_splits_long_commands(userland, tmp_path):
    names = [f"{n:0100}" for n in range(1500)]
    for name in names:
        (tmp_path / name).touch()
    out = run(userland, tmp_path, "env find . -type f -exec echo run {} +")[0]
    lines = [line.split() for line in out.splitlines()]
    assert len(lines) == 3 and all(line[0] == "run" for line in lines)
    assert sorted(path for line in lines for path in line[1:]) == [f"./{name}" for name in names]
