"""gdb on the guest's stub: where a traced function goes through the tracer, a backtrace is complete at every instruction."""

import os
import re
import subprocess

import pytest
from machines import product
from vitrine_guest import ROOT

# Steps through ftrace_caller from its first instruction to its last, the tracer itself in one go, with a line for each.
STEPS = r"""
set pagination off
set confirm off
set width 0
target remote SOCKET
hbreak *ftrace_caller
continue
delete
python
import gdb
for step in range(200):
    block = gdb.execute("info symbol $pc", to_string=True).split()[0]
    if block not in ("ftrace_caller", "ftrace_call", "ftrace_graph_call"):
        break
    names, frame = [], gdb.newest_frame()
    while frame and len(names) < 12:
        names.append(str(frame.name()))
        frame = frame.older()
    print("step", step, " ".join(names))
    gdb.execute("nexti", to_string=True)
end
detach
quit
"""


# What a traced function was called with: at the hook, as the tracer's callee finds it in struct ftrace_regs, and behind the hook.
ARGUMENTS = r"""
set pagination off
set confirm off
target remote SOCKET
hbreak *ftrace_caller
continue
delete
python
registers = "REGISTERS".split()
words = lambda: [int(gdb.parse_and_eval("(unsigned long)$" + name)) for name in registers]
before, site = words(), int(gdb.parse_and_eval("*(unsigned long *)$sp"))
gdb.execute("tbreak *function_trace_call")
gdb.execute("continue")
fregs = int(gdb.parse_and_eval("$" + registers[3]))
seen = [int(gdb.parse_and_eval(f"((unsigned long *){fregs})[{n}]")) for n in range(len(registers))]
gdb.execute(f"tbreak *{site}")
gdb.execute("continue")
print("seen", seen == before, "kept", words() == before, "pointer", before[0] >> 47 == 0x1ffff)
end
detach
quit
"""


def traced_write(machine, tmp_path, commands):
    """gdb's output from these commands, while the guest's shell writes into a file again and again and vfs_write is traced."""
    socket = tmp_path / "gdb"
    stub = ["-chardev", f"socket,id=gdb,path={socket},server=on,wait=off", "-gdb", "chardev:gdb"]
    with machine.guest(timeout=120, qemu_args=stub) as guest:
        assert guest.run("cd /sys/kernel/tracing; echo vfs_write > set_ftrace_filter; echo function > current_tracer; "
                         "while :; do echo 1 > /tmp/x; sleep 0.1; done &")[0] == 0
        script = tmp_path / "commands"
        script.write_text(commands.replace("SOCKET", str(socket)))
        vmlinux = os.path.join(ROOT, "build", machine.arch, "vmlinux")
        return subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", "-x", script, vmlinux], timeout=100, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def test_backtraces_are_complete_in_ftrace_caller(tmp_path, machine):
    output = traced_write(machine, tmp_path, STEPS)
    steps = re.findall(r"^step \d+ (.*)$", output, re.MULTILINE)
    assert len(steps) > 8, output
    for number, frames in enumerate(steps):
        # The hook is the first thing that vfs_write does; who called that is known all the same.
        assert re.match(r"ftrace_\w+ vfs_write (ksys_write )?(\S+ )*\w+", frames), f"at step {number}: {frames}\n{output}"
        assert "write" in frames.split(" ", 2)[2], f"at step {number}: {frames}"


@pytest.mark.parametrize("machine,registers", product(lambda machine: [("arguments", machine.arguments)] if machine.arguments else []))
def test_the_tracer_sees_arguments_and_keeps_them(tmp_path, machine, registers):
    output = traced_write(machine, tmp_path, ARGUMENTS.replace("REGISTERS", " ".join(registers)))
    assert "seen True kept True pointer True" in output, output
