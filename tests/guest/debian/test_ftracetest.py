"""Linux's own tests of ftrace, as they are (tests/ftracetest.py): what tests/ftracetest.txt lists has to pass."""

import pytest
from debian_root import debian_root
from ftracetest import INSTANCE, MACHINES, PAGE, RESULTS, USERLANDS, Result, merged, must_pass, parse, rows, run, worse

# Folders whose tests take seconds together; under `make soak` all of them run. Before and after each test ftracetest
# goes through the triggers of all events, which is what most of the time is spent on: so the tests of triggers and
# filters, of which we have our own, are not among these, but for those that go from one event to another; nor are those
# of the files that every tracer has.
QUICK = ("event", "tracer", "trigger/inter-event")


def results_of(machine, userland, tests=()):
    if userland == "debian":
        debian_root(machine.arch)
    results = run(machine.arch, userland, tests)
    if results is None:
        pytest.skip("Linux's source or Debian's busybox cannot be had here")
    return results


def check(machine, userland, tests=()):
    """Each test of the list has run that these choose, and none does worse than the list says."""
    results = results_of(machine, userland, tests)
    listed = {test for test in rows() if not tests or test.startswith(tuple(f"{folder}/" for folder in tests))}
    assert listed <= set(results), listed - set(results)
    wrong = worse(machine.arch, userland, results)
    assert not wrong, "\n".join(wrong)


def test_quick(machine):
    check(machine, "busybox", QUICK)


@pytest.mark.soak(only=True)
@pytest.mark.parametrize("userland", USERLANDS)
def test_all(machine, userland):
    check(machine, userland)


LOG = """[1] one\t[PASS]
==> summary
=== Ftrace unit tests ===
[1] Basic one\t[PASS]
[2] Two\t[UNSUPPORTED]
[3] (instance)  Basic one\t[FAIL]
# of passed:  1
==> 1 execute: /ftrace/test.d/a/one.tc
+ exit 0
==> 2 execute: /ftrace/test.d/a/two.tc
Required feature pattern "[gid=<gid>]" is not in README.
+ exit_unsupported
==> 3 execute (instance) : /ftrace/test.d/a/one.tc
+ echo 8
sh: write error: Invalid argument
+ kill -s 37 22
==> end
"""


def test_results_are_read():
    """Results and reasons from what a run prints; a run that did not come to its end is none."""
    results = parse(LOG)
    assert {test: result.word for test, result in results.items()} == {
        "a/one.tc": "PASS",
        "a/two.tc": "UNSUPPORTED",
        "a/one.tc@instance": "FAIL",
    }
    assert results["a/two.tc"].reason() == 'feature pattern "[gid=<gid>]" is not in README.'
    assert results["a/one.tc@instance"].reason() == "sh: write error: Invalid argument"
    with pytest.raises(Exception, match="did not come to its end"):
        parse(LOG.replace("==> end", ""))


def test_a_regression_is_noticed():
    """What the list has and what does not pass is worse; what passes and is not listed is added."""
    table = rows()
    passing = next(test for test, row in table.items() if must_pass(row, "x86_64", "busybox"))
    failing = next(test for test, row in table.items() if not row[0])
    lines = worse("x86_64", "busybox", {test: Result("FAIL", "+ said\n") for test in (passing, failing)})
    assert lines == [f"{passing}: FAIL with busybox on x86_64, and it has passed: said"]
    outcome = {(arch, "busybox"): {failing: Result("PASS", "")} for arch in ("aarch64", "x86_64")}
    assert merged(outcome)[failing][0] == ["busybox"]
    del outcome["x86_64", "busybox"]
    assert merged(outcome)[failing][0] == ["busybox@aarch64"]


def test_page_and_list_agree():
    """docs/ftracetest.md has a row for each test of the list, PASS where the list says so, and a reason elsewhere."""
    with open(PAGE, encoding="utf-8") as page:
        cells = [[cell.strip() for cell in line.strip("|\n").split(" |")] for line in page if ".tc" in line]
    shown = {
        line[0].replace(", in an instance", INSTANCE): line for line in cells if line[0].split(",")[0].endswith(".tc")
    }
    columns = [(arch, userland) for userland in USERLANDS for arch in MACHINES]
    assert set(rows()) == set(shown)
    for test, row in rows().items():
        words = shown[test][1:5]
        for column, word in zip(columns, words):
            assert word in (*RESULTS, "not run") and (word == "PASS" or not must_pass(row, *column)), (test, column)
        assert shown[test][5] or set(words) <= {"PASS", "XFAIL", "not run"}, f"{test}: why does it not pass?"
