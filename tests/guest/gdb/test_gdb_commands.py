"""The commands of tools/gdb: what they say of a running guest is what the guest says itself."""

import pathlib
import platform
import re
import shutil
import subprocess

import pexpect
from gdbstub import BACKSTOP, Gdb, under_gdb
from vitrine_gdb import Stub
from vitrine_guest import ROOT

BAD = {
    "vt-ps 3": "usage: vt-ps",
    "vt-bt 1 2": "usage: vt-bt [PID|all]",
    "lx-lsmod all": "usage: lx-lsmod",
    "vt-bt 4711": "no task has the pid 4711: vt-ps lists them",
    "vt-bt zork": "zork: a pid or `all` is wanted",
    "vt-dmesg -1": "-1: a number of lines is wanted",
    "vt-runq 7": "there is no CPU 7: 0 to 1",
    "vt-percpu": "usage: vt-percpu NAME[.MEMBER...]",
    "vt-percpu 3x": "3x: the name of a per-CPU variable is wanted, maybe with members: runqueues.nr_running",
    "vt-percpu init_task": "init_task is no per-CPU variable",
    "vt-percpu nonesuch": 'nonesuch: No symbol "nonesuch" in current context. Are these the symbols of a Vitrine kernel?',
    "vt-kernel": "usage: vt-kernel COMMAND",
    "vt-user 2": "the task 2 is a kernel thread",
    "print $vt_task(4711)": "no task has the pid 4711: vt-ps lists them",
}


LINUX_NAMES = ("lx-ps", "lx-dmesg 1", "lx-lsmod", "lx-version", "lx-cpus", "vt-bt")


def check_linux_names(said, ours):
    """The names of Linux's scripts say what ours do; ours: answers of vt-ps and the others. vt-bt alone is about the
    CPU that gdb looks at."""
    assert len(said[0].splitlines()) == len(ours[0].splitlines()) and said[1] == ours[2], said[:2]
    assert said[2] == "Address            Module                  Size  Used by", said[2]
    assert re.match(r"Vitrine version \S+ #1 SMP PREEMPT", said[3]), said[3]
    assert said[4] == "Possible CPUs : 0 1\nPresent CPUs  : 0 1\nOnline CPUs   : 0 1", said[4]
    assert re.match(r"task:\S+ +state:R pid:\d+ +ppid:\d+\nCall trace: \(on CPU \d\)", said[5]), said[5]


def columns_of_ps(text):
    """pid, parent, state and name: what stands in brackets is a kernel thread's, else its arguments."""
    lines = [line.split() for line in text.splitlines()[1:]]
    return {
        int(line[0]): (int(line[1]), line[3], line[7][1:-1] if line[7].startswith("[") else line[7].split("/")[-1])
        for line in lines
    }


def columns_of_vt_ps(text):
    lines = [line.split() for line in text.splitlines()[1:]]
    return {int(line[0]): (int(line[2]), line[4], line[7]) for line in lines if line[0] != "0"}


def check_tasks(guest_ps, vt_ps):
    theirs, ours = columns_of_ps(guest_ps), columns_of_vt_ps(vt_ps)
    lasting = {pid: task for pid, task in theirs.items() if task[2] != "ps" and task[1] != "R"}
    # Who slept then may run when gdb looks: the kernel's threads do now and then. Or they wait in the middle of a grace
    # period or a work, now or then.
    for pid, (parent, state, name) in lasting.items():
        may_be = {state, "R"} | ({"I", "D"} if re.match("rcu_sched|kworker", name) else set())
        assert pid in ours and ours[pid] in {(parent, one, name) for one in may_be}, vt_ps
    assert len(lasting) > 8, vt_ps
    assert sum(ours[pid] == lasting[pid] for pid in lasting) > 6, vt_ps


