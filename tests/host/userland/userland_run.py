"""The programs of one machine on the host, by qemu-user: a fixture, and a way to run a script of their shell."""

import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[3]


class Userland:
    """The programs of one machine, and qemu-user to run them."""

    def __init__(self, arch, starters):
        self.arch, self.path = arch, starters
        self.bin = TOP / "build" / arch / "root" / "bin"
        self.qemu = shutil.which(f"qemu-{arch}")
        assert self.qemu, f"qemu-{arch} is missing: install the package qemu-user"
        assert (self.bin / "sh").exists(), f"{self.bin}/sh is missing: build the userland first"
        for program in list(self.bin.iterdir()):  # so that one program can run another on any host
            starter = starters / program.name
            starter.write_text(f'#!/bin/sh\nexec {self.qemu} -0 {program.name} {self.bin}/{program.name} "$@"\n')
            starter.chmod(0o755)


@pytest.fixture(scope="session")
def userland(machine, tmp_path_factory):
    return Userland(machine.arch, tmp_path_factory.mktemp("bin"))


def run(userland, cwd, script, *args, stdin=b""):
    """Run a script by our shell. Returns (standard output, standard error, status)."""
    done = subprocess.run(
        [userland.qemu, "-0", "sh", str(userland.bin / "sh"), "-c", script, "sh", *args],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=600,
        env={"PATH": str(userland.path), "HOME": "/root"},
    )
    return done.stdout.decode("latin-1"), done.stderr.decode("latin-1"), done.returncode
