"""The tutorial's modules, cut out of its text: built as it says, loaded from a folder of the host, traced, edited."""

import re

import pytest
from stories import story
from test_modules import make, run
from tutorial_sources import document_text
from vitrine_guest import ROOT

SEED = "seeds/000_*.txt"


def listings():
    """The C texts that the tutorial prints: lines with a number in front, from the first comment to module_exit."""
    text = document_text(SEED)
    if text is None:
        pytest.skip("the tutorials' texts are not on this machine")
    text = text.replace("\xa0", " ")  # as a browser copies it
    found = re.findall(r"((?:^ +\d+\. .*\n)*?^ +\d+\. +module_exit\(ftrace_demo_exit\);.*\n)", text, re.M)
    return ["\n".join(re.sub(r"^ +\d+\. ?", "", line).rstrip() for line in part.splitlines()) + "\n" for part in found]


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_the_tutorials_session(arch, tmp_path):
    texts = listings()
    assert len(texts) == 4 and texts[0] == texts[1]
    share = tmp_path / "my"
    share.mkdir()
    (share / "ftrace_demo.c").write_text(texts[0])
    status, said = make(share, arch, objects="ftrace_demo.o")
    assert status == 0, said
    (share / "ftrace_demo.ko").rename(share / "first.ko")
    (share / "ftrace_demo.c").write_text(texts[3])  # edited: it calls tracing_off()
    status, said = make(share, arch, objects="ftrace_demo.o")
    assert status == 0, said
    out = run(
        arch,
        [],
        story("module_tutorial", "demo"),
        tmp_path,
        "--share",
        share,
    )
    assert out.splitlines() == [
        "/sys/kernel/debug/tracing",
        "ftrace_demo            12288  0",
        "ftrace_demo_init [ftrace_demo]",
        "ftrace_demo_exit [ftrace_demo]",
        "/* Can not see this in trace unless loaded for the second time */",
        "/* Module unloading */",
        "0",
        "ftrace_demo_init <-do_one_initcall",
        "ftrace_demo_init: ftrace_demo_init called",
        "0",
        "ftrace_demo_exit <-sys_delete_module",
        "ftrace_demo_exit: ftrace_demo_exit called",
    ]


def passes(guest, command):
    status, output = guest.run(command)
    assert status == 0, f"{command}: {output}"
    return output


def test_edited_while_the_guest_runs(machine, tmp_path):
    """One session in one guest, whose /host is the folder: make, insmod, trace, rmmod; then the text is edited on the
    host and made there again, and the guest, which has never been left, loads it and shows the new text."""
    text = listings()[0]
    old, new = "Module unloading", "Edited on the host"
    assert old in text
    with machine.guest(timeout=240, share=str(tmp_path)) as guest:
        passes(guest, "cd /sys/kernel/tracing; echo function_graph > current_tracer")
        for edited, here, gone in ((text, old, new), (text.replace(old, new), new, old)):
            (tmp_path / "ftrace_demo.c").write_text(edited)
            status, said = make(tmp_path, machine.arch, objects="ftrace_demo.o")
            assert status == 0, said
            # A filter forgets a module that goes, as on Linux: it is written before each load.
            passes(guest, "echo ':mod:ftrace_demo' > set_ftrace_filter; echo > trace; insmod /host/ftrace_demo.ko")
            assert passes(guest, "lsmod").splitlines()[-1].split()[0] == "ftrace_demo"
            passes(guest, "rmmod ftrace_demo")
            trace = passes(guest, "cat trace")
            assert here in trace and gone not in trace, trace
            assert re.search(r"\| +ftrace_demo_exit \[ftrace_demo\]\(\) \{", trace), trace
        assert passes(guest, "cat /proc/modules; rm /host/ftrace_demo.ko") == ""
    assert not (tmp_path / "ftrace_demo.ko").exists()


