"""Takes out of a tree what a lab asks its students for, and puts a stub there that says so.

A cut names what it takes by its symbol, and ctags finds the lines, so that the kernel's sources carry no marks: a
symbol that was renamed is an error here. In lab.toml:

    [[cut]]
    file = "arch/aarch64/patch.c"
    function = "encode"             its body goes; its head, and the comment above it, stay
    body = "return 0;"              in its place, behind the line that says whose turn it is; "": nothing more
    quiet = true                    without that line, where nothing may be printed
    remove = true                   all of it goes, with the comment above it
    comment = "..."                 another comment above it, where the tree's own tells too much

    label = "ftrace_caller"         in assembly: what stands between FUNC and FUNC_END of this name, or between the line
                                    `user_head NAME` and the .size of NAME_body
    member = "ftrace_ops.private"   a line of a struct
    macro = "NAME"                  a macro's lines; in assembly what stands between .macro NAME and .endm
    line = "trace_pipe_read("       the one line with this in it
    whole = true                    the file
"""

import json
import os
import re
import shutil
import subprocess

from catalogue import LabError

HEADER, HEADER_SOURCE = "include/lib/lab.h", "labs/lab.h"
# How assembly opens and closes a symbol: the macros of <asm/assembler.h>, and user_head of ftrace.S.
ASSEMBLY = {
    "label": (r"(FUNC|user_head)\s+NAME", r"FUNC_END\s+NAME|\.size\s+NAME_body,.*"),
    "macro": (r"\.macro\s+NAME(\s.*)?", r"\.endm"),
}
KINDS = {"function": "function", "member": "member", "macro": "macro", "label": "label", "line": "line"}


def tags(path):
    """What ctags finds in a file: [{name, kind, line, end, scope}], lines from 1."""
    try:
        done = subprocess.run(
            ["ctags", "-f", "-", "--output-format=json", "--fields=+neKS", "--kinds-C=+fsmd", path],
            capture_output=True,
            text=True,
            check=True,
        )
    except FileNotFoundError:
        raise LabError("ctags is not there: make deps-labs installs it (universal-ctags)") from None
    except subprocess.CalledProcessError as error:
        raise LabError(f"ctags {path}: {error.stderr.strip()}") from error
    return [json.loads(line) for line in done.stdout.splitlines()]


class Source:
    """A file that is being cut: its lines, and where a symbol's are."""

    def __init__(self, top, name):
        self.name, self.path = name, os.path.join(top, name)
        self.assembly = name.endswith(".S")
        try:
            with open(self.path, encoding="utf-8") as file:
                self.lines = file.read().splitlines()
        except OSError as error:
            raise LabError(f"{name}: {error.strerror}") from error

    def find(self, kind, symbol):
        """(first, last) of a symbol, as indices into lines."""
        if kind in ("label", "macro") and self.assembly:
            return self._assembly(kind, symbol)
        if kind == "line":
            found = [at for at, line in enumerate(self.lines) if symbol in line]
            if len(found) != 1:
                raise LabError(f"{self.name}: {len(found) or 'no'} line with '{symbol}'")
            return found[0], found[0]
        owner, _, name = symbol.rpartition(".")
        found = [
            tag
            for tag in tags(self.path)
            if tag["name"] == name and tag["kind"] == KINDS[kind] and (not owner or tag.get("scope") == owner)
        ]
        if len(found) != 1:
            raise LabError(f"{self.name}: {len(found) or 'no'} {kind} of the name '{symbol}'")
        first = found[0]["line"] - 1
        return first, found[0].get("end", found[0]["line"]) - 1

    def _assembly(self, kind, symbol):
        """The lines that open and close it: the body is what stands between them."""
        opens, closes = (pattern.replace("NAME", re.escape(symbol)) for pattern in ASSEMBLY[kind])
        first = [at for at, line in enumerate(self.lines) if re.fullmatch(opens, line.strip())]
        last = [
            at
            for at in range(first[0] if first else 0, len(self.lines))
            if re.fullmatch(closes, self.lines[at].strip())
        ]
        if len(first) != 1 or not last:
            raise LabError(f"{self.name}: no {kind} of the name '{symbol}'")
        return first[0], last[0]

    def above(self, first):
        """Where the comment, and the lines of a declaration, above this line begin."""
        at = first
        while at and self.lines[at - 1].strip() and not re.match(r"[}#/ \t]", self.lines[at - 1]):
            at -= 1  # the head of a function over several lines
        if at and self.lines[at - 1].rstrip().endswith("*/"):
            at -= 1
            while at and "/*" not in self.lines[at]:
                at -= 1
        return at

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")


