"""docs/porting.md names all that generic code uses of a machine, and each machine's headers have it.

Names are the ones declared at file scope in include/arch/ and arch/<machine>/include/asm/; generic are the files of the
kernel that mk/machines.mk lists for no machine. The tables under the headings '### asm/NAME.h' and '### arch/NAME.h'
have the names in their first column.
"""

import functools
import glob
import os
import re
import subprocess

import pytest
from vitrine_guest import MACHINES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DOC = "docs/porting.md"
SHARED = "include/arch"
FOLDERS = ("boot", "drivers", "include", "kernel", "samples", "trace")
# Of headers that assembly reads too, or that have nothing else: clear_page and copy_page.
SHARED_PROTOTYPES = {"void clear_page(void *page);", "void copy_page(void *to, const void *from);"}
DECLARATION = re.compile(r"^(?:(?!static|typedef|extern)[A-Za-z_][\w *]*\([^;{}]*\)(?: __\w+)*|extern [^;{}]*);", re.M)
NOT_DECLARED = {"static_assert", "__attribute__", "__aligned", "DECLARE_PER_CPU", "defined"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S).replace("\\\n", " ")
    return text


def code(text):
    """C without comments, strings and the names that #include lines have."""
    text = re.sub(r"^\s*#\s*include.*$", "", without_comments(text), flags=re.M)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def declared(text):
    """Names that a header declares: macros, types and their enumerators, variables, functions."""
    text = code(text)
    names = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
    text = re.sub(r"\b__asm__\s*\(\s*\"\"\s*\)", "", text)  # where a variable lives
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    names.update(re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text))
    names.update(re.findall(r"\bDECLARE_PER_CPU\([^,]*,\s*(\w+)\s*\)", text))
    for body in re.findall(r"\benum\b[^{;()]*\{([^{}]*)\}", text):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", body))
    # Without bodies of functions and types, declarations are left; and of a typedef'd structure the name alone.
    while "{" in text:
        text, count = re.subn(r"\{[^{}]*\}", ";", text)
        assert count, "unbalanced braces"
    for statement in text.split(";"):
        if re.match(r"\s*extern\b", statement):
            statement = re.sub(r"\(\s*\*\s*(\w+)\s*\)\s*\(.*", r"\1", statement, flags=re.S)
            names.update(re.findall(r"(\w+)\s*(?:\[[^]]*\])?\s*(?:,|$)", statement))
        else:
            found = re.match(r"[^(]*?\b(\w+)\s*\(", statement) or re.fullmatch(r"\s*(\w+_t)\s*", statement)
            names.update(found.groups() if found else ())
    return names - NOT_DECLARED


@functools.cache
def headers(arch):
    """{"page.h": names} of one machine, those that all machines have among them."""
    found = {}
    for folder in (SHARED, f"arch/{arch}/include/asm"):
        for path in sorted(glob.glob(f"{ROOT}/{folder}/*.h")):
            found.setdefault(os.path.basename(path), set()).update(declared(read(path)))
    return found


def own_patterns():
    """What mk/machines.mk lists for some machine, by make itself."""
    lists = " ".join(f"$(USES_{arch})" for arch in MACHINES)
    done = subprocess.run(
        ["make", "-s", "-f", "-"],
        input=f"include mk/machines.mk\n$(info {lists})\nall:\n",
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return [pattern.split("%")[0] for pattern in done.stdout.split()]


def test_two_machines_can_use_the_same_file():
    """It is left out by neither, and by a third one that does not list it."""
    rule = (
        "include mk/machines.mk\nMACHINES += toy\nARCH_toy := toy64\nUSES_toy64 := boot/fdt%\n"
        "$(info $(foreach m,$(MACHINES),$(ARCH_$(m))=$(filter boot/fdt%,$(call foreign,$(ARCH_$(m))))))\nall:\n"
    )
    done = subprocess.run(
        ["make", "-s", "-f", "-"], input=rule, cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True
    )
    assert dict(word.split("=") for word in done.stdout.split()) == {"aarch64": "", "x86_64": "boot/fdt%", "toy64": ""}


@functools.cache
def generic_files():
    """Sources and headers that every machine shares. A header in include/ is a machine's when its source is."""
    own = tuple(own_patterns())
    found = []
    for folder in FOLDERS:
        for path in glob.glob(f"{ROOT}/{folder}/**/*.[chS]", recursive=True):
            path = os.path.relpath(path, ROOT)
            if not path.removeprefix("include/").startswith(own) and not path.startswith(SHARED):
                found.append(path)
    return sorted(found)


@functools.cache
def generic_words():
    """{word: files} of generic code; members of structures left out."""
    words = {}
    for path in generic_files():
        for word in set(re.findall(r"(?<![\w.>])[A-Za-z_]\w*", code(read(path)))):
            words.setdefault(word, []).append(path)
    return words


@functools.cache
def generic_names():
    """What generic headers and sources define themselves: no name of a machine's, even if it has the same one."""
    names = set()
    for path in generic_files():
        text = code(read(path))
        names.update(
            declared(text) if path.startswith("include/") else re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M)
        )
    return names


