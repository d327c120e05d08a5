"""When the kernel itself goes wrong: what it prints, whom it ends, and what stays."""

import re

import pytest
from test_modules import make
from vitrine_guest import PANICKED, GuestError

CRASH = "/tmp/debug/provoke-crash/DIRECT"
MOUNT = "mkdir -p /tmp/debug; mount -t debugfs debugfs /tmp/debug"
TRACING = "/sys/kernel/tracing"


def provoke(guest, what, first="true"):
    """Let a task of its own cause it, right after the command `first`; its exit status, and what the console showed."""
    guest.run(f"test -e {CRASH} || {{ {MOUNT}; }}")
    before = len(guest.console)
    status, _ = guest.run(f"sh -c '{first}; echo {what} > {CRASH}'")
    return status, guest.console[before:]


# How a report begins, as Linux words it on that machine; the last line is that of every oops.
HEADS = {
    "aarch64": {
        "ACCESS_NULL": r"Unable to handle kernel NULL pointer dereference at virtual address 0{16}\n",
        "WRITE_RO": r"Unable to handle kernel write to read-only memory at virtual address f{6}\w{10}\n",
        "EXEC_DATA": r"Unable to handle kernel execute from non-executable memory at virtual address f{6}\w{10}\n",
        "EXEC_USERSPACE": r"Unable to handle kernel execution of user memory at virtual address 0{6}\w{10}\n",
        "ACCESS_USERSPACE": r"Unable to handle kernel access to user memory outside uaccess routines at virtual address "
        r"0{6}\w{10}\n",
        "BUG": r"kernel BUG at samples/lkdtm\.c:\d+!\n",
    },
    "x86_64": {
        "ACCESS_NULL": r"BUG: kernel NULL pointer dereference, address: 0{16}\n"
        r"#PF: supervisor write access in kernel mode\n#PF: error_code\(0x0002\) - not-present page\n",
        "WRITE_RO": r"BUG: unable to handle page fault for address: f{8}\w{8}\n"
        r"#PF: supervisor write access in kernel mode\n#PF: error_code\(0x0003\) - permissions violation\n",
        "EXEC_DATA": r"kernel tried to execute NX-protected page - exploit attempt\? \(uid: 0\)\n"
        r"BUG: unable to handle page fault for address: f{8}\w{8}\n"
        r"#PF: supervisor instruction fetch in kernel mode\n#PF: error_code\(0x0011\) - permissions violation\n",
        "EXEC_USERSPACE": r"unable to execute userspace code \(SMEP\?\) \(uid: 0\)\n"
        r"BUG: unable to handle page fault for address: 0{4}\w{12}\n"
        r"#PF: supervisor instruction fetch in kernel mode\n#PF: error_code\(0x0011\) - permissions violation\n",
        "ACCESS_USERSPACE": r"BUG: unable to handle page fault for address: 0{4}\w{12}\n"
        r"#PF: supervisor (read|write) access in kernel mode\n#PF: error_code\(0x000[13]\) - permissions violation\n",
        "BUG": r"kernel BUG at samples/lkdtm\.c:\d+!\n",
    },
}
OOPS = {
    "aarch64": r"Internal error: Oops(| - BUG): \w{16} \[#\d+\] SMP\n",
    "x86_64": r"Oops(|: invalid opcode): 00\w\w \[#\d+\] PREEMPT SMP NOPTI\n",
}


def has_head(machine, text, what):
    plain = re.sub(r"(?m)^\[ *\d+\.\d+\] ", "", text.replace("\r", ""))
    head = HEADS[machine.arch][what] + OOPS[machine.arch]
    assert re.search(rf"(?m)^{head}", plain), f"{head!r} is missing:\n{text}"


def is_oops(machine, text, function, *words):
    for word in (*words, *machine.registers, "CPU: ", " UID: 0 PID: ", " Comm: sh ", "Call trace:", "---[ end trace"):
        assert word in text, f"{word!r} is missing:\n{text}"
    trace = text.split("Call trace:", 1)[1]
    names = re.findall(r"\] +(\w+)\+0x[0-9a-f]+/0x[0-9a-f]+", trace)
    assert function in names, f"{function} is not in the call trace {names}"
    # From the fault to the system call; what ended with a jump to the next function is not there.
    assert re.fullmatch(machine.syscall_entry, names[-1]), names
    assert names.index(function) < names.index("ksys_write") < len(names) - 1, names


