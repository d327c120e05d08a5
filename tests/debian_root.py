"""The folder with programs of Debian that guests of the tests have for a root: tools/debroot makes it, once."""

import fcntl
import functools
import os
import subprocess

import pytest
from vitrine_guest import ROOT
from vitrine_machines import DEBIAN_ROOT, MACHINES

CANNOT_FETCH = 2


@functools.cache
def debian_root(arch, *packages):
    """build/ARCH/debian, made or as it was, with those packages that it always has, or with these. The test is skipped
    where the packages cannot be fetched. Two test processes make it once."""
    folder = os.path.join(ROOT, "build", arch, DEBIAN_ROOT)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(f"{folder}.tests", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [os.path.join(ROOT, "tools", "debroot"), "--arch", MACHINES[arch].goal, *packages],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == CANNOT_FETCH:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return folder
