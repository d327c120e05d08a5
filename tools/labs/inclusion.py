"""What the files of a submission may include: files of the tree that they are built in.

That tree lies in the grader's own one, which has the solution: one line that includes the solution's file by a way that
leads up out of the tree would be all points for no work.
"""

import os
import re

from catalogue import LabError

# What the compiler puts together: lines that end in a backslash, and strings that follow each other.
BROKEN_LINE, BROKEN_STRING = re.compile(r"\\[ \t]*\n"), re.compile(r'"\s*"')
# A string, which may hold what looks like a comment; or a comment.
STRING_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|/\*.*?\*/|//[^\n]*""", re.S)
DIRECTIVE = re.compile(r"^\s*(?:#|%:|\?\?=)\s*(?:include|include_next|import|embed)\b[ \t]*(.*)$", re.M)
# A string that a backslash and a quote do not end, so that what follows it may only look like a comment.
RAW_STRING = re.compile(r'\b(?:u8|[uUL])?R"')
# A statement of assembly that begins with a directive, or with any word, that a macro's arguments make.
COMPOSED = re.compile(r"(?:^|[;:])\s*((?:\.\w*)?\\[\w@][^\s;:]*)(?=[\s;]|$)", re.M)
ASSEMBLER = re.compile(r"\bincbin\b|\.\s*include\b|\.\s*altmacro\b")


def outside(top, name, text):
    """The first words of a file `name` of the tree at `top` that would bring in what is not of the tree; None."""
    text = BROKEN_LINE.sub("", text)
    if RAW_STRING.search(text):
        return f"{RAW_STRING.search(text).group()}, which can hide an #include"
    bare = STRING_OR_COMMENT.sub(lambda found: found[1] or " ", text)
    for what in DIRECTIVE.findall(bare):
        named = re.fullmatch(r'(["<])([\w./+-]+)[">]\s*', what)
        if not named:
            return f"#include {what}"
        path = os.path.normpath(os.path.join(os.path.dirname(name) if named[1] == '"' else "", named[2]))
        if path.startswith(("/", "..")) or not inside(top, path):
            return f"#include {what}"
        if ".." in named[2] and not os.path.exists(os.path.join(top, path)):
            return f"#include {what}"  # it would be looked for elsewhere
    found = ASSEMBLER.search(BROKEN_STRING.sub("", bare)) or (name.endswith(".S") and COMPOSED.search(bare))
    return found.group().strip() if found else None


def inside(top, path):
    """No link on the way leads out of the tree."""
    top = os.path.realpath(top)
    return os.path.realpath(os.path.join(top, path)).startswith(top + os.sep)


def look(top, names):
    """LabError when one of these files of the tree at `top` includes what is not of the tree."""
    for name in names:
        if not re.search(r"\.[chS]$", name) or not os.path.isfile(os.path.join(top, name)):
            continue
        with open(os.path.join(top, name), encoding="utf-8", errors="replace") as file:
            found = outside(top, name, file.read())
        if found:
            raise LabError(
                f"{name}: '{found}': a file may include by its plain name what is in the tree, and nothing else"
            )
