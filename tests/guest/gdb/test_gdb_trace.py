"""vt-trace and vt-ftrace: the trace buffers and call sites as gdb finds them in memory are what the guest shows of
them."""

import concurrent.futures
import difflib
import re
import time

from gdbstub import under_gdb
from stories import story

SHOWN = (".", "instances/f", "instances/g", "instances/s", "instances/e")
BAD = {
    "vt-trace -i nonesuch": "no instance nonesuch: there are f, g, s, e",
    "vt-trace -c 2": "there is no CPU 2: 0 to 1",
    "vt-trace -c": "-c: a value is missing",
    "vt-trace -x 1": "-x: no such option",
    "vt-trace some": "some: a number of records is wanted",
    "vt-trace 1 2": "usage: vt-trace [-i INSTANCE] [-c CPU] [N]",
    "vt-hooks": "usage: vt-hooks FUNCTION",
    "vt-hooks vfs_read": "vfs_read is not traced now, its site holds a nop: vt-ftrace vfs_read",
    "vt-ftrace": "usage: vt-ftrace SITE|FUNCTION",
    "vt-ftrace zork": "zork: no function that can be traced (available_filter_functions lists them)",
    "vt-ftrace 0x1": "0x1: no function that can be traced (available_filter_functions lists them)",
}


SITES = """echo 0 > instances/f/tracing_on; echo nop > instances/f/current_tracer; echo 0 > options/funcgraph-overrun
echo vfs_write vfs_read > set_ftrace_filter; echo vfs_read > set_ftrace_notrace; echo function > current_tracer
echo vfs_write > instances/g/set_ftrace_filter"""
# Sub-buffers of two other sizes, with records of more than a page.
LARGER = story("gdb_trace_larger")
# Are all print formats understood?
EVERY = "python import vt.events as e; print(sum(1 for kind in range(20, 2000) if e.event_of(kind)))"
# A record by itself, and where it lies in the ring buffer.
FIRST = "global_trace.buffer->cpu[0]->ring.commit_page->data->data"
RECORDS = (
    f"vt-kernel print *(struct trace_entry *)({FIRST} + 4)",
    "vt-kernel print *(struct ring_buffer_event *)global_trace.buffer->cpu[0]->ring.commit_page->data->data",
)


# ---- Damaged memory: what can be read is shown, and one line says what cannot.

DAMAGE = """python
import struct
from vt import irq, kernel, trace
memory, undone = gdb.selected_inferior(), []
def write(address, data):
    undone.append((address, kernel.read(address, len(data))))
    memory.write_memory(address, data)
def undo():
    while undone:
        memory.write_memory(*undone.pop())
def ring(cpu):
    return trace.Array("e").buffer["cpu"][cpu]["ring"]
def cut(cpu):
    at = int(ring(cpu)["commit_page"]["data"]) + 16
    while not 3 < kernel.word(at) & 31 < 29:
        at += 8 if kernel.word(at) & 31 > 29 else (kernel.word(at) & 31) * 4 + 4
    header, = struct.unpack("<I", kernel.read(at, 4))
    write(at, struct.pack("<I", header & ~31 | 2))
    write(at + 12, struct.pack("<II", 29, (header & 31) * 4 - 8 - 4))
def set_word(value, new):
    write(int(value.address), struct.pack("<Q", new))
def task(pid):
    return kernel.task_of_pid(pid)
def circle():
    table = kernel.variable("'irqdesc.c'::irq_descs")
    action = next(table[n]["actions"] for n in range(1, 1000) if int(table[n]["actions"]))
    set_word(action["next"], int(action))
end"""
# What is done to memory, each undone before the next, and the commands whose answers are looked at then.
DAMAGES = (
    ("pass", ("vt-trace -i e", "vt-bt {shell}", "vt-bt all", "vt-ps", "vt-irq")),
    ("cut(0)", ("vt-trace -i e",)),
    ("set_word(ring(0)['commit_seq'], int(ring(0)['commit_seq']) + 10**9)", ("vt-trace -i e",)),
    ("set_word(task({shell})['ret_stack']['top'], 0)", ("vt-graph {shell}", "vt-bt {shell}", "vt-bt all", "vt-ps")),
    ("set_word(task(1)['tasks']['next'], 8)", ("vt-ps", "print $vt_task(30000)")),
    ("circle()", ("vt-irq",)),
)


