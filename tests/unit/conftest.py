"""Collects tests/unit/ROOM/NAME_test.c: one item for each sanitizer, built by make (mk/tests.mk) and run."""

import fcntl
import functools
import os
import platform
import re
import signal
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 900
# A test that computes for ever is told by its CPU time, which does not depend on what else runs: the longest of the
# short forms takes 4 s.
CPU_SECONDS = 25


def pytest_collect_file(file_path, parent):
    other_machine = file_path.name.startswith("x86_64_") and platform.machine() != "x86_64"  # as mk/tests.mk has it
    if file_path.name.endswith("_test.c") and not other_machine:
        return UnitFile.from_parent(parent, path=file_path)
    return None


class UnitFile(pytest.File):
    def collect(self):
        name = self.path.name[: -len("_test.c")]
        kinds = ["asan"]
        if re.search(r"/\* sanitizers: thread \*/", self.path.read_text()):
            kinds.append("tsan")
        for kind in kinds:
            test = UnitTest.from_parent(self, name=kind, binary=f"build/host/unit/{name}.{kind}")
            if 'getenv("SOAK_MINUTES")' in self.path.read_text():
                test.add_marker(pytest.mark.soak)
            yield test


class UnitFailed(Exception):
    pass


@functools.cache
def built(session):
    """Build what this session will run, with one make for all, as reading the Makefile takes longer than most of the
    tests. False when something cannot be built: then each test asks make for its own, and the right one fails. Tests
    share objects, so that one worker at a time builds; the other finds all done."""
    binaries = [item.binary for item in session.items if isinstance(item, UnitTest)]
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    os.makedirs(os.path.join(ROOT, "build/host/unit"), exist_ok=True)
    with open(os.path.join(ROOT, "build/host/unit/lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return (
            subprocess.run(
                ["make", "-s", "-k", f"-j{os.cpu_count()}", *binaries],
                cwd=ROOT,
                env=environment,
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ).returncode
            == 0
        )


class UnitTest(pytest.Item):
    def __init__(self, *, binary, **kwargs):
        super().__init__(**kwargs)
        self.binary = binary

    def runtest(self):
        if not built(self.session):
            self.step(["make", "-s", self.binary])
        command = [os.path.join(ROOT, self.binary)]
        if self.name == "tsan":  # its shadow memory wants the old address-space layout
            command = ["setarch", "-R", *command]
        if "SOAK_MINUTES" not in os.environ:
            command = ["prlimit", f"--cpu={CPU_SECONDS}:{2 * CPU_SECONDS}", *command]
        self.step(command)

    @staticmethod
    def step(command):
        environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
        # Half the time of a test that allocates a lot went into remembering who did so; a report names who called
        # malloc all the same.
        environment.setdefault("ASAN_OPTIONS", "malloc_context_size=2")
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                timeout=SECONDS,
                text=True,
                errors="replace",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            output = error.stdout.decode(errors="replace") if error.stdout else ""
            raise UnitFailed(f"{' '.join(command)}: not done after {SECONDS} s\n{output[-4000:]}") from error
        if done.returncode == -signal.SIGXCPU:
            raise UnitFailed(f"{' '.join(command)}: computed for {CPU_SECONDS} s and had not ended\n{done.stdout[-4000:]}")
        if done.returncode:
            raise UnitFailed(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-8000:]}")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, UnitFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, f"{self.path.name} [{self.name}]"
