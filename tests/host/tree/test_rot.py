"""What texts of this tree name is there: files in comments and pages, functions, patterns of make's lists; no table is
empty."""

import fnmatch
import functools
import os
import re
import subprocess

import pytest
from tree import ROOT, files, read
from vitrine_guest import MACHINES

C_CODE = (".c", ".h", ".S", ".s")
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
HASH = re.compile(r"(?:^|\s)#(?!!).*$", re.M)
DOCSTRING = re.compile(r'"""(.*?)"""', re.S)
TOP = r"(?:arch|boot|drivers|include|kernel|samples|trace|userland|vdso|tests|tools|docs|mk)"
FILE = re.compile(r"(?<![\w.$*%/{}<>-])((?:[\w.*-]+/)*[\w*-]+\.(?:c|h|S|s|ld|py|sh|md|mk|list))(?![\w%/{}-]|\.\w)")
FOLDER = re.compile(rf"(?<![\w./*$<-])({TOP}/[\w/-]*\w)(?![\w.*/-])")
FUNCTION = re.compile(r"\b([A-Za-z_]\w+)\(\)")
# A name in capitals stands for any; a.c and b.h do in examples. What a build makes is in no folder of ours.
STANDS_FOR = re.compile(
    r"\b(NAME|CLASS|ARCH|TRACE_SYSTEM|PREFIXname)\b|(^|[_/])NAME([_./]|$)|^[ab]\.[ch]$|^tables/|^config_gz\.h$"
)
# Files and functions of others: the comment says whose.
OF_OTHERS = re.compile(r"\b(Linux|Xen|glibc|newlib|uapi|arm64's|POSIX|Documentation)\b|/proc/sys")
OWNERS_OF_FUNCTIONS = {"shm_open", "strsignal"}  # of the C library's manual


@functools.cache
def places():
    """All that a path may mean: each file and folder, and each end of their paths."""
    found = set()
    for path in files():
        while path:
            parts = path.split("/")
            found.update("/".join(parts[start:]) for start in range(len(parts)))
            path = os.path.dirname(path)
    return found


def is_script(path):
    if path.endswith((".py", ".sh", ".mk")) or path == "Makefile":
        return True
    with open(os.path.join(ROOT, path), "rb") as file:
        return file.read(2) == b"#!"


def comments(path, text):
    """(line number, comment) of each comment of a file; strings are none."""
    if path.endswith(C_CODE):
        found = [(token.start(), token[0]) for token in C_TOKEN.finditer(text) if token[0][0] == "/"]
    else:
        found = [(match.start(), match[0]) for pattern in (HASH, DOCSTRING) for match in pattern.finditer(text)]
    return [(text.count("\n", 0, start) + 1, comment) for start, comment in found]


def commented():
    """(path, line, comment) of the whole tree."""
    for path in files():
        if (
            path.endswith(C_CODE)
            or "." not in os.path.basename(path)
            and path.startswith(("tools/", "tests/", "Makefile"))
            or is_script(path)
        ):
            if not path.startswith("tests/guest/formats"):
                yield from ((path, line, comment) for line, comment in comments(path, read(path)))


def missing_names(comment, known):
    """Files and folders that a text of ours names and that are not there."""
    for pattern in (FILE, FOLDER):
        for match in pattern.finditer(comment):
            name = match[1].rstrip("/")
            if STANDS_FOR.search(name) or name in known or OF_OTHERS.search(comment):
                continue
            if "*" not in name or not fnmatch.filter(known, name):
                yield name


def test_files_that_comments_name_are_there():
    known = places()
    gone = [f"{path}:{line}: {name}" for path, line, comment in commented() for name in missing_names(comment, known)]
    assert not gone, "\n".join(gone)


