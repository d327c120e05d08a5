"""Each step of `make lint` as a test of its own, the longest of them in make soak."""

import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def steps():
    """The steps that mk/tests.mk names."""
    with open(os.path.join(ROOT, "mk/tests.mk"), encoding="utf-8") as file:
        return re.search(r"^LINTS := (.*)$", file.read(), re.M).group(1).split()


ONLY_IN_SOAK = {"lint-analyzer", "lint-cppcheck"}


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, marks=pytest.mark.soak(only=True)) if step in ONLY_IN_SOAK else pytest.param(step)
        for step in steps()
    ],
)
def test_lint(step):
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(
        ["make", step],
        cwd=ROOT,
        env=environment,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    left_out = re.search(r"^lint: (.*): left out$", done.stdout, re.M)
    if left_out:
        pytest.skip(left_out.group(1))
