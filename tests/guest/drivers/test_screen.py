"""A person's terminal at the console: its size, long lines, Chinese text, pastes, colours, the pager."""

import pytest
from screen import ScreenGuest

COLUMNS, ROWS = 200, 50


@pytest.fixture
def terminal(machine):
    """At the prompt of a guest on a terminal of 200 columns, which has told its size."""
    with machine.guest(smp=1, timeout=90, wait_prompt=False, files=machine.programs("winch")) as guest:
        one = ScreenGuest(guest, COLUMNS, ROWS)
        one.until(lambda rows: any(row == "/ #" for row in rows), "the prompt")
        one.clear()
        yield one


def check_size(terminal):
    terminal.type("stty size; echo $CLICOLOR; ls | cat | head -1\n")
    terminal.shows("/ # stty size; echo $CLICOLOR; ls | cat | head -1", f"{ROWS} {COLUMNS}", "1", "bin", "/ #")
    terminal.clear()


def check_long_line(terminal):
    """Longer than the terminal, and than 80 columns: it goes on in the next row, and back."""
    digits = "0123456789" * 30
    shown = "/ # echo " + digits
    terminal.type("echo " + digits)
    terminal.shows(shown[:COLUMNS], shown[COLUMNS:])
    terminal.type("\x7f" * 120)
    terminal.shows(shown[:-120])
    terminal.type("\x01" + "\x1b[C" * 5 + "XY\x05Z\n")
    terminal.shows("/ # echo XY" + digits[:-120] + "Z", "XY" + digits[:-120] + "Z", "/ #")
    terminal.clear()


def check_wide(terminal):
    """A press removes a character, whatever it has of bytes, marks and columns."""
    terminal.type("echo 你好世界x\x7f\x7f\x7f")
    terminal.shows("/ # echo 你好")
    assert terminal.cursor() == (0, 13)
    terminal.type("e\u0301🙂\x7f\x7f\x1b[D\x1b[D们\x05!\n")
    terminal.shows("/ # echo 们你好!", "们你好!", "/ #")
    terminal.clear()
    # 96 of two columns each leave one column behind the prompt: the next begins a row.
    terminal.type("echo " + "好" * 96)
    terminal.shows("/ # echo " + "好" * 95, "好")
    terminal.type("\x7f吗\x7f\x15")
    terminal.shows("/ #")
    # Completion, of what these names have in common: 乙 and 乾 begin with the same two bytes.
    # "/ #" alone is what stands there before this line is even echoed.
    terminal.type("cd /tmp; touch 文件乙 文件乾; cd /; clear; echo ready\n")
    terminal.shows("ready", "/ #")
    terminal.type("echo /tmp/文\t")
    terminal.shows("ready", "/ # echo /tmp/文件")
    terminal.type("乙\t!\x15\n")
    terminal.until(lambda rows: rows[2] == "/ #", "the line is gone")
    terminal.clear()
    # The terminal's own editing, for a program.
    terminal.type("cat\n")
    terminal.until(lambda rows: rows[0] == "/ # cat" and terminal.cursor() == (1, 0), "cat")
    terminal.type("你好e\u0301x\x7f\x7f\x7fZ\n")
    terminal.shows("/ # cat", "你Z", "你Z")
    terminal.type("你\t好\x7f\x7fZ\n")  # a TAB behind what is wide
    terminal.shows("/ # cat", "你Z", "你Z", "你Z", "你Z")
    terminal.type("世界\x15ok\x17ja\n\x04")
    terminal.shows("/ # cat", "你Z", "你Z", "你Z", "你Z", "ja", "ja", "/ #")
    terminal.clear()


def check_paste(terminal):
    """TABs are text, nothing runs before Return, and a control character in it is nothing."""
    terminal.type("\x1b[200~for i in 1 2\r\ndo\r\n\techo ca\t$i\x07\ndone\n\x1b[201~")
    terminal.shows("/ # for i in 1 2", "do", "        echo ca $i", "done")
    terminal.type("\n")
    terminal.shows("/ # for i in 1 2", "do", "        echo ca $i", "done", "ca 1", "ca 2", "/ #")
    terminal.type("\x1b[A")  # the history has it as one
    terminal.until(lambda rows: rows[6] == "/ # for i in 1 2" and rows[9] == "done", "the entry")
    terminal.type("\x03")
    terminal.until(lambda rows: rows[9:11] == ["done^C", "/ #"], "^C")
    terminal.clear()


