"""hw-branch-tracer: its lines are those of 2.6.30, and its branches are those of QEMU's own log of the same run."""

import re

import pytest
from exec_log import A64Log, X64Log, taken_branches
from monitor import Kernel

LOGS = {"aarch64": A64Log, "x86_64": X64Log}


SETUP = "cd /sys/kernel/tracing; echo 8000 > buffer_size_kb; echo raw > trace_options; "


def traced(machine, folder, setup, work):
    """Run `work` while QEMU logs each instruction and each exception: [(to, from)] that the tracer has recorded, and those
    that the log says. The guest runs one line, because a prompt under icount comes with a warning of QEMU's."""
    path = folder / "log"
    with machine.monitored(folder, icount=True, timeout=200) as guest:
        guest.send(f'{SETUP}{setup}; echo rea""dy; read x; {work}; echo do""ne; read x; cat trace; echo e""nd\n')
        guest.expect("ready\r?\n")
        guest.human(f"logfile {path}")
        guest.human("singlestep on")
        guest.human("log exec,nochain,int")
        guest.send("\n")
        guest.expect("done\r?\n")
        guest.human("log none")
        guest.human("singlestep off")
        guest.send("\n")
        guest.expect("end\r?\n")
        text = guest.before()
    got = [(int(to, 16), int(back, 16)) for to, back in re.findall(r"([0-9a-f]+) ([0-9a-f]+)\r?$", text, re.M)]
    return got, taken_branches(LOGS[machine.arch](Kernel(machine.arch)), path)


def same(got, wanted):
    for n, (mine, theirs) in enumerate(zip(got, wanted)):
        assert mine == theirs, f"{n}: {mine[0]:#x} <- {mine[1]:#x}, QEMU: {theirs[0]:#x} <- {theirs[1]:#x}"
    assert len(got) == len(wanted)


@pytest.mark.parametrize("window", [12000])
def test_the_branches_are_those_of_the_log(machine, tmp_path, window):
    got, wanted = traced(
        machine,
        tmp_path,
        f"echo {window} > hw_branch_window",
        "echo hw-branch-tracer > current_tracer; ls /proc | cat > /dev/null; sleep 0.02",
    )
    print(len(wanted), len(got))
    same(got, wanted)
    assert len(wanted) > window / 20
