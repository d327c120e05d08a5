"""The shell and more on a terminal: editing, job control, paging. Run on the host by qemu-user."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pytest

from userland_run import userland  # noqa: F401 (a fixture)


class Console:
    """Our shell on a pseudo-terminal."""

    def __init__(self, userland, cwd):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(
                userland.qemu,
                [userland.qemu, "-0", "sh", str(userland.bin / "sh")],
                {"PATH": str(userland.path), "PS1": "@ ", "HOME": "/"},
            )
        self.seen = ""
        self.expect("@ ")

    def expect(self, text, seconds=200):
        """Read until text has come. Returns what came before it."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            ready = select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]
            assert ready, f"{text!r} did not come, but {self.seen!r}"
            self.seen += os.read(self.fd, 4096).decode("latin-1")
        before, self.seen = self.seen.split(text, 1)
        return before

    def send(self, text):
        os.write(self.fd, text.encode("latin-1"))

    def expect_running(self, command, seconds=200):
        """Wait until the terminal's foreground is this command, so that what is typed next meets it and not the
        shell."""
        end = time.monotonic() + seconds
        wanted = command.replace(" ", "\0").encode()
        while True:
            try:
                with open(f"/proc/{os.tcgetpgrp(self.fd)}/cmdline", "rb") as file:
                    if wanted in file.read():
                        return
            except OSError:
                pass  # it has just ended
            assert time.monotonic() < end, f"{command!r} is not in the foreground"
            time.sleep(0.02)

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


@pytest.fixture
def console(userland, tmp_path):
    console = Console(userland, tmp_path)
    yield console
    console.close()


EDITING = [
    ("echo abc\r", "abc"),
    ("echo abX\x7fc\r", "abc"),
    ("cho abc\x01e\r", "abc"),
    ("echo ac\x1b[Db\r", "abc"),
    ("echo junk\x15echo abc\r", "abc"),
    ("echo abc junk\x17\r", "abc"),
    ("echo abcjunk\x1b[D\x1b[D\x1b[D\x1b[D\x0b\r", "abc"),
    ("junk\x03echo abc\r", "abc"),
    ("echo abxc\x1b[D\x1b[D\x1b[3~\r", "abc"),
    ("ho abc\x1b[Hec\x1b[F\r", "abc"),
]


@pytest.mark.parametrize("keys,expected", EDITING)
def test_editing(console, keys, expected):
    console.send(keys)
    console.expect("\n" + expected + "\r\n")
    console.expect("@ ")


class Screen:
    """What a terminal of some columns shows. Like xterm it waits in the last column until one more character comes."""

    def __init__(self, columns):
        self.columns, self.rows, self.row, self.column = columns, [""], 0, 0

    def put(self, text):
        for command, count, letter, char in re.findall(r"(\x1b\[(\d*)([A-Z]))|(.)", text, re.S):
            if command:
                self.control(int(count or 1), letter)
            elif char == "\r":
                self.column = 0
            elif char == "\n":
                self.move_down()
            else:
                self.show(char)

    def move_down(self):
        self.row += 1
        self.rows += [""] * (self.row + 1 - len(self.rows))

    def show(self, char):
        if self.column == self.columns:
            self.column = 0
            self.move_down()
        row = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = row[: self.column] + char + row[self.column + 1 :]
        self.column += 1

    def control(self, count, letter):
        if letter == "J":
            self.rows[self.row :] = [self.rows[self.row][: self.column]]
        else:
            assert letter in "ABC", letter
            self.row = max(0, self.row + {"A": -count, "B": count}.get(letter, 0))
            self.column = min(self.columns - 1, self.column + (count if letter == "C" else 0))
            assert self.row < len(self.rows), "moved below what was drawn"

    def text(self):
        return [row.rstrip() for row in self.rows]


