"""A child on a terminal of its own, and waiting for what it shows there.

Programs that drive a guest run QEMU so. python's standard library is enough for it: a guest starts wherever python3 and
QEMU are.
"""

import codecs
import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time

EOF = object()  # among the patterns of expect(): the child has closed its terminal


def on_this_terminal(before_exec):
    """For the child, which leads a session of its own: standard input is the terminal of that session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    before_exec()


class Console:
    """The child, and the terminal's other end."""

    # Patterns are searched for in so many of the last characters, and in what has just been read: this bounds the work
    # for long output. It must be longer than whatever a pattern can match.
    WINDOW = 16384
    PORTION = 4096

    def __init__(self, argv, rows, columns, log, before_exec):
        """log: its write() gets all text as it comes; before_exec is called in the child. OSError when it cannot be
        started."""
        self._log, self._decoder = log, codecs.getincrementaldecoder("utf-8")("replace")
        self._passed, self._window, self._ended = [], "", False  # text that no match has used: before the window; in it
        self.match, self._before = None, ""
        self._terminal, end = os.openpty()
        try:
            attributes = termios.tcgetattr(end)
            attributes[3] &= ~termios.ECHO
            termios.tcsetattr(end, termios.TCSANOW, attributes)
            fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
            self._child = subprocess.Popen(
                argv,
                stdin=end,
                stdout=end,
                stderr=end,
                start_new_session=True,
                preexec_fn=lambda: on_this_terminal(before_exec),
            )
        except BaseException:
            os.close(self._terminal)
            raise
        finally:
            os.close(end)
        self.pid = self._child.pid

    def send(self, text):
        """Type this."""
        data = text.encode()
        while data:
            data = data[os.write(self._terminal, data) :]

    def read(self, seconds=None):
        """The next portion of what the child shows, as soon as there is one; "" when it has closed its terminal, None
        when so many seconds have passed."""
        while not self._ended:
            if not select.select([self._terminal], [], [], seconds)[0]:
                return None
            try:
                data = os.read(self._terminal, self.PORTION)
            except OSError:
                data = b""  # Linux's way to say that nobody has the other end any more
            self._ended = not data
            text = self._decoder.decode(data, final=self._ended)
            if text:  # else the rest of a character is to come
                self._log.write(text)
                return text
        return ""

    def expect(self, patterns, seconds=None):
        """Wait until one of these regular expressions (. is any character) matches what was shown since the last match:
        its number, of the match that begins first. None when so many seconds have passed; EOFError at the end, unless
        EOF is among them."""
        searches = [(number, re.compile(one, re.S)) for number, one in enumerate(patterns) if one is not EOF]
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            found = [(match.start(), number, match) for number, one in searches if (match := one.search(self._window))]
            if found:
                _, number, self.match = min(found, key=lambda one: one[:2])
                self._use(self.match.start(), self.match.end())
                return number
            self._passed.append(self._window[: -self.WINDOW])
            self._window = self._window[-self.WINDOW :]
            text = self.read(end and max(0, end - time.monotonic()))
            if text is None:
                return None
            if not text:
                self._use(len(self._window), len(self._window))
                self.match = None
                if EOF in patterns:
                    return patterns.index(EOF)
                raise EOFError("the child has closed its terminal")
            self._window += text

    def _use(self, start, end):
        """This part of the window matches."""
        self._before = "".join(self._passed) + self._window[:start]
        self._passed, self._window = [], self._window[end:]

    def before(self):
        """What was shown between the last match and the one before it."""
        return self._before

    def is_alive(self):
        return self._child.poll() is None

    def status(self):
        """What the child has ended with; None while it runs, and when a signal has ended it."""
        code = self._child.poll()
        return None if code is None or code < 0 else code

    def close(self):
        """End the child, if it still runs."""
        if self._terminal is None:
            return
        if self.is_alive():
            self._child.kill()
            self._child.wait()
        os.close(self._terminal)
        self._terminal = None
