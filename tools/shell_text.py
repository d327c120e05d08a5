"""Shell text for guests, which stands in files of its own (tools/guest/*.sh, tests/guest/stories/*.sh): parts of a file,
and words in it that a caller gives."""

import os
import re

# `#: NAME: What it shows.` begins a part, with more lines of comment if there are, and an empty line above.
PART = re.compile(r"(?:^\n)?^#: (\w+): .*\n(?:# .*\n)*", re.M)
WORD = re.compile(r"@([A-Z_]+)@")


def shell_part(path, name):
    """The part NAME of a file: what stands behind its head, up to the next part. KeyError when there is none."""
    with open(path, encoding="utf-8") as file:
        _, *pieces = PART.split(file.read())
    return dict(zip(pieces[::2], pieces[1::2]))[name]


def guest_text(file, name, **words):
    """A part of a file of tools/guest, each @WORD@ in it replaced by words["WORD"]. KeyError when it is not given."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest", f"{file}.sh")
    return WORD.sub(lambda match: str(words[match[1]]), shell_part(path, name))
