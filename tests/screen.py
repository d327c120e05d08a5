"""A guest on a terminal that shows what it is sent, and answers: pyte's emulation, as large as wanted."""

import time

import pyte
import pytest

LITTLE = 0.2  # seconds


class ScreenGuest:
    """A Guest (started with wait_prompt=False) and the screen that it writes on."""

    def __init__(self, guest, columns, rows):
        self.guest = guest
        self.screen = pyte.Screen(columns, rows)
        self.screen.write_process_input = guest.send  # a terminal's answers
        self.stream = pyte.Stream(self.screen)

    def feed(self):
        """Show what the guest has written meanwhile; it is waited for a little."""
        text = self.guest.child.read(LITTLE)
        assert text != "", "the guest has ended"
        self.stream.feed(text or "")

    def rows(self):
        """Without blanks at their ends."""
        return [row.rstrip() for row in self.screen.display]

    def cursor(self):
        return self.screen.cursor.y, self.screen.cursor.x

    def until(self, condition, what):
        """Until the screen is so; `condition` gets its rows. A guest that is stuck will not show it."""
        for portion in self.guest.life.portions(self.guest.child.pid):
            end = time.monotonic() + portion
            while time.monotonic() < end:
                if condition(self.rows()):
                    return
                self.feed()
        shown = "\n".join(self.rows())
        pytest.fail(f"{what}: {self.guest.life.why}, and the screen shows\n{shown}\ncursor {self.cursor()}")

    def shows(self, *rows):
        """Until the screen begins with these rows and has nothing below."""
        wanted = list(rows) + [""] * (self.screen.lines - len(rows))
        self.until(lambda shown: shown == wanted, f"{rows} wanted")

    def type(self, keys):
        self.guest.send(keys)

    def clear(self):
        """An empty screen with a prompt in its first row."""
        self.type("clear\n")
        self.shows("/ #")

    def colour(self, row, text):
        """Foreground of the first character of this text in a row."""
        return self.screen.buffer[row][self.screen.display[row].index(text)].fg
