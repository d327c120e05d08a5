"""make replay-...: a recorded run under gdb, forwards and backwards."""

import re
import subprocess

from gdbstub import BACKSTOP
from vitrine_guest import ROOT

SCRIPT = """cd /sys/kernel/tracing; echo vfs_write > set_ftrace_filter; mkdir instances/g
echo vfs_write > instances/g/set_ftrace_filter; echo function_graph > instances/g/current_tracer
echo function > current_tracer; echo 1 > /tmp/x; echo recorded
"""
# Through the tracer's entry code to its end; and back again, by the same instructions in the other order, over calls in
# one go.
STEPS = r"""
python
import re
def text(command):
    return gdb.execute(command, to_string=True)
def go_to(place):
    text("hbreak " + place)
    text("continue")
    text("delete")
def where():
    names = re.findall(r"^#\d+ +(?:0x\w+ in )?([\w<>]+)", text("bt 4"), re.M)
    return "%#x %s" % (gdb.newest_frame().pc(), " ".join(names))
def now(at):
    return gdb.newest_frame().architecture().disassemble(at)[0]
def callers():
    frame = gdb.newest_frame().older()
    while frame:
        yield frame.pc()
        frame = frame.older()
def there(end):
    seen = [where()]
    while gdb.newest_frame().pc() != end:
        behind = gdb.newest_frame().pc() + now(gdb.newest_frame().pc())["length"]
        text("nexti")
        # gdb 18 stops in a called function that begins with an inlined one.
        if behind in list(callers())[:4]:
            text("advance *%#x" % behind)
        seen.append(where())
    return seen
def back(seen):
    for wanted in reversed(seen[:-1]):
        # The instruction before is a call if its next one is not where we are.
        before = int(wanted.split()[0], 16)
        if now(before)["asm"].split()[0] in ("bl", "blr", "call"):
            text("hbreak *%#x" % before)
            text("reverse-continue")
            text("delete")
        else:
            text("reverse-stepi")
        print("back", where() == wanted, where())
def through(first):
    go_to(first)
    end = gdb.newest_frame().older().pc()
    seen = there(end)
    print("\n".join("there " + one for one in seen))
    return seen
go_to("start_kernel")
WALKS
end
"""
BOTH = """back(through("*ftrace_caller"))
back(through("*return_to_handler_entry"))"""
# The call of ftrace_caller, which is an instruction back, and there again.
ONE = """go_to("*ftrace_caller")
print("there", where())
for command in ("reverse-stepi", "stepi"):
    text(command)
    print(command, where())"""


def replay(machine, tmp_path, commands, *script):
    file = tmp_path / "commands"
    file.write_text(commands)
    return subprocess.run(
        [
            "tools/vrun",
            "--arch",
            machine.arch,
            "--append",
            "quiet",
            "--replay",
            tmp_path / "stub",
            "--recording",
            tmp_path / "recording",
            "--gdb-arg=-batch",
            "--gdb-arg=-x",
            f"--gdb-arg={file}",
            *script,
        ],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=BACKSTOP,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def test_forwards_and_backwards(tmp_path, machine):
    script = tmp_path / "script"
    script.write_text(SCRIPT)
    done = replay(machine, tmp_path, STEPS.replace("WALKS", BOTH if machine.back_to_breakpoints else ONE), script)
    output = done.stdout
    assert (
        output.startswith("recorded\n") and "the script ended with status 0" in output and "Python" not in output
    ), output
    there = re.findall(r"^there (0x\w+) (.*)$", output, re.M)
    assert there and all("vfs_write" in names for _, names in there if names.startswith("ftrace_")), output
    if machine.back_to_breakpoints:
        back = re.findall(r"^back (\w+) ", output, re.M)
        assert len(there) > 20 and len(back) == len(there) - 2 and set(back) == {"True"}, output
    else:
        stepped = dict(re.findall(r"^((?:reverse-)?stepi) (.*)$", output, re.M))
        assert stepped["stepi"] == " ".join(there[0]) and re.match(
            r"0x\w+ vfs_write ksys_write", stepped["reverse-stepi"]
        ), output
    # The recording is still there, and what it says is the same. A watchpoint on the way back has its values.
    back = "watch global_trace.current_trace\nreverse-continue\n" if machine.back_to_breakpoints else ""
    again = replay(machine, tmp_path, f"hbreak start_kernel\ncontinue\nhbreak sys_reboot\ncontinue\nvt-trace 1\n{back}")
    assert again.returncode == 0 and re.search(
        r"vrun-init-1 +\[000\].*: vfs_write <-ksys_write\n", again.stdout
    ), again.stdout
    values = r"\n\nHardware watchpoint 3: .*\n\nOld value = \S+ <nop_trace>\nNew value = \S+ <function_trace>\n"
    assert not back or re.search(values, again.stdout), again.stdout


def test_nothing_recorded(tmp_path, machine):
    done = replay(machine, tmp_path, "continue\n")
    assert (
        done.returncode == 126
        and done.stdout == f"vrun: nothing is recorded in {tmp_path}/recording: SCRIPT= names a script to record\n"
    )
