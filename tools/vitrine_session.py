"""A session: QEMU has this terminal, and this process waits beside it.

QEMU's serial port is standard input and output. It copies what the guest writes into a pipe, too, whose first bytes
tell that the guest lives. What QEMU itself has to say passes through here, so that a line that helps can follow it.

A standard input that is no terminal is typed for the guest: `echo ls | make qemu-arm64` shows the files and ends. The
pipe is read to its end then, for the prompts at which a line is typed.
"""

import functools
import os
import re
import select
import subprocess
import sys
import termios
import threading

from vitrine_guest import Guest, die_with_parent
from vitrine_lifetime import Silence
from vitrine_machines import NO_STATUS, GuestError
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
    file for a program that reads on."""

    ESCAPE, END = b"\x01", b"\x04"  # ^A is the monitor's, unless it comes twice; ^D
    AHEAD = 0.1  # seconds after which a line is typed without a prompt

    def __init__(self, keyboard):
        super().__init__(daemon=True)
        self._keyboard, self._shown, self._prompts = keyboard, "", threading.Semaphore(0)
        self.start()

    def hear(self, data):
        """What the guest has written."""
        self._shown = (self._shown + data.decode(errors="replace"))[-200:]
        if re.search(Guest.PROMPT + r"|[\r\n]> $", self._shown):
            self._shown = ""
            self._prompts.release()

    def run(self):
        self._prompts.acquire()  # the shell is there
        self._prompts.release()
        with open(0, "rb", closefd=False) as lines:
            for line in lines:
                self._prompts.acquire(timeout=self.AHEAD)
                self._type(line.rstrip(b"\n").replace(self.ESCAPE, 2 * self.ESCAPE) + b"\n")
        while self._type(b"poweroff\n" if self._prompts.acquire(timeout=LOOK) else self.END):
            pass

    def _type(self, data):
        """False: QEMU has ended."""
        try:
            self._keyboard.write(data)
            self._keyboard.flush()
        except OSError:
            return False
        return True


class Listener(threading.Thread):
    """Shows what QEMU says, and says it when the guest should have been heard."""

    def __init__(self, qemu, copy, name, silence):
        """copy: the pipe's other end; name: of QEMU, for messages; silence: what judges it, or None."""
        super().__init__(daemon=True)
        self.heard, self.said = False, b""
        self._qemu, self._copy, self._name, self._silence = qemu, copy, name, silence
        self._typist = Typist(qemu.stdin) if qemu.stdin else None
        self.start()

    def run(self):
        sources = [self._copy, self._qemu.stderr.fileno()]
        while sources:
            ready = select.select(sources, [], [], LOOK if self._silence else None)[0]
            for source in ready:
                data = os.read(source, 4096)
                if source == self._copy:
                    self.heard, self._silence = self.heard or bool(data), None
                    if self._typist:
                        self._typist.hear(data)
                    else:
                        os.close(source)  # QEMU notices that nobody reads any more, and goes on
                else:
                    os.write(2, data)
                    self.said += data
                if not data or source == self._copy and not self._typist:
                    sources.remove(source)
            if not ready:
                self.look()

    def look(self):
        why = self._silence and self._silence.look()
        if why:
            say(silence_line(self._name, why) + " (Ctrl-A x ends QEMU)")
            self._silence = None


def end(qemu):
    """QEMU puts the terminal right when it is asked to end."""
    if qemu.poll() is None:
        qemu.terminate()
        try:
            qemu.wait(10)
        except subprocess.TimeoutExpired:
            qemu.kill()
            qemu.wait()


def run_session(make_argv, firmware=False):
    """QEMU on this terminal until it ends: its status, 128 and the number for a signal's. make_argv(console): its words;
    firmware: see Silence. A guest that waits for a debugger (-S) may be silent."""
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
    listener = Listener(qemu, heard, argv[0], None if "-S" in argv else Silence(qemu.pid, firmware))
    try:
        status = qemu.wait()
    finally:
        end(qemu)
        if saved:
            termios.tcsetattr(0, termios.TCSADRAIN, saved)
    listener.join(LOOK)  # it shows the last of what QEMU has said
    if status > 0 and listener.said and not listener.heard:
        say(ended_line(argv[0], status, listener.said.decode(errors="replace")))
    return status if status >= 0 else 128 - status
