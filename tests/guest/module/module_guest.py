"""A guest with the modules of samples/modules, for the tests of modules."""

import os
import pathlib
import re
import subprocess

import pytest
from test_modules import make
from vitrine_guest import ROOT

SAMPLES = os.path.join(ROOT, "samples/modules")
INCLUDE = os.path.join(ROOT, "include")
CRASH = r"Unable to handle|Internal error|Oops|BUG|WARNING|Call trace|panic"


@pytest.fixture(scope="session", params=["aarch64", "x86_64"])
def samples(request):
    """(machine, folder) with all of them, which `make guest-programs` has built by the Makefile that is there."""
    folder = pathlib.Path(ROOT, "build", request.param, "guest-tests/modules")
    said = (folder / "said").read_text()
    assert "warning" not in said, said
    assert {p.stem for p in folder.glob("*.ko")} == {p.stem for p in pathlib.Path(SAMPLES).glob("*.c")}
    return request.param, folder


@pytest.fixture
def guest(samples, tmp_path):
    """run(script, modules...): the script's output without what the console shows of the log. `folder`: of the modules,
    if it is not the samples'; `timeout`: seconds of the guest's life. An oops ends the guest at once, unless the module
    `oops` is there: the task that dies may hold a lock, and what waits for that lock would wait until time is up."""

    def run(script, *modules, options=(), folder=None, timeout=300):
        arch, built = samples
        (tmp_path / "script").write_text(script + "\n")
        words = [word for name in modules for word in ("--file", f"{folder or built}/{name}.ko:/{name}.ko")]
        if "oops" not in modules:
            words += ["--append", "oops=panic"]
        if ". /run/prelude" in script:
            words += ["--file", f"{ROOT}/tests/guest/prelude:/run/prelude"]
        for name in re.findall(r"\b(devioctl|openstorm|pollfile)\b", script):
            words += ["--file", f"{ROOT}/build/{arch}/guest-tests/{name}:/bin/{name}"]
        done = subprocess.run(
            [
                os.path.join(ROOT, "tools/vrun"),
                "--arch",
                arch,
                "--timeout",
                str(timeout),
                *options,
                *words,
                tmp_path / "script",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return re.sub(r"^\[ .*\n", "", done.stdout, flags=re.M)

    run.arch, run.samples = samples
    return run


def log(out):
    """The lines that `dmesg | cut -c16-` has printed."""
    return [line.strip() for line in out.splitlines()]


DMESG = "dmesg -c | cut -d] -f2-\n"


def one_module(arch, folder, name, source):
    (folder / f"{name}.c").write_text(source)
    status, said = make(folder, arch, "W=1", objects=f"{name}.o")
    assert status == 0 and "warning" not in said, said
    return folder
