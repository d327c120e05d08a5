"""What all tests share: the tree's root, the tools' folder on the path, the markers, the machines."""

import glob
import os
import re
import shutil
import signal
import sys
import threading

import pytest

# A shell without job control starts what runs in the background with SIGINT ignored, and children inherit that:
# whatever a test sends SIGINT to, or types ^C at, would then ignore it. nohup does the same with SIGHUP. A worker of
# xdist may be in a second thread here, where Python does not allow this: it inherits what the process above it has set.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for folder in ("tools", "tests"):
    sys.path.insert(0, os.path.join(ROOT, folder))
# What tests share lies in the folder of their subject: a test of another folder imports it all the same.
for kind in ("guest", "host"):
    sys.path += sorted({os.path.dirname(path) for path in glob.glob(f"{ROOT}/tests/{kind}/*/*.py")})

from machines import TARGETS, params  # noqa: E402


with open(os.path.join(ROOT, "tests/longest"), encoding="ascii") as lines:
    LONGEST = {name: number for number, name in enumerate(lines.read().split())}


def place(nodeid):
    """Where the test stands in tests/longest, which names scripts, C files, functions, and Python files with tests that
    share a guest; behind all of them when it does not."""
    name = re.match(r"(?:tests/)?(.*\.sh|.*\.c|[^\[]*)", nodeid)[1]
    return LONGEST.get(name, LONGEST.get(name.partition("::")[0], len(LONGEST)))


with open(os.path.join(ROOT, "tests/one_machine"), encoding="ascii") as lines:
    ONE_MACHINE = dict(line.split() for line in lines if not line.startswith("#"))


def listed(item):
    """The name by which tests/one_machine has this test, its own or its file's; None when it does not."""
    name = re.match(r"(?:tests/)?(.*\.sh|[^\[]*)", item.nodeid)[1]
    return next((one for one in (name, name.partition("::")[0]) if one in ONE_MACHINE), None)


def proven_elsewhere(item):
    """True for a test of generic code on the machine that tests/one_machine does not name for it."""
    choice = re.sub(r"^.*\.sh|^[^\[]*", "", item.nodeid)
    named = ONE_MACHINE.get(listed(item))
    return named is not None and named not in choice and any(target.arch in choice for target in TARGETS)


def only_in_soak(item):
    """True for a test that has no short form, only the long one of make soak."""
    mark = item.get_closest_marker("soak")
    return bool(mark and mark.kwargs.get("only"))


def in_order(items):
    """The longest tests come first: else the last of them runs alone, when the other worker has nothing left to do.
    Those of a file that are of one machine stand together, since they may share a guest; pytest itself puts them
    together only where a test has no other parameter."""
    files = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], len(files))

    def key(item):
        choice = re.sub(r"^[^\[]*", "", item.nodeid)
        machine = next((number for number, target in enumerate(TARGETS) if target.arch in choice), -1)
        return place(item.nodeid), files[item.nodeid.partition("::")[0]], machine

    return sorted(items, key=key)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(config, items):
    """Tests that are for make soak alone are not in the ordinary suite. Those that it runs on one machine run in a soak
    on the other one. A file or test that is named on the command line runs on both."""
    for item in filter(proven_elsewhere, items):
        item.add_marker(pytest.mark.soak)
        item.left = config.getoption("--one-machine")
    if not int(os.environ.get("SOAK_MINUTES", "0")):
        left = [item for item in items if only_in_soak(item) or getattr(item, "left", False)]
        config.hook.pytest_deselected(items=left)
        names = {listed(item) for item in left if getattr(item, "left", False)}
        items[:] = [item for item in items if item not in left]
        if lost := names - set(map(listed, items)):
            raise pytest.UsageError(f"tests/one_machine: no test has the machine or form that is named for {lost}")
    yield
    items[:] = in_order(items)


