"""The console as a terminal: echo, erasing, signals, end of file, and pages of pasted text."""

import re
import struct
import threading

import pytest
from gdbstub import under_gdb


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


ELF_MACHINES = {"aarch64": 183, "x86_64": 62}


def dynamic_program(number):
    """An ELF file for this machine that wants an interpreter which is not there."""
    name = b"/lib/ld-nowhere.so.1\0"
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, number, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 64 + 2 * 56 + len(name), 64 + 2 * 56 + len(name), 4096)
    return head + struct.pack("<IIQQQQQQ", 3, 4, 64 + 2 * 56, 64 + 2 * 56, 0, len(name), len(name), 1) + load + name


@pytest.fixture
def guest(machine):
    own, other = (number for _, number in sorted(ELF_MACHINES.items(), key=lambda one: one[0] != machine.arch))
    files = {
        "t/dynamic": dynamic_program(own),
        "t/foreign": dynamic_program(other).replace(b"/lib/ld-nowhere.so.1", b"/bin/sh" + bytes(13)),
        "t/interp": b"#! /bin/nosuch -x\necho no\n",
        "t/text": b"echo text $1\n",
        "t/zeros": bytes(100),
        "t/spaced": b"# !/bin/bash\n# trace_process.sh\nexec $*\n",
        "t/bash": b"#!/bin/bash\necho bash $1\n",
        "t/array": b"#!/bin/bash\necho one\na=(1 2)\n",
    }
    files = {name: (0o755, data) for name, data in files.items()}
    with machine.guest(smp=2, timeout=60, files={**files, **machine.programs("checksum", "leaves")}) as one:
        yield one


def ended_with(guest, status):
    """At a fresh prompt: how the command before ended."""
    guest.send("echo status=$?\n")
    assert guest.expect(r"\r\nstatus=(\d+)\r\n").group(1) == str(status)
    guest.expect(guest.PROMPT)


def test_line_editing_of_the_terminal(guest):
    """Canonical input of a program that reads: what the terminal itself does."""
    guest.send("echo re''ady; cat\n")  # before, the line is the shell's to edit
    guest.expect("\r\nready\r\n")
    guest.send("abc\n")
    guest.expect("abc\r\nabc\r\n")
    guest.send("abx\x7fc\n")  # erase
    guest.expect("abc\r\n")
    guest.send("never seen\x15seen\n")  # ^U
    guest.expect("\r\nseen\r\n")
    guest.send("two words\x17three\n")  # ^W
    guest.expect("\r\ntwo three\r\n")
    guest.send("before\x04")  # ^D in a line hands it over without its newline
    guest.expect("beforebefore")
    guest.send("\x04")  # at the beginning: end of file
    guest.expect(guest.PROMPT)
    ended_with(guest, 0)


def test_typed_while_it_boots(machine):
    """The serial driver sets its chip up over what has been received: no byte is lost to that, not even the first."""
    with machine.guest(timeout=60, wait_prompt=False) as guest:
        guest.send("e")
        guest.expect("Run /init")  # a second byte might come between the driver's last look and the FIFO
        guest.send("cho ty''ped\n")
        guest.expect(r"\r\ntyped\r\n")
        guest.expect(guest.PROMPT)


def test_interrupt_before_the_foreground(machine, tmp_path):
    """^C when a job is in a group of its own and the terminal still has the shell's in the foreground ends the job."""
    ready, stopped, typed = (tmp_path / name for name in ("ready", "stopped", "typed"))
    with under_gdb(machine, tmp_path, timeout=60) as (guest, gdb):
        session = threading.Thread(
            target=gdb.batch,
            args=(
                [
                    "break tty_jobctrl_ioctl if cmd == 0x5410",  # TIOCSPGRP, by the shell or its child
                    f"shell touch {ready}",
                    "continue",
                    f"shell touch {stopped}",
                    "delete",
                    f"shell until test -e {typed}; do sleep 0.1; done",
                ],
            ),
        )
        session.start()
        for name, text in ((ready, "sleep 1000\n"), (stopped, "\x03")):
            while not name.exists():
                session.join(0.05)
                assert session.is_alive(), "gdb has ended"
            guest.send(text)
        session.join(0.5)  # QEMU takes the key while the guest stands still
        typed.touch()
        session.join()
        guest.expect(guest.PROMPT)
        ended_with(guest, 130)


