"""What a guest does in a test that looks at the outcome from outside: tests/guest/stories/NAME.sh."""

import os


def story(name):
    """The text of tests/guest/stories/NAME.sh."""
    with open(os.path.join(os.path.dirname(__file__), "guest", "stories", f"{name}.sh"), encoding="utf-8") as file:
        return file.read()
