"""References to modules: who keeps one from going is named, and an init that fails waits for who has come in meanwhile."""

import re

from module_guest import CRASH, DMESG, guest, one_module, samples  # noqa: F401  (fixtures)
from stories import story

# Its device is there until somebody writes to it; then init takes it away and fails.
FAILS = r"""
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
MODULE_LICENSE("GPL");

static ssize_t read_word(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return simple_read_from_buffer(buf, n, pos, "still here\n", 11);
}
static bool is_written;
static ssize_t write_word(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	WRITE_ONCE(is_written, true);
	return n;
}
static int closed(struct inode *inode, struct file *f)
{
	pr_info("closed\n");
	return 0;
}
static const struct file_operations fops = {.owner = THIS_MODULE, .read = read_word, .write = write_word,
	.release = closed};
static struct miscdevice misc = {.minor = MISC_DYNAMIC_MINOR, .name = "held/fails", .fops = &fops};
static int __init fails_init(void)
{
	int err = misc_register(&misc);

	if (err)
		return err;
	while (!READ_ONCE(is_written))
		msleep(10);
	misc_deregister(&misc);
	return -EIO;
}
module_init(fails_init);
"""

# Mistakes that a student makes: an exit that goes with init's text, and a parameter that can only be read.
SLIPS = r"""
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
MODULE_LICENSE("GPL");

static int get_seven(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "7\n");
}
static const struct kernel_param_ops ops = {.get = get_seven};
module_param_cb(seven, &ops, NULL, 0444);
static int __init slips_init(void)
{
	return 0;
}
module_init(slips_init);
static void __init slips_exit(void)
{
	pr_info("freed text was called\n");
}
module_exit(slips_exit);
"""

# Its exit takes longer than is usual, and then lets go. `seconds` is a parameter: 0 says nothing.
SLOW = r"""
#include <linux/delay.h>
#include <linux/module.h>
MODULE_LICENSE("GPL");
static int seconds;
module_param(seconds, int, 0644);
static int __init slow_init(void)
{
	return 0;
}
module_init(slow_init);
static void __exit slow_exit(void)
{
	ssleep(seconds);
	barrier(); /* no jump instead of the last call: exit stands on the stack */
}
module_exit(slow_exit);
"""

WATCHED = r"""
#include <linux/module.h>
MODULE_LICENSE("GPL");
int watched_number;
module_param(watched_number, int, 0644);
static int __init watched_init(void)
{
	return 0;
}
module_init(watched_init);
static void __exit watched_exit(void)
{
}
module_exit(watched_exit);
"""

DARK = r"""
#include <linux/irqflags.h>
#include <linux/module.h>
MODULE_LICENSE("GPL");
static int __init dark_init(void)
{
	local_irq_disable();
	return 0;
}
module_init(dark_init);
static void __exit dark_exit(void)
{
}
module_exit(dark_exit);
"""

LONG_NAME = r"""
#include <linux/module.h>
MODULE_LICENSE("GPL");
static int far __attribute__((used, section("%s"))) = 1;
static int __init longname_init(void)
{
	return far - 1;
}
module_init(longname_init);
"""


def test_slips_of_a_module_do_no_harm(guest, tmp_path):  # noqa: F811
    """An exit that is __init is never called; a parameter without a `set` is EPERM and leaves no lock held."""
    folder = one_module(guest.arch, tmp_path, "slips", SLIPS)
    one_module(guest.arch, tmp_path, "longname", LONG_NAME % ("x" * 300))
    out = guest(
        "dmesg -c > /dev/null; insmod /slips.ko seven=8; echo $?; insmod /longname.ko; echo $?; insmod /slips.ko; echo $?\n"
        "cat /sys/module/slips/parameters/seven; rmmod slips; echo $?; ls /sys/module/slips/sections > /dev/null; "
        + DMESG,
        "slips",
        "longname",
        folder=folder,
    )
    lines = [line.strip() for line in out.splitlines()]
    assert [line for line in lines if line in ("0", "1", "7")] == ["1", "1", "0", "7", "1"], out
    assert any("section" in line and "has a name that no file can have" in line for line in lines), out
    assert any("Operation not permitted" in line for line in lines) and any(
        "has no exit" in line for line in lines
    ), out
    assert "freed text" not in out and not re.search(CRASH, out), out


def test_watches_end_with_the_module(guest, tmp_path):  # noqa: F811
    """ksym_tracer watches a variable of it; when it goes, the register is free and the next module's memory is its own."""
    folder = one_module(guest.arch, tmp_path, "watched", WATCHED)
    out = guest(
        story("module_refs", "watches"),
        "watched",
        folder=folder,
    )
    lines = [line.strip() for line in out.splitlines() if "tainting" not in line]
    assert lines == ["watched_number", "1", "0"] * 3 + ["4"], out