def event_module():
    """The two files of the course text's module with an event of its own, which is printed as one line each."""
    text = document_text("seeds/001_*.txt")
    if text is None:
        pytest.skip("the tutorials' texts are not on this machine")
    files = []
    for begin in (
        "#include <linux/module.h> #include <linux/kthread.h>",
        "#undef TRACE_SYSTEM #define TRACE_SYSTEM my_system",
    ):
        part = text[text.index(begin) :]
        part = part[: part.index("```")]
        part = re.sub(r"// (printk\(.*?i\)\);|Tracepoint|Special guard|TRACE_EVENT\(\) is defined here)", "", part)
        part = re.sub(r'(#include [<"][^>"]*[>"]|#define CREATE_TRACE_POINTS|#endif)', r"\n\1\n", part)
        files.append(re.sub(r"(#(?:undef|define|if) )", r"\n\1", part) + "\n")
    return files


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_a_module_with_an_event_of_its_own(arch, tmp_path):
    """As it is printed, by the Makefile of five lines, without a flag that says where the header is: it counts processes
    and threads, and its thread walks over all of them, one a second, with an event for each."""
    share = tmp_path / "my"
    share.mkdir()
    source, header = event_module()
    (share / "my_module.c").write_text(source)
    (share / "my_module_trace.h").write_text(header)
    status, said = make(share, arch, objects="my_module.o")
    assert status == 0 and "warning" not in said, said
    out = run(
        arch,
        [],
        story("module_tutorial", "event"),
        tmp_path,
        "--share",
        share,
    )
    lines = out.splitlines()
    assert lines[0] == "counted", out
    assert lines[1] == (
        'print fmt: "name=%s pid=%d vruntime=%lli ticks=%li", REC->name, REC->pid, REC->vruntime, REC->ticks'
    )
    assert int(lines[2]) >= 3 and lines[3] == " Goodbye world"
    events = [re.fullmatch(r"name=(\S+) pid=(\d+) vruntime=-?\d+ ticks=\d+", line).groups() for line in lines[4:]]
    assert events[0][0] == "my-kthread", out
    at = events.index(("swapper/0", "0"))  # behind the sleep, which is younger than the thread
    assert events[at + 1][1] == "1", out


WALK = """
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/delay.h>
#include <linux/sched/signal.h>

MODULE_LICENSE("GPL");

static int soon_over(void *unused)
{
	return 0;
}

static int __init walk_init(void)
{
	struct task_struct *p, *t, *gone;
	int processes = 0, threads = 0, ring = 0, me = 0;
	char name[TASK_COMM_LEN], text[64];

	gone = kthread_run(soon_over, NULL, "gone");
	msleep(300);
	rcu_read_lock();
	for_each_process(p)
		processes++;
	for_each_process_thread(p, t) {
		threads++;
		me += t == current;
	}
	for (p = &init_task; (p = next_task(p)) != &init_task;)
		ring++;
	rcu_read_unlock();
	strcpy(text, "I am ");
	strcat(text, get_task_comm(name, current));
	strncat(text, ", not more", 5);
	pr_info("%d %d %d %d %d %s\\n", processes, threads, ring, me, next_task(gone) == &init_task, text);
	return 0;
}

static void __exit walk_exit(void)
{
}

module_init(walk_init)
module_exit(walk_exit)
"""


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_walks_over_tasks(arch, tmp_path):
    """All walks meet the tasks that /proc shows: a process with threads among them. One that has gone is not read."""
    (tmp_path / "walk.c").write_text(WALK)
    status, said = make(tmp_path, arch, objects="walk.o")
    assert status == 0 and "warning" not in said, said
    out = run(
        arch,
        [tmp_path / "walk.ko", f"{ROOT}/build/{arch}/guest-tests/idlethreads"],
        "/idlethreads & until [ $(ls /proc/$!/task | wc -l) = 4 ]; do usleep 1000; done; set -- /proc/[0-9]*; processes=$(($# + 1)); set -- /proc/[0-9]*/task/[0-9]*\n"
        "echo $processes $(($# + 1)) $processes 1 1 I am insmod, not; insmod /walk.ko; dmesg | tail -n 1 | cut -d] -f2",
        tmp_path,
    )
    expected, found = out.splitlines()
    assert found == f" {expected}"
    numbers = expected.split()
    assert int(numbers[1]) == int(numbers[0]) + 3