def stub(lab, cut, symbol, mark):
    """The lines in place of a body."""
    lines = [] if cut.get("quiet") else [mark(lab, symbol)]
    body = cut.get("body", "").splitlines()
    return lines + [line if re.fullmatch(r"\w+:", line) else ("\t" + line).rstrip() for line in body]


def one(lab, source, kind, cut):
    """One symbol of a file."""
    symbol = cut[kind]
    first, last = source.find(kind, symbol)
    begin = source.above(first)
    if cut.get("remove") or kind in ("member", "line") or kind == "macro" and not source.assembly:
        at = begin if cut.get("remove") else first
        source.lines[at : last + 1] = cut["body"].splitlines() if cut.get("body") else []
        if source.lines[at - 1 : at] == [""] and not "".join(source.lines[at : at + 1]):
            del source.lines[at - 1]  # one empty line, where there were two
        return
    if source.assembly:
        source.lines[first + 1 : last] = stub(
            lab, cut, symbol, lambda lab, what: f"\t/* lab {lab}: {what} is yours to write */"
        )
    else:
        opening = next(at for at in range(first, last + 1) if source.lines[at].rstrip().endswith("{"))
        source.lines[opening + 1 : last] = stub(
            lab, cut, symbol, lambda lab, what: f'\tLAB_YOURS("{lab}", "{what}()");'
        )
    if "comment" in cut:
        head = first
        while (
            head
            and source.lines[head - 1].strip()
            and not source.lines[head - 1].rstrip().endswith("*/")
            and head > begin
        ):
            head -= 1
        source.lines[begin:head] = cut["comment"].splitlines()


def with_header(source):
    """The file includes what its stubs use."""
    if not source.name.endswith(".c") or not any("LAB_YOURS(" in line for line in source.lines):
        return
    includes = [at for at, line in enumerate(source.lines) if line.startswith("#include ")]
    ours = [at for at in includes if source.lines[at].startswith("#include <")]
    source.lines.insert(ours[-1] + 1 if ours else includes[0], "#include <lib/lab.h>")


def give(lab, top):
    """Put what the lab brings for everybody (its folder given/) into the tree at `top`."""
    if os.path.isdir(lab.given):
        shutil.copytree(lab.given, top, dirs_exist_ok=True)


def cut(lab, top):
    """Make the tree at `top` the lab's starting code: what the lab gives comes in, its cuts go out. LabError when one
    does not fit the tree any more."""
    give(lab, top)
    sources = {}
    for one_cut in lab.cuts:
        if one_cut.get("whole"):
            os.remove(os.path.join(top, one_cut["file"]))
            continue
        kind = next((kind for kind in KINDS if kind in one_cut), None)
        if not kind or "file" not in one_cut:
            raise LabError(f"lab {lab.name}: a [[cut]] needs a file, and one of {', '.join(KINDS)}")
        source = sources.setdefault(one_cut["file"], Source(top, one_cut["file"]))
        one(lab.name, source, kind, one_cut)
        source.write()  # ctags reads the file for the next cut
    for source in sources.values():
        with_header(source)
        source.write()
    if lab.cuts:
        shutil.copyfile(os.path.join(top, HEADER_SOURCE), os.path.join(top, HEADER))