def check_colours(terminal):
    terminal.type(
        "ls -d /bin /bin/sh /dev/null; grep -n --color=auto oo /proc/mounts; ls --color=never -d /tmp; ls -d /tmp | grep t\n"
    )
    terminal.until(
        lambda rows: rows[2].startswith("1:rootfs") and rows[3] == "/tmp" and rows[4] == "/tmp", "three programs"
    )
    assert [terminal.colour(1, name) for name in ("/bin ", "/bin/sh", "/dev/null")] == ["blue", "green", "brown"]
    assert [terminal.colour(2, text) for text in ("1:", "oo", "tfs")] == ["green", "red", "default"]
    assert [terminal.colour(3, "tmp"), terminal.colour(4, "/tmp"), terminal.colour(4, "tmp")] == [
        "default",
        "default",
        "red",
    ]
    terminal.clear()
    terminal.type(
        "ls -d --color=always /bin | tr '\\033' E; ls -d /bin | tr '\\033' E; grep --color bi x; ls --color=x\n"
    )
    terminal.until(
        lambda rows: rows[1:3] == ["E[01;34m/binE[0m", "/bin"]
        and rows[4] == "ls: --color=x: always, auto or never is wanted",
        "pipes",
    )
    terminal.clear()


def check_pager(terminal):
    terminal.type("seq 200 | less\n")
    terminal.until(
        lambda rows: rows == [str(number) for number in range(1, ROWS)] + ["--More--"], "less fills all rows"
    )
    terminal.type("G")
    terminal.until(lambda rows: rows == [str(number) for number in range(152, 201)] + ["(END)"], "less at the end")
    for key, first in (
        ("\x1b[A", 151),
        ("\x1b[5~", 102),
        ("\x1b[B", 103),
        ("\x1bOH", 1),
        ("\x1b[6~", 50),
        ("d", 74),
        ("u", 50),
        ("/7\r", 57),
        ("n", 67),
        ("N", 57),
        ("?^1.$\r", 19),
        ("n", 18),
        ("N", 19),
        ("/2$\r", 22),
        ("\x1b[F", 152),
    ):
        terminal.type(key)
        terminal.until(
            lambda rows: rows[:-1] == [str(number) for number in range(first, first + ROWS - 1)],
            f"{key!r}: {first} is at the top",
        )
    terminal.type("q")
    terminal.until(lambda rows: rows[-1] == "/ #", "the prompt")
    terminal.clear()
    # What is no text does not reach the terminal as it is; -S cuts, between characters.
    binary = r"'\001a\033[31m\000b\377\302\233\177\t你\n'"
    terminal.type(
        f"printf {binary} > /tmp/b; less /tmp/b; seq 100 | sed 's/$/好/' | tr -d '\\n' > /tmp/l; less -S /tmp/l; rm /tmp/[bl]\n"
    )
    terminal.until(lambda rows: "^Aa^[[31m^@b<FF><C2><9B>^?      你" in rows and "(END)" in rows, "no text")
    terminal.type("q")
    long = "".join(f"{number}好" for number in range(1, 101))
    cut = next(n for n in range(len(long), 0, -1) if n + long[:n].count("好") <= COLUMNS)
    terminal.until(lambda rows: long[:cut] in rows and "(END)" in rows, "a cut line")
    terminal.type("q")
    terminal.until(lambda rows: [row for row in rows if row][-1] == "/ #", "the prompt")
    terminal.clear()


def check_prompt(terminal):
    """A folder far down leaves half of the row for a command."""
    parts = [f"directory{number}" for number in range(12)]
    terminal.type("d=/tmp/" + "/".join(parts) + "; mkdir -p $d; cd $d\n")
    terminal.until(lambda rows: rows[1] == ".../" + "/".join(parts[4:]) + " #", "the prompt is cut")
    terminal.type("cd /; clear\n")
    terminal.shows("/ #")


def check_resize(terminal):
    """The window has become smaller: `resize` finds out, and who is in the foreground then hears of it, once."""
    terminal.type("winch 1000 > /tmp/background &\n")  # longer than all this takes
    terminal.type("clear; winch | { read line; resize | tr -d '\\n'; cat; }\n")
    terminal.until(lambda rows: "COLUMNS=200;LINES=50;export COLUMNS LINES;told 0 times: 50 200" in rows, "no change")
    terminal.screen.resize(30, 100)
    terminal.type("clear; winch 300 | { read line; resize > /dev/null; cat; }\n")
    terminal.until(lambda rows: "told 1 times: 30 100" in rows, "another size")
    terminal.type(
        "clear; winch 300 | { read line; stty -F /dev/tty rows 25 cols 90; stty -F /dev/tty rows 25 cols 90; cat; }; cat /tmp/background\n"
    )
    terminal.until(lambda rows: "told 1 times: 25 90" in rows and rows.count("ready") == 1, "by stty")
    assert sum(row.startswith("told") for row in terminal.rows()) == 1, "nobody in the background is told"
    terminal.type("kill %1; wait; resize > /dev/null; clear; stty size\n")
    terminal.until(lambda rows: rows[0] == "30 100" and rows[1] == "/ #", "the right size again")


def test_a_terminal_of_200_columns(terminal):
    for check in (
        check_size,
        check_long_line,
        check_wide,
        check_paste,
        check_colours,
        check_pager,
        check_prompt,
        check_resize,
    ):
        check(terminal)
