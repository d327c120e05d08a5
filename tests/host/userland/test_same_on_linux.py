"""Guest programs that say /* also on Linux */ pass on the host's Linux too: what they check is what Linux does."""

import glob
import os
import re
import signal
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SECONDS = 600


def marked():
    """The programs' names."""
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/guest/progs/*/*.c"))):
        with open(path, encoding="utf-8") as file:
            if re.search(r"^/\* also on Linux \*/$", file.read(), re.M):
                yield os.path.basename(path)[: -len(".c")]


def as_in_the_background():
    """For a child before exec: a shell's background job, or nohup, starts programs with these ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)


def make(goal):
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    done = subprocess.run(
        ["make", "-s", goal],
        cwd=ROOT,
        env=environment,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("name", marked())
def test_linux_agrees(name, tmp_path):
    make(f"build/host/linux/{name}")
    try:
        done = subprocess.run(
            [os.path.join(ROOT, "build/host/linux", name)],
            cwd=tmp_path,
            timeout=SECONDS,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
            preexec_fn=as_in_the_background,
        )
    except subprocess.TimeoutExpired as error:
        output = error.stdout.decode(errors="replace") if error.stdout else ""
        pytest.fail(f"{name} is not done after {SECONDS} s on this Linux:\n{output[-4000:]}")
    assert done.returncode == 0, f"{name} on this Linux: status {done.returncode}\n{done.stdout[-4000:]}"


def test_a_guest_runs_each():
    """The other half of the comparison: some script of tests/guest brings the program along."""
    heads = "".join(
        re.findall(
            r'progs="[^"]*"',
            "\n".join(
                open(path, encoding="utf-8").read() for path in glob.glob(os.path.join(ROOT, "tests/guest/*/*.sh"))
            ),
        )
    )
    assert not [name for name in marked() if not re.search(rf"\b{name}\b", heads)]