# Keys, what the screen of 20 columns shows then (the prompt is "@ "), and the words echo prints at the end.
WRAPPING = [
    ("echo aaaaa bbbbb cccccc ddd", ["@ echo aaaaa bbbbb c", "ccccc ddd"], "aaaaa bbbbb cccccc ddd"),
    ("echo aaaaa bbbbb c", ["@ echo aaaaa bbbbb c", ""], "aaaaa bbbbb c"),
    ("echo aaaaa bbbbb cc\x7f\x7f", ["@ echo aaaaa bbbbb"], "aaaaa bbbbb"),
    ("cho aaaaa bbbbb cccccc\x01e", ["@ echo aaaaa bbbbb c", "ccccc"], "aaaaa bbbbb cccccc"),
    (
        "echo aaaaa bbbbb cccccc\x01" + 10 * "\x1b[C" + "XX\x05Y",
        ["@ echo aaaaaXX bbbbb", " ccccccY"],
        "aaaaaXX bbbbb ccccccY",
    ),
    ("echo aaaaa bbbbb cccccc ddddd eeeee fffff ggggg\x17\x17\x17\x17\x17", ["@ echo aaaaa bbbbb"], "aaaaa bbbbb"),
    ("echo aaaaa bbbbb cccccc ddddd eeeee\x15echo short", ["@ echo short"], "short"),
    (
        "echo aaaaa bbbbb cccccc ddddd eeeee\x1b[A\x1b[B",
        ["@ echo aaaaa bbbbb c", "ccccc ddddd eeeee"],
        "aaaaa bbbbb cccccc ddddd eeeee",
    ),
    ("\x12earl", ["(search) 'earl': ech", "o an earlier line"], "an earlier line"),
    ("echo aaaaa bbbbb cccccc\x01\x12zz\x1b", ["@ echo aaaaa bbbbb c", "ccccc"], "aaaaa bbbbb cccccc"),
]