def test_functions_that_comments_name_are_there():
    code = {
        word
        for path in files()
        if path.endswith(C_CODE)
        for word in re.findall(r"\w+", C_TOKEN.sub(lambda token: " " if token[0][0] == "/" else token[0], read(path)))
    }
    code.update(word for path in files() if is_script(path) for word in re.findall(r"\w+", read(path)))
    gone = [
        f"{path}:{line}: {name}()"
        for path, line, comment in commented()
        for name in FUNCTION.findall(comment)
        if name not in code | OWNERS_OF_FUNCTIONS and not re.search(r"(^|_)(NAME|CLASS)($|_)", name)
    ]
    assert not gone, "\n".join(gone)


def of_make(arch, *variables):
    """The words of each of these variables, as make has them for a machine."""
    rule = "rot:\n" + "".join(f"\t@printf '%s\\n' '$({name})'\n" for name in variables)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        ["make", "-s", "--eval", rule, f"ARCH={arch}", "rot"],
        cwd=ROOT,
        env=environment,
        text=True,
        capture_output=True,
        check=True,
    )
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("arch", MACHINES)
def test_lists_of_make_name_what_is_there(arch):
    """Folders of sources, files without call sites, those with them all the same, and each machine's own."""
    folders, untraced, traced, own = of_make(arch, "FOLDERS", "NOTRACE", "TRACED", f"USES_{arch}")
    assert len(folders) > 20 and len(untraced) > 8 and traced and len(own) > 8
    sources = [path for path in files() if path.endswith((".c", ".S", ".h"))]
    assert not [folder for folder in folders if not os.path.isdir(os.path.join(ROOT, folder))]
    for pattern in (*untraced, *traced, *own):
        start, any_end, end = pattern.partition("%")
        assert any(
            path.startswith(start) and path.endswith(end) if any_end else path == pattern for path in sources
        ), pattern
    assert not [
        name for name in traced if not any(name == one or name.startswith(one.rstrip("%")) for one in untraced)
    ], "it is traced anyway"


def test_tests_that_lists_name_are_there():
    runner = read("tests/run")
    named = re.findall(r'"(test_\w+\.py)"', runner)
    assert len(named) > 12 and not [name for name in named if name not in places()]
    one_machine = [line.split() for line in read("tests/one_machine").splitlines() if not line.startswith("#")]
    listed = read("tests/longest").split() + [name for name, _ in one_machine]
    assert not [name for name in listed if f"tests/{name.partition('::')[0]}" not in files()]
    functions = [name.split("::") for name in listed if "::" in name]
    assert not [name for path, name in functions if f"def {name}(" not in read(f"tests/{path}")]
    assert {machine for _, machine in one_machine} > set(MACHINES)


def empty_tables(page):
    """The heads of tables that have no row with anything in it."""
    tables = re.findall(r"^(\|.*\|)\n\|[-|: ]+\|\n((?:\|.*\n?)*)", page, re.M)
    return [head for head, rows in tables if not re.search(r"[^|\s]", rows)]


def test_tables_of_pages_have_rows():
    pages = [path for path in files() if path.endswith(".md")]
    assert len(pages) > 30
    assert not [(path, head) for path in pages for head in empty_tables(read(path))]


def test_what_counts_as_rot(tmp_path):
    known = {"kernel/mm/fault.c", "fault.c", "kernel/mm"}
    assert list(missing_names("/* See fault.c, kernel/mm/fault.c and kernel/mm. */", known)) == []
    assert list(missing_names("/* See gone.c, kernel/mm/gone.c */", known)) == ["gone.c", "kernel/mm/gone.c"]
    assert list(missing_names("# kernel/gone is old, kernel/gone*.c too", known)) == ["kernel/gone*.c", "kernel/gone"]
    assert (
        list(missing_names("/* Linux's asm/gone.h */ ", known))
        == []
        == list(missing_names("NAME.c a.c b.h kernel/NAME.c", known))
    )
    assert comments("x.c", 'f("/* no */"); /* a */\n// b\n') == [(1, "/* a */"), (2, "// b")]
    assert comments("x.sh", "#!/bin/sh\nls # a\n") == [(2, " # a")]
    assert empty_tables("| a | b |\n|---|---|\n\n| c |\n|---|\n| |\n\n| d |\n|---|\n| 1 |\n") == ["| a | b |", "| c |"]
