"""tools/bench: the arithmetic between what a guest prints and the figures shown."""

import importlib.machinery
import importlib.util
import os

import pytest
from vitrine_guest import MACHINES, ROOT

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/bench")
LOADER = importlib.machinery.SourceFileLoader("bench_tool", PATH)
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_tool", LOADER))
LOADER.exec_module(bench)


BOOT = (
    "ftrace: allocating 1000 entries in 12 pages\n"
    "ftrace: allocated 12 pages with 1 groups, 1000 sites made nops in 70000 ns\n"
)


def test_figures():
    calls = 3  # traced functions in a getpid
    few = 1000
    middle = few + calls * bench.loops(bench.SHORT) + 50
    many = middle + calls * bench.loops(bench.LONG) + 50
    found = {
        "boot": [9_000_000],
        "getpid": [200],
        "pipe": [4000],
        "yield": [400],
        "open": [2000],
        "fork": [60000],
        "sites": [1000],
        "enable": [250_000],
        "short": [560],
        "long": [560],
        "few": [few, 0],
        "middle": [middle, 0],
        "many": [many - 500, 500],
        "trace": [5000, 100, 10],
        "event_trace": [6000, 100, 10],
        "disable": [100_000],
        "hooks": [10, 5],
        "irqsoff": [300, 6],
        "preemptoff": [11, 200],
        "getpid_irqsoff": [600],
        "wakeup": [2700],
        "wakeup_on": [4200],
        "wakeup_functions": [6600],
        "pipe_wakeup": [4100],
        "graph": [1100],
        "passed": [500],
        "depth_few": [5000],
        "depth_many": [19400],
        "plain_few": [3000],
        "plain_many": [5400],
        "other_task": [530],
        "filtered": [203],
        "profiled": [920],
        "graph_profiled": [1400],
        "graph_instance": [1970],
        "stack": [290],
        "two": [1250],
        "switches": [4700],
        "refused": [4900],
        "sys_enter": [460],
        "uprobe": [700],
        "uretprobe": [1300],
        "kprobe_entry": [380],
        "kprobe_jump": [390],
        "kprobe_break": [700],
        "kretprobe": [600],
        "fprobe": [480],
        "fprobe_exit": [1000],
        "tprobe": [570],
        "eprobe": [1100],
        "hist_hit": [860],
        "hist_new": [960],
        "synth_off": [1900],
        "synth_on": [2150],
        "messages": [100, 9100, 9300, 27300, 27400, 31900],
        "module": [228000],
        "work_few": [2000000, 2100000],
        "work_many": [6000000, 6200000],
        "work_counted_few": [2200000],
        "work_counted_many": [6600000],
        "alloc_few": [160000],
        "alloc_many": [480000],
        "alloc_traced_few": [600000],
        "alloc_traced_many": [1800000],
        "branch_getpid": [500],
        "branch_few": [10, 0],
        "branch_middle": [10 + 6 * bench.loops(bench.SHORT), 0],
        "branch_many": [10 + 6 * bench.loops(bench.SHORT) + 6 * bench.loops(bench.LONG), 0],
        "branch_long": [1100],
        "initcall_off": [230000],
        "initcall_on": [232000],
        "module_few": [11600, 11000, 11100],
        "module_many": [31000, 31200, 33000],
        "module_traced_few": [96000, 97000, 99000],
        "module_traced_many": [288000, 298000, 290000],
        "stores_few": [1200, 1100, 1150],
        "stores_many": [5100, 5200, 5100],
        "stores": [19_000_000],
        "stores_sampled": [20_000_000],
        "spin": [99_000],
        "spin_sampled": [100_000],
        "watched_few": [27500, 27000, 28000],
        "watched_many": [296000, 297000, 300000],
        "mmio_few": [700, 500, 900],
        "mmio_many": [9000, 6500, 7000],
        "mmio_traced_few": [80000, 60000],
        "mmio_traced_many": [660000, 700000],
        "stepped_few": [1_000_000],
        "stepped_many": [7_000_000],
        "pipe_osnoise": [2400],
        "spin_timerlat": [2_000_000],
        "fork_static": [36000],
        "fork_dynamic": [59000],
        "exec_static": [158204],
        "exec_dynamic": [354016],
        "clock": [58],
    }
    costs = bench.figures(found, BOOT)
    assert (costs["traced"], costs["graph"], costs["passed"]) == (120, 300, 100)
    assert [costs[name] for name in ("profiled", "graph_profiled", "graph_instance", "stack", "two")] == [
        240,
        400,
        590,
        30,
        350,
    ]
    assert [costs[name] for name in ("switch_event", "switch_refused", "sys_enter_event")] == [350, 450, 260]
    assert (costs["uprobe"], costs["uretprobe"]) == (500, 1100)
    assert [costs[name] for name in ("kprobe_entry", "kprobe_jump", "kprobe_break", "kretprobe")] == [
        180,
        190,
        500,
        400,
    ]
    assert [costs[name] for name in ("fprobe", "fprobe_exit", "tprobe", "eprobe")] == [280, 800, 370, 900]
    assert (costs["hist_hit"], costs["hist_new"], costs["synth"]) == (400, 500, 250)
    assert (costs["printk"], costs["printk_text"], costs["puts"]) == (100, 200, 50)
    assert (costs["module"], costs["module_traced"]) == (228000, 86)  # the fastest of each three
    assert [costs[name] for name in ("work", "work_counted", "alloc", "alloc_traced")] == [2000, 2200, 160, 600]
    assert (costs["initcall"], costs["branch_count"], costs["branch"]) == (2000, 50, 100)
    assert [costs[name] for name in ("fork_static", "fork_dynamic")] == [36000, 59000]
    assert [costs[name] for name in ("exec_static", "exec_dynamic", "clock")] == [158204, 354016, 58]
    assert (costs["stepped"], costs["pipe_osnoise"], costs["timerlat"]) == (300, 2400, 950_500)
    assert (costs["watched"], costs["mmio"], costs["mmio_traced"]) == (265, 6, 600)
    assert (costs["sample_kernel"], costs["sample_user"]) == (5000, 1000)
    assert [costs[f"passed_{by}"] for by in ("depth", "pid", "filter")] == [100, 110, 1]
    assert (costs["enable"], costs["disable"], costs["line"], costs["event_line"], costs["site"]) == (
        250,
        100,
        500,
        600,
        70,
    )
    assert [costs[name] for name in ("irqs", "preempt", "irqs_on", "preempt_on", "pipe_wakeup")] == [
        10,
        5,
        300,
        200,
        4100,
    ]
    assert costs.keys() == bench.NAMES.keys()
    assert "site" not in bench.figures(found, "nothing of that kind\n")


