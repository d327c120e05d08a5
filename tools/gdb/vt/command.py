"""What all commands have in common: words as arguments, and one clear line for whatever is wrong."""

import contextlib

import gdb

from vt import kernel
from vt.machine import privileged


def number(text, what):
    """A count or pid that somebody typed."""
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if value < 0:
        raise gdb.GdbError(f"{text}: {what} is wanted")
    return value


@contextlib.contextmanager
def one_line(name):
    """What cannot be read is said in one line."""
    try:
        yield
    except gdb.MemoryError as error:
        raise gdb.GdbError(f"{name}: {error}: is the guest up, its MMU on?") from error
    except (gdb.error, *kernel.NONSENSE) as error:
        raise gdb.GdbError(f"{name}: {kernel.why(error)}") from error


@contextlib.contextmanager
def unpaged():
    """Without a question after each screen: a person scrolls back, and in gdb's windows the question hides what it asks
    about."""
    was = gdb.parameter("pagination")
    gdb.execute("set pagination off")
    try:
        yield
    finally:
        gdb.execute(f"set pagination {'on' if was else 'off'}")


KNOWN = []  # all there are, in their order


class Command(gdb.Command):
    """A command; run(words) makes its lines. `name` and `usage` are the class's, its help is its docstring."""

    name = usage = None
    most = 0  # words that it takes, and that it needs
    least = 0

    def __init__(self):
        self.__doc__ = f"{self.__doc__}\n\nUsage: {self.usage or self.name}"
        super().__init__(self.name, gdb.COMMAND_USER)
        KNOWN.append(self)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if not self.least <= len(words) <= self.most:
            raise gdb.GdbError(f"usage: {self.usage or self.name}")
        with one_line(self.name), unpaged(), privileged():
            kernel.check_guest()
            for line in self.run(words):  # each as it comes: a later one may be unreadable
                gdb.write(f"{line}\n")

    def run(self, words):
        raise NotImplementedError


def options(words, with_value):
    """Splits `-x VALUE` from the rest: ({"x": VALUE}, words). with_value: the letters there are."""
    found, rest, left = {}, [], list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            rest.append(word)
        elif word[1:] not in with_value or not left:
            raise gdb.GdbError(f"{word}: {'a value is missing' if word[1:] in with_value else 'no such option'}")
        else:
            found[word[1:]] = left.pop(0)
    return found, rest