@pytest.mark.parametrize("keys,shown,words", WRAPPING)
def test_lines_longer_than_the_terminal_wrap(console, keys, shown, words):
    fcntl.ioctl(console.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    console.send("echo an earlier line\r")
    console.expect("\nan earlier line\r\n@ ")
    screen = Screen(20)
    screen.put("@ ")
    console.send(keys)
    end = time.monotonic() + 200
    while screen.text() != shown:
        ready = select.select([console.fd], [], [], max(0, end - time.monotonic()))[0]
        assert ready, screen.text()
        screen.put(os.read(console.fd, 4096).decode("latin-1"))
    console.send("\r")
    # A line that filled its last row has moved on already: no newline then.
    assert console.expect(words + "\r\n@ ")[-1:] in ("\n", "")


def test_history_and_search(console):
    console.send("echo first\r")
    console.expect("\nfirst\r\n@ ")
    console.send("echo second\r")
    console.expect("\nsecond\r\n@ ")
    console.send("\x1b[A\x1b[A\r")
    console.expect("\nfirst\r\n@ ")
    console.send("\x12sec\r")
    console.expect("\nsecond\r\n@ ")
    # An arrow edits what was found, what is pasted goes in behind it, the terminal's answer changes nothing.
    console.send("\x12fir\x1b[DX\r")
    console.expect("\nfirsXt\r\n@ ")
    console.send("\x12sec\x1b[200~ a\rb\x1b[201~\x15echo th''ird\r")
    console.expect("\nthird\r\n@ ")
    # Escape alone only leaves the search, also when another key comes at once.
    console.send("\x12zz\x1becho fo''urth\r")
    console.expect("\nfourth\r\n@ ")
    console.send("\x12sec\x1b[24;80Ro\r")
    console.expect("\nsecond\r\n")


def test_completion(console, tmp_path):
    (tmp_path / "unmistakable").write_text("found it\n")
    console.send("cat unm\t\r")
    console.expect("\nfound it\r\n")
    console.expect("@ ")
    console.send("base\t /a/b\r")
    console.expect("\nb\r\n@ ")


def test_completion_quotes(console, tmp_path):
    """What is put in is quoted as what stands there; the second Tab in a row lists, without the folder."""
    folder = tmp_path / "d r"
    folder.mkdir()
    for name in ("one 1", "on'e", "two $2", 'x"y'):
        (folder / name).write_text(f"this is {name}\n")
    for typed, shown in (
        ("cat d\tt\t\r", "two $2"),
        ("cat d\\ r/t\t\r", "two $2"),
        ("cat 'd\tt\t\r", "two $2"),
        ('cat "d\tt\t\r', "two $2"),
        ("cat d\tone\t\r", "one 1"),
        ("cat d\ton'\b\\'\t\r", "on'e"),
        ("cat \"d\ton'\t\r", "on'e"),
        ("cat 'd\tx\t\r", 'x"y'),
        ('cat "d\tx\t\r', 'x"y'),
        ("cat d\tx\t\r", 'x"y'),
        ("echo a;cat d\tx\t\r", 'x"y'),
        # Behind a mark that is closed the word goes on, and behind a newline another command begins.
        ('cat "d r"/t\t\r', "two $2"),
        ("cat 'd r/'t\t\r", "two $2"),
        ('cat "d "r/tw\t\r', "two $2"),
        ("cat 'd'\\ r/x\t\r", 'x"y'),
        ("{ echo a\rbasena\t /b; cat d\tx\t; }\r", 'x"y'),
    ):
        console.send(typed)
        console.expect(f"\nthis is {shown}\r\n")
        console.expect("@ ")
    console.send("cat d\to\t")
    console.expect("on")
    console.send("\t")
    console.expect("\non'e  one 1  \r")
    console.send("\x03")
    console.expect("@ ")
    for name in ("c\x1b]0;title", "c\x7f\n\x01"):
        (folder / name).touch()
    console.send("cat d\tc\t")
    console.expect("c")
    console.send("\t")
    console.expect("\nc?]0;title  c???  \r")
    console.send("\x03")
    console.expect("@ ")


def test_interrupt_ends_the_program_and_not_the_shell(console):
    console.send("sleep 100\r")
    console.expect_running("sleep 100")
    console.send("\x03")
    console.expect("@ ")
    console.send("echo status $?\r")
    console.expect("\nstatus 130\r\n@ ")
    console.send("while true; do sleep 100; done\r")
    console.expect_running("sleep 100")
    console.send("\x03")
    console.expect("@ ")
    console.send("echo alive\r")
    console.expect("\nalive\r\n@ ")
    # The shell's own loop: the prompt begins a row.
    console.send("echo be''gin; while :; do :; done\r")
    console.expect("\nbegin\r\n")
    console.send("\x03")
    assert console.expect("@ ") == "^C\r\n"
    console.send("echo line\x03")
    assert console.expect("@ ").endswith("line^C\r\n")


def test_stopping_ends_a_loop(console):
    """^Z: the prompt comes, not the next round; what stands behind the loop runs, as in bash."""
    for loop, status in (
        ("while true; do sleep 100; echo ne''ver; done; echo $?", 148),
        ("for i in 1 2; do until sleep 100; do :; done; echo ne''ver; done; echo $?", 0),
    ):
        console.send(loop + "\r")
        console.expect_running("sleep 100")
        console.send("\x1a")
        console.expect("Stopped    sleep 100\r\n")
        console.expect(f"{status}\r\n@ ")
        assert "never" not in console.seen
    # Outside of a loop the list goes on.
    console.send("sleep 50; echo be''hind\r")
    console.expect_running("sleep 50")
    console.send("\x1a")
    console.expect("[3] Stopped    sleep 50\r\nbehind\r\n@ ")
    # Their process ids, in a substitution as well; a job that is missing does not keep the others alive.
    console.send("jobs -p | wc -l; for p in $(jobs -p); do kill -0 $p && echo it li''ves; done\r")
    console.expect("3\r\nit lives\r\nit lives\r\nit lives\r\n@ ")
    console.send("jobs -l\r")
    pids = re.search(r"\[1\] (\d+) Stopped    sleep 100\r\n\[2\] \d+ Stopped .*\n\[3\] (\d+) ", console.expect("@ "))
    console.send("kill %1 %9 %3\r")
    console.expect("kill: %9: no such job\r\n")
    console.expect("@ ")
    console.send(
        f"while kill -0 {pids[1]} 2> /dev/null || kill -0 {pids[2]} 2> /dev/null; do jobs > /dev/null; done; jobs > j; grep -c . j; kill -HUP %2\r"
    )
    console.expect("\n1\r\n")
    console.expect("@ ")  # "[2] Hangup" may stand before it
    console.send("until test -z \"$(jobs -p)\"; do jobs > /dev/null; done; echo go''ne\r")
    console.expect("\ngone\r\n")


def test_jobs(console):
    console.send("sleep 100 &\r")
    console.expect("[1] ")
    console.expect("@ ")
    console.send("jobs\r")
    console.expect("[1] Running    sleep 100\r\n@ ")
    console.send("sleep 50\r")
    console.expect_running("sleep 50")
    console.send("\x1a")
    console.expect("[2] Stopped    sleep 50\r\n@ ")
    console.send("bg\r")
    console.expect("[2] Running    sleep 50\r\n@ ")
    # Stopped and continued by signals.
    console.send("kill -STOP %2; until jobs > j; grep -q Stopped j; do :; done; cat j\r")
    console.expect("[2] Stopped    sleep 50\r\n@ ")
    console.send("kill -CONT %2; until jobs > j; grep -q Running.*50 j; do :; done; cat j\r")
    console.expect("[2] Running    sleep 50\r\n@ ")
    console.send("kill %1 %2; wait; echo ok\r")
    console.expect("\nok\r\n")


def test_a_finished_job_is_told_of_once(console):
    # One line of commands each: before a prompt the shell would tell of what has ended itself.
    # It reaps what has ended while it waits for a program: only then has it something to tell.
    gone = "while test -d /proc/$!; do sleep 0.05; done"
    console.send(f"sleep 100 & kill %1; {gone}; jobs; jobs; echo end\r")
    console.expect("[1] Terminated sleep 100\r\nend\r\n@ ")
    console.send(f"(exit 3) & {gone}; jobs; jobs; echo end\r")
    console.expect("[1] Done(3)    (exit 3)\r\nend\r\n@ ")


def page(console, first, last):
    """What more shows of `seq`, up to its prompt."""
    console.expect("".join(f"{n}\r\n" for n in range(first, last + 1)) + "\r\x1b[J--More--")


def test_more_pages(console):
    fcntl.ioctl(console.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 80, 0, 0))
    console.send("seq 100 | more\r")
    for keys, first, last in (
        ("", 1, 5),
        (" ", 6, 10),
        ("\r", 11, 11),
        ("b", 2, 6),
        ("k", 1, 5),
        ("/^4.\r", 40, 44),
        ("n", 41, 45),
        ("g", 1, 5),
    ):
        console.send(keys)
        page(console, first, last)
    console.send("/none\r")
    console.expect("not found")
    console.send("q")
    console.expect("@ ")
    # A prompt whose mark is erased takes no key more; a bad expression and keys of several bytes move nothing.
    console.send("seq 100 | more\r")
    page(console, 1, 5)
    console.send("/^4\x1b[A.\r")
    page(console, 40, 44)
    console.send("/x\xc3\xa4\x7f\x7f\x7fn")
    page(console, 41, 45)
    console.send("/\\(\r")
    assert "42" not in console.expect("unmatched (")
    console.send("q")
    console.expect("@ ")
    console.send("seq 7 | more\r")
    page(console, 1, 5)
    console.send(" ")  # the end of the text is the end of more ...
    console.expect("6\r\n7\r\n@ ")
    console.send("seq 7 | less\r")
    page(console, 1, 5)
    console.send("G")  # ... but not of less
    console.expect("3\r\n4\r\n5\r\n6\r\n7\r\n\r\x1b[J(END)")
    console.send("q")
    console.expect("@ ")


