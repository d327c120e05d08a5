"""gdb at the tracer's two ends: ftrace_caller and return_to_handler, instruction by instruction, with true callers
throughout."""

import re

from gdbstub import under_gdb
from stories import story

# Entries and returns are both traced: sites call ftrace_caller, which goes on by ftrace_graph_caller.
SETUP = story("gdb_returns", "setup")
ENTRY = ("ftrace_caller", "ftrace_call", "ftrace_graph_call", "ftrace_graph_caller")
RETURN = ("return_to_handler", "return_to_handler_entry")

# Each instruction of some blocks, calls in one go, with the names in the backtrace; then whether registers are as they
# were.
STEPS = r"""
python
import re
def text(command):
    return gdb.execute(command, to_string=True)
def go_to(place):
    gdb.execute("hbreak " + place)
    gdb.execute("continue")
    gdb.execute("delete")
def steps(part, blocks, end, names):
    values = lambda: [int(gdb.newest_frame().read_register(name)) for name in names]
    before = values()
    for number in range(100):
        if gdb.newest_frame().pc() == end:
            break
        block = text("info symbol $pc").split()[0]
        assert block in blocks, block
        print(part, block, " ".join(re.findall(r"^#\d+ +(?:0x\w+ in )?([\w<>]+)", text("bt"), re.M)))
        gdb.execute("nexti", to_string=True)
    print(part, "kept", values() == before, "end", gdb.newest_frame().pc() == end)
go_to("*ftrace_caller if $_caller_is(\"vfs_write\", 1)")
print("target", text("x/i &ftrace_call"))
steps("entry", BLOCKS_ENTRY, gdb.newest_frame().older().pc(), REGISTERS_ENTRY)
gdb.execute("vt-graph")
go_to("*return_to_handler_entry")
steps("return", BLOCKS_RETURN, gdb.newest_frame().older().pc(), REGISTERS_RETURN)
go_to("*vfs_write")
for number in range(12):
    running = text("vt-bt all").split("(on CPU 0)\n")[1].split("task:")[0]
    print("records", *re.findall(r"^ (\w+)", running, re.M))
    gdb.execute("nexti", to_string=True)
end
"""


# A shadow stack that makes no sense: gdb goes on by its own rules, and no exception is seen.
DAMAGED = (
    "python from vt import kernel; gdb.set_convenience_variable('stack', kernel.current()['ret_stack'])",
    "set $top = $stack->top",
    "set var $stack->top = 0",
    "bt",
    "set var $stack->top = $top",
)


def commands(machine):
    values = {
        "BLOCKS_ENTRY": ENTRY,
        "BLOCKS_RETURN": RETURN,
        "REGISTERS_ENTRY": machine.arguments + machine.kept,
        "REGISTERS_RETURN": machine.results + machine.kept,
    }
    script = STEPS
    for name, value in values.items():
        script = script.replace(name, repr(value))
    return script


def check_part(output, part, blocks, innermost):
    """Every instruction: who is traced comes first behind the tracer's own, then its caller, then who called that."""
    lines = [line.split() for line in re.findall(rf"^{part} (\w+ .*)$", output, re.M)]
    assert lines and lines[-1] == ["kept", "True", "end", "True"], output
    assert {line[0] for line in lines[:-1]} == blocks, output
    for _, *names in lines[:-1]:
        assert re.match(innermost, " ".join(names)), f"{part}: {names}\n{output}"


def test_callers_through_entry_and_return(tmp_path, machine):
    with under_gdb(machine, tmp_path) as (guest, gdb):
        assert guest.run(SETUP)[0] == 0
        output = gdb.batch([commands(machine)])
        outer = gdb.ask(
            'hbreak *return_to_handler_entry if $_caller_is("ksys_write", 1)',
            "continue",
            "vt-bt all",
            "vt-graph",
            "vt-graph 2",
            "vt-graph x",
            "bt",
            "print $vt_task(1).comm",
            "print $vt_current().comm",
            *DAMAGED,
        )
    assert re.search(r"^target .*\b(bl|call)\s.*<function_\w*call>", output, re.M), output
    check_part(
        output,
        "entry",
        {"ftrace_caller", "ftrace_graph_caller"},
        r"ftrace_\w+ vfs_write (return_to_handler<vfs_write> )?ksys_write return_to_handler<ksys_write> \w+",
    )
    check_part(
        output,
        "return",
        {"return_to_handler"},
        r"return_to_handler<vfs_write> ksys_write return_to_handler<ksys_write> \w+",
    )
    # From the first instruction on, when neither it nor its caller's caller is to be found by records.
    assert len(re.findall(r"^records vfs_write ksys_write \w+", output, re.M)) == 12, output
    graph = r"sh-\d+: 2 hooked calls\n  \[1\] vfs_write returns to ksys_write\+.*holds return_to_handler.*\n  \[0\] ksys_write returns to"
    assert re.search(graph, output) and re.search(graph.replace("holds return_to_handler", ""), outer[3]), (
        output + outer[3]
    )
    assert re.search(
        r"^#\d+ .* in (do_syscall_64|handle_syscall|el0_\w+|entry_SYSCALL_64|do_\w+)\b", outer[6], re.M
    ), outer[6]
    assert "0x0000000000000000 in" not in outer[6] and "stop" not in outer[6], outer[6]
    assert re.fullmatch(r'\$\d+ = "init", .*<repeats \d+ times>', outer[7]), "the old name's end is gone: " + outer[7]
    assert ' = "sh"' in outer[8] or ' = "sh\\000' in outer[8], outer[8]
    assert outer[4] == "kthreadd-2: 0 hooked calls" and outer[5] == "x: a pid is wanted"
    assert re.match(r"#0 +(0x\w+ in )?return_to_handler", outer[-2]) and "Python" not in outer[-2], outer[-2]
    # The kernel's own walk shows callers only.
    running = outer[2].split("Call trace: (on CPU 0)\n")[1].split("task:")[0]
    assert re.match(r" return_to_handler_entry\S+\n ksys_write\+", running), running
