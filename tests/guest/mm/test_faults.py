"""Modules whose loading and unloading meet a failed allocation, each in turn (tests/guest/progs/mm/faulttrace.c)."""

from module_guest import CRASH, guest, samples  # noqa: F401  (fixtures)
from vitrine_guest import ROOT

MODULES = ("hello_5", "kprobe_sample", "trace_events_sample", "percpu_counts", "chardev")


def test_modules(guest):  # noqa: F811
    """A module that fails to load leaves nothing behind, and loads at the next try."""
    program = f"{ROOT}/build/{guest.arch}/guest-tests/faulttrace:/bin/faulttrace"
    steps = " ".join(f"/{name}.ko {name}" for name in MODULES)
    said = guest(
        f"cd /; faulttrace {steps}; echo status $?; dmesg | grep -E '{CRASH}' || true",
        *MODULES,
        options=["--file", program],
    )
    assert "status 0" in said, said
    faults = [int(line.split(": ")[1].split()[0]) for line in said.splitlines() if line.endswith("faults")]
    assert len(faults) == 2 * len(MODULES), said
    assert all(n > 30 for n in faults[::2]), said  # those of loading
    assert "Call trace" not in said and "BUG" not in said, said
