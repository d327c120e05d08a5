"""A guest on a terminal that shows what it is sent, and answers: pyte's emulation, as large as wanted."""

import time

import pexpect
import pyte

LITTLE = 0.2  # seconds


class ScreenGuest:
    """A Guest (started with wait_prompt=False) and the screen that it writes on."""

    def __init__(self, guest, columns, rows):
        self.guest = guest
        self.screen = pyte.Screen(columns, rows)
        self.screen.write_process_input = guest.send  # a terminal's answers
        self.stream = pyte.Stream(self.screen)

    def feed(self):
        """Show what the guest has written meanwhile; it is waited for a little: LITTLE, if nothing comes, else 0."""
        try:
            self.stream.feed(self.guest.child.read_nonblocking(4096, LITTLE))
        except pexpect.TIMEOUT:
            return LITTLE
        return 0

    def rows(self):
        """Without blanks at their ends."""
        return [row.rstrip() for row in self.screen.display]

    def cursor(self):
        return self.screen.cursor.y, self.screen.cursor.x

    def until(self, condition, what):
        """Until the screen is so; `condition` gets its rows. A guest that is stuck will not show it."""
        end, waited, watch = time.monotonic() + 300, 0, self.guest.watch()
        stuck = next(watch)
        while not condition(self.rows()):
            assert time.monotonic() < end and not stuck, (
                f"{what}: {stuck or 'time is up'}, and the screen shows\n" + "\n".join(self.rows()) + f"\ncursor {self.cursor()}"
            )
            waited += self.feed()
            if waited >= self.guest.WATCH:
                waited, stuck = 0, next(watch)

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