def check_threads(listed, vt_ps):
    """`ls /proc/PID/task` of one process: its threads, the first of which is the process. Each has a line of its own,
    once."""
    threads = [int(word) for word in listed.split()]
    lines = [line.split() for line in vt_ps.splitlines()[1:]]
    shown = [(int(line[0]), int(line[1])) for line in lines if int(line[1]) == threads[0]]
    assert len(threads) == 3 and sorted(shown) == [(thread, threads[0]) for thread in sorted(threads)], vt_ps


def check_interrupts(theirs, ours):
    """The same lines but for counts that go on, and the handlers' functions."""
    known = [line.split() for line in theirs.splitlines() if re.match(r" *\d+:", line)]
    for words in known:
        shown = next(line.split() for line in ours.splitlines() if line.split()[0] == words[0])
        assert shown[3 : len(words)] == words[3:] and shown[len(words)] == "<-" and re.match(r"\w+", shown[-1]), ours


def check_printers(task, tree_type, listed, page):
    assert re.search(r"= kthreadd-2 state I, CPU \d, prio 120, stack 0xffff", task), task
    assert re.search(r"= (\d+) nodes = \{0x", listed) and listed.count("0x") == int(
        re.search(r"= (\d+)", listed).group(1)
    ), listed
    assert re.search(r"= (black|red), parent 0x\w+, left 0x\w+, right 0x\w+", tree_type), tree_type
    assert re.search(r"= frame 0x\w+ \S+ order \d+, \d+ references, mapped \d+ times", page), page


def check_other_build(gdb, other):
    """Symbols of another kernel of the same machine: no command answers from them."""
    altered(pathlib.Path(gdb.vmlinux), other)
    gdb.vmlinux = str(other)
    for answer in gdb.ask("vt-ps", "vt-trace", "print $vt_task(2)", "vt-kernel print $vt_task(2)"):
        assert (
            answer.removeprefix("vt-kernel: ")
            == f"{other} is not what the guest runs: another kernel does, or none yet"
        )


def test_tasks_log_interrupts_per_cpu(tmp_path, machine):
    with under_gdb(machine, tmp_path, smp=2, files=machine.programs("stacktest")) as (guest, gdb):
        guest.run(
            "stacktest sleepers & until [ $(ls /proc/$!/task | wc -l) = 3 ]; do usleep 1000; done; ls /proc/$!/task > /tmp/threads"
        )
        threads = guest.run("sort -n /tmp/threads")[1]
        guest.run(
            "(while :; do :; done) & (while :; do :; done) & (while :; do :; done) & sleep 0.5; echo hello > /dev/kmsg"
        )
        ps, dmesg, interrupts = (guest.run(command)[1] for command in ("ps", "dmesg", "cat /proc/interrupts"))
        answers = gdb.ask(
            "vt-ps",
            "vt-dmesg",
            "vt-dmesg 1",
            "vt-irq",
            "vt-percpu runqueues.cpu",
            "vt-runq",
            "vt-bt 2",
            "vt-bt all",
            "print $vt_task(2)",
            "vt-kernel print $vt_task(2).se.run_node",
            "vt-kernel print init_tasks",
            "vt-kernel print mem_map[0]",
            "vt-percpu 'softirq.c'::softirq_pending",
            "help vitrine",
            *LINUX_NAMES,
            *BAD,
        )
        check_tasks(ps, answers[0])
        check_threads(threads, answers[0])
        assert answers[1].splitlines() == dmesg.splitlines() and answers[2].endswith("hello"), answers[1]
        check_interrupts(interrupts, answers[3])
        assert answers[4] == "CPU 0: 0\nCPU 1: 1" and re.fullmatch(r"CPU 0: \d+\nCPU 1: \d+", answers[12]), answers[4]
        waits = re.findall(r"^    fair sh-(\d+) vruntime=-?\d+ weight=1024$", answers[5], re.M)
        assert waits and len(re.findall(r"^CPU \d: \d runnable, runs \S+-\d+, ", answers[5], re.M)) == 2, answers[5]
        assert re.match(
            r"task:kthreadd +state:I pid:2 +ppid:0\nCall trace:\n __schedule\+\w+/\w+\n schedule\+", answers[6]
        ), answers[6]
        assert answers[7].count("Call trace:") == len(answers[0].splitlines()) - 1 and answers[6] in answers[7]
        check_printers(answers[8], answers[9], answers[10], answers[11])
        for name in ("vt-ps", "vt-bt", "vt-irq"):
            assert re.search(rf"^{name} +\w", answers[13], re.M), answers[13]
        check_linux_names(answers[14:20], answers)
        assert dict(zip(BAD, answers[20:])) == BAD
        check_other_build(gdb, tmp_path / "vmlinux")


