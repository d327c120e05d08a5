"""gdb on the guest's stub: where a traced function goes through the tracer, a backtrace is complete at every instruction."""

import os
import re
import subprocess

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
place = gdb.lookup_global_symbol("ftrace_caller") or gdb.lookup_static_symbol("ftrace_caller")
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


def test_backtraces_are_complete_in_ftrace_caller(tmp_path, machine):
    socket = tmp_path / "gdb"
    stub = ["-chardev", f"socket,id=gdb,path={socket},server=on,wait=off", "-gdb", "chardev:gdb"]
    with machine.guest(timeout=120, qemu_args=stub) as guest:
        assert guest.run("cd /sys/kernel/tracing; echo vfs_write > set_ftrace_filter; echo function > current_tracer; "
                         "(sleep 2; echo 1 > /tmp/x) &")[0] == 0
        commands = tmp_path / "commands"
        commands.write_text(STEPS.replace("SOCKET", str(socket)))
        vmlinux = os.path.join(ROOT, "build", machine.arch, "vmlinux")
        done = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", "-x", commands, vmlinux], timeout=100, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        steps = re.findall(r"^step \d+ (.*)$", done.stdout, re.MULTILINE)
        assert len(steps) > 8, done.stdout
        for number, frames in enumerate(steps):
            # The hook is the first thing that vfs_write does; who called that is known all the same.
            assert re.match(r"ftrace_\w+ vfs_write (ksys_write )?(\S+ )*\w+", frames), f"at step {number}: {frames}\n{done.stdout}"
            assert "write" in frames.split(" ", 2)[2], f"at step {number}: {frames}"
