"""gdb on the guest's stub: where a traced function goes through the tracer, a backtrace is complete at every
instruction."""

import os
import re
import subprocess

import pytest
from gdbstub import BACKSTOP
from machines import product
from vitrine_guest import ROOT

# Steps through a caller from its first instruction to its last, what it calls in one go, with a line for each.
STEPS = r"""
set pagination off
set confirm off
set width 0
set remotetimeout 100
target remote SOCKET
python
import gdb
def frames():
    frame = gdb.newest_frame()
    while frame:
        yield frame
        frame = frame.older()
def steps(caller, parts):
    gdb.execute("hbreak *" + caller)
    gdb.execute("continue")
    gdb.execute("delete")
    for step in range(200):
        block = gdb.execute("info symbol $pc", to_string=True).split()[0]
        if block not in parts:
            break
        names = [str(frame.name()) for frame, _ in zip(frames(), range(12))]
        print("step", step, caller, " ".join(names))
        at = gdb.newest_frame().pc()
        behind = at + gdb.newest_frame().architecture().disassemble(at)[0]["length"]
        gdb.execute("nexti", to_string=True)
        # gdb 18 stops in a called function that begins with an inlined one.
        if any(frame.pc() == behind for frame, _ in zip(frames(), range(4)) if frame.level()):
            gdb.execute(f"advance *{behind:#x}", to_string=True)
steps("ftrace_caller", ("ftrace_caller", "ftrace_call", "ftrace_graph_call"))
steps("ftrace_regs_caller", ("ftrace_regs_caller", "ftrace_regs_caller_body"))
steps("ftrace_kprobe_caller", ("ftrace_kprobe_caller", "ftrace_kprobe_caller_body"))
end
detach
quit
"""
# Who is traced, and somebody further out. sys_write has jumped to ksys_write.
TRACED = {
    "ftrace_caller": ("vfs_write", "write"),
    "ftrace_regs_caller": ("ksys_write", "syscall_dispatch"),
    "ftrace_kprobe_caller": ("ramfs_write", "vfs_write"),
}


# What a traced function was called with: at the hook, as the tracer's callee finds it in struct ftrace_regs, and behind
# the hook.
ARGUMENTS = r"""
set pagination off
set confirm off
set remotetimeout 100
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
    """gdb's output from these commands, while the guest's shell writes into a file again and again; vfs_write is
    traced, ksys_write with registers, and ramfs_write has a kprobe at its call site."""
    socket = tmp_path / "gdb"
    stub = ["-chardev", f"socket,id=gdb,path={socket},server=on,wait=off", "-gdb", "chardev:gdb"]
    with machine.guest(timeout=120, qemu_args=stub) as guest:
        assert (
            guest.run(
                "cd /sys/kernel/tracing; echo vfs_write > set_ftrace_filter; echo function > current_tracer; "
                "echo ksys_write > /sys/kernel/debug/ftrace_sample/watch; "
                "site=$(grep ' ramfs_write$' available_filter_functions_addrs | cut -d ' ' -f 1); "
                'echo "p:at 0x$site" > kprobe_events; echo 1 > events/kprobes/at/enable; '
                "while :; do echo 1 > /tmp/x; sleep 0.1; done &"
            )[0]
            == 0
        )
        script = tmp_path / "commands"
        script.write_text(commands.replace("SOCKET", str(socket)))
        vmlinux = os.path.join(ROOT, "build", machine.arch, "vmlinux")
        return subprocess.run(
            ["gdb-multiarch", "-q", "-nx", "-batch", "-x", script, vmlinux],
            timeout=BACKSTOP,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ).stdout


def test_backtraces_are_complete_in_ftrace_caller(tmp_path, machine):
    output = traced_write(machine, tmp_path, STEPS)
    for caller, (function, outer) in TRACED.items():
        steps = re.findall(rf"^step \d+ {caller} (.*)$", output, re.MULTILINE)
        assert len(steps) > 8, output
        for number, frames in enumerate(steps):
            # The hook is the first thing that the function does; who called that is known all the same.
            assert re.match(
                rf"ftrace_\w+ {function} (\S+ )*\w+", frames
            ), f"{caller}, step {number}: {frames}\n{output}"
            assert outer in frames.split(" ", 2)[2], f"{caller}, step {number}: {frames}"


@pytest.mark.parametrize(
    "machine,registers", product(lambda machine: [("arguments", machine.arguments)] if machine.arguments else [])
)
def test_the_tracer_sees_arguments_and_keeps_them(tmp_path, machine, registers):
    output = traced_write(machine, tmp_path, ARGUMENTS.replace("REGISTERS", " ".join(registers)))
    assert "seen True kept True pointer True" in output, output
