"""A guest with the modules of samples/modules, for the tests of modules."""

import fcntl
import os
import re
import shutil
import subprocess

import pytest
from test_modules import make
from vitrine_guest import ROOT

SAMPLES = os.path.join(ROOT, "samples/modules")
INCLUDE = os.path.join(ROOT, "include")
CRASH = r"Unable to handle|Internal error|BUG|WARNING|Call trace|panic"


@pytest.fixture(scope="session", params=["aarch64", "x86_64"])
def samples(request, tmp_path_factory):
    """(machine, folder) with all of them built: once for all files of tests, and all workers of xdist."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / f"samples-{request.param}"
    with open(shared / f"samples-{request.param}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            shutil.rmtree(folder, ignore_errors=True)
            build_samples(request.param, folder)
            (folder / "built").touch()
    return request.param, folder


def build_samples(arch, folder):
    """By the Makefile that is there, without a warning."""
    shutil.copytree(SAMPLES, folder)
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "ARCH")}
    done = subprocess.run(
        ["make", f"KDIR={ROOT}", f"ARCH={arch}", "W=1"],
        cwd=folder,
        env={**environment, "PWD": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0 and "warning" not in done.stdout, done.stdout
    assert {p.stem for p in folder.glob("*.ko")} == {p.stem for p in folder.glob("*.c")} - {
        p.stem for p in folder.glob("*.mod.c")
    }


@pytest.fixture
def guest(samples, tmp_path):
    """run(script, modules...): the script's output without what the console shows of the log. `folder`: of the modules,
    if it is not the samples'; `timeout`: seconds of the guest's life."""

    def run(script, *modules, options=(), folder=None, timeout=300):
        arch, built = samples
        (tmp_path / "script").write_text(script + "\n")
        words = [word for name in modules for word in ("--file", f"{folder or built}/{name}.ko:/{name}.ko")]
        if ". /run/prelude" in script:
            words += ["--file", f"{ROOT}/tests/guest/prelude:/run/prelude"]
        for name in re.findall(r"\b(devioctl|openstorm)\b", script):
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
            timeout=timeout + 100,
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