def test_more_gives_the_terminal_back(console):
    fcntl.ioctl(console.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 80, 0, 0))
    before = termios.tcgetattr(console.fd)
    for key in ("q", "\x03"):
        console.send("sleep 1; more /proc/self/status; cat\r" if key == "q" else "more /proc/self/status\r")
        console.expect("--More--")
        console.send(key)
        if key == "q":
            console.expect_running("cat")
            console.send("typed\r")
            console.expect("typed\r\ntyped\r\n")  # echoed, and handed over as a line
            console.send("\x04")
        console.expect("@ ")
    assert termios.tcgetattr(console.fd) == before


def test_more_stops_and_goes_on(userland, tmp_path):
    """Under a shell that leaves modes alone: ^Z gives the terminal back, and behind it the screen is drawn again."""
    (tmp_path / "text").write_text("".join(f"{n}\n" for n in range(1, 10)))
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 4, 80, 0, 0))
        os.execve(userland.qemu, [userland.qemu, str(userland.bin / "more"), str(tmp_path / "text")], {})
    console = Console.__new__(Console)
    console.pid, console.fd, console.seen = pid, fd, ""
    before = termios.tcgetattr(fd)
    page(console, 1, 3)
    assert termios.tcgetattr(fd) != before
    for _ in range(2):
        console.send("\x1a")
        end = time.monotonic() + 200
        while os.waitpid(pid, os.WNOHANG | os.WUNTRACED) == (0, 0):
            assert time.monotonic() < end, "it has not stopped"
            time.sleep(0.02)
        assert termios.tcgetattr(fd) == before
        os.kill(pid, signal.SIGCONT)
        page(console, 1, 3)
        assert termios.tcgetattr(fd) != before
    console.send("q")
    os.waitpid(pid, 0)
    assert termios.tcgetattr(fd) == before
    os.close(fd)


def test_stty_sets_a_size_that_was_not_known(console):
    """The kernel has 0 by 0 for it, in whose place 24 by 80 are shown."""
    for words, size in (("rows 24 cols 80", (24, 80)), ("cols 100 size", (24, 100))):
        console.send(f"stty {words}; echo do''ne\r")
        console.expect("done\r\n@ ")
        assert struct.unpack("HHHH", fcntl.ioctl(console.fd, termios.TIOCGWINSZ, bytes(8)))[:2] == size


def test_multi_line_command_and_syntax_error(console):
    console.send("for i in 1 2\r")
    console.expect("> ")
    console.send("do echo i$i; done\r")
    console.expect("\ni1\r\ni2\r\n@ ")
    console.send("echo )\r")
    console.expect('syntax error: unexpected ")"\r\n')
    console.expect("@ ")
    console.send("echo fine; exit 3\r")
    console.expect("\nfine\r\n")
