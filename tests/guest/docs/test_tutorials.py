"""Every line of the tutorials that this kernel is measured by, typed at the prompt as they print it: tests/tutorials.

The tables hold the lines with what they do here; the test types them, and checks that no command of a document is left
out.
"""

import os
import re

import pytest
import tutorial_tables
from machines import params
from tutorial_sources import command_places, document_text, squeezed

TABLES = tutorial_tables.tables()
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]| \r(?!\n)")
PROMPT = r"(?:^|[\r\n])(?!#)\S+ # $"  # not Guest.PROMPT: lines of a trace begin with "# ", and a read may end there
SECONDS = 300  # a guest's whole life: a backstop


class Typist:
    """Somebody who types a table's commands one after the other."""

    def __init__(self, guest):
        self.guest = guest

    def type(self, row):
        """Type one command: (its status, what it printed)."""
        first, *more = row.command.split("\n")
        self.guest.send(first + "\n")
        for line in more:
            self.guest.expect(r"[\r\n]> $")
            self.guest.send(line + "\n")
        shown = self.to_interrupt(row.until) if row.until else self.to_prompt()
        self.guest.send("echo status=$?\n")
        status = int(self.guest.expect(r"status=(\d+)\r\n").group(1))
        self.guest.expect(PROMPT)
        return status, shown

    def to_interrupt(self, pattern):
        """Type ^C when the pattern has been shown, and what has been shown then. A ^C that comes before the command
        runs is the shell's own, so it is typed again where no prompt follows."""
        shown = self.guest.expect(pattern).group(0)
        for portion in self.guest.life.portions(self.guest.child.pid):
            self.guest.send("\x03")
            if self.guest.child.expect([PROMPT], portion) == 0:
                return shown
        pytest.fail(f"{self.guest.life.why}: no prompt comes after ^C")

    def to_prompt(self):
        """What is shown until the next prompt, without the echo of what was typed and the terminal's controls."""
        self.guest.expect(PROMPT)
        shown = ESCAPES.sub("", self.guest.before()).replace("\r", "").partition("\n")[2]
        return shown + "\n" if shown else ""


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.parametrize("machine", params(), scope="session")
def test_the_lines_of_a_tutorial(machine, table):
    settings = {"smp": int(table.guest.get("smp", "2")), "mem": table.guest.get("mem", "512M")}
    wrong = []
    with machine.guest(session=True, timeout=SECONDS, **settings) as guest:
        typist = Typist(guest)
        have = {"": True, "busybox": os.path.exists(os.path.join(guest.setup.build, "busybox", "busybox"))}
        for row in (row.on(machine.arch) for row in table.rows if have[row.needs]):
            status, answer = typist.type(row)
            complaint = tutorial_tables.judge(row, status, answer)
            if complaint:
                wrong.append(f"{row.place}: {row.command}\n    {complaint}; the answer:\n{answer[-800:]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_no_line_is_left_out(table):
    """Every place of the document where a command begins has a row, and each row's command stands in the document."""
    text = document_text(table.document)
    if text is None:
        pytest.skip(f"{table.document} is not here")
    commands = [squeezed(row.command) for row in table.rows if row.verdict != "setup"]
    whole = squeezed(text)
    assert [command for command in commands if command not in whole] == []
    assert [place[:80] for place in command_places(text) if not place.startswith(tuple(commands + table.prose))] == []