@pytest.mark.parametrize("smp", [1, 4])
def test_a_fault_of_the_kernel_ends_one_task(machine, smp):
    with machine.guest(smp=smp, timeout=60) as guest:
        for what in ("ACCESS_NULL", "WRITE_RO", "EXEC_DATA", "BUG"):
            status, text = provoke(guest, what)
            assert status == 139, f"{what}: status {status}"
            # Data has made no frame of its own, so who jumped there is not in the chain of frames: a link register
            # knows.
            has_head(machine, text, what)
            is_oops(machine, text, "data_words" if what == "EXEC_DATA" else f"lkdtm_{what}")
            assert "BUG_ON(" not in text, text
            assert what != "EXEC_DATA" or all(words in text for words in machine.jumped_from), text
        assert guest.run("echo alive; cat /proc/self/comm") == (0, "alive\ncat\n")
        assert guest.run("cat /proc/sys/kernel/tainted") == (0, "128\n")  # an oops, no warning
        status, text = provoke(guest, "WARNING")
        assert status == 0 and re.search("Tainted: G      D W 6.12.0\\S* #1\r?\n", text), text
        assert guest.run("cat /proc/sys/kernel/tainted") == (0, "640\n")
        assert guest.run("sleep 0.1 & wait; ls / | wc -l")[0] == 0


def test_user_memory_is_not_for_the_kernel(machine):
    with machine.guest(cpu=machine.cpus[-1], timeout=60) as guest:
        for what in machine.kept_out:
            status, text = provoke(guest, what)
            assert status == 139, f"{what}: status {status}\n{text}"
            has_head(machine, text, what)
            assert "FAIL" not in text and "direct_entry" in text
        assert guest.run("echo alive") == (0, "alive\n")


def test_a_stack_that_overflows_hits_its_guard(machine):
    with machine.guest(smp=2, timeout=60) as guest:
        with pytest.raises(GuestError, match="Kernel panic") as caught:
            provoke(guest, "EXHAUST_STACK")
        assert caught.value.status == PANICKED
        assert "stack overflow" in guest.console and "lkdtm_EXHAUST_STACK" in guest.console


# Whoever prints registers meets a fault, the first time.
FAULTY = r"""
#include <linux/ftrace.h>
#include <linux/module.h>
MODULE_LICENSE("GPL");

static void notrace fault(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	static int *volatile nowhere;
	static unsigned calls;

	if (!calls++)
		*nowhere = 1;
}
static struct ftrace_ops ops = {.func = fault, .flags = FTRACE_OPS_FL_RECURSION};
static int __init faulty_init(void)
{
	return ftrace_set_filter(&ops, (unsigned char *)"show_regs", 9, 0) ?: register_ftrace_function(&ops);
}
module_init(faulty_init);
"""


def test_an_oops_within_an_oops_is_a_panic(machine, tmp_path):
    """What failed was the printing, so the second oops prints no registers and no stack."""
    (tmp_path / "faulty.c").write_text(FAULTY)
    status, said = make(tmp_path, machine.arch, objects="faulty.o")
    assert status == 0, said
    files = {"faulty.ko": (0o644, (tmp_path / "faulty.ko").read_bytes())}
    with machine.guest(timeout=60, files=files) as guest:
        assert guest.run("insmod /faulty.ko") == (0, "")
        with pytest.raises(GuestError, match="Kernel panic - not syncing: Fatal exception") as caught:
            provoke(guest, "ACCESS_NULL")
        assert caught.value.status == PANICKED
        assert len(re.findall(rf"\] {OOPS[machine.arch]}", guest.console.replace("\r", ""))) == 2
        assert "Call trace:" not in guest.console


def test_memory_is_full_and_nobody_may_be_killed(machine):
    with machine.guest(mem="64M", timeout=60) as guest:
        with pytest.raises(GuestError, match="Kernel panic") as caught:
            guest.run("for p in /proc/[0-9]*; do echo -1000 > $p/oom_score_adj; done")
            guest.run("for i in 1 2 3 4; do sh -c 'text=$(yes)' & done; wait")
        assert caught.value.status == PANICKED
        assert "Out of memory and no killable processes..." in guest.console
        assert "Kernel panic - not syncing: System is deadlocked on memory" in guest.console
        assert "Killed process" not in guest.console


