"""tools/bootgraph: the three inputs, the sums, the chart."""

import os
import subprocess
import xml.etree.ElementTree as ET

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools", "bootgraph")
LOG = """[    0.100000] calling  one_init+0x0/0x50 @ 1 irqs_disabled() 0
[    0.140000] initcall one_init+0x0/0x50 returned 0 after 39000 usecs, irqs_disabled() 0
[    0.150000] calling  two_init+0x0/0x10 [two] @ 77
[    0.160000] calling  three_init+0x0/0x10 @ 1
[    0.170000] initcall two_init+0x0/0x10 [two] returned -19 after 20000 usecs
[    0.200000] initcall three_init+0x0/0x10 returned 0 after 40000 usecs
[    0.300000] calling  unfinished+0x0/0x10 @ 1
"""
TRACE = """# tracer: initcall
#
[    1.000000000] calling  one_init+0x0/0x50 @ 1
[    1.250000000] initcall one_init+0x0/0x50 returned 0 after 238 msecs
"""
EVENTS = """          swapper-1       [000] .....     2.000000: initcall_start: func=one_init+0x0/0x50
          swapper-1       [000] .....     2.125000: initcall_finish: func=one_init+0x0/0x50 ret=0
"""


def bootgraph(text, *words):
    return subprocess.run([TOOL, *words], input=text, capture_output=True, text=True, check=False)


def test_the_log():
    lines = bootgraph(LOG, "--list").stdout.splitlines()
    assert lines[0] == "    40.000 ms  at    160.000 ms  three_init+0x0/0x10"
    assert lines[1] == "    39.000 ms  at    101.000 ms  one_init+0x0/0x50"
    assert lines[2] == "    20.000 ms  at    150.000 ms  two_init+0x0/0x10 [two]  returned -19"
    # Of the last two, 10 ms are both's and count once: 39 + 20 + 30 of 99.
    assert lines[3].startswith("3 initcalls, 89.000 ms: 89.9 % of the time from the first, at 101.000 ms, ")


def test_a_trace_and_events():
    assert bootgraph(TRACE, "--list").stdout.startswith("   250.000 ms  at   1000.000 ms  one_init")
    assert bootgraph(EVENTS, "--list").stdout.startswith("   125.000 ms  at   2000.000 ms  one_init")


def test_the_chart(tmp_path):
    chart = tmp_path / "boot.svg"
    assert bootgraph(LOG, "-o", str(chart)).returncode == 0
    bars = {}
    for bar in ET.parse(chart).getroot().iter("{http://www.w3.org/2000/svg}rect"):
        title = bar.find("{http://www.w3.org/2000/svg}title")
        if title is not None:
            bars[title.text.split("+")[0].split(":")[0]] = (
                float(bar.get("x")),
                float(bar.get("width")),
                bar.get("fill"),
            )
    assert set(bars) == {"before the first", "one_init", "two_init", "three_init"}
    scale = 760 / 200
    for name, start, took in (
        ("one_init", 101, 39),
        ("two_init", 150, 20),
        ("three_init", 160, 40),
        ("before the first", 0, 101),
    ):
        assert abs(bars[name][0] - 210 - start * scale) < 0.1 and abs(bars[name][1] - took * scale) < 0.1
    colours = [bars[name][2] for name in ("one_init", "two_init", "three_init")]
    assert colours[0] == colours[2] != colours[1]


def test_nothing_in_it():
    run = bootgraph("[    0.1] hello\n")
    assert run.returncode == 1 and run.stdout == "" and run.stderr.startswith("bootgraph: no initcalls in it")
    run = bootgraph("", "/nonexistent")
    assert run.returncode == 1 and "No such file" in run.stderr
