"""A child on a terminal (tools/vitrine_console.py): what it shows, in whatever portions it comes, and how it ends."""

import io
import signal

import pytest
from vitrine_console import EOF, Console


@pytest.fixture
def started():
    """Starts a line of shell; what it has shown is in `log`."""
    consoles = []

    def start(line):
        consoles.append(Console(["sh", "-c", line], 7, 33, io.StringIO(), lambda: None))
        return consoles[-1]

    yield start
    for console in consoles:
        console.close()


def test_the_match_that_begins_first_and_what_was_before_it(started):
    console = started("echo one two; echo three; exit 3")
    assert console.expect(["three", "t.o", "two"]) == 1, "of two that begin at once the first"
    assert (console.match.group(), console.before()) == ("two", "one ")
    assert console.expect(["one", EOF, "th.*e\r\n"]) == 2 and console.before() == "\r\n"
    assert console.expect(["one", EOF]) == 1 and console.before() == "" and console.match is None
    with pytest.raises(EOFError):
        console.expect(["one"])
    while console.is_alive():
        pass
    assert console.status() == 3


def test_characters_and_patterns_in_single_bytes(started, monkeypatch):
    monkeypatch.setattr(Console, "PORTION", 1)
    console = started("printf 'Grüße, 世界\\n\\303'")
    assert console.expect(["ü.e, (..)\r?\n"]) == 0 and console.match.group(1) == "世界"
    assert console.expect([EOF]) == 0 and console.before() == "\ufffd", "half a character at the end"
    assert console._log.getvalue() == "Grüße, 世界\r\n\ufffd"


def test_long_output_is_whole_and_a_match_may_not_be_longer_than_the_window(started, monkeypatch):
    monkeypatch.setattr(Console, "WINDOW", 100)
    console = started("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i + 1)); done")
    assert console.expect(["line 5\r\n.*line 2999", "line 2999\r"]) == 1
    assert console.before() == "".join(f"line {number}\r\n" for number in range(2999))


def test_a_time_that_passes(started):
    console = started("echo ready; read word; echo got $word; sleep 1000")
    assert console.expect(["got"], 0.1) is None and console.expect(["ready"]) == 0
    console.send("a wörd\n")
    assert console.expect(["got (.*)\r\n"]) == 0 and console.match.group(1) == "a wörd", "and no echo of it"
    assert console.read(0.1) is None
    console.close()
    assert not console.is_alive() and console.status() is None, "a signal has ended it"


def test_its_terminal(started):
    """It is the terminal of the child's session, so that ^C at it is SIGINT."""
    console = started("stty size; trap 'echo interrupted; exit 0' INT; echo set; while :; do sleep 0.1; done")
    assert console.expect(["7 33\r\n"]) == 0 and console.expect(["set"]) == 0
    console.send(chr(3))
    assert console.expect(["interrupted"]) == 0
    console = started(f"kill -{signal.SIGKILL} $$")
    assert console.expect([EOF]) == 0 and console.status() is None


def test_what_cannot_be_started():
    with pytest.raises(FileNotFoundError):
        Console(["/nonexistent/program"], 25, 80, io.StringIO(), lambda: None)
