"""tools/shell_text.py: parts of a file of shell text and words in it; and each part that there is, is used."""

import glob
import os
import re

import pytest
from shell_text import PART, guest_text, shell_part
from vitrine_guest import ROOT

TEXT = """# A file.

#: one: The first.
# It has more to say.
#!/bin/sh
# a comment of the script

ls one
#: two: The second.
ls two @A@

#: three: The last.
ls three
"""


@pytest.mark.parametrize(
    "name, text",
    [
        ("one", "#!/bin/sh\n# a comment of the script\n\nls one\n"),
        ("two", "ls two @A@\n"),
        ("three", "ls three\n"),
    ],
)
def test_a_part_is_what_stands_between_two_heads(tmp_path, name, text):
    (tmp_path / "file.sh").write_text(TEXT)
    assert shell_part(tmp_path / "file.sh", name) == text


def test_a_part_that_is_not_there_is_an_error(tmp_path):
    (tmp_path / "file.sh").write_text(TEXT)
    with pytest.raises(KeyError, match="four"):
        shell_part(tmp_path / "file.sh", "four")


def test_words_are_replaced_once():
    text = guest_text("latency-record", "mix", MIX="@SECONDS@", SECONDS=3)
    assert "stress @SECONDS@ --timeout 3 ||" in text and '"@mix @SECONDS@"' in text
    with pytest.raises(KeyError, match="SECONDS"):
        guest_text("latency-record", "mix", MIX="--cpu 1")


def sources():
    """The text of all tests and tools in Python."""
    paths = glob.glob(f"{ROOT}/tests/**/*.py", recursive=True)
    paths += [path for path in glob.glob(f"{ROOT}/tools/*") if os.path.isfile(path)]
    return "".join(open(path, encoding="utf-8").read() for path in paths if not path.endswith("test_shell_text.py"))


def test_each_part_is_used():
    said = sources()
    for path in glob.glob(f"{ROOT}/tests/guest/stories/*/*.sh") + glob.glob(f"{ROOT}/tools/guest/*.sh"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        file = os.path.basename(path).removesuffix(".sh")
        for part in PART.findall(text):
            assert re.search(rf'"{file}",\s+"{part}"', said) or f'"{part}"' in said and f'"{file}", part' in said, part