def test_trace_is_dumped_on_oops(machine):
    with machine.guest(smp=2, timeout=60, append="ftrace_dump_on_oops trace_buf_size=16K") as guest:
        guest.run(f"cd {TRACING}; echo 'vfs_*' > set_ftrace_filter; echo function > current_tracer")
        status, text = provoke(guest, "ACCESS_NULL", first="echo the last words > trace_marker")
        assert status == 139
        assert "Dumping ftrace buffer:" in text
        dump = text.split("Dumping ftrace buffer:", 1)[1]
        assert "vfs_write <-ksys_write" in dump and "the last words" in dump
        # It reads as the trace file does, and afterwards tracing is off.
        assert re.search(r" sh-\d+ +\[\d{3}\] [^ ]{5} +\d+\.\d{6}: vfs_write <-", dump)
        assert guest.run("cat tracing_on") == (0, "0\n")


# What the parameter says, and what is dumped of the markers below, in this order.
DUMPED = {
    "=foo": ["Dumping ftrace instance foo buffer:", "foo here", "foo there"],
    "=orig_cpu": ["Dumping ftrace buffer:", "top here"],
    ",foo=2": ["Dumping ftrace buffer:", "top here", "top there", "Dumping ftrace instance foo buffer:", "foo here"],
    "=0,gone,foo=orig_cpu": ["Instance gone not found", "Dumping ftrace instance foo buffer:", "foo here"],
    "=2,foo": ["Dumping ftrace buffer:", "top here", "Dumping ftrace instance foo buffer:", "foo here", "foo there"],
}


@pytest.mark.parametrize("asked", DUMPED)
def test_instances_are_dumped_on_oops(machine, asked):
    with machine.guest(smp=2, timeout=60, append=f"ftrace_dump_on_oops{asked} trace_buf_size=16K") as guest:
        guest.run(f"cd {TRACING}; mkdir instances/foo instances/bar")
        for buffer, folder in (("top", "."), ("foo", "instances/foo"), ("bar", "instances/bar")):
            for cpus, place in (("2", "here"), ("1", "there")):
                guest.run(f"taskset {cpus} sh -c 'echo {buffer} {place} > {folder}/trace_marker'")
        status, text = provoke(guest, "ACCESS_NULL", first="taskset -p 2 $$ > /dev/null")
        assert status == 139
        assert re.findall("Dumping .*:|Instance .* not found|(?:top|foo|bar) t?here", text) == DUMPED[asked]
        off = guest.run("cat tracing_on instances/foo/tracing_on instances/bar/tracing_on")[1].split()
        dumped = [name in " ".join(DUMPED[asked]) for name in ("top", "foo", "bar")]
        assert off == [str(int(not one)) for one in dumped], "what is not dumped goes on"


def test_no_dump_without_being_asked(machine):
    with machine.guest(timeout=60) as guest:
        guest.run(f"cd {TRACING}; echo function > current_tracer")
        assert "Dumping ftrace" not in provoke(guest, "ACCESS_NULL")[1]
        assert guest.run("cat tracing_on") == (0, "1\n")


@pytest.mark.parametrize("append,on", [("traceoff_on_warning", "0\n"), ("", "1\n")])
def test_warnings(machine, append, on):
    with machine.guest(append=append, timeout=60) as guest:
        guest.run(f"cd {TRACING}; echo function > current_tracer")
        status, text = provoke(guest, "WARNING")
        assert status == 0
        assert "WARNING: CPU:" in text and "lkdtm_WARNING" in text
        assert guest.run("cat tracing_on") == (0, on)


def test_panic_ends_a_headless_run(machine):
    run = machine.script(f"{MOUNT}; echo before; echo PANIC > {CRASH}; echo after".encode(), timeout=60)
    try:
        run.wait_start()
        with pytest.raises(GuestError, match="Kernel panic - not syncing: dumptest") as caught:
            run.wait_exit()
    finally:
        run.guest.close()
    assert caught.value.status == PANICKED
    assert "before" in run.output and "after" not in run.output
    assert "Call trace:" in run.guest.console and "end Kernel panic" in run.guest.console


def test_keys_after_a_break_on_the_serial_line(machine, tmp_path):
    """Break and h: help; break and t: the tasks; break and c: a panic, from an interrupt while the machine is busy."""
    with machine.monitored(tmp_path, smp=2, timeout=60, files=machine.programs("storm")) as guest:
        guest.run("storm 2 > /tmp/storm & until grep -q started /tmp/storm; do sleep 0.05; done")
        guest.send_break()
        guest.send("h")
        guest.expect(r"sysrq: HELP : [^\r\n]*crash")
        guest.send_break()
        guest.send("t")
        guest.expect(r"storm")
        guest.send_break()
        guest.send("c")
        with pytest.raises(GuestError, match="sysrq triggered crash") as caught:
            guest.expect("never")
        assert caught.value.status == PANICKED
        assert "Call trace:" in guest.console