def test_every_target_has_a_name():
    assert bench.TARGETS.keys() <= bench.NAMES.keys()
    assert set(bench.NOPS) <= set(bench.NAMES) and set(bench.NOP_TARGETS) == set(MACHINES)


def column(figure):
    return {
        row: figure
        for row in [
            *bench.NAMES.values(),
            *(f"what {what} add: {text}" for what in bench.OFF for text in bench.NOPS.values()),
        ]
    }


def test_the_document_has_a_place_for_every_figure():
    with open(os.path.join(ROOT, "docs/benchmarks.md"), encoding="utf-8") as file:
        text = file.read()
    heads = [*MACHINES, *(f"{arch}, core" for arch in MACHINES)]
    filled = bench.fill(text, {head: column(f"figure of {head}") for head in heads})
    for head in heads:
        assert filled.count(f"| figure of {head} |") == len(column(""))
    assert len(filled.splitlines()) == len(text.splitlines())
    others = [line for line in text.splitlines() if not line.startswith("|")]
    assert others == [line for line in filled.splitlines() if not line.startswith("|")]


def test_one_machines_column_leaves_the_others():
    rows = [f"| {row} | 1 | 2 | x |" for row in column("")]
    text = (
        "\n".join(
            [
                "# Table",
                "",
                "| one of | Vitrine aarch64 | Vitrine x86_64 | Linux |",
                "|---|---|---|---|",
                *rows,
                "",
                "end",
            ]
        )
        + "\n"
    )
    assert bench.fill(text, {"x86_64": column("3")}) == text.replace("| 1 | 2 | x |", "| 1 | 3 | x |")
    few = dict(list(column("3").items())[:2])  # the core has few rows
    rows = bench.fill(
        text, {"x86_64": column("3") | dict.fromkeys(list(column(""))[2:], ""), "aarch64": few}
    ).splitlines()
    assert [row.split("|")[2:4] for row in rows[4:7]] == [[" 3 ", " 3 "], [" 3 ", " 3 "], ["  ", "  "]]


@pytest.mark.parametrize(
    "text,what", [("| one of | Vitrine aarch64 |\n|---|---|\n", "no row"), ("| one of | Linux |\n", "no column")]
)
def test_a_table_without_the_place_is_refused(text, what):
    with pytest.raises(ValueError, match=what):
        bench.fill(text, {"aarch64": column("1")})
