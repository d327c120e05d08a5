"""Functions that can be traced have names that tell them apart: a static one carries its subject, and no two have the
same name."""

import collections
import subprocess

import pytest
from test_floors import ARCHES, find

FOLDERS = ("arch", "boot", "drivers", "kernel", "samples", "vdso")
CALLS = {"_mcount", "__fentry__"}  # what the beginning of a function calls that can be traced
# Linux's names. Of the two GIC drivers only one is in use, and their functions have Linux's names, too.
ONE_WORD = {"kthread", "kthreadd", "pollwake", "rmqueue"}
SAME_NAMES = ("drivers/irqchip/gic-v2.o", "drivers/irqchip/gic-v3.o")
TWICE = {"name_show"}  # on purpose: a probe on such a name is refused, which kprobe_events.sh and a test of Linux try


def static_functions(arch):
    """{name: objects} of the static functions in objects of which some function can be traced. What the compiler has
    split off has a dot in its name."""
    top = f"build/{arch}/"
    objects = [path for folder in FOLDERS for path in find(top + folder)]
    done = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True)
    traced, found = set(), collections.defaultdict(list)
    for line in done.stdout.splitlines():
        name, *_, kind, symbol = line.removeprefix(top).replace(":", " ", 1).split()
        if symbol in CALLS:
            traced.add(name)
        elif kind == "t" and symbol.isidentifier():
            found[symbol].append(name)
    return {symbol: sorted(traced.intersection(names)) for symbol, names in found.items()}


@pytest.mark.parametrize("arch", ARCHES)
def test_names_tell_functions_apart(arch):
    found = static_functions(arch)
    assert len(found) > 1000
    several = {name for name, where in found.items() if len(where) > 1 and where != list(SAME_NAMES)}
    assert several == TWICE, {name: found[name] for name in several}


@pytest.mark.parametrize("arch", ARCHES)
def test_names_carry_their_subject(arch):
    """A name of one word says what is done and not to what: insert."""
    found = static_functions(arch)
    assert {name for name, where in found.items() if where and "_" not in name} == ONE_WORD
