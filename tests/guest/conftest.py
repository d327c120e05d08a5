"""Collects tests/guest/ROOM/NAME.sh: each is a script that runs inside a guest and passes when its exit status is 0.

Its first comment lines say what it is and which machine it wants:

    # description: counts calls of one function
    # requires: smp=1,4 cpu=all irqchip=all mem=512M icount turn=10 timeout=120 append="quiet debug" progs=storm soak
    # requires: rooms="net hist"

Each runs on every machine. progs: programs of tests/guest/progs (without the folder), which the script finds in /bin.
/run/prelude is what scripts share. Values separated by commas make one test for each (smp=1,4 runs twice; several such:
each combination). Values behind a semicolon (smp=4;2) prove nothing that those before it leave open, and run under make
soak only. cpu=all and irqchip=all are what tests/machines.py names for the machine. `soak` means that the script has a
long form: it gets SOAK_MINUTES as its first argument, 0 in the ordinary suite. When NAME.expected stands beside it,
what the script prints must be exactly that.

rooms: optional rooms that the script needs, as the file `rooms` has them, by path or last part. The room that a folder
here is named after, all its scripts need without a word. Where the kernel leaves a room out, the tests that need it are
skipped and say so. --build-of FOLDER names a kernel to try; then only scripts run. A test in Python has the mark rooms.
"""

import difflib
import itertools
import os
import pathlib
import re
import shlex

import postmortem
import pytest
import rooms
from machines import TARGETS, want_features
from vitrine_guest import Guest, GuestError

HERE = pathlib.Path(__file__).resolve().parent
SOAK_MINUTES = int(os.environ.get("SOAK_MINUTES", "0"))
GROWTH = 60  # seconds of life beyond the soak's own minutes
KEYS = {
    "smp": int,
    "mem": str,
    "cpu": str,
    "irqchip": str,
    "turn": int,
    "timeout": float,
    "append": str,
    "progs": str.split,
    "rooms": str.split,
}
WHOLE = ("append", "progs", "rooms")  # may hold commas
FLAGS = ("icount", "soak")


STARTED = []  # guests of the test that runs now
# What guests of these tests are like; those that tests/host starts in the same process are like anybody's.
GUESTS_OF_TESTS = {
    "SILENCE": 10,
    "on_start": staticmethod(STARTED.append),
    "more_arguments": staticmethod(postmortem.arguments),
    "on_timeout": staticmethod(postmortem.report),
}
OTHER_GUESTS = {name: vars(Guest)[name] for name in GUESTS_OF_TESTS}
# For tools/vitrine_lifetime.py, in this process and in the programs that a test starts, such as vrun. No test sleeps so
# long; a guest that waits for ever has nothing left to do.
LIFETIME = {"VITRINE_MOST_IDLE": "20"}
if "VITRINE_PATIENCE" not in os.environ:  # else this computer is slow
    # A time-out is for a guest that hangs. Those of the tests hold on a quiet computer, which that of CI is not.
    LIFETIME["VITRINE_PATIENCE"] = "5"
    # The guests of the suite use up to a thirteenth of their time, on a computer of 2024; those of long forms compute
    # all the time, on several CPUs.
    if not SOAK_MINUTES:
        LIFETIME["VITRINE_CPU_PART"] = "0.25"


def complaints(output):
    """What a script's checks have said, and those of its programs (see check.c): it may be far above the end of the
    console."""
    failed = re.compile(r"FAILED|^  [\w.-]+\.c:\d+: |^  not done after ")
    return "".join(f"{line}\n" for line in output.splitlines() if failed.search(line))


def builds(config):
    """{machine's name: build folder} of --build-of."""
    return {os.path.basename(folder).partition("-")[0]: folder for folder in config.getoption("--build-of")}


