"""The modules of samples/modules, and what they use of the kernel: files, devices, timers, threads, callbacks."""

import re

import pytest
from module_guest import DMESG, guest, log, one_module, samples  # noqa: F401
from stories import story


def test_hello(guest):
    names = [f"hello_{n}" for n in range(1, 6)]
    out = guest(
        "dmesg -c >/dev/null\n"
        + "".join(f"insmod /{name}.ko; rmmod {name}\n" for name in names[:4])
        + DMESG
        + "echo ==\n"
        "insmod /hello_5.ko count=2 who=moon list=4,5; cat /proc/modules | cut -d' ' -f1; rmmod hello_5\n"
        + DMESG
        + "echo ==\n"
        "insmod /hello_5.ko count=-1 2>/dev/null; echo $?; insmod /hello_5.ko list=1,2,3,4,5 2>/dev/null; echo $?; cat /proc/modules",
        *names,
    )
    plain, fifth, refused = out.split("==\n")
    assert log(plain) == [word for n in range(1, 5) for word in (f"hello {n}", f"goodbye {n}")]
    assert log(fifth) == [
        "hello_5",
        "hello moon",
        "hello moon",
        "list[0] = 4 of 4",
        "list[1] = 5 of 4",
        "goodbye moon",
    ]
    assert refused == "1\n1\n"


def test_files_in_proc(guest):
    squares = "".join(f"{n} {n * n}\n" for n in range(5000))
    out = guest(
        story("module_samples", "procfs"),
        *(f"procfs_{n}" for n in range(1, 5)),
    )
    assert out.splitlines() == [
        "hello from the kernel",
        " from",
        "a word",
        "1",
        "old",
        "new text",
        "-rw-r--r-- 1 root root 100",
        *(f"{n} {n * n}" for n in range(5)),
        "4 16",
        "new text",
        "rmmod: Module procfs_3 is in use (1 references; dmesg may say whose)",
        "1",
        "0",
        "0 0",
        "5000",
        f"4999 {4999 * 4999}",
        *[squares[12345:12365].replace("\n", ".")] * 2,
        "0",
    ]


def test_an_open_file_outlives_its_module(guest):
    """It is closed by the removal: reads fail, nothing is left in memory, and the name is free for the next one."""
    out = guest(
        story("module_samples", "outlives"),
        "procfs_4",
        "debugfs_values",
        "sysfs_value",
    )
    lines = out.splitlines()
    assert lines[:2] == ["0 0", "0"] and lines[4] == "0" and lines[6] == "0 0", out
    assert all("Input/output error" in lines[n] for n in (2, 3, 5, 7)) and "values" not in lines[8:]


def test_a_character_device(guest):
    out = guest(
        "insmod /chardev.ko; cat /dev/chardev /dev/chardev; echo x > /dev/chardev; echo $?; grep chardev /proc/devices | wc -l\n"
        "exec 3</dev/chardev; cat /dev/chardev; rmmod chardev; echo $?; exec 3<&-; rmmod chardev; echo $?; ls /dev/chardev\n"
        "grep -c chardev /proc/devices; insmod /chardev.ko; cat /dev/chardev; rmmod chardev",
        "chardev",
    )
    assert [line.replace("sh: ", "") for line in out.splitlines()] == [
        "opened 0 times before",
        "opened 1 times before",
        "echo: write error: Invalid argument",
        "1",
        "1",
        "cat: /dev/chardev: Device or resource busy",
        "rmmod: Module chardev is in use (1 references; dmesg may say whose)",
        "1",
        "0",
        "ls: /dev/chardev: No such file or directory",
        "0",
        "opened 0 times before",
    ]


def ioc(direction, kind, number, size):
    return direction << 30 | size << 16 | kind << 8 | number


