#!/usr/bin/python3
"""Check the rules of layout that can be counted, and measure what we keep an eye on.

    style.py [FILE...]     one line `file:line: what` for each breach; exit status 1 when there is one
    style.py --measures    the table: lines, functions, comments, conditionals

Without files: everything in the tree that is ours.
"""

import argparse
import ast
import glob
import os
import re
import statistics
import sys

COLUMNS = 120  # of C, assembly and Python; clang-format and black lay out to the same
FILE_LINES = 600
FUNCTION_LINES = 120
LONG_FUNCTION = 60
SHELL_LINES = 3  # a longer shell body stands in a file of its own, not in a Python string
EXPLAINED_LINES = 15  # a longer function has a comment directly above it; main() has the file's head
EXPLAINED = (
    "arch/",
    "boot/",
    "drivers/",
    "include/",
    "kernel/",
    "samples/",
    "tests/unit/",
    "tools/",
    "trace/",
    "userland/",
)
TAB = 8

CODE = (".c", ".h", ".S")
FOLDERS = (
    "arch",
    "boot",
    "drivers",
    "include",
    "kernel",
    "samples",
    "trace",
    "userland",
    "vdso",
    "labs",
    "tests",
    "tools",
)
MACHINE_LAYER = ("arch/", "boot/", "drivers/", "userland/arch/", "tests/", "samples/modules/ftrace-direct")
MACHINE = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*(__aarch64__|__arm__|__ARM_|__x86_64__|__i386__|AARCH64|X86)")
# In halves: this file is checked too. "<X""XX>" is allowed: so traces name a task whose pid is negative.
LEFT_OVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX(?!>))\b")
IGNORED_CALL = re.compile(r"^\s*\(void\)\s*\w+\(")
# The assembler of x86_64-elf takes a slash for the beginning of a comment, that of x86_64-linux-gnu divides.
DIVIDES = re.compile(r"^\t[a-z.]\w*\s+[^#\"/]*/(?![*/])")
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef)\b")
PYTHON_STRING = re.compile(r""" "([^"\\]|\\.)*" | '([^'\\]|\\.)*' """, re.X)
# A line of shell: by its first word, or because its output goes to a file of tracefs or to an absolute path.
SHELL = re.compile(
    r"\s*(echo|cat|cd|sleep|exec|while|for|until|if|test|mkdir|insmod|rmmod|modprobe|mount|say|try|set)\s.*(?<![:{,])$"
    r"|[^<]*[^-<=]>>? ?(/[a-z]|\w+/|trace\b|set_|\w+_tracer\b)"
)
# What has such lines and is no shell: C, Python, commands of gdb.
NOT_SHELL = re.compile(r"^\s*#\s*include\b|^\s*(static|import|python|hbreak|class)\b|^[^'\"]*;\s*(/[*/].*)?$", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
FUNCTION = re.compile(
    r"^(?!(?:struct|union|enum|typedef|static const|const)\b[^(]*$)[A-Za-z_][^;={}#]*\([^;{}]*\)[^;={}]*$"
)


def tree():
    """All files that are checked, sorted."""
    found = []
    for folder in FOLDERS:
        for path in glob.glob(f"{folder}/**", recursive=True):
            if os.path.isfile(path) and is_ours(path):
                found.append(path)
    return sorted(found)


def is_ours(path):
    """By name, or by its #! line for scripts without one."""
    if path.endswith((*CODE, ".py", ".sh", ".ld")):
        return True
    if "." in os.path.basename(path):
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def functions(lines):
    """(line number, name, length in lines) of each function in C laid out as ours is: braces in the first column."""
    for number, line in enumerate(lines):
        if line != "{":
            continue
        start = number
        while (
            start
            and lines[start - 1]
            and lines[start - 1][0] not in "}/#*"
            and not lines[start - 1].endswith((";", "*/"))
        ):
            start -= 1
        head = " ".join(lines[start:number])
        if not FUNCTION.match(head):
            continue
        end = next((at for at in range(number, len(lines)) if lines[at].startswith("}")), len(lines) - 1)
        name = re.search(r"(\w+)\s*\(", head)
        yield start + 1, name.group(1) if name else head, end - start + 1


def unexplained(lines):
    """(line number, name, length) of each longer function without a comment directly above it."""
    for number, name, length in functions(lines):
        if length > EXPLAINED_LINES and name != "main" and not lines[number - 2].rstrip().endswith("*/"):
            yield number, name, length


def is_too_long(path, line):
    """Python's strings do not count: black leaves them in one piece, and a line of a guest's shell is read best so."""
    if path.endswith((".sh", ".ld")) or len(line.expandtabs(TAB)) <= COLUMNS:
        return False
    return path.endswith(CODE) or len(PYTHON_STRING.sub("", line)) > COLUMNS


def python_strings(text):
    """(line number, value) of each string of a Python file but for docstrings; what an f-string computes is an x."""
    nodes = list(ast.walk(ast.parse(text)))
    pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    pieces |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if id(node) in pieces or not isinstance(node, (ast.Constant, ast.JoinedStr)):
            continue
        values = [getattr(piece, "value", None) for piece in getattr(node, "values", [node])]
        values = [value.decode("latin-1") if isinstance(value, bytes) else value for value in values]
        if isinstance(node, ast.JoinedStr) or isinstance(values[0], str):
            yield node.lineno, "".join(value if isinstance(value, str) else "x" for value in values)


def shell_bodies(text):
    """(line number, lines) of each string of a Python file that is a shell body of more than SHELL_LINES lines."""
    for number, value in python_strings(text):
        lines = [line for line in value.splitlines() if line.strip()]
        signs = sum(1 for line in lines if SHELL.match(line))
        if len(lines) > SHELL_LINES and signs >= 2 and not NOT_SHELL.search(value):
            yield number, len(lines)


def check_line(path, line):
    """What is wrong with one line, as texts."""
    if is_too_long(path, line):
        yield f"{len(line.expandtabs(TAB))} columns, {COLUMNS} are the limit"
    if line != line.rstrip():
        yield "white space at the end"
    if path.endswith(CODE) and re.match(r"\t* {8,}[^ \\]", line):
        yield "spaces where a tab indents"
    if LEFT_OVER.search(line):
        yield "a left-over note: do it, or open an issue"
    if path.endswith(CODE) and not path.startswith(MACHINE_LAYER) and MACHINE.match(line):
        yield "a machine's name in a condition outside the machine layer"
    if path.endswith(".S") and DIVIDES.match(line):
        yield "a division in assembly, which not each assembler takes for one: shift, or divide in C"
    if path.endswith(".c") and IGNORED_CALL.match(line):
        yield "a result thrown away by (void): look at it"


def stray_comments(lines):
    """Numbers of C comments with an empty line behind them: neither the file's head nor the title of a section."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"\s*/\*", line):
            start, words = number, ""
        if start is None:
            continue
        words += line
        if "*/" in line:
            alone = line.rstrip().endswith("*/") and number < len(lines) and not lines[number].strip()
            if alone and start > 1 and "---" not in words and "clang-format" not in words:
                yield start
            start = None


def check(path):
    """All breaches in a file as (line number, text)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.splitlines()
    if not lines:
        return
    if not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    if not lines[0].startswith(("/*", "//") if path.endswith(CODE) else ("#", '"""', "/*")):
        yield 1, "the first line is to be a comment that names the file's subject"
    if len(lines) > FILE_LINES:
        yield FILE_LINES, f"{len(lines)} lines, {FILE_LINES} are the limit: a second subject wants a second file"
    for number, line in enumerate(lines, 1):
        for what in check_line(path, line):
            yield number, what
    if lines[0].startswith(('"""', "#!/usr/bin/python3")) and not path.startswith("labs/"):
        for number, length in shell_bodies(text):
            yield number, f"{length} lines of shell in a string, {SHELL_LINES} are the limit: a file of shell has them"
    if path.endswith((".c", ".h")):
        for number in stray_comments(lines):
            yield number, "a comment stands directly above what it describes, or in the file's head"
    if path.endswith(".c"):
        for number, name, length in functions(lines):
            if length > FUNCTION_LINES:
                yield number, f"{name}() has {length} lines, {FUNCTION_LINES} are the limit"
    if path.endswith((".c", ".h")) and path.startswith(EXPLAINED):
        for number, name, length in unexplained(lines):
            yield number, f"{name}() has {length} lines and no comment above it that says what a reader must know"


def comment_lines(text):
    """How many lines have a comment on them."""
    return sum(match.group().count("\n") + 1 for match in COMMENT.finditer(text))


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


class Figures:
    """What is counted of some files: their lengths in lines and those of their functions, the share of lines with
    comments, conditionals for 1,000 lines, and functions of more than 15 lines without a comment (bare). Empty lines
    are left out of the last three."""

    def __init__(self, files):
        self.sizes, self.lengths, self.bare = [], [], 0
        comments, total, conditions = 0, 0, 0
        for path in files:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            lines = text.splitlines()
            self.sizes.append(len(lines))
            total += sum(1 for line in lines if line.strip())
            comments += comment_lines(text)
            guard = bool(re.search(r"^#ifndef (\w+)\n#define \1\b", text, re.M))
            conditions += sum(1 for line in lines if CONDITIONAL.match(line)) - guard
            self.lengths += [length for _, _, length in functions(lines)]
            self.bare += len(list(unexplained(lines)))
        self.comments = comments / max(total, 1)
        self.conditionals = 1000 * conditions / max(total, 1)


def measure(name, files):
    """One row of the table."""
    f = Figures(files)
    if not f.sizes:
        return
    spread = "-"
    if f.lengths:
        longer = sum(1 for length in f.lengths if length > LONG_FUNCTION) / len(f.lengths)
        spread = (
            f"{statistics.median(f.lengths):.0f} / {percentile(f.lengths, 0.9)} / {max(f.lengths)}, "
            f"{longer:.1%} > {LONG_FUNCTION}"
        )
    print(
        f"{name:<22} {len(f.sizes):>5} {sum(f.sizes):>7}  {statistics.median(f.sizes):>5.0f} / {max(f.sizes):<4} "
        f"{spread:>28} {f.comments:>9.1%} {f.conditionals:>8.1f} {f.bare if f.lengths else '-':>5}"
    )


def measures(files):
    """The table of figures, a row for each part of the tree. bare: functions of more than 15 lines without a comment."""
    print(
        f"{'':<22} {'files':>5} {'lines':>7}  {'median/max':>12} {'function median / p90 / max':>28} {'comments':>9} {'#if/1000':>8} {'bare':>5}"
    )

    def code(ending, *folders):
        return [path for path in files if path.endswith(ending) and path.startswith(folders)]

    generic = ("kernel/", "samples/", "trace/", "include/")
    measure("generic kernel .c", code(".c", *generic))
    measure("generic kernel .h", code(".h", *generic))
    for folder in ("trace/", "kernel/", "drivers/", "boot/"):
        measure(folder + " .c", code(".c", folder))
    measure("arch/ .c", code(".c", "arch/"))
    measure("assembly", code(".S", "arch/", "boot/"))
    measure("userland .c", code(".c", "userland/"))
    measure("unit tests .c", code(".c", "tests/unit"))
    measure("tools .py", code(".py", "tools/"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measures", action="store_true", help="print the table of figures")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    files = args.files or tree()
    if args.measures:
        measures(files)
        return 0
    breaches = [f"{path}:{number}: {what}" for path in files for number, what in check(path)]
    print("\n".join(breaches), end="\n" if breaches else "")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