def user_program(gdb):
    """Stops in a user program and says what there is: the program whose symbols are in use, the backtrace, the
    tasks."""
    return gdb.ask("vt-user true", "hbreak main", "continue", "vt-user", "backtrace 1", "vt-ps", "delete")


def check_user_program(answers, cpu_task):
    program = re.search(r"symbols of (\w+)", answers[3]).group(1)
    assert re.search(cpu_task.format(program), answers[5], re.M), "\n".join(answers)
    assert re.match(r"#0 +(0x\w+ in )?\w+ \(", answers[4]), "\n".join(answers)


TRACED = "cd /sys/kernel/tracing; echo vfs_write > set_ftrace_filter; echo function_graph > current_tracer; while :; do echo > /dev/null; done &"
# vt-kernel: what it does not do, since the guest might run meanwhile, with rights that it has not.
REFUSED = (
    "continue",
    "stepi",
    "vt-hooks vfs_write",
    "frame apply all stepi",
    "thread 1",
    "print vfs_write(0, 0, 0, 0)",
)


def check_rights(gdb):
    """From a stop in user mode: nothing lets the guest run with the rights by which the kernel's memory is read."""
    answers = gdb.ask(
        "vt-user true",
        "hbreak main",
        "continue",
        "delete",
        "print/x $pc",
        *(f"vt-kernel {command}" for command in REFUSED),
        "print/x $pc",
        "vt-kernel print/x nr_cpu_ids",
        "vt-hooks vfs_write",
        "show may-call-functions",
    )[1:]
    assert re.fullmatch(r"\$1 = 0x\w{6}", answers[3]) and answers[10] == answers[3].replace("$1", "$2"), answers
    for command, answer in zip(REFUSED[:-1], answers[4:9]):
        assert re.fullmatch(
            rf"{command.split()[0]}: vt-kernel knows print, .*: nothing that may let the guest run", answer
        ), answer
    assert (
        "may-call-functions is off" in answers[9] and answers[11] == "$3 = 0x1" and answers[13].endswith(" on.")
    ), answers
    assert re.search(r"^back in \w+: what vfs_write returned is as it was$", answers[12], re.M), answers[12]


def test_symbols_of_user_programs(tmp_path, machine):
    with under_gdb(machine, tmp_path) as (guest, gdb):
        guest.run("while :; do /bin/true; done &")
        check_user_program(user_program(gdb), r" {}\s+on CPU 0$")
        guest.run(TRACED)
        check_rights(gdb)
        assert guest.run("echo alive") == (0, "alive\n")
        if machine.arch == platform.machine() and shutil.which("gdb"):
            check_user_program(user_program(Gdb(machine, gdb.socket, "gdb")), r" {}\s+on CPU 0$")


def altered(vmlinux, copy):
    """Another build's file: its own table of symbols calls vfs_read otherwise."""
    data = vmlinux.read_bytes()
    assert b"\0vfs_read\0" in data
    copy.write_bytes(data.replace(b"\0vfs_read\0", b"\0vfs_rxxd\0"))


