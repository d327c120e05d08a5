"""The tracer initcall: its lines, what it says of modules, and its times against those that function_graph measures."""

import os
import re
import subprocess

from module_guest import guest, samples  # noqa: F401
from stories import story

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BOOTGRAPH = os.path.join(TOP, "tools", "bootgraph")
TRACE = "cat /sys/kernel/tracing/trace"
# A line as the boot tracer of Linux 2.6.28 prints it, and what ours match.
PRINTED = {
    "[    0.000999999] calling  migration_init+0x0/0x5a @ 1": r"\[ *\d+\.\d{9}\] calling  (\S+\+0x0/0x[0-9a-f]+(?: \[\w+\])?) @ (\d+)",
    "[    0.001999999] initcall migration_init+0x0/0x5a returned 1 after 0 msecs": r"\[ *\d+\.\d{9}\] initcall (\S+\+0x0/0x[0-9a-f]+(?: \[\w+\])?) returned (-?\d+) after (\d+) msecs",
}
CALL, RETURN = PRINTED.values()


def boot(machine, append, command=TRACE, **more):
    """What the command prints at the end of a boot under icount."""
    run = machine.script(f"{command}\n".encode(), append=f"quiet {append}", icount=True, **more)
    try:
        run.wait_start()
        assert run.wait_exit() == 0
    finally:
        run.guest.close()
    return run.output.replace("\r", "")


def bootgraph(text, *words):
    return subprocess.run([BOOTGRAPH, *words], input=text, capture_output=True, text=True, check=True).stdout


def figures(text):
    """{function: ms} that the tool finds."""
    return {
        func: float(ms)
        for ms, func in re.findall(r"^ *([\d.]+) ms  at +[\d.]+ ms  (\S+)", bootgraph(text, "--list"), re.M)
    }


def test_the_patterns_match_the_lines_that_linux_printed():
    for line, pattern in PRINTED.items():
        assert re.fullmatch(pattern, line)


def test_a_boot_as_2_6_28_printed_it(machine):
    text = boot(machine, "ftrace=initcall", smp=2)
    assert text.startswith("# tracer: initcall\n#\n[")
    lines = text.splitlines()[2:]
    begun = [re.fullmatch(CALL, line) for line in lines[::2]]
    ended = [re.fullmatch(RETURN, line) for line in lines[1::2]]
    assert all(begun) and all(ended) and len(begun) == len(ended) > 8
    assert [call[1] for call in begun] == [call[1] for call in ended]
    assert {call[2] for call in begun} == {"1"} and {call[2] for call in ended} == {"0"}
    names = [call[1].split("+")[0] for call in begun]
    order = ["futex_init", "rcu_init", "populate_rootfs", "probe_devices", "late_trace_init"]
    assert [name for name in names if name in order] == order
    stamps = [float(line.split("]")[0].strip("[ ")) for line in lines]
    assert stamps == sorted(stamps)


def test_times_sum_to_the_time_of_the_boot(machine):
    """Against function_graph in another boot of the same instructions: process 1's time less that of its other steps."""
    steps = ("smp_init", "console_on_rootfs", "run_init_process")
    names = ",".join(("kernel_init", "__do_initcalls", *steps))
    graph = boot(machine, f"ftrace=function_graph ftrace_filter={names}")
    took = {step: [float(us) for us in re.findall(rf"([\d.]+) us +\| +{step}\(\);", graph)] for step in steps}
    levels = [float(us) for us in re.findall(r"([\d.]+) us +\| +__do_initcalls\(\);", graph)]
    whole = float(re.search(r"^ 0\) +\S? *([\d.]+) us +\|  }", graph, re.M)[1])
    assert len(levels) == 5 and all(len(times) == 1 for times in took.values())
    text = boot(machine, "ftrace=initcall", f"echo raw > /sys/kernel/tracing/trace_options; {TRACE}")
    ours = sum(int(ns) for ns in re.findall(r"^.*\+0x0/0x[0-9a-f]+ 0 (\d+)$", text, re.M)) / 1000
    assert abs(ours - sum(levels)) < 0.01 * ours
    boot_time = whole - sum(times[0] for times in took.values())
    assert abs(ours - boot_time) < 0.01 * boot_time


def test_three_inputs_of_the_chart_agree(machine):
    trace = figures(boot(machine, "ftrace=initcall"))
    events = figures(boot(machine, "trace_event=initcall:*"))
    log = figures(boot(machine, "initcall_debug", "dmesg"))
    assert list(trace) and set(trace) == set(events) == set(log)
    longest = max(trace, key=trace.get)
    assert longest.startswith(("populate_rootfs", "probe_devices"))
    for other in (events, log):
        assert abs(other[longest] - trace[longest]) < 0.03 * trace[longest]
    assert sum(trace.values()) > 0.5


def test_modules(guest):
    """Their inits are initcalls as well, and the names stay when the module has gone."""
    out = guest(
        story("initcall"),
        "hello_1",
        "hello_2",
        "hello_5",
    )
    shown, plain, counted, after, _ = out.replace("|", "").split("==\n")
    lines = shown.removeprefix("# tracer: initcall\n#\n").splitlines()
    assert re.fullmatch(CALL, lines[0])[1].endswith("[hello_1]") and re.fullmatch(RETURN, lines[1])[2] == "0"
    assert re.fullmatch(CALL, lines[0])[2] != "1"
    assert re.fullmatch(RETURN, lines[3])[1].endswith("[hello_5]") and int(re.fullmatch(RETURN, lines[3])[2]) < 0
    assert re.search(r"tracing_mark_write: mark$", lines[4])
    assert re.search(r"^calling  \S+ \[hello_1\] @ \d+\ninitcall ", plain, re.M)
    assert re.search(r"\[000\] \S+ +\d+: calling  \S+ \[hello_2\] @ \d+\n", counted)
    assert "hello" not in after
