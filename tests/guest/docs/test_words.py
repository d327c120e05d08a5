"""What ends a word: the table of docs/words.md is what a program finds in a guest."""

import pathlib
import re

from test_cmdline import ask

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "words.md"


def rows(text):
    """The rows whose first cell is a file, without the star that says that today's Linux lacks it."""
    return [line.replace("` *", "`") for line in re.findall(r"(?m)^(\| `[\w/-]+`(?: \*)?(?: \| [\w+]+){7} \|)$", text)]


def test_the_table_of_the_page(machine):
    wanted = rows(PAGE.read_text())
    assert len(wanted) == 45
    with machine.guest(smp=2, files=machine.programs("wordends"), append="loglevel=4") as guest:
        assert rows(ask(guest, "wordends").replace("\r", "")) == wanted
