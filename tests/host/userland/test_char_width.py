"""The table of characters' widths, against the Unicode database that comes with Python."""

import os
import re
import unicodedata

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../include/lib/char_width_table.h")


def ranges(name):
    """Those of one array, as numbers."""
    with open(TABLE, encoding="utf-8") as file:
        body = re.search(name + r"\[\] = \{\n(.*?)\n\};", file.read(), re.S)[1]
    return [(int(first, 16), int(last, 16)) for first, last in re.findall(r"\{0x(\w+), 0x(\w+)\}", body)]


def width(char):
    """By the rules that the table's head names."""
    code = ord(char)
    if code != 0xAD and (unicodedata.category(char) in ("Mn", "Me", "Cf") or 0x1160 <= code <= 0x11FF):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def test_every_character_has_its_width():
    narrow, wide = ranges("zero_width"), ranges("double_width")
    for table in (narrow, wide):
        ends = [end for pair in table for end in pair]
        assert len(table) > 80 and ends == sorted(ends), "in order, for the search"
    found = {code: 0 for first, last in narrow for code in range(first, last + 1)}
    found.update({code: 2 for first, last in wide for code in range(first, last + 1)})
    # Another Python has another version of Unicode: what version 3.2 had assigned has not changed since but for a few.
    known = unicodedata if unicodedata.unidata_version == "14.0.0" else unicodedata.ucd_3_2_0
    assigned = [chr(code) for code in range(0x80, 0x110000) if known.category(chr(code)) not in ("Cn", "Cs")]
    wrong = [f"{ord(char):x}" for char in assigned if found.get(ord(char), 1) != width(char)]
    assert len(wrong) <= (0 if known is unicodedata else 20), wrong[:40]
    assert [found.get(ord(char), 1) for char in "a\u00e9\u0301\u4f60\u597d\U0001f642\uff01\u200b"] == [
        1,
        1,
        0,
        2,
        2,
        2,
        2,
        0,
    ]
