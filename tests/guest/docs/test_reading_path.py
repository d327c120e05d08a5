"""What two pages promise: docs/reading.md's commands find the answers to its questions, and a call site's lives are
README.md's."""

import os
import re
import subprocess

import pytest
from gdbstub import under_gdb
from vitrine_guest import ROOT

# What the answer to an evening's question has in it, in this order.
ANSWERS = {
    1: ["initcall_level: level=early", "func=populate_rootfs", "initcall_level: level=late"],
    2: [r"sys_read\(\)", r"zero_read\(\)", r"do_page_fault\(\)", r"do_anonymous_page\(\)"],
    3: ["=> pipe_write", "=> pipe_release"],
    4: ["latency trace", "task: ", "=> try_to_wake_up", "__schedule|==>"],
    5: ["hrtimer_start <-do_nanosleep", "<idle>-0 .*hrtimer_wakeup", "sleep-.*hrtimer_cancel"],
    6: [r"sh-\d+ .*page_fault_user: address="],
    7: [r"sys_openat\(\)", r"do_filp_open\(\)", r"alloc_empty_file\(\)", r"__d_lookup\(\)|vfs_open\(\)"],
    8: ["sched_process_fork: comm=sh", "sched_wakeup_new: comm=sh", "sched_process_exec: filename=/bin/ls"],
    9: [r"^[1-9]\d\d\d pages:", r"^sys_getpid \(1\).*function_trace_call"],
    10: ["kmalloc <-", "=> kmalloc", "=> sys_"],
    11: [r"entries: [1-9]", r"overrun: [1-9]"],
    12: [r"entries: 0", r"entries: 1", "lab_step: step=3 what=half"],
    13: [r"@ 100\d\d\d\.\d us +\| +\}", r"schedule\(\)", r" \d\d?\.\d+ us +\| +\}"],
}


def evenings():
    """{number: its commands}."""
    with open(os.path.join(ROOT, "docs/reading.md"), encoding="utf-8") as file:
        sections = re.split(r"^## (\d+)\.", file.read(), flags=re.M)[1:]
    return {int(number): re.findall(r"^    # (.*)$", text, re.M) for number, text in zip(sections[::2], sections[1::2])}


def in_order(patterns, text):
    at = 0
    for pattern in patterns:
        found = re.compile(pattern, re.M).search(text, at)
        if not found:
            return pattern
        at = found.end()
    return None


def test_questions_are_answered(machine):
    """As the page says it: two CPUs under icount, tracing initcalls from the command line for the first evening."""
    assert evenings().keys() == ANSWERS.keys()
    script = "".join(
        f"echo 'evening {number}:'\n" + "\n".join(commands) + "\n" for number, commands in evenings().items()
    )
    # The shell that types starts after the initcalls have been recorded, and before it traces anything itself.
    script = script.replace(
        "echo 'evening 2:'",
        "echo 0 > /sys/kernel/tracing/events/enable; echo > /sys/kernel/tracing/trace; echo 'evening 2:'",
    )
    run = machine.script(
        f"exec 2>&1\n{script}".encode(), smp=2, icount=True, append="loglevel=5 trace_event=initcall:*"
    )
    with run.guest:
        run.wait_start()
        assert run.wait_exit() == 0, run.output
    answers = re.split(r"^evening (\d+):\n", run.output, flags=re.M)[1:]
    for number, text in zip(answers[::2], answers[1::2]):
        missing = in_order(ANSWERS[int(number)], text)
        assert missing is None, f"evening {number}: no {missing!r} in\n{text}"
    faulted = set(re.findall(r"sh-(\d+) .*page_fault_user", answers[11]))
    assert len(faulted) == 2, "both tasks have faults of their own"
    times = {}
    for time, what, func in re.findall(r"(\d+\.\d+): initcall_(start|finish): func=(\w+)", answers[1]):
        times[func] = round(float(time) - times[func], 6) if what == "finish" else float(time)
    assert max(times, key=times.get) == "populate_rootfs", times


def picture(arch):
    """What README.md's picture has at a call site: compiled, booted, traced, graphed."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        row = re.search(rf"^    {arch} +(.*)$", file.read(), re.M)[1]
    return re.split(r"  +", row)


def test_four_lives(machine, tmp_path):
    """The instruction at a function's site in memory, as gdb reads it, and the symbol that it calls."""
    vmlinux = os.path.join(ROOT, "build", machine.arch, "vmlinux")
    listed = subprocess.run(["nm", vmlinux], check=True, capture_output=True, text=True).stdout
    symbols = {name: int(address, 16) for address, _, name in (line.split() for line in listed.splitlines())}
    compiled, *lives = picture(machine.arch)
    unlinked = subprocess.run(
        ["nm", "-u", os.path.join(ROOT, "build", machine.arch, "kernel/proc/sys.o")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert compiled.split()[1] in unlinked.stdout
    turns = [
        "true",
        "echo sys_getppid > set_ftrace_filter; echo function > current_tracer",
        "echo function_graph > current_tracer",
        "echo nop > current_tracer",
    ]
    with under_gdb(machine, tmp_path) as (guest, gdb):
        guest.run("cd /sys/kernel/tracing")
        for life, turn in zip([*lives, lives[0]], turns):
            assert guest.run(turn)[0] == 0
            code = gdb.ask(f"x/5i {symbols['sys_getppid']:#x}")[0]
            mnemonic, _, callee = life.partition(" ")
            where = rf"\w*\s+{symbols[callee]:#x}" if callee in symbols else ""
            assert re.search(rf"\t{mnemonic}{where}", code), (life, code)
            if not where:
                assert not re.search(r"\t(call|bl)\w*\s", code), (life, code)


@pytest.mark.parametrize("patterns, text, missing", [(["a", "b"], "xaxb", None), (["b", "a"], "xaxb", "a")])
def test_order(patterns, text, missing):
    assert in_order(patterns, text) == missing
