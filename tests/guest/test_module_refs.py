"""References to modules: who keeps one from going is named, and an init that fails waits for who has come in meanwhile."""

import re

from module_guest import CRASH, DMESG, guest, one_module, samples  # noqa: F401  (fixtures)

# Its device is there for a second; then init takes it away and fails.
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
static int closed(struct inode *inode, struct file *f)
{
	pr_info("closed\n");
	return 0;
}
static const struct file_operations fops = {.owner = THIS_MODULE, .read = read_word, .release = closed};
static struct miscdevice misc = {.minor = MISC_DYNAMIC_MINOR, .name = "held/fails", .fops = &fops};
static int __init fails_init(void)
{
	int err = misc_register(&misc);

	if (err)
		return err;
	msleep(1000);
	misc_deregister(&misc);
	return -EIO;
}
module_init(fails_init);
"""


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


def test_an_init_that_fails_waits_for_open_files(guest, tmp_path):  # noqa: F811
    """The file is opened while init sleeps and read after it has failed; the module goes when the file is closed."""
    folder = one_module(guest.arch, tmp_path, "fails", FAILS)
    out = guest(
        "dmesg -c > /dev/null; insmod /fails.ko & job=$!\n"
        "while ! [ -e /dev/held/fails ]; do sleep 0.05; done; exec 5< /dev/held/fails; rm -r /dev/held\n"
        "rmmod fails; while ! dmesg | grep -q 'hold it'; do sleep 0.1; done; cat /proc/modules; cat <&5\n"
        "exec 5<&-; wait $job; echo insmod $?; cat /proc/modules; echo end; ls -d /dev/held; " + DMESG,
        "fails",
        folder=folder,
    )
    lines = [line.strip() for line in out.splitlines()]
    assert "fails: it is still being loaded, or on its way out" in lines, out
    assert "fails: its init has failed, and 1 open files or others hold it: it goes when they let go" in lines, out
    assert "still here" in lines and "closed" in lines, out
    assert any(line.startswith("fails ") and " Unloading " in line for line in lines), out
    assert lines[lines.index("insmod 1") + 1] == "end", out
    assert "/dev/held" not in lines, out  # the device that goes leaves alone what root has removed
    assert not re.search(CRASH, out), out
