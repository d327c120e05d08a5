"""A session: QEMU has this terminal, and this process waits beside it.

QEMU's serial port is standard input and output. It copies what the guest writes into a pipe, too, whose first bytes
tell that the guest lives. What QEMU itself has to say passes through here, so that a line that helps can follow it.

A standard input that is no terminal is typed for the guest: `echo ls | make qemu-arm64` shows the files and ends. The
pipe is read to its end then, for the prompts at which a line is typed, and for a panic, which ends such a session.
"""

import functools
import os
import re
import select
import subprocess
import sys
import termios
import threading

from vitrine_guest import PANIC, Guest, die_with_parent
from vitrine_lifetime import Lifetime, Silence
from vitrine_machines import NO_STATUS, PANICKED, TIMED_OUT, GuestError
from vitrine_qemu import ended_line, missing_line, silence_line

LOOK = 1  # seconds between two looks at a QEMU that has not been heard


def console_with_monitor(copy):
    """Serial port on standard input and output, QEMU's monitor behind ^A c (and ^A x ends QEMU); copy: the descriptor of
    a pipe for what the guest writes, which QEMU inherits."""
    console = f"stdio,id=console,signal=off,mux=on,logfile=/dev/fd/{copy}"
    return ["-chardev", console, "-serial", "chardev:console", "-mon", "chardev=console"]


def say(line):
    """Also where QEMU has switched the terminal's processing of output off."""
    sys.stderr.write(f"vrun: {line}\r\n" if os.isatty(2) else f"vrun: {line}\n")
    sys.stderr.flush()


class Typist(threading.Thread):
    """Types our standard input, a line at each prompt; a line for which no prompt comes is for a program that reads, or
    is typed ahead. When the input has ended, so has the session: a poweroff at the prompt, and before that the end of a
    file for a program that reads on. A command that does not end, and a line that is not complete, get a ^C; a guest
    that does not power off then is given up."""

    ESCAPE, INTERRUPT, END = b"\x01", b"\x03", b"\x04"  # ^A is the monitor's, unless it comes twice; ^C; ^D
    AHEAD = 0.1  # seconds after which a line is typed without a prompt
    TRIES = 5  # how many poweroffs may each be followed by another prompt, as in the middle of an open quote
    INTERRUPTED = (10, 10, 10)  # seconds of a quiet host that the guest has after each ^C
    TAIL = 400  # characters of what the guest has written last: longer than a prompt, and than the line of a panic

    def __init__(self, keyboard, seconds, give_up):
        """seconds: how long the first prompt may take, and the last command after the input's end; give_up(line, status)
        ends the session."""
        super().__init__(daemon=True)
        self.panic = None  # the line of a panic after which no prompt has come
        self._keyboard, self._seconds, self._give_up = keyboard, seconds, give_up
        self._shown, self._prompts = "", threading.Semaphore(0)
        self.start()

    def hear(self, data):
        """What the guest has written."""
        shown = self._shown + data.decode(errors="replace")
        panic = re.search(PANIC, shown)
        self.panic = self.panic or panic and panic[0].strip()
        self._shown = shown[-self.TAIL :]
        if re.search(Guest.PROMPT + r"|[\r\n]> $", self._shown):
            self._shown, self.panic = "", None
            self._prompts.release()

    def run(self):
        self._prompts.acquire(timeout=Lifetime(self._seconds).left())  # the shell is there, or what has no prompt
        self._prompts.release()
        ahead = 0
        with open(0, "rb", closefd=False) as lines:
            for line in lines:
                ahead += not self._prompts.acquire(timeout=self.AHEAD)
                if not self._type(line.rstrip(b"\n").replace(self.ESCAPE, 2 * self.ESCAPE) + b"\n"):
                    return
        self._power_off(ahead)

    def _power_off(self, ahead):
        """ahead: how many lines were typed without a prompt, whose prompts may still come."""
        for seconds in (self._seconds, *self.INTERRUPTED):
            life, tries = Lifetime(seconds), self.TRIES + ahead
            while tries and life.left():
                prompt = self._prompts.acquire(timeout=LOOK)
                tries -= prompt
                if not self._type(b"poweroff\n" if prompt else self.END):
                    return
            ahead = 0
            if not self._type(self.INTERRUPT):
                return
        self._give_up("the input has ended, and the guest does not power off, for all of ^C and ^D", TIMED_OUT)

    def _type(self, data):
        """False: QEMU has ended, or does not read any more."""
        try:
            if not select.select([], [self._keyboard], [], Lifetime(self._seconds).left())[1]:
                self._give_up("the guest does not read what is typed", TIMED_OUT)
                return False
            self._keyboard.write(data)
            self._keyboard.flush()
        except OSError:
            return False
        return True


