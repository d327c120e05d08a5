"""Trampolines of modules at the entry of functions: register_ftrace_direct()."""

import re

from module_guest import CRASH, DMESG, guest, log, one_module, samples  # noqa: F401
from stories import story

CD = "cd /sys/kernel/tracing\n"


def test_a_trampoline_gets_the_argument_and_other_tracers_see_the_function_as_ever(guest):  # noqa: F811
    out = guest(
        CD + story("module_direct", "argument"),
        "ftrace-direct",
    )
    assert not re.search(CRASH, out), out
    first, on, graph, off = re.split(r"^== \w+\n", out, flags=re.M)
    assert re.fullmatch(
        r"wake_up_process \(1\) R   D     \n\tdirect-->my_tramp\+0x0/0x[0-9a-f]+ \[ftrace_direct\]\n", first
    ), out
    called = [line for line in on.splitlines() if ": wake_up_process <-" in line]
    # A wake-up is told by its event, then by nobody else: what the trampoline says of it is who the event says.
    said = re.findall(r"my_direct_func: waking up (\S+)-(\d+)$", on, re.M)
    assert len(called) == len(said) > 4, out
    woken = set(re.findall(r"sched_waking: comm=(\S+) pid=(\d+) ", on))
    assert set(said) <= woken, out
    assert re.search(r"wake_up_process\(\)", graph) and "waking up usleep-" in graph, out
    assert off.splitlines() == ["0"], out


def test_trampolines_are_exchanged_while_they_are_in_use(guest):  # noqa: F811
    out = guest(
        CD
        + "insmod /ftrace-direct-modify.ko; for i in 1 2 3 4 5 6; do usleep 100000; done; rmmod ftrace_direct_modify\n"
        "echo 0 > tracing_on; grep -o 'my_direct_func.: my direct func.' trace | uniq -c; cat enabled_functions",
        "ftrace-direct-modify",
        options=("--smp", "4"),
    )
    assert not re.search(CRASH, out), out
    lines = [line.split(None, 1) for line in log(out)]
    assert all(
        text in ("my_direct_func1: my direct func1", "my_direct_func2: my direct func2") for _, text in lines
    ), out
    # One after the other, each several times in a row; around an exchange CPUs may be in both.
    assert len([count for count, _ in lines if int(count) > 3]) >= 4, out


HOLDS = r"""
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/preempt.h>
MODULE_LICENSE("GPL");

static int sleeps;
module_param(sleeps, int, 0644);
static char *function = "vfs_write";
module_param(function, charp, 0444);

void held(unsigned long a, unsigned long b, unsigned long c, unsigned long d);
void held(unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	trace_printk("count %lu pos %d preemptible %d\n", c, *(loff_t *)d == ((struct file *)a)->f_pos, !preempt_count());
	msleep(sleeps);
}
extern void tramp(void);
#ifdef __aarch64__
asm("tramp: sub sp, sp, #48\n stp x9, x30, [sp]\n stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n bl held\n"
    "ldp x30, x9, [sp]\n ldp x0, x1, [sp, #16]\n ldp x2, x3, [sp, #32]\n add sp, sp, #48\n ret x9\n");
#else
asm("tramp: pushq %rbp\n movq %rsp, %rbp\n pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n call held\n"
    "popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n leave\n ret\n");
#endif
static struct ftrace_ops ops, none;

static int f(void)
{
	unsigned long at = (unsigned long)tramp;
	int err, no_filter = register_ftrace_direct(&none, at), idle = modify_ftrace_direct(&none, at);
	int gone = unregister_ftrace_direct(&none, at, false), again, second;

	printk("holds: no filter %d idle %d %d\n", no_filter, idle, gone);
	err = ftrace_set_filter(&ops, function, strlen(function), 1);
	if (!err)
		err = ftrace_set_filter(&none, function, strlen(function), 1);
	if (!err)
		err = register_ftrace_direct(&ops, at);
	if (err)
		return err;
	again = register_ftrace_direct(&ops, at);
	second = register_ftrace_direct(&none, at);
	printk("holds: again %d second %d zero %d other %d\n", again, second, modify_ftrace_direct(&ops, 0),
	       unregister_ftrace_direct(&ops, 1, false));
	ftrace_free_filter(&none);
	return err;
}
module_init(f);
static void g(void)
{
	printk("holds: end %d\n", unregister_ftrace_direct(&ops, (unsigned long)tramp, true));
}
module_exit(g);
"""


def test_four_arguments_and_the_end_waits_for_who_is_inside(guest, tmp_path):  # noqa: F811
    one_module(guest.arch, tmp_path, "holds", HOLDS)
    out = guest(
        CD + story("module_direct", "holds") + DMESG,
        "holds",
        options=("--smp", "2"),
        folder=tmp_path,
    )
    assert not re.search(CRASH, out), out
    lines = log(out)
    assert lines[:2] == ["twelve-bytes", "three"], out
    seen = [line for line in lines if line.startswith("count")]
    assert "count 13 pos 1 preemptible 1" in seen and "count 5 pos 1 preemptible 1" in seen, out
    assert "early" not in lines and lines[lines.index("written") + 1] == "late", out
    assert [line for line in lines if line.startswith("holds:")] == [
        "holds: no filter -22 idle -22 -22",
        "holds: again -22 second -16 zero -22 other -22",
        "holds: end 0",
    ], out


def test_trampolines_come_and_go_under_load(guest):  # noqa: F811
    out = guest(
        CD + "echo function > current_tracer; for i in 1 2 3 4; do (while [ -d /sys/kernel/tracing ]; do uname; done "
        ">/dev/null) & done\n"
        "i=0; while [ $i -lt 15 ]; do insmod /ftrace-direct.ko && insmod /ftrace-direct-modify.ko && usleep 3000; "
        "rmmod ftrace_direct_modify && rmmod ftrace_direct || break; i=$((i+1)); done; echo $i; kill $(jobs -p) 2>/dev/null\n"
        "echo nop > current_tracer; cat enabled_functions; lsmod | wc -l",
        "ftrace-direct",
        "ftrace-direct-modify",
        options=("--smp", "4"),
    )
    assert not re.search(CRASH, out), out
    assert log(out)[-2:] == ["15", "1"], out


def test_two_trampolines_of_modules_at_two_functions(guest):  # noqa: F811
    """The second function has two arguments, and both arrive at it: what it was asked for is allocated."""
    out = guest(
        CD
        + "insmod /ftrace-direct.ko; insmod /ftrace-direct-too.ko; grep -c D enabled_functions; echo 1 > events/kmem/kmalloc/enable\n"
        "usleep 1000; cat /proc/cpuinfo > /dev/null; echo 0 > tracing_on; cat trace\n"
        "rmmod ftrace_direct; rmmod ftrace_direct_too; cat enabled_functions",
        "ftrace-direct",
        "ftrace-direct-too",
    )
    assert not re.search(CRASH, out), out
    assert out.startswith("2\n") and "my_direct_func: waking up usleep-" in out
    asked = re.findall(r"my_direct_func: \S+-(\d+) asks for (\d+) bytes$", out, re.M)
    # What is to be zeroed goes by another function. Another task may come in between a call and its event.
    events = re.findall(r"-(\d+) +\[\d+\] .* kmalloc: .*bytes_req=(\d+) .*gfp_flags=GFP_KERNEL ", out)
    assert len(events) > 2, out
    for pid in {pid for pid, _ in events}:
        wanted = [one for one in events if one[0] == pid]
        assert [one for one in asked if one[0] == pid][-len(wanted) :] == wanted, out
