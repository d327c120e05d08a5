"""Collects tests/unit/NAME_test.c: one item for each sanitizer, built by make (mk/tests.mk) and run."""

import os
import platform
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 300


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
            yield UnitTest.from_parent(self, name=kind, binary=f"build/host/unit/{name}.{kind}")


class UnitFailed(Exception):
    pass


class UnitTest(pytest.Item):
    def __init__(self, *, binary, **kwargs):
        super().__init__(**kwargs)
        self.binary = binary

    def runtest(self):
        self.step(["make", "-s", self.binary])
        command = [os.path.join(ROOT, self.binary)]
        if self.name == "tsan":  # its shadow memory wants the old address-space layout
            command = ["setarch", "-R", *command]
        self.step(command)

    @staticmethod
    def step(command):
        environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
        # Half the time of a test that allocates a lot went into remembering who did so; a report names who called malloc all the same.
        environment.setdefault("ASAN_OPTIONS", "malloc_context_size=2")
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        except subprocess.TimeoutExpired as error:
            output = error.stdout.decode(errors="replace") if error.stdout else ""
            raise UnitFailed(f"{' '.join(command)}: not done after {SECONDS} s\n{output[-4000:]}") from error
        if done.returncode:
            raise UnitFailed(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-8000:]}")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, UnitFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, f"{self.path.name} [{self.name}]"