def test_rebuilt_kernel(tmp_path, machine):
    """When gdb reads the kernel's file again, nothing is kept of what it was before."""
    vmlinux, file = pathlib.Path(ROOT, "build", machine.arch, "vmlinux"), tmp_path / "vmlinux"
    altered(vmlinux, tmp_path / "altered")
    shutil.copy(vmlinux, file)
    name = "python print('name', kernel.symbols().name(address))"
    commands = [
        f"source {ROOT}/tools/gdb/vitrine.py",
        "python from vt import kernel; address = kernel.address_of('vfs_read')",
        name,
        f"shell cp {tmp_path}/altered {file}",
        name,
        f"file {file}",
        name,
    ]
    done = subprocess.run(
        ["gdb-multiarch", "-q", "-nx", "-batch", *(word for one in commands for word in ("-ex", one)), file],
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=BACKSTOP,
        check=False,
    )
    # In between gdb's own symbols are the old ones still.
    assert re.findall("^name (.*)$", done.stdout, re.M) == ["vfs_read", "vfs_read", "vfs_rxxd"], done.stdout


def session(machine, stub, *commands):
    """gdb's commands in a session of vrun, from the machine's first instruction on: what has become of it."""
    return subprocess.run(
        [
            *("tools/vrun", "--arch", machine.arch, "--gdb", stub, "--gdb-arg=-batch"),
            *(f"--gdb-arg={word}" for command in commands for word in ("-ex", command)),
        ],
        cwd=ROOT,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=BACKSTOP,
        check=False,
    )


def test_before_the_kernel_is_up(tmp_path, machine):
    """make gdb-...: gdb stands at the machine's first instruction, where no address of the kernel's means anything."""
    stub = tmp_path / "stub"
    done = session(machine, stub, "vt-ps", "vt-bt 1", "break start_kernel", "continue", "vt-ps", "vt-dmesg")
    assert done.returncode == 0 and "Python" not in done.stdout, done.stdout
    assert re.search(
        r"Breakpoint 1, start_kernel \((.*\n)*  PID .*\n +0 .* swapper/0 +on CPU 0\n\[", done.stdout
    ), done.stdout
    assert not Stub(str(stub)).answers(), "QEMU has ended with gdb"


# In gdb's Python: stops the QEMU of this stub, and lets it go on when gdb has waited for it.
STOPPED = """python
import os, signal, threading
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        words = open(f"/proc/{pid}/cmdline").read()
    except OSError:
        continue
    if "unix:%s,server" in words:
        os.kill(int(pid), signal.SIGSTOP)
        threading.Timer(16, os.kill, (int(pid), signal.SIGCONT)).start()
end
"""


def test_a_stub_that_takes_its_time(tmp_path, machine):
    """On a host with much else to do QEMU may answer late. By itself gdb gives up after some 10 s."""
    stub, script = tmp_path / "stub", tmp_path / "script.gdb"
    script.write_text(STOPPED % stub)
    done = session(machine, stub, f"source {script}", "x/x $pc + 64", "echo it answers\\n")
    assert re.search(r"^0x[0-9a-f]+:\t0x[0-9a-f]+\nit answers$", done.stdout, re.M), done.stdout


# A command of 30 lines that needs no guest.
MANY = [
    "python import contextlib, vt.command",
    "python vt.command.kernel.check_guest, vt.command.privileged = lambda: None, contextlib.nullcontext",
    "python MANY = {'__doc__': 'x', 'name': 'many', 'run': lambda self, words: map(str, range(30))}",
    "python type('Many', (vt.command.Command,), MANY)()",
]


def test_no_question_after_a_screen():
    """On a terminal of six lines; gdb's own commands ask on."""
    words = ["-q", "-nx", "-x", f"{ROOT}/tools/gdb/vitrine.py"]
    gdb = pexpect.spawn("gdb-multiarch", words, dimensions=(6, 80), encoding="utf-8", timeout=BACKSTOP)
    gdb.expect(r"\(gdb\) ")
    for line in MANY:
        gdb.sendline(line)
        gdb.expect(r"\(gdb\) ")
    gdb.sendline("many")
    assert gdb.expect(["--Type", r"\r\n29\r\n"]) == 1
    gdb.expect(r"\(gdb\) ")
    gdb.sendline("show pagination")
    gdb.expect("pagination is on")
    gdb.close(force=True)