def test_ioctl(guest):
    """Numbers and texts go both ways; an unknown command, a wrong address and a wrong value get their own errors."""
    out = guest(
        f"READ={ioc(2, 100, 1, 8)} WRITE={ioc(1, 100, 0, 8)} BOTH={ioc(3, 100, 2, 4)}\n"
        f"GET={ioc(2, ord('c'), 1, 4)} SET={ioc(1, ord('c'), 2, 4)}\n" + story("module_samples", "ioctl"),
        "chardev2",
        "misc_counter",
    )
    assert out.splitlines() == [
        "0 old",
        "",
        "0 new",
        "new",
        str(ord("n")),
        str(ord("w")),
        "0",
        "Invalid argument",
        "Bad address",
        "Inappropriate ioctl for device",
        "new",
        "0 6",
        "0 99",
        "0 99",
        "Bad address",
        "Inappropriate ioctl for device",
        "crw-rw-rw-",
        "127 misc_counter",
        "rmmod: Module misc_counter is in use (1 references; dmesg may say whose)",
        "0",
        "ls: /dev/misc_counter: No such file or directory",
    ]


def test_values_in_debugfs_and_sysfs(guest):
    out = guest(
        story("module_samples", "values"),
        "debugfs_values",
        "sysfs_value",
    )
    lines = [line for line in out.splitlines() if "write error" not in line]
    first, second = sorted(lines[:5]), sorted(lines[5:10])
    assert first == ["hex 0x00000007", "number 7", "on N", "square 25", "sum 7 + 1 = 8"]
    assert second == ["hex 0x00000010", "number 16", "on Y", "square 9", "sum 16 + 1 = 17"]
    assert lines[10:] == ["1", "1", "1", "9", "-12", "1", "0"], out


def test_events_of_timers_by_jiffies(guest):
    """Each arming of a timer that sets itself again, and what follows: off the base, its function, armed again."""
    out = guest(
        "cd /sys/kernel/tracing; echo 1 | tee events/timer/timer_*/enable >/dev/null; insmod /print_timer.ko period_ms=8; sleep 0.2\n"
        "rmmod print_timer; echo 0 > tracing_on; grep print_timer_fn trace | sed 's/.*timer=\\([^ ]*\\).*/\\1/' | sort -u > /tmp/which\n"
        "wc -l < /tmp/which; grep $(cat /tmp/which) trace | sed 's/.*: \\(timer_[a-z_]*: .*\\)/\\1/'\n",
        "print_timer",
        options=("--icount",),  # else a timer may be late by more than its period
    )
    which, first, *rows = out.splitlines()
    pointer = r"timer=([0-9a-f]+|\S+)"
    assert which == "1" and re.fullmatch(f"timer_init: {pointer}", first), out
    kinds, due = [row.split(":")[0] for row in rows], None
    assert kinds[-1] == "timer_cancel", out
    rounds = (len(kinds) - 2) // 4
    assert 3 <= rounds <= 40
    assert kinds == ["timer_start"] + [
        "timer_cancel",
        "timer_expire_entry",
        "timer_start",
        "timer_expire_exit",
    ] * rounds + ["timer_cancel"]
    for row in rows:
        if row.startswith("timer_start"):
            found = re.fullmatch(
                rf"timer_start: {pointer} function=print_timer_fn(?: \[print_timer\])? expires=(\d+) \[timeout=(\d+)\] "
                r"bucket_expiry=(\d+) cpu=(\d) idx=0 flags=",
                row.rstrip(),
            )
            assert found and found[2] == found[4] and found[3] in ("1", "2", "3"), row
            due = int(found[2])
        elif row.startswith("timer_expire_entry"):
            found = re.fullmatch(
                rf"timer_expire_entry: {pointer} function=print_timer_fn(?: \S+)? now=(\d+) baseclk=(\d+)", row
            )
            assert found and int(found[3]) == due <= int(found[2]), row