def kept_together(nodeids):
    """How many of these tests, the first ones, are of a Python file that tests/longest names as a whole."""
    file = re.match(r"(?:tests/)?(.*?)::", nodeids[0])[1]
    if not file.endswith(".py") or file not in LONGEST:
        return 0
    return next((n for n, one in enumerate(nodeids) if f"{file}::" not in one), len(nodeids))


NEAR = 12
MANY = 100  # with fewer left, a long block would be what all others wait for in the end


def whole_files(nodeids, num):
    """How many of these tests make a block: num, and those behind it that are of the same file as the last one. All
    that are left of a longer file are not waited for: then it is num."""
    if not 0 < num < len(nodeids):
        return num
    file = nodeids[num - 1].partition("::")[0]
    end = next((n for n in range(num, len(nodeids)) if nodeids[n].partition("::")[0] != file), None)
    return end or num


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deals the longest tests out one by one, so that they do not all lie with one worker; the others in xdist's
    blocks, which end where a file does if that is near: tests of a file may share a guest."""
    from xdist.scheduler import LoadScheduling  # not everybody who runs a test alone has it

    class LongestFirst(LoadScheduling):
        def _send_tests(self, node, num):
            if self.pending and place(self.collection[self.pending[0]]) < len(LONGEST):
                num = max(0, 2 - len(self.node2pending[node]))  # a worker begins a test when it knows the next one
                num = num and max(num, kept_together([self.collection[index] for index in self.pending]))
            elif len(self.pending) > MANY:
                num = whole_files([self.collection[index] for index in self.pending[: num + NEAR]], num)
            super()._send_tests(node, num)

    return LongestFirst(config, log)


def processor_seconds():
    """CPU seconds that this process and all its descendants have used, those that have ended among them when they were
    waited for."""
    parents, used = {}, {}
    for folder in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{folder}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        parents[int(folder)], used[int(folder)] = int(fields[1]), sum(map(int, fields[11:15]))
    total, todo = 0, [os.getpid()]
    while todo:
        process = todo.pop()
        total += used.get(process, 0)
        todo += [child for child, parent in parents.items() if parent == process]
    return total / os.sysconf("SC_CLK_TCK")


def pytest_addoption(parser):
    parser.addoption(
        "--cpu", metavar="FILE", help="append a line for each test to FILE: the CPU seconds that it took, and its name"
    )
    parser.addoption(
        "--one-machine", action="store_true", help="run what tests/one_machine names on the machine that it names alone"
    )
    parser.addoption(
        "--build-of",
        metavar="FOLDER",
        action="append",
        default=[],
        help="run scripts of tests/guest, and them alone, on the kernel in this folder (tests/guest/conftest.py)",
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """A guest that several tests share counts for each while it runs: what it does between two tests is the later
    one's."""
    file = item.config.getoption("--cpu")
    before = processor_seconds() if file else 0
    yield
    if file:
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(f"{processor_seconds() - before:.2f} {item.nodeid}\n")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Note on the test whether it passed."""
    outcome = yield
    if call.when == "call":
        item.has_passed = outcome.get_result().passed


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    """The folder of a test that passed goes with it. All of them are 250,000 files, and pytest leaves them to whichever
    later run makes a folder of its own: one of a single test was busy with that for five minutes."""
    yield
    if getattr(item, "has_passed", False) and "tmp_path" in getattr(item, "funcargs", {}):
        shutil.rmtree(item.funcargs["tmp_path"], ignore_errors=True)


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "soak: has a long form, which runs for SOAK_MINUTES under make soak; soak(only=True): has no short form, and is "
        "not in the ordinary suite",
    )
    config.addinivalue_line("markers", "rooms: optional rooms of the kernel that the test needs (the file `rooms`)")


def pytest_generate_tests(metafunc):
    """A test with an argument `machine` runs on each, unless it names its rows itself."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "machine" in metafunc.fixturenames and not any("machine" in mark.args[0] for mark in marks):
        metafunc.parametrize("machine", params(), scope="session")