def pytest_collection_modifyitems(config, items):
    chosen = builds(config)
    if chosen:
        left = [item for item in items if not (isinstance(item, GuestTest) and item.machine.arch in chosen)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def needs(item):
    """The optional rooms that a test needs: what its folder is named after, and what it names itself."""
    words = [item.path.relative_to(HERE).parts[0]]
    words += item.rooms if isinstance(item, GuestTest) else [w for m in item.iter_markers("rooms") for w in m.args]
    return [
        room for word in words for room in rooms.called(word, rooms.read()) if rooms.read()[room].kind == "optional"
    ]


def skip_without_rooms(item):
    machine = item.machine if isinstance(item, GuestTest) else getattr(item, "callspec", None)
    if machine and not isinstance(item, GuestTest):
        machine = machine.params.get("machine")
    build = machine and builds(item.config).get(machine.arch, os.path.join(rooms.ROOT, "build", machine.arch))
    absent = rooms.lacking(build) if build and os.path.exists(os.path.join(build, "kernel.objects")) else ()
    for room in needs(item):
        if room in absent:
            pytest.skip(f"needs room {room}, which this kernel leaves out")


def pytest_runtest_setup(item):
    skip_without_rooms(item)
    STARTED.clear()
    os.environ.update(LIFETIME)
    for name, value in GUESTS_OF_TESTS.items():
        setattr(Guest, name, value)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    for name in LIFETIME:
        os.environ.pop(name, None)
    for name, value in OTHER_GUESTS.items():
        setattr(Guest, name, value)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A failed test_*.py shows the end of its guests' consoles, as the scripts do."""
    report = (yield).get_result()
    if report.failed and not isinstance(item, GuestTest):
        for guest in STARTED:
            report.sections.append(("end of the console", guest.tail()))


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".sh" and "stories" not in file_path.relative_to(HERE).parts:
        return GuestFile.from_parent(parent, path=file_path)
    return None


class BadHead(Exception):
    pass


class GuestFailed(Exception):
    pass


def parse_head(text):
    """The script's head: (description, {setting: the values it takes})."""
    description = re.search(r"^# description: (\S.*)$", text, re.M)
    if not description:
        raise BadHead("no line '# description: ...'")
    choices = {}
    for line in re.findall(r"^# requires: (.*)$", text, re.M):
        for word in shlex.split(line):
            key, equals, value = word.partition("=")
            if key in FLAGS and not equals:
                choices[key] = [True]
            elif key in KEYS and value:
                value, _, more = (value, "", "") if key in WHOLE else value.partition(";")
                values = [value] if key in WHOLE else value.split(",")
                if more and SOAK_MINUTES:
                    values += more.split(",")
                try:
                    choices[key] = [KEYS[key](one) for one in values]
                except ValueError as error:
                    raise BadHead(f"requires: {word}: {error}") from error
                for room in choices["rooms"][0] if key == "rooms" else ():
                    if len(rooms.called(room, rooms.read())) != 1:
                        raise BadHead(f"requires: '{room}' is not one room of the file `rooms`")
            else:
                raise BadHead(f"requires: '{word}' is none of {', '.join([*KEYS, *FLAGS])}")
    return description.group(1), choices


def combinations(choices, machine):
    """(name, settings) of each test that these choices make on a machine."""
    choices = dict(choices)
    for key, every in (("cpu", machine.cpus), ("irqchip", machine.irqchips)):
        if choices.get(key) == ["all"]:
            choices[key] = every
    several = [key for key, values in choices.items() if len(values) > 1]
    for values in itertools.product(*choices.values()):
        settings = dict(zip(choices, values))
        yield ",".join([machine.arch, *(f"{key}={settings[key]}" for key in several)]), settings


class GuestFile(pytest.File):
    def collect(self):
        try:
            text = self.path.read_text()
            description, choices = parse_head(text)
        except BadHead as error:
            raise self.CollectError(f"{self.path.name}: {error}") from error
        for machine in TARGETS:
            for name, settings in combinations(choices, machine):
                item = GuestTest.from_parent(
                    self, name=name, machine=machine, settings=settings, description=description
                )
                if settings.get("soak") or SOAK_MINUTES and re.search(r"^# requires: .*;", text, re.M):
                    item.add_marker("soak")
                yield item


class GuestTest(pytest.Item):
    def __init__(self, *, machine, settings, description, **kwargs):
        super().__init__(**kwargs)
        self.machine, self.settings, self.description = machine, dict(settings), description
        self.rooms = self.settings.pop("rooms", [])

    def runtest(self):
        settings, arguments = dict(self.settings), []
        if settings.pop("soak", False):
            arguments = [str(SOAK_MINUTES)]
            settings["timeout"] = settings.get("timeout", 60) + SOAK_MINUTES * 60 + (GROWTH if SOAK_MINUTES else 0)
        # An oops ends the guest: the task that dies may hold a lock, and the script would wait for it until time is up.
        settings["append"] = f"oops=panic {settings.get('append', '')}".strip()
        want_features(self.machine.arch, settings)
        files = self.machine.programs(*settings.pop("progs", []))
        files["run/prelude"] = (0o644, (HERE / "prelude").read_bytes())
        build = builds(self.config).get(self.machine.arch)
        run = self.machine.script(self.path.read_bytes(), arguments, files=files, build=build, **settings)
        try:
            run.wait_start()
            status = run.wait_exit()
        except GuestError as error:
            raise GuestFailed(f"{error}\n--- end of the console:\n{run.guest.tail()}") from error
        finally:
            run.guest.close()
        if status:
            raise GuestFailed(
                f"exit status {status}\n{complaints(run.output)}--- end of the console:\n{run.guest.tail()}"
            )
        self.compare(run.output)

    def compare(self, output):
        expected = self.path.with_suffix(".expected")
        if expected.exists() and output != expected.read_text():
            difference = difflib.unified_diff(
                expected.read_text().splitlines(),
                output.splitlines(),
                expected.name,
                "what the guest printed",
                lineterm="",
            )
            raise GuestFailed("\n".join(difference))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, (GuestFailed, GuestError)):
            return f"{self.description}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, f"{self.path.name} [{self.name}]"
