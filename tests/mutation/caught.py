"""Which test has caught which bug of the curated list: caught.txt, a line for each with the bug's key and the test. The
whole list takes hours, and so it is tried in parts; a later run asks this test first, and begins with bugs that have
no line."""

import pathlib

from operators import curated

FILE = pathlib.Path(__file__).with_name("caught.txt")


def caught():
    """{key: test} of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def keep(results):
    """Write what these results, {key: result}, say of the list's bugs: a test that has caught one is its test from now
    on, and one that lived has no test any more. Bugs that have left the list leave the file. Returns how many lines
    the file has, and for how many bugs there could be one."""
    wanted = [mutation.key for mutation in curated() if not mutation.equivalent]
    known = caught()
    for key, found in results.items():
        if found["status"] == "caught":
            known[key] = found["by"]
        elif found["status"] in ("survived", "not run"):
            known.pop(key, None)
    lines = sorted(f"{key} {known[key]}\n" for key in wanted if key in known)
    FILE.write_text("# Made by `tests/mutation/mutation keep`: " + __doc__.partition(": ")[0] + ".\n" + "".join(lines))
    return len(lines), len(wanted)
