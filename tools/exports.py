#!/usr/bin/python3
"""Lists what modules may use: each name that the kernel exports, with the header that declares it.

    exports.py            print the page docs/exported.md
    exports.py --write    write it

The names are those of build/ARCH/Module.symvers, so both machines have to be built."""

import argparse
import functools
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs/exported.md")
HEAD = """# Names that modules may use

Every function and variable that the kernel exports, with the header that declares it, and Linux's headers in
`include/linux` that bring it along. Inline functions and macros are not in this list, since a module brings them along.
What a module asks for beyond these, `make` names. [modules.md](modules.md) tells which of them may be called where.

Each tracepoint is exported, too, and has no row: the header of its event, in `include/trace/events`, declares
`register_trace_NAME()`, which registers a probe on NAME.

`tools/exports.py --write` writes this page from the two kernels that have been built.

| name | declared in | a module includes one of |
|---|---|---|
"""


def machines():
    """{name of a machine: the set of names that its kernel exports}, of those that are built."""
    found = {}
    for arch in sorted(os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "arch/*"))):
        path = os.path.join(ROOT, "build", arch, "Module.symvers")
        if os.path.exists(path):
            with open(path, encoding="ascii") as lines:
                found[arch] = {line.split("\t")[1] for line in lines}
    return found


def statements(text):
    """What stands at the outer level of a header: declarations and uses of macros, without bodies and comments."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    while (shorter := re.sub(r"\{[^{}]*\}", ";", text)) != text:
        text = shorter
    return text.split(";")


DECLARED = re.compile(r"(\w+)\s*(?:\(|\[|(?:__\w+(?:\([^()]*\))?\s*)*(?:,|$))")
MACRO = re.compile(r"^\s*(TRACE_EVENT\w*|DEFINE_EVENT\w*|DECLARE_\w+)\s*\(\s*(\w+)(?:\s*,\s*(\w+))?", re.S)


def declared(statement):
    """The names that a statement declares, more or less: for a macro what it is made for."""
    macro = MACRO.match(statement)
    if macro:
        name = macro[3] if macro[1].startswith("DEFINE_EVENT") else macro[2]
        return {name, f"__tracepoint_{name}"}
    if re.match(r"\s*(static|typedef)\b", statement):
        return set()
    return set(DECLARED.findall(statement))


@functools.cache
def headers():
    """{a header as it is included: its text}, of include/ and of the machines'."""
    found = {}
    for top in ("include", *sorted(glob.glob("arch/*/include", root_dir=ROOT))):
        for path in sorted(glob.glob(f"{top}/**/*.h", root_dir=ROOT, recursive=True)):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                found.setdefault(os.path.relpath(path, top), []).append(file.read())
    return {name: "\n".join(texts) for name, texts in found.items()}


@functools.cache
def declarations():
    """{name: the headers that declare it}."""
    found = {}
    for header, text in headers().items():
        for statement in statements(text):
            for name in declared(statement):
                found.setdefault(name, []).append(header)
    return found


def header_of(name):
    """The header that declares the name, or the first that mentions it in a macro; None."""
    own = declarations().get(name) or declarations().get(name.removesuffix("_thunk"))
    if own:
        return min(own, key=lambda header: (header.startswith(("linux/", "asm-generic/")), len(header), header))
    return next((header for header, text in headers().items() if re.search(rf"\b{name}\b", text)), None)


@functools.cache
def included_by():
    """{a header: those that include it}."""
    found = {}
    for header, text in headers().items():
        for name in re.findall(r'^#include [<"]([^>"]+)[>"]', text, re.M):
            found.setdefault(name, set()).add(header)
    return found


@functools.cache
def linux_headers(header):
    """Headers of include/linux that bring a header along: those that include it themselves, else those that do so by one
    header more, and so on. One of the same name stands first."""
    seen, level = {header}, {header}
    while level:
        through = [name for name in level if name.startswith("linux/")]
        if through:
            last = os.path.basename(header)
            return sorted(through, key=lambda name: (os.path.basename(name) != last, name))
        level = set().union(*(included_by().get(name, ()) for name in level)) - seen
        seen |= level
    return []


def rows(names, found):
    """A row of the table for each name. A name that not every machine has says which has it."""
    for name in names:
        header = header_of(name)
        if not header:
            raise SystemExit(f"exports.py: no header declares {name}")
        having = [machine for machine in sorted(found) if name in found[machine]]
        only = "" if len(having) == len(found) else f" ({', '.join(having)})"
        through = ", ".join(f"`{one}`" for one in linux_headers(header)) or "-"
        base = name.removesuffix("_thunk")
        thunk = ", its thunk" if name.endswith("_thunk") else ""  # a macro makes that name of the function's
        yield f"| `{base}`{thunk}{only} | `{header}` | {through} |\n"


def listed(found):
    """The names that have a row: not those of tracepoints, all of which are exported."""
    return sorted(name for name in set().union(*found.values()) if not name.startswith("__tracepoint_"))


def page():
    """The text of docs/exported.md."""
    found = machines()
    if len(found) != len(glob.glob(os.path.join(ROOT, "arch/*"))):
        raise SystemExit("exports.py: build the kernels of all machines first: make arm64 x86_64")
    return "".join([HEAD, *rows(listed(found), found)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/exported.md in place of printing it")
    if not parser.parse_args().write:
        sys.stdout.write(page())
        return
    text = page()
    with open(PAGE, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main()
