"""Which test has caught which bug of the curated list: build/mutation/caught.txt, a line for each with the bug's key and
the test. The whole list takes hours, and so it is tried in parts; a later run asks this test first, and begins with
bugs that have no line."""

from operators import ROOT, curated

FILE = ROOT / "build/mutation/caught.txt"


def caught():
    """{key: test} of the file, of tests that are still there."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    found = dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {key: test for key, test in found.items() if (ROOT / test.partition("::")[0]).exists()}


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
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text("# Made by `tests/mutation/mutation keep`: " + __doc__.partition(": ")[0] + ".\n" + "".join(lines))
    return len(lines), len(wanted)