def included():
    """{"page.h": files} that generic code includes."""
    found = {}
    for path in generic_files():
        for header in re.findall(r"^\s*#\s*include\s*<(?:asm|arch)/(\w+\.h)>", read(path), re.M):
            found.setdefault(header, []).append(path)
    return found


@functools.cache
def documented():
    """{"page.h": names} by the tables' first columns; a header may have a heading and no table."""
    tables, header = {}, None
    for line in read(DOC).splitlines():
        heading = re.match(r"#+ ", line)
        if heading:
            found = re.match(r"### `(?:asm|arch)/(\w+\.h)`", line)
            header = found.group(1) if found else None
            names = tables.setdefault(header, set()) if header else None
        elif header and line.startswith("|"):
            for quoted in re.findall(r"`([^`]*)`", line.split("|")[1]):
                names.update(re.findall(r"[A-Za-z_]\w*", quoted))
    return tables


def used(arch):
    """(header, name) pairs that generic code uses of one machine."""
    words, own = generic_words(), generic_names()
    for header, names in headers(arch).items():
        if header not in included_anywhere():
            continue
        for name in sorted(names & words.keys() - own):
            yield header, name


@functools.cache
def included_anywhere():
    """Headers that generic code reaches: those it includes, and those that these include, on any machine."""
    reached, todo = set(), set(included())
    while todo:
        header = todo.pop()
        reached.add(header)
        for folder in (SHARED, *(f"arch/{arch}/include/asm" for arch in MACHINES)):
            path = f"{folder}/{header}"
            if os.path.exists(os.path.join(ROOT, path)):
                todo.update(set(re.findall(r"#\s*include\s*<(?:asm|arch)/(\w+\.h)>", read(path))) - reached)
    return reached


@pytest.mark.parametrize("arch", MACHINES)
def test_headers_that_generic_code_includes_are_there_and_documented(arch):
    missing = {header: files[0] for header, files in included().items() if header not in headers(arch)}
    assert not missing, f"arch/{arch}/include/asm lacks what generic code includes"
    assert not set(included()) - documented().keys(), f"{DOC} has no table for these"


@pytest.mark.parametrize("arch", MACHINES)
def test_names_that_generic_code_uses_are_documented(arch):
    tables = documented()
    everywhere = set().union(*tables.values())
    missing = [
        f"asm/{header}: {name} (used in {generic_words()[name][0]})"
        for header, name in used(arch)
        if name not in everywhere
    ]
    assert not missing, f"{DOC} does not say what these are"


@pytest.mark.parametrize("arch", MACHINES)
def test_every_machine_has_every_documented_name(arch):
    """In the header that the document gives, so that generic code may include that and nothing else."""
    lacks = [
        f"asm/{header}: {name}"
        for header, names in sorted(documented().items())
        for name in sorted(names)
        if name not in headers(arch).get(header, set())
    ]
    assert not lacks, f"arch/{arch} does not have what {DOC} promises"


def test_what_counts_as_declared():
    text = """#pragma once
    /* no(comment); */
    #define MACRO(x) body(x)
    enum kind { ONE, TWO = 3, };
    typedef struct { u64 v; } name_t;
    struct part { int member; };
    struct only_named;
    extern int a, b[];
    extern void (*hook)(struct part *p);
    DECLARE_PER_CPU(unsigned long, each);
    static inline int inl(int x) { if (x) { call(x); } return 0; }
    struct part *fn(int y) __noreturn;
    static_assert(sizeof(int) == 4, "text");
    """
    assert declared(text) == {"MACRO", "kind", "ONE", "TWO", "name_t", "part", "a", "b", "hook", "each", "inl", "fn"}


def test_a_function_that_all_machines_have_is_declared_once():
    """In include/arch: declarations that stand word for word in every machine's headers belong there."""
    of_machines = []
    for arch in MACHINES:
        texts = (code(read(path)) for path in glob.glob(f"{ROOT}/arch/{arch}/include/asm/*.h"))
        statements = (re.sub(r"\s+", " ", found) for text in texts for found in DECLARATION.findall(text))
        of_machines.append(set(statements))
    assert not set.intersection(*of_machines) - SHARED_PROTOTYPES