class Listener(threading.Thread):
    """Shows what QEMU says, and says it when the guest should have been heard, or has panicked while nobody looks."""

    def __init__(self, qemu, copy, silence, seconds):
        """copy: the pipe's other end; silence: what judges it, or None; seconds: see Typist."""
        super().__init__(daemon=True)
        self.heard, self.said = False, b""
        self.verdict = None  # the session's status, where it is not QEMU's
        self._qemu, self._copy, self._silence, self._quiet = qemu, copy, silence, 0
        self._typist = Typist(qemu.stdin, seconds, self.give_up) if qemu.stdin else None
        self.start()

    def run(self):
        sources = [self._copy, self._qemu.stderr.fileno()]
        while sources:
            ready = select.select(sources, [], [], LOOK if self._silence or self._typist else None)[0]
            self._quiet = 0 if ready else self._quiet + LOOK
            for source in ready:
                data = os.read(source, 4096)
                if source == self._copy:
                    self.heard, self._silence = self.heard or bool(data), None
                    if self._typist:
                        self._typist.hear(data)
                    else:
                        os.close(source)  # QEMU notices that nobody reads any more, and goes on
                elif self.verdict is None:  # else it says that it was ended
                    os.write(2, data)
                    self.said += data
                if not data or source == self._copy and not self._typist:
                    sources.remove(source)
            if not ready or not sources:
                self.look(not sources)

    def look(self, ended):
        """ended: QEMU has closed its pipes."""
        why = self._silence and not ended and self._silence.look()
        if why:
            say(silence_line(self._qemu.args[0], why) + " (Ctrl-A x ends QEMU)")
            self._silence = None
        panic = self._typist and self._typist.panic
        if panic and (ended or self._quiet >= Guest.SILENCE):
            self.give_up(f"the guest panicked: {panic}", PANICKED)

    def give_up(self, line, status):
        """End the session with this status; the line says why. The first one counts."""
        if self.verdict is None:
            self.verdict = status
            say(line)
            end(self._qemu)


def end(qemu):
    """QEMU puts the terminal right when it is asked to end."""
    if qemu.poll() is None:
        qemu.terminate()
        try:
            qemu.wait(10)
        except subprocess.TimeoutExpired:
            qemu.kill()
            qemu.wait()


def run_session(make_argv, firmware=False, seconds=60):
    """QEMU on this terminal until it ends: its status, 128 and the number for a signal's. make_argv(console): its words;
    firmware: see Silence; seconds: see Typist. A guest that waits for a debugger (-S) may be silent. Where our input is
    typed: TIMED_OUT when the guest does not power off after its end, PANICKED when it panics."""
    heard, copy = os.pipe()
    os.set_inheritable(copy, True)
    argv = make_argv(console_with_monitor(copy))
    saved = termios.tcgetattr(0) if os.isatty(0) else None
    try:
        qemu = subprocess.Popen(
            argv,
            stdin=None if saved or "-S" in argv else subprocess.PIPE,
            stderr=subprocess.PIPE,
            close_fds=False,
            preexec_fn=functools.partial(die_with_parent, os.getpid()),
        )
    except OSError as error:
        raise GuestError(missing_line(argv[0], error), NO_STATUS) from error
    os.close(copy)
    listener = Listener(qemu, heard, None if "-S" in argv else Silence(qemu.pid, firmware), seconds)
    try:
        status = qemu.wait()
    finally:
        end(qemu)
        if saved:
            termios.tcsetattr(0, termios.TCSADRAIN, saved)
    listener.join(LOOK)  # it shows the last of what QEMU has said
    if status > 0 and listener.said and not listener.heard:
        say(ended_line(argv[0], status, listener.said.decode(errors="replace")))
    if listener.verdict is not None:
        return listener.verdict
    return status if status >= 0 else 128 - status