def test_timers_tasklets_and_works(guest):
    """Each in its context, as often as it should, and never after rmmod."""
    out = guest(
        "dmesg -c >/dev/null; before=$(grep TASKLET /proc/softirqs | tr -s ' ' | cut -d' ' -f3); insmod /print_tasklet.ko\n"
        "rmmod print_tasklet; "
        + DMESG
        + "echo == $before; grep -E ' (HI|TASKLET):' /proc/softirqs | tr -s ' '; echo ==\n"
        "insmod /print_timer.ko period_ms=8; sleep 0.3; rmmod print_timer; last=$(dmesg | tail -1); sleep 0.1\n"
        '[ "$(dmesg | tail -1)" = "$last" ] && echo silent; ' + DMESG + "echo ==\n"
        "insmod /print_work.ko; sleep 0.3; rmmod print_work; last=$(dmesg | tail -1); sleep 0.1\n"
        '[ "$(dmesg | tail -1)" = "$last" ] && echo silent; ps | grep -c \'[k]worker/print\'; ' + DMESG,
        "print_tasklet",
        "print_timer",
        "print_work",
        options=("--icount",),
    )
    tasklets, counts, timers, works = out.split("==")
    assert log(tasklets) == ["tasklet: sooner 42", "tasklet: later in a softirq"]
    before, *rows = counts.split("\n")
    assert [row.split()[:2] for row in rows if row] == [["HI:", "1"], ["TASKLET:", str(int(before) + 1)]]
    lines = [line for line in log(timers) if line]
    ticks = [line for line in lines if "tick" in line]
    assert lines[0] == "silent" and "timer: precise in an interrupt" in lines
    assert ticks == [f"timer: tick {n + 1} in a softirq" for n in range(len(ticks))] and 5 <= len(ticks) <= 60
    lines = [line for line in log(works) if line]
    rounds = [line for line in lines if "round" in line]
    rest = [line for line in lines if "round" not in line]
    assert rest == ["silent", "0", "work: first, in kworker/print_w", "work: second", "work: the queue is empty"]
    assert rounds == [f"work: round {n + 1}" for n in range(len(rounds))] and 3 <= len(rounds) <= 40


def test_an_idle_machine_wakes_readers_of_the_log(guest):
    """After each message of the timer the next task to run is the reader of the log, not the one that sleeps longer."""
    out = guest(story("module_samples", "idle_readers"), "print_timer", options=("--icount", "--smp", "1"))
    pairs = out.replace("console: \n", "console: ").splitlines()
    assert len(pairs) >= 8 and set(pairs) == {"console: next_comm=cat"}, out


def test_events_of_tasklets(guest):
    """Around each function, with its name and the tasklet's: both kinds, in the order in which they run."""
    out = guest(
        "cd /sys/kernel/tracing; echo 1 > events/irq/tasklet_entry/enable; echo 1 > events/irq/tasklet_exit/enable\n"
        "insmod /print_tasklet.ko; grep -o 'tasklet_e.*' trace; rmmod print_tasklet",
        "print_tasklet",
    )
    assert out.splitlines() == [
        f"{event}: tasklet={name} [print_tasklet] function={name}_fn [print_tasklet]"
        for name in ("sooner", "later")
        for event in ("tasklet_entry", "tasklet_exit")
    ]


def test_threads(guest):
    out = guest(
        "dmesg -c >/dev/null; insmod /kthread_queue.ko; for i in $(seq 1 50); do echo $i > /proc/kthread_queue; done\n"
        "cat /proc/kthread_queue; echo x > /proc/kthread_queue; echo $?; ps | grep -c '[k]thread_queue'; rmmod kthread_queue\n"
        # A thread that has been stopped may be in ps for a while.
        "while ps | grep '[k]thread_queue' > /dev/null; do usleep 1000; done; echo 0; insmod /completions.ko; "
        "rmmod completions; while ps | grep -E '[c]rank|[f]lywheel' > /dev/null; do usleep 1000; done; echo 0; "
        + DMESG,
        "kthread_queue",
        "completions",
    )
    assert [line for line in log(out) if "write error" not in line] == [
        "1275",
        "1",
        "1",
        "0",
        "0",
        "kthread_queue: the sum was 1275",
        "completions: turn the crank",
        "completions: the flywheel spins up",
        "completions: both have ended",
    ]


