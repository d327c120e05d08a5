"""The kernel asks modprobe for a module, and programs that the kernel starts (call_usermodehelper)."""

import re

from module_guest import CRASH, DMESG, guest, log, one_module, samples  # noqa: F401
from stories import story

ASKS = """
#include <linux/kmod.h>
#include <linux/module.h>
MODULE_LICENSE("GPL");
static char path[] = "/bin/sh", dash[] = "-c", *env[] = {"WORD=from env", "PATH=/bin", NULL};

static void run(const char *program, char *script, int wait)
{
	char *argv[] = {path, dash, script, NULL};
	int ret = call_usermodehelper(program, argv, env, wait);

	printk("asks: %s %d: %x\\n", program, wait, ret);
}

static int f(void)
{
	run("/bin/sh", "echo $WORD $PPID $# > /tmp/said; id -u >> /tmp/said; pwd >> /tmp/said; ls /proc/self/fd | wc -w >> "
		       "/tmp/said; exit 3", UMH_WAIT_PROC);
	run("/bin/sh", "kill -9 $$", UMH_WAIT_PROC);
	run("/bin/sh", "exit 5", UMH_WAIT_EXEC);
	run("/nowhere", "", UMH_WAIT_EXEC);
	run("/nowhere", "", UMH_WAIT_PROC | UMH_KILLABLE);
	run("/nowhere", "", UMH_NO_WAIT);
	printk("asks: helped %d\\n", request_module("help-%d", 1));
	printk("asks: nobody %x\\n", request_module("nobody"));
	printk("asks: long %d\\n", request_module("%0*d", 70, 1));
	return 0;
}
module_init(f);
static void g(void) { }
module_exit(g);
"""
HELPS = """
#include <linux/module.h>
MODULE_LICENSE("GPL");
MODULE_ALIAS("help-[0-9]");
static int f(void) { return 0; }
module_init(f);
static void g(void) { }
module_exit(g);
"""


def test_programs_that_the_kernel_starts(guest, tmp_path):  # noqa: F811
    one_module(guest.arch, tmp_path, "asks", ASKS)
    one_module(guest.arch, tmp_path, "helps", HELPS)
    out = guest(
        story("module_request", "asks"),
        "asks",
        "helps",
        folder=tmp_path,
    )
    assert not re.search(CRASH, out), out
    lines = log(out)
    assert [line for line in lines if line.startswith("asks:")][:9] == [
        "asks: /bin/sh 2: 300",
        "asks: /bin/sh 2: 9",
        "asks: /bin/sh 1: 0",
        "asks: /nowhere 1: fffffffe",
        "asks: /nowhere 6: fffffffe",
        "asks: /nowhere 0: 0",
        "asks: helped 0",
        "asks: nobody 100",
        "asks: long -36",
    ], out
    # Its environment, no argument, root, the root folder (not that of the caller), and ls's own open folder.
    said = lines.index(next(line for line in lines if line.startswith("from env")))
    assert lines[said].split()[3:] == ["0"], out
    assert lines[said + 1 : said + 3] == ["0", "/"], out
    assert lines[said + 4 : said + 9] == [
        "1",
        "help-1 wait=1 call_site=f [asks]",
        "nobody wait=1 call_site=f [asks]",
        "0",
        "/bin/none",
    ], out
    helped = [line for line in lines if "helped" in line]
    assert helped[1].endswith("helped -2") and helped[2].endswith("helped -2") and len(helped) == 3, out


NUMBERED = """
#include <linux/fs.h>
#include <linux/module.h>
MODULE_LICENSE("GPL");
MODULE_ALIAS_CHARDEV_MAJOR(240);
static ssize_t numbered_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return simple_read_from_buffer(buf, n, pos, "240\\n", 4);
}
static const struct file_operations fops = {.owner = THIS_MODULE, .read = numbered_read};
static int f(void) { return register_chrdev(240, "numbered", &fops); }
module_init(f);
static void g(void) { unregister_chrdev(240, "numbered"); }
module_exit(g);
"""


def test_an_open_of_a_device_loads_its_module_by_the_alias_that_the_build_wrote(guest, tmp_path):  # noqa: F811
    one_module(guest.arch, tmp_path, "numbered", NUMBERED)
    assert (tmp_path / "modules.alias").read_text() == "alias char-major-240-* numbered\n"
    out = guest(
        story("module_request", "alias"),
        "numbered",
        options=("--file", f"{tmp_path}/modules.alias:/modules.alias"),
        folder=tmp_path,
    )
    lines = log(out)
    assert not re.search(CRASH, out), out
    assert lines[0:2] == ["240", "1"], out
    assert [line.split(" call_site")[0] for line in lines if "wait=1" in line] == [
        "char-major-240-7 wait=1",
        "char-major-241-7 wait=1",
        "char-major-241 wait=1",
        "fs-nosuch wait=1",
    ], out
    assert re.search(r"^ *numbered: \w+-\d+ has n open as descriptor 3$", out, re.M), out
    assert lines[-1] == "gone", out