def check_damaged_trace(whole, cut, endless):
    changed = [(good, bad) for good, bad in zip(whole, cut) if good != bad]
    assert len(changed) == 1 and len(cut) == len(whole) + 1, cut
    assert re.match(r"\[000\] +\d+\.\d{6}: <this makes no sense: unpack_from requires .*>$", changed[0][1]), changed
    assert re.match(r"vt-trace: CPU 0: a record of type \d+: this makes no sense: unpack_from requires ", cut[-1]), cut[
        -1
    ]
    assert re.fullmatch(
        r"vt-trace: CPU 0: the ring buffer's ends make no sense: pages \d+ to 1\d{9} of \d+", endless[-1]
    ), endless[-1]
    assert [line for line in whole if "[001]" in line] == [
        line for line in endless if "[001]" in line and "started" not in line
    ]


def check_damaged_tasks(good, damaged, broken):
    """good: vt-bt, vt-bt all, vt-ps; damaged: the shadow stack of the shell, which vt-graph was asked for as well."""
    wrong = r"the shadow stack at 0x\w+ makes no sense: its top is 0x0"
    assert re.fullmatch(wrong, damaged[0][0]) and re.fullmatch(wrong, damaged[1][-1]), damaged[:2]
    shown = damaged[1][:-1]
    assert (
        shown == good[0][: len(shown)] and shown[-1].startswith(" ksys_read+") and len(good[0]) > len(shown)
    ), damaged[1]
    assert damaged[2].count("Call trace:") == good[1].count("Call trace:") and set(good[1]) >= {
        line for line in damaged[2] if not re.fullmatch(rf" <task at 0x\w+: {wrong}>", line)
    }, damaged[2]
    assert damaged[3] == good[2], damaged[3]
    assert broken[0][-2].split()[:3] == ["1", "1", "0"] and set(broken[0][:-1]) < set(good[2]), broken[0]
    for line in broken[0][-1], broken[1][0]:
        assert re.fullmatch(
            r"the list at 0x\w+ is broken behind 0x\w+: Cannot access memory at address 0x8", line
        ), broken


def check_damage(guest, gdb):
    assert guest.run("echo ksys_read >> instances/g/set_ftrace_filter; echo 1 > instances/g/tracing_on")[0] == 0
    shell = guest.run("echo $$")[1].strip()
    commands = [(f"python undo(); {damage}", *asked) for damage, asked in DAMAGES]
    flat = [command.format(shell=shell) for group in commands for command in group]
    answers = [answer.splitlines() for answer in gdb.ask(DAMAGE, *flat, "python undo()")]
    shown = [answer for command, answer in zip(flat, answers[1:]) if not command.startswith("python")]
    whole, backtrace, every, tasks, interrupts = shown[:5]
    check_damaged_trace(whole, *shown[5:7])
    check_damaged_tasks((backtrace, every, tasks), shown[7:11], shown[11:13])
    changed = [(good, bad) for good, bad in zip(interrupts, shown[13]) if good != bad]
    assert len(shown[13]) == len(interrupts) and len(changed) == 1, shown[13]
    assert changed[0][1].endswith(" <more than 64 handlers: their list is damaged>"), changed


def run_all(guest, commands):
    """Line by line: the terminal takes no longer ones. Each is a command of its own, or a comment."""
    for line in commands.splitlines():
        if line.startswith("#"):
            continue
        status, output = guest.run(line)
        assert status == 0, output


def assert_equal(theirs, ours):
    differences = "\n".join(
        list(difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "guest", "gdb", lineterm="", n=0))[:40]
    )
    assert not differences, differences


def check_traces(guest, gdb):
    asked = gdb.ask(*("vt-trace" + (f" -i {name[-1]}" if "/" in name else "") for name in SHOWN))
    for name, ours in zip(SHOWN, asked):
        theirs = guest.run(f"cat {name}/trace")[1]
        assert len(theirs.splitlines()) > 11, theirs
        assert_equal(theirs, ours + "\n")


def check_sites(both, none):
    """A site that is told of by two users, and one by nobody."""
    assert re.match(r"vfs_write\+0x\w+/0x\w+: site \d+ of \d+ at 0x\w+: call ftrace_caller\n", both), both
    assert re.search(r"^  ftrace_call in ftrace_caller holds: call function_\w+$", both, re.M), both
    assert "  ftrace_graph_call in ftrace_caller holds: jump ftrace_graph_caller\n" in both, both
    assert (
        "  g is told of its return: one of the 1 of its filter" in both
        and "  global_ops is told: one of the 2 of its filter" in both
    )
    assert (
        none.split("\n")[0].endswith(": nop") and "global_ops does not want it: among the 1 that it excludes" in none
    ), none