def test_messages_into_the_trace(guest):
    """By each way, from the module's start and from an interrupt on the other CPU; what is constant is in printk_formats
    alone."""
    out = guest(
        "insmod /trace-printk.ko; cd /sys/kernel/tracing; grep 'This is a\\|(%s) %d' printk_formats | cut -d '\"' -f 2; rmmod trace_printk; echo ==; cat trace",
        "trace-printk",
        options=("--smp", "2"),
    )
    formats, _, trace = out.partition("==\n")
    texts = [line.split(": ", 2)[2] for line in trace.splitlines() if re.match(r" .*: (\S+): ", line)]
    said = [
        "This is a static string that will use trace_bputs",
        "This is a text that is not constant, by trace_puts",
        "This is a static string that will use trace_bprintk",
        "This is format {} that is not constant, by trace_printk",
    ]
    assert texts[:5] == [line.format(1) for line in said] + ["(many) -1 abc x"]
    assert sorted(texts[5:]) == sorted([f"(irq) {line.format(2)}" for line in said] * 2 + ["goodbye"])
    irq = [re.search(r"\[(\d+)\] (\S+) ", line).groups() for line in trace.splitlines() if "(irq)" in line]
    assert {cpu for cpu, _ in irq} == {"000", "001"} and all(flags[0] == "d" for _, flags in irq)
    constant = ["This is a static string that will use trace_bputs", "This is a %s that will use trace_bprintk"]
    assert sorted(line.removesuffix("\\n") for line in formats.splitlines()) == sorted(
        constant + [f"(irq) {line}" for line in constant] + ["(%s) %d %lx %c"]
    )


def test_a_callback_at_a_function(guest):
    """It counts the calls of another module's sleeps, is shown, and is gone with its module."""
    out = guest(
        "cd /sys/kernel/tracing; insmod /ftrace_calls.ko func=msleep; cat /proc/ftrace_calls; cut -d' ' -f1 enabled_functions\n"
        "insmod /print_work.ko; insmod /completions.ko; cat /proc/ftrace_calls; rmmod completions print_work; cat /proc/ftrace_calls\n"
        "rmmod ftrace_calls; cat enabled_functions; insmod /ftrace_calls.ko func=no_such_function 2>/dev/null; echo $?; cat /proc/modules",
        "ftrace_calls",
        "print_work",
        "completions",
    )
    lines = out.splitlines()
    assert (
        lines[:2] == ["msleep 0", "msleep"] and lines[3:] == ["msleep 2", "1"] and lines[2] in ("msleep 1", "msleep 2")
    )


def test_one_function_in_place_of_another(guest):
    out = guest(
        "p=/proc/ftrace_redirect; insmod /ftrace_redirect.ko; cat $p; echo 1 > $p; cat $p; cat /sys/kernel/tracing/enabled_functions\n"
        "echo 0 > $p; cat $p; echo 1 > $p; rmmod ftrace_redirect; echo $?; cat /sys/kernel/tracing/enabled_functions\n"
        "insmod /ftrace_redirect.ko question=6; cat $p",
        "ftrace_redirect",
    )
    lines = out.splitlines()
    assert lines[0] == "42" and lines[1] == "4100" and re.match(r"answer \[ftrace_redirect\] \(1\) R *I", lines[2]), out
    assert lines[3:] == ["42", "0", "7"]


def test_an_oops_in_a_module(guest):
    """The log names the function and the module; the writer dies, the kernel goes on, and the module stays."""
    out = guest(
        "insmod /oops.ko; sh -c 'echo x > /proc/oops'; echo $?; dmesg | grep -o 'oops_here+.*\\[oops\\]' | head -1\n"
        "dmesg | grep -c 'Unable to handle\\|BUG: '; rmmod oops; echo $?; insmod /hello_1.ko && rmmod hello_1 && echo good",
        "oops",
        "hello_1",
    )
    lines = [line for line in out.splitlines() if line not in ("Killed", "Segmentation fault")]
    assert lines[0] not in ("0", "") and re.fullmatch(r"oops_here\+0x\w+/0x\w+ \[oops\]", lines[1]), out
    assert int(lines[2]) >= 1 and lines[-2:] == ["1", "good"], out