def test_signals_from_the_keyboard(guest):
    for keys, status in (("\x03", 130), ("\x1c", 131)):
        # Only when it has said something it is sure to be in the foreground.
        guest.send("sh -c \"echo re''ady; exec sleep 1000\"\n")
        guest.expect("\r\nready\r\n")
        guest.send(keys)
        guest.expect(guest.PROMPT)
        ended_with(guest, status)
        # One that reads: it gets no part of the line, and nor does who reads next.
        guest.send("sh -c \"echo re''ady; exec cat\"\n")
        guest.expect("\r\nready\r\n")
        guest.send("half a line" + keys)
        guest.expect(guest.PROMPT)
        ended_with(guest, status)
    # A whole pipeline and a loop end; the shell and what runs in the background do not.
    assert guest.run("sleep 1000 & echo $! > /tmp/background")[0] == 0
    guest.send("while true; do echo re''ady; done | cat\n")
    guest.expect("\r\nready\r\n")
    guest.send("\x03")
    guest.expect(guest.PROMPT)
    assert guest.run("kill -0 $(cat /tmp/background)") == (0, "")
    assert guest.run("kill $(cat /tmp/background); wait")[0] in (0, 143)
    # At the prompt ^C throws the line away, ^U too.
    guest.send("echo no\x03")
    guest.expect(guest.PROMPT)
    guest.send("echo no\x15echo yes\n")
    guest.expect("\r\nyes\r\n")


def test_pasted_text_arrives_complete(guest):
    """64 KiB at once, far more than the terminal's buffer: the line is held up, nothing is dropped."""
    lines = [
        f"{number:05d} " + "the quick brown fox jumps over the lazy dog"[: 10 + number % 30] for number in range(2000)
    ]
    text = "\n".join(lines)[:65535] + "\n"
    guest.send("checksum\n")
    guest.expect("checksum\r\n")
    # The guest's echo is to be read while we write, or both would wait for each other.
    typist = threading.Thread(target=guest.send, args=(text + "\x04",), daemon=True)
    typist.start()
    match = guest.expect(r"(?<![0-9])(\d+) ([0-9a-f]{10,16})\r\n")
    typist.join()
    assert (int(match[1]), int(match[2], 16)) == (len(text), fnv1a(text.encode()))
    guest.expect(guest.PROMPT)
    assert guest.run("echo alive") == (0, "alive\n")


def test_typed_ahead(guest):
    """What is typed while a command runs is there afterwards, in order."""
    guest.send("sleep 0.5; echo first\necho second\necho third\n")
    for word in ("first", "second", "third"):
        guest.expect(f"\r\n{word}\r\n")
    guest.expect(guest.PROMPT)


def test_typing_shows_in_irq_events(guest):
    """Who types interrupts a CPU by the terminal's line: the only one there is on x86_64."""
    assert (
        guest.run("cd /sys/kernel/tracing; echo 0 > tracing_on; echo 1 > events/irq/enable; echo 1 > tracing_on")[0]
        == 0
    )
    status, line = guest.run("grep -iE 'ttyS|uart|pl011|serial' /proc/interrupts")
    number, name = line.split(":")[0].strip(), line.split()[-1]
    assert status == 0 and number.isdigit(), line
    status, trace = guest.run("echo 0 > tracing_on; grep ' irq_handler_' trace")
    found = re.findall(
        r"\[(\d+)\] d[.NnpP][hH]\S+ +[\d.]+: irq_handler_(entry|exit): irq=(\d+) (?:name=(\S+)|ret=(\S+))\r?$",
        trace,
        re.M,
    )
    assert status == 0 and len(found) == len(trace.splitlines()), trace
    # Bytes that come while it is served need no interrupt of their own.
    assert ("entry", number, name, "") in {one[1:] for one in found} and ("exit", number, "", "handled") in {
        one[1:] for one in found
    }, trace
    assert not [
        one for one in found if one[2] == number and one[3:] not in ((name, ""), ("", "handled"), ("", "unhandled"))
    ], trace
    for cpu in {one[0] for one in found}:
        mine = [one[1:3] for one in found if one[0] == cpu]
        mine = mine[mine[0][0] == "exit" : len(mine) - (mine[-1][0] == "entry")]  # cut where recording was switched
        assert [(what, irq) for what, irq in mine[::2]] == [("entry", irq) for _, irq in mine[1::2]], trace
        assert {what for what, _ in mine[1::2]} <= {"exit"}, trace


USUAL = r"speed 115200 baud; line = 0;\niutf8\n"  # what `stty` says