def test_trace_from_memory(tmp_path, machine):
    with under_gdb(machine, tmp_path, smp=2) as (guest, gdb):
        run_all(guest, story("gdb_trace"))
        check_traces(guest, gdb)
        run_all(guest, story("gdb_trace_options"))
        check_traces(guest, gdb)
        run_all(guest, LARGER)
        check_traces(guest, gdb)
        run_all(guest, SITES)
        answers = gdb.ask(
            "vt-trace -i e -c 1", "vt-trace -i e 3", "vt-ftrace vfs_write", "vt-ftrace vfs_read", EVERY, *RECORDS, *BAD
        )
        assert_equal(guest.run("cat instances/e/per_cpu/cpu1/trace")[1], answers[0] + "\n")
        whole = guest.run("cat instances/e/trace")[1].splitlines()
        assert answers[1].splitlines() == whole[:12] + whole[-3:]
        check_sites(answers[2], answers[3])
        assert int(answers[4]) == len(guest.run("cat available_events")[1].splitlines()), answers[4]
        assert re.search(r"= pid \d+ \S{5} ", answers[5]), answers[5]
        assert re.search(r"= (time \w+|padding|nothing yet|\+\d+ ns, \d+ bytes: pid )", answers[6]), answers[6]
        assert dict(zip(BAD, answers[7:])) == BAD
        check_damage(guest, gdb)


# ---- A panicked guest

CRASH = """cd /sys/kernel/tracing; echo 'vfs_* ksys_*' > set_ftrace_filter; echo function > current_tracer
echo 1 > events/sched/enable; echo 1 > options/stacktrace; sleep 0.1; echo t > /proc/sysrq-trigger"""


def without_stamps(console):
    return re.sub(r"^\[ *\d+\.\d+\] ", "", console.replace("\r\n", "\n"), flags=re.M)


def stacks(text):
    """{(name, pid): lines} of what sysrq-t prints."""
    found = re.findall(r"^task:(\S+) +state:\S+ +pid:(\d+) .*\nCall trace:.*\n((?: .*\n)*)", text, re.M)
    return {(name, int(pid)): lines for name, pid, lines in found}


def check_stacks(console, ours):
    """Of every task that slept then and sleeps now: the kernel's own dump, line for line."""
    theirs, now = stacks(console), stacks(ours + "\n")
    # But for rcu_sched, which may be in the middle of a grace period, and for a kworker or two at work at either time.
    sleeping = {task: lines for task, lines in theirs.items() if " schedule+" in lines and task[0] != "rcu_sched"}
    assert len(sleeping) >= 6 and set(sleeping) <= set(now), ours
    awake = {task for task in sleeping if " schedule+" not in now[task]}
    assert len(awake) < 3 and all(now[task] == lines for task, lines in sleeping.items() if task not in awake), ours


def test_panicked(tmp_path, machine):
    with under_gdb(machine, tmp_path, smp=2, append="ftrace_dump_on_oops loglevel=7") as (guest, gdb):
        run_all(guest, CRASH)
        before = without_stamps(guest.console)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            stopped = pool.submit(
                gdb.ask,
                "hbreak ftrace_dump",
                f"shell touch {tmp_path}/set",
                "continue",
                "vt-trace",
                "backtrace",
                "delete",
            )
            while not (tmp_path / "set").exists() and not stopped.done():
                time.sleep(0.05)
            guest.send("echo c > /proc/sysrq-trigger\n")
            guest.expect("end Kernel panic", panic=False)
            answers = stopped.result()
        console = without_stamps(guest.console)
        dump = re.search(r"Dumping ftrace buffer:\n-+\n(.*\n)-+\n", console, re.S).group(1)
        lines = answers[3].splitlines(keepends=True)
        assert_equal(dump, "".join(lines[12:]) + "\n")
        assert "sysrq_crash" in answers[4]
        after = gdb.ask("vt-bt all", "vt-trace", "vt-ps", "vt-dmesg", "vt-irq")
        check_stacks(before, after[0])
        assert (
            sorted(re.findall(r"^CPU \d: (stopped; )?", after[4], re.M)) == ["", "stopped; "] and " CPU1" in after[4]
        ), after[4]
        assert len(after[1].splitlines()) == 12, "what was dumped has been consumed"
        own = console.split("Kernel panic - not syncing")[1].split("Call trace:\n")[1].split("\nDumping")[0]
        assert own.split("\n", 3)[3] in after[0], after[0]
        assert without_stamps(after[3]).splitlines()[-1].startswith("---[ end Kernel panic")