def test_a_second_handler_of_a_line(guest, tmp_path):
    """It counts the interrupts of a virtio port, which goes on working; a number without a line is refused."""
    out = guest(
        story("module_samples", "shared_irq"),
        "irq_shared",
        options=("--port", f"p={tmp_path}/port"),
    )
    lines = out.splitlines()
    assert int(lines[0]) >= 6 and lines[1:] == ["1", "1"], out
    assert (tmp_path / "port").read_text() == "1\n2\n3\n4\n5\n6\n7\n8\n"


@pytest.mark.parametrize("mode, sections", [("irq", "irqoff_test"), ("preempt", "preemptoff_test")])
def test_the_delays_of_the_selftests(guest, mode, sections):
    """The latency tracer finds a section that is as long as the module was told, again at each trigger."""
    tracer = "irqsoff" if mode == "irq" else "preemptoff"
    out = guest(
        f"TRACER={tracer} MODE={mode}\n" + story("module_samples", "delays"),
        "preemptirq_delay_test",
        options=("--smp", "2", "--icount"),  # else the longest may be where the host took the CPU away
    )
    lines = out.splitlines()
    assert 20000 <= int(lines[0]) < 40000 and 20000 <= int(lines[-3]) < 40000 and lines[-2:] == ["1", "1"], out
    assert sections in out


def test_writes_to_a_variable_are_told_with_their_place(guest):  # noqa: F811
    out = guest(
        "insmod /data_breakpoint.ko ksym=no_such_name 2>/dev/null; dmesg | tail -2 | cut -d] -f2-\n"
        "insmod /data_breakpoint.ko; echo 7 > /proc/sys/kernel/panic; cat /proc/sys/kernel/panic; echo 0 > /proc/sys/kernel/panic\n"
        "rmmod data_breakpoint; echo 7 > /proc/sys/kernel/panic; grep -o 'panic_timeout is.*' /sys/kernel/tracing/trace; "
        "insmod /data_breakpoint.ko && rmmod data_breakpoint && echo again",
        "data_breakpoint",
    )
    lines = out.splitlines()
    assert lines[0].strip().endswith("data_breakpoint: no variable has the name no_such_name"), out
    assert lines[2] == "7" and lines[-1] == "again", out
    assert len(lines) == 6 and all(
        re.match(r"panic_timeout is written at panic_store\+0x", line) for line in lines[3:5]
    ), out


NO_CODE = """
#include <linux/module.h>
#include <linux/hw_breakpoint.h>
#include <linux/kallsyms.h>
MODULE_LICENSE("GPL");
static void hit(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs)
{
}
static long breakpoint_at(unsigned long address)
{
	struct perf_event_attr attr;
	struct perf_event **breakpoint;

	hw_breakpoint_init(&attr);
	attr.bp_addr = address;
	attr.bp_len = sizeof(long);
	attr.bp_type = HW_BREAKPOINT_X;
	breakpoint = register_wide_hw_breakpoint(&attr, hit, NULL);
	if (IS_ERR(breakpoint))
		return PTR_ERR(breakpoint);
	unregister_wide_hw_breakpoint(breakpoint);
	return 0;
}
static int __init no_code_init(void)
{
	pr_info("code %ld, data %ld, user memory %ld\\n", breakpoint_at(kallsyms_lookup_name("sys_getppid")),
		breakpoint_at(kallsyms_lookup_name("panic_timeout") & ~3UL), breakpoint_at(0x10000));
	return 0;
}
module_init(no_code_init);
"""


@pytest.mark.parametrize("samples", ["aarch64"], indirect=True)
def test_a_breakpoint_where_no_code_is(guest, tmp_path):  # noqa: F811
    """aarch64 steps over the instruction under a breakpoint, so it must be one that can be read."""
    folder = one_module(guest.arch, tmp_path, "no_code", NO_CODE)
    assert log(guest("dmesg -c > /dev/null; insmod /no_code.ko\n" + DMESG, "no_code", folder=folder)) == [
        "code 0, data -22, user memory -22"
    ]
