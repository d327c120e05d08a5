"""What a guest does in a test that looks at the outcome from outside: tests/guest/stories/ROOM/NAME.sh."""

import glob
import os

from shell_text import shell_part


def story(name, part=None):
    """The text of tests/guest/stories/ROOM/NAME.sh, or of one part of it (tools/shell_text.py). The name says which: no
    two of them have the same."""
    (path,) = glob.glob(os.path.join(os.path.dirname(__file__), "guest", "stories", "*", f"{name}.sh"))
    if part:
        return shell_part(path, part)
    with open(path, encoding="utf-8") as file:
        return file.read()
