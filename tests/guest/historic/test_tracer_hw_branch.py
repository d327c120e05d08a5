"""hw-branch-tracer: its lines are those of 2.6.30, and its branches are those of QEMU's own log of the same run."""

import os
import re

from exec_log import A64Log, X64Log, taken_branches
from monitor import Kernel

ENTRIES = {
    "aarch64": ("el1h_64_irq", "el0t_64_irq", "el1h_64_sync", "el0t_64_sync"),
    "x86_64": ("interrupt_entry", "exception_entry", "entry_SYSCALL_64"),
}
LOGS = {"aarch64": A64Log, "x86_64": X64Log}


SETUP = "cd /sys/kernel/tracing; echo 8000 > buffer_size_kb; echo raw > trace_options; "


def traced(machine, folder, setup, work):
    """Run `work` while QEMU logs each instruction and each exception: [(to, from)] that the tracer has recorded, and
    those that the log says. The guest runs one line, because a prompt under icount comes with a warning of QEMU's."""
    path, trace = folder / "log", folder / "trace"
    settings = {"icount": True, "timeout": 240, "ports": {"trace": str(trace)}, "wait_prompt": False}
    with machine.monitored(folder, **settings) as guest:
        guest.expect("/ # ")
        guest.send(
            f'{SETUP}{setup}; echo rea""dy; read x; {work}; echo do""ne; read x; '
            'cat trace > /dev/virtio-ports/trace; echo e""nd\n'
        )
        guest.expect("ready\r?\n")
        guest.human(f"logfile {path}")
        guest.one_by_one(True)
        guest.human("log exec,nochain,int")
        guest.send("\n")
        guest.expect("done\r?\n")
        guest.human("log none")
        guest.one_by_one(False)
        guest.send("\n")
        guest.expect("end\r?\n")
    text = trace.read_text(encoding="ascii")
    got = [(int(to, 16), int(back, 16)) for to, back in re.findall(r"^\d+ 0 \d+ ([0-9a-f]+) ([0-9a-f]+)$", text, re.M)]
    return got, taken_branches(LOGS[machine.arch](Kernel(machine.arch)), path)


def same(got, wanted):
    n = next((n for n, (mine, theirs) in enumerate(zip(got, wanted)) if mine != theirs), min(len(got), len(wanted)))
    around = [[f"{to:#x} <- {back:#x}" for to, back in pairs[max(0, n - 3) : n + 3]] for pairs in (got, wanted)]
    assert got == wanted, f"from line {n} on: {around[0]}, and QEMU: {around[1]}"


LONG = "SOAK_MINUTES" in os.environ


def test_the_branches_are_those_of_the_log(machine, tmp_path):
    """System calls, page faults, interrupts, switches of tasks, idle: all that a CPU does from the selection on."""
    window = 40000 if LONG else 7000
    got, wanted = traced(
        machine,
        tmp_path,
        f"echo {window} > hw_branch_window",
        "sleep 0.003 & sleep 0.004 & echo hw-branch-tracer > current_tracer; wait",
    )
    same(got, wanted)
    symbols = Kernel(machine.arch).symbols
    counts = {name: [to for to, _ in got].count(symbols[name]) for name in ENTRIES[machine.arch]}
    assert len(got) > window / 20
    assert sum(counts.values()) >= 3


def test_an_oops_prints_the_last_branches(machine):
    """ftrace_dump_on_oops: the way that the CPU has taken into the fault, its last branch in the function at fault. The
    buffer has room for what interrupts do meanwhile."""
    with machine.guest(smp=2, timeout=240, append="ftrace_dump_on_oops trace_buf_size=256K") as guest:
        guest.run("cd /sys/kernel/tracing; echo 0 > hw_branch_window; echo lkdtm_ACCESS_NULL > set_graph_function")
        guest.run("echo hw-branch-tracer > current_tracer")
        guest.run("(echo ACCESS_NULL > /sys/kernel/debug/provoke-crash/DIRECT)")
        dump = guest.console.split("Dumping ftrace buffer:", 1)[1].replace("\r", "")
        lines = re.findall(r"(\d+)  ([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+\t  <-  ([\w.]+)\+0x", dump)
        assert any(source == "lkdtm_ACCESS_NULL" for _, _, source in lines), dump[:2000]
        # The way from there to the report is in it, and nothing from die() on.
        assert any(source == "die" for _, _, source in lines[-200:]) or lines[-1][1] == "die", lines[-5:]
        assert not any(source in ("show_regs", "show_stack") for _, _, source in lines), lines[-5:]
        assert guest.run("cat tracing_on") == (0, "0\n")