OLD_NAMES = """
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/semaphore.h>
#include <linux/tracepoint.h>

MODULE_LICENSE("GPL");

DECLARE_TRACE_NOARGS(nothing_given);
DEFINE_TRACE(nothing_given);

static int data, calls;
static DEFINE_SEMAPHORE(one);
static DEFINE_SEMAPHORE(three, 3);
static struct semaphore two;
static atomic_t inside, most, through;

static void probe(void *given)
{
	calls += given == &data;
}

static int user(void *unused)
{
	down(&two);
	int now = atomic_inc_return(&inside);
	if (now > atomic_read(&most))
		atomic_set(&most, now);
	msleep(20);
	atomic_dec(&inside);
	up(&two);
	atomic_inc(&through);
	return 0;
}

static int soon_over(void *unused)
{
	return 0;
}

static void tracepoints(void)
{
	trace_nothing_given();
	int err = register_trace_nothing_given(probe, &data);
	trace_nothing_given();
	trace_nothing_given();
	unregister_trace_nothing_given(probe, &data);
	trace_nothing_given();
	pr_info("tracepoint %d %d\\n", err, calls);
}

static void semaphores(void)
{
	int taken = !down_trylock(&one), again = !down_trylock(&one), late, places = 0;

	late = down_timeout(&one, HZ / 50);
	up(&one);
	late = late == -ETIME && !down_interruptible(&one);
	while (!down_trylock(&three))
		places++;
	sema_init(&two, 2);
	for (int i = 0; i < 6; i++)
		kthread_run(user, NULL, "user");
	while (atomic_read(&through) < 6)
		msleep(10);
	pr_info("semaphore %d %d %d %d %d %d\\n", taken, again, late, places, atomic_read(&most), atomic_read(&inside));
}

static void pids(void)
{
	struct pid *me = find_get_pid(current->pid), *gone;
	struct task_struct *t = kthread_run(soon_over, NULL, "gone");
	int there, by_number, reference;

	gone = get_task_pid(t, PIDTYPE_PID);
	msleep(300);
	rcu_read_lock();
	there = pid_task(me, PIDTYPE_PID) == current && pid_task(me, PIDTYPE_TGID) == current;
	by_number = pid_task(find_vpid(current->pid), PIDTYPE_PID) == current;
	rcu_read_unlock();
	t = get_pid_task(me, PIDTYPE_TGID);
	reference = t == current;
	put_task_struct(t);
	pr_info("pid %d %d %d %d %d %d %d\\n", there, by_number, reference, pid_nr(me) == current->pid,
		!get_pid_task(gone, PIDTYPE_PID), !find_get_pid(4000000), pid_nr(NULL));
	put_pid(me);
	put_pid(gone);
	put_pid(NULL);
}

static int __init old_init(void)
{
	tracepoints();
	semaphores();
	pids();
	return 0;
}

static void __exit old_exit(void)
{
}

module_init(old_init)
module_exit(old_exit)
"""


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_names_of_older_books(arch, tmp_path):
    """Tracepoints without arguments, semaphores and struct pid do what books of earlier years say."""
    (tmp_path / "old.c").write_text(OLD_NAMES)
    status, said = make(tmp_path, arch, objects="old.o")
    assert status == 0 and "warning" not in said, said
    out = run(arch, [tmp_path / "old.ko"], "insmod /old.ko; dmesg | tail -n 3 | cut -d] -f2; rmmod old", tmp_path)
    # Taken, not twice, in time only when it was given back; three places; never more than two inside; all gone out.
    assert out.splitlines() == [" tracepoint 0 2", " semaphore 1 0 1 3 2 0", " pid 1 1 1 1 1 1 0"]


def test_groups_have_no_struct_pid(tmp_path):
    text = OLD_NAMES.replace("pid_task(me, PIDTYPE_TGID) == current;", "pid_task(me, PIDTYPE_SID) == current;")
    (tmp_path / "old.c").write_text(text)
    status, said = make(tmp_path, "x86_64", objects="old.o")
    assert status and "a struct pid is one task" in said, said