def test_what_programs_leave_behind(guest):
    """Modes, O_NONBLOCK and the foreground are put back after each program; what it was there to set stays."""
    assert re.fullmatch(USUAL, guest.run("stty")[1])
    shell = guest.run("echo $$")  # init would start another one
    for what in ("raw", "raw 3", "raw -1", "nonblock", "nonblock 1", "nonblock -1"):
        guest.send(f"leaves {what}\n")
        guest.expect(guest.PROMPT)
        assert re.fullmatch(USUAL, guest.run("stty")[1]), what
        assert guest.run("echo $$") == shell, what
        guest.send("echo re''ady; cat\n")  # a program that reads has a terminal that waits, echoes and edits
        guest.expect("\r\nready\r\n")
        guest.send("sex\x7fen\n\x04")
        guest.expect("seen\r\n")
        guest.expect(guest.PROMPT)
    # By job control: a group that has the foreground from the background, and one that goes on with O_NONBLOCK.
    guest.send("leaves pgrp & sleep 0.1; leaves again\n")
    guest.expect(guest.PROMPT)
    for number in range(20):
        assert guest.run(f"sleep 0.05; echo {number}") == (0, f"{number}\n")
    assert guest.run("echo $$") == shell
    # stty is there to change them.
    assert guest.run("stty -echo intr ^G; stty -a | grep -o -- '-echo \\|intr = ..'") == (0, "intr = ^G\n-echo \n")
    saved = guest.run("stty -g")[1].strip()
    assert guest.run(f"stty sane; stty {saved}; stty -g") == (0, saved + "\n")
    assert guest.run("sh -c 'stty echo intr ^C'; stty")[1].splitlines() == ["speed 115200 baud; line = 0;", "iutf8"]
    assert guest.run(
        "stty raw; stty -a | grep -c -- '-icanon.*\\|-opost'; stty cooked; stty nosuch; stty size rows 30 columns 100; stty size"
    )[1].replace("\r", "") == ("2\nstty: nosuch: no setting, or its value is missing\n24 80\n30 100\n")
    # Nobody answers here: `resize` says so, and takes nothing of what is typed.
    guest.send("resize\necho typed\n")
    guest.expect("resize: the terminal does not answer; stty rows N cols N sets the size by hand\r\n")
    guest.expect("\r\ntyped\r\n")
    check_what_cannot_run(guest)


def check_what_cannot_run(guest):
    """The shell says why."""
    assert guest.run("cd /t; head -c 300 /bin/sh > cut; chmod 755 cut; ./text 1") == (0, "text 1\n")
    for name, status, words in (
        ("./dynamic", 127, "no such interpreter: /lib/ld-nowhere.so.1"),
        ("./interp", 127, "no such interpreter: /bin/nosuch"),
        ("./cut", 126, "cannot execute binary file"),
        ("./zeros", 126, "cannot execute binary file"),
        ("./foreign", 126, "cannot execute binary file: it is for another machine"),
        ("./nosuch", 127, "not found"),
    ):
        assert guest.run(name) == (status, f"sh: {name}: {words}\n")
    check_scripts(guest)


def check_scripts(guest):
    """As tutorials write them, run as tutorials do: without "#!" by sudo and the like, which leave that to execvp(),
    and for bash."""
    runs = (
        "",
        "sudo ",
        "env ",
        "nice ",
        "timeout 5 ",
        'sudo sh -c \'exec "$0" "$@"\' ',
        "trace-cmd record -o /tmp/t.dat -e sched_switch ",
        "trace-fn -l sys_exec* ",
    )
    for script, said in (
        ("./text 你好", "text 你好\n"),
        ("./spaced echo a b", "a b\n"),
        ("./bash 1", "bash 1\n"),
        ("./array", 'one\nsh: line 3: an array (NAME=( )) is bash\'s; use set -- and "$@", or several variables\n'),
    ):
        for how in runs:
            status, output = guest.run(how + script)
            assert output.startswith(said) and status == (2 if script == "./array" else 0), (
                how,
                script,
                status,
                output,
            )
    assert guest.run("echo ./text ./bash | xargs -n 1 sudo sh -c '$0'") == (0, "text\nbash\n")
    for name, words in (
        ("./zeros", "Exec format error"),
        ("./cut", "Exec format error"),
        ("./interp", "No such file or directory"),
    ):
        assert guest.run(f"sudo {name}")[1] == f"sudo: {name}: {words}\n"
