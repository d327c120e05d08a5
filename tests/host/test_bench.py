"""tools/bench: the arithmetic between what a guest prints and the figures shown."""

import importlib.machinery
import importlib.util
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/bench")
LOADER = importlib.machinery.SourceFileLoader("bench_tool", PATH)
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_tool", LOADER))
LOADER.exec_module(bench)


BOOT = ("ftrace: allocating 1000 entries in 12 pages\n"
        "ftrace: allocated 12 pages with 1 groups, 1000 sites made nops in 70000 ns\n")


def test_figures():
    calls = 3  # traced functions in a getpid
    few = 1000
    middle = few + calls * bench.loops(1000) + 50
    many = middle + calls * bench.loops(3000) + 50
    found = {"boot": [9_000_000], "getpid": [200], "pipe": [4000], "yield": [400], "open": [2000], "fork": [60000],
             "sites": [1000], "enable": [250_000], "short": [560], "long": [560], "few": [few, 0], "middle": [middle, 0],
             "many": [many - 500, 500], "trace": [5000, 100, 10], "disable": [100_000]}
    costs = bench.figures(found, BOOT)
    assert costs["traced"] == 120
    assert (costs["enable"], costs["disable"], costs["line"], costs["site"]) == (250, 100, 500, 70)
    assert "site" not in bench.figures(found, "nothing of that kind\n")


def test_every_figure_has_a_name_and_a_target():
    assert bench.NAMES.keys() == bench.TARGETS.keys()