def test_an_init_that_leaves_interrupts_off_is_found(guest, tmp_path):  # noqa: F811
    """Also while the tracer initcall looks, whose probes take a lock behind the call."""
    folder = one_module(guest.arch, tmp_path, "dark", DARK)
    out = guest(
        "dmesg -c > /dev/null; insmod /dark.ko; rmmod dark; echo initcall > /sys/kernel/tracing/current_tracer; insmod /dark.ko; "
        + DMESG,
        "dark",
        folder=folder,
    )
    assert out.count("dark_init+0x0") >= 2 and out.count("left preemption or interrupts off") == 2, out


def test_who_uses_a_module_is_named(guest):  # noqa: F811
    """A program with two descriptors, and a module that is still loading."""
    out = guest(
        "insmod /misc_counter.ko; dmesg -c > /dev/null; sleep 100 < /dev/misc_counter 5< /dev/misc_counter & "
        "while ! ls -l /proc/$!/fd | grep -q '5 -> '; do sleep 0.1; done; rmmod misc_counter; echo $?; "
        + DMESG
        + "kill $!; wait $!; rmmod misc_counter; echo $?",
        "misc_counter",
    )
    lines = [line.strip() for line in out.splitlines()]
    pid = next(line.split("-")[1].split()[0] for line in lines if "sleep-" in line)
    assert "misc_counter: it is in use by 2 open files, threads or others that hold a reference" in lines, out
    assert f"misc_counter: sleep-{pid} has misc_counter open as descriptor 0" in lines, out
    assert f"misc_counter: sleep-{pid} has misc_counter open as descriptor 5" in lines, out
    assert [line for line in lines if line in ("0", "1")] == ["1", "0"], out


def test_an_exit_that_does_not_return_is_told(guest, tmp_path):  # noqa: F811
    """Once, with the task that waits and the file that shows where it does; a quick exit says nothing."""
    folder = one_module(guest.arch, tmp_path, "slow", SLOW)
    out = guest(
        "insmod /slow.ko; dmesg -c > /dev/null; rmmod slow; sleep 10.5; insmod /slow.ko seconds=12; rmmod slow & pid=$!\n"
        "while ! dmesg | grep -q 'has not returned'; do sleep 0.1; done; echo pid $pid; cat /proc/$pid/stack; wait $pid; echo $?\n"
        + DMESG,
        "slow",
        options=("--icount", "--smp", "1"),  # 22 s of waiting pass at once: an idle CPU goes to its next timer
        folder=folder,
    )
    lines = [line.strip() for line in out.splitlines()]
    pid = lines[0].removeprefix("pid ")
    assert "slow_exit+0x" in out and "[slow]" in out, out
    told = [line for line in lines if "has not returned" in line]
    assert told == [f"slow: its exit has not returned for 10 s: cat /proc/{pid}/stack shows what it waits for"], out
    assert lines[lines.index(told[0]) - 1] == "0" and not re.search(r"Unable to handle|WARNING", out), out


def test_rmmod_says_that_a_module_is_in_use_without_procfs(guest):  # noqa: F811
    out = guest(
        "insmod /misc_counter.ko; exec 5< /dev/misc_counter; umount /proc; rmmod misc_counter; echo $?; exec 5<&-; rmmod misc_counter; echo $?",
        "misc_counter",
    )
    assert [line.strip() for line in out.splitlines()] == [
        "rmmod: Module misc_counter is in use (dmesg may say whose)",
        "1",
        "0",
    ], out


def test_an_init_that_fails_waits_for_open_files(guest, tmp_path):  # noqa: F811
    """The file is opened while init sleeps and read after it has failed; the module goes when the file is closed. Loads
    of the same name are refused meanwhile, as on Linux: one that came while init slept, and one that came later."""
    folder = one_module(guest.arch, tmp_path, "fails", FAILS)
    out = guest(
        story("module_refs", "fails") + DMESG,
        "fails",
        folder=folder,
    )
    lines = [line.strip() for line in out.splitlines()]
    assert "fails: it is still being loaded, or on its way out" in lines, out
    assert "fails: its init has failed, and 1 open files or others hold it: it goes when they let go" in lines, out
    assert "still here" in lines and "closed" in lines, out
    assert any(line.startswith("fails ") and " Unloading " in line for line in lines), out
    refusal = (
        "insmod: could not insert /fails.ko: a module of this name is going, or its init has just failed; try again"
    )
    assert lines[lines.index("going 1") - 1] == refusal, out
    assert lines[lines.index("insmod 1") + 1 :][:3] == ["second 1", refusal, "end"], out
    assert "/dev/held" not in lines, out  # the device that goes leaves alone what root has removed
    assert not re.search(CRASH, out), out
