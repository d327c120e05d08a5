"""What modules of tutorials use beside what samples/modules shows: each call is made, and its effect seen. What this
kernel cannot have is one line of the compiler that says so."""

import pytest

from module_guest import DMESG, guest, one_module, samples  # noqa: F401  (fixtures)
from test_modules import make

SOURCE = r"""
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/rwlock.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/cpumask.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <asm/errno.h>

static bool quiet = true, loud;
static bool flags[2];
static char *words[5];
static char long_text[1500] = "";
static char *defaults[4] = {long_text, long_text, long_text, long_text};
module_param(quiet, bool, 0644);
module_param_named(noisy, loud, invbool, 0444);
module_param_array(flags, bool, NULL, 0444);
module_param_array(words, charp, NULL, 0444);
module_param_array(defaults, charp, NULL, 0444);
MODULE_LICENSE("GPL");

/* ---- A file that says what it is called. */
static ssize_t read_name(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	char text[64];
	int len = scnprintf(text, sizeof(text), "%s of %u\n", f->f_path.dentry->d_name.name, f->f_path.dentry->d_name.len);

	return simple_read_from_buffer(buf, n, pos, text, len);
}
static const struct proc_ops ops = {.proc_read = read_name};

/* ---- Static keys. */
static DEFINE_STATIC_KEY_FALSE(off_key);
static DEFINE_STATIC_KEY_TRUE(on_key);
static noinline void say_keys(void)
{
	int unlikely_off = 0, likely_on = 0;

	if (static_branch_unlikely(&off_key))
		unlikely_off = 1;
	if (static_branch_likely(&on_key))
		likely_on = 1;
	pr_info("keys %d%d %d%d\n", static_key_enabled(&off_key), unlikely_off, static_key_enabled(&on_key), likely_on);
}

/* ---- Locks: two readers at a time on one CPU, a writer that is kept out, and sums that writers on all CPUs make. */
static DEFINE_RWLOCK(lock);
static unsigned long a, b, torn;
static int writer(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		write_lock(&lock);
		a++;
		b++;
		write_unlock(&lock);
		read_lock(&lock);
		torn += a != b;
		read_unlock(&lock);
	}
	return 0;
}
static void say_locks(void)
{
	struct task_struct *tasks[3];
	unsigned long flags;
	int third, fourth;

	read_lock(&lock);
	read_lock_irqsave(&lock, flags);
	third = write_trylock(&lock);
	read_unlock_irqrestore(&lock, flags);
	read_unlock(&lock);
	write_lock_irq(&lock);
	fourth = read_trylock(&lock);
	write_unlock_irq(&lock);
	for (int i = 0; i < 3; i++) {
		tasks[i] = kthread_create(writer, NULL, "writer");
		get_task_struct(tasks[i]); /* before it runs: it may be at its end at once */
		wake_up_process(tasks[i]);
	}
	for (int i = 0; i < 3; i++) {
		kthread_stop(tasks[i]);
		put_task_struct(tasks[i]);
	}
	pr_info("locks %d %d torn %lu, %s\n", third, fourth, torn, a == b && in_atomic() == 0 ? "whole" : "broken");
}

/* ---- Works and threads with priorities. */
static void say_prio(struct work_struct *work)
{
	pr_info("work of %s at nice %d\n", current->comm, task_nice(current));
}
static DECLARE_WORK(work, say_prio);
static void say_queue(unsigned flags)
{
	struct workqueue_struct *wq = alloc_workqueue("q%x", flags, 1, flags);

	if (!wq) {
		pr_info("no queue %x\n", flags);
		return;
	}
	queue_work(wq, &work);
	destroy_workqueue(wq);
}

/* ---- Sizes that overflow, and sets of one CPU, which last. */
struct list_of {
	int n;
	long item[];
};
static void say_sizes(void)
{
	const struct cpumask *one = cpumask_of(1), *two = cpumask_of(2);
	struct list_of *list = NULL;

	pr_info("sizes %zu %d\n", struct_size(list, item, 3), struct_size(list, item, ~0UL / 4) == ~0UL);
	pr_info("sets %d%d %d%d\n", cpumask_test_cpu(1, one), cpumask_test_cpu(2, one), cpumask_test_cpu(2, two),
		cpumask_weight(two) == 1);
}

static int __init api_init(void)
{
	unsigned long bits = 5;
	int n, x = 0, y = 0;
	char word[8];

	memset(long_text, 'x', sizeof(long_text) - 1);
	pr_info("quiet %d loud %d flags %d%d words %s\n", quiet, loud, flags[0], flags[1], words[1] ?: "none");
	change_bit(1, &bits);
	pr_info("bits %lx\n", bits);
	n = test_and_change_bit(0, &bits);
	pr_info("bits %d %lx\n", n, bits);
	n = sscanf("12 0xff word", "%d %i %7s", &x, &y, word);
	pr_info("scan %d: %d %x %s\n", n, x, y, word);
	say_keys();
	static_branch_enable(&off_key);
	static_branch_enable(&off_key);
	static_branch_disable(&on_key);
	say_keys();
	static_branch_disable(&off_key);
	static_branch_enable(&on_key);
	say_keys();
	say_locks();
	say_queue(WQ_HIGHPRI | WQ_MEM_RECLAIM);
	say_queue(WQ_UNBOUND | WQ_FREEZABLE | WQ_CPU_INTENSIVE);
	say_queue(0x40);
	sched_set_fifo(current);
	pr_info("policy %d\n", current->policy);
	sched_set_normal(current, 3);
	pr_info("policy %d nice %d\n", current->policy, task_nice(current));
	say_sizes();
	return proc_create("api_name", 0444, NULL, &ops) ? 0 : -ENOMEM;
}
static void __exit api_exit(void)
{
	remove_proc_entry("api_name", NULL);
}
module_init(api_init);
module_exit(api_exit);
"""


def test_calls_of_tutorials(guest, tmp_path):  # noqa: F811
    """Parameters of type bool, names of files, static keys of both kinds, reader-writer locks under three writers,
    sscanf, bits, queues and threads with priorities. A text of parameters that is longer than a page is cut."""
    folder = one_module(guest.arch, tmp_path, "api", SOURCE)
    out = guest(
        "dmesg -c > /dev/null; insmod /api.ko quiet=0 noisy=n flags=1,0 words=one,two && "
        + DMESG
        + "cd /sys/module/api/parameters; cat quiet noisy flags; echo Y > quiet; cat quiet; echo 2 > quiet; cat words; "
        "wc -c < defaults; cat /proc/api_name; rmmod api; echo $?",
        "api",
        folder=folder,
        options=("--smp", "3"),
    )
    lines = [line.strip() for line in out.splitlines() if "tainting" not in line]
    assert lines[:12] == [
        "quiet 0 loud 1 flags 10 words two",
        "bits 7",
        "bits 1 6",
        "scan 3: 12 ff word",
        "keys 00 11",
        "keys 11 00",
        "keys 00 11",
        "locks 0 0 torn 0, whole",
        "work of kworker/q18 at nice -20",
        "work of kworker/q26 at nice 0",
        "no queue 40",
        "policy 1",
    ], out
    assert lines[12] == "policy 0 nice 3"
    assert lines[13:15] == ["sizes 32 1", "sets 10 11"], out
    assert lines[15:19] == ["N", "N", "Y,N", "Y"], out
    assert lines[19].endswith("Invalid argument"), out
    assert lines[20:] == ["one,two,(null),(null),(null)", "4096", "api_name of 8", "0"], out


NO_NUMBERS = r"""
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/module.h>

MODULE_LICENSE("GPL");

static const struct file_operations ops = {.owner = THIS_MODULE};
static struct cdev device, other;
static int __init no_numbers_init(void)
{
	dev_t dev;
	int none, empty, taken;

	if (alloc_chrdev_region(&dev, 0, 2, "no_numbers"))
		return -EIO;
	cdev_init(&device, &ops);
	none = cdev_add(&device, dev, 0);
	empty = cdev_add(&other, dev, 1);
	if (cdev_add(&device, dev, 2))
		return -EIO;
	cdev_init(&other, &ops);
	taken = cdev_add(&other, dev + 1, 1);
	pr_info("no numbers %d, no operations %d, taken %d\n", none, empty, taken);
	cdev_del(&device);
	unregister_chrdev_region(dev, 2);
	return 0;
}
module_init(no_numbers_init);
"""


def test_a_device_needs_numbers_and_operations(guest, tmp_path):  # noqa: F811
    folder = one_module(guest.arch, tmp_path, "no_numbers", NO_NUMBERS)
    out = guest("dmesg -c > /dev/null; insmod /no_numbers.ko\n" + DMESG, "no_numbers", folder=folder)
    assert out.strip() == "no numbers -22, no operations -22, taken -16"


POLLED = r"""
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/wait.h>

MODULE_LICENSE("GPL");

static wait_queue_head_t *queue;
static __poll_t polled_poll(struct file *f, poll_table *pt)
{
	poll_wait(f, queue, pt);
	return 0;
}
static const struct proc_ops ops = {.proc_poll = polled_poll};
static int __init polled_init(void)
{
	queue = kmalloc(sizeof(*queue), GFP_KERNEL);
	init_waitqueue_head(queue);
	return proc_create("polled", 0444, NULL, &ops) ? 0 : -ENOMEM;
}
static void __exit polled_exit(void)
{
	remove_proc_entry("polled", NULL);
	memset(queue, 0x5a, sizeof(*queue));
	kfree(queue);
}
module_init(polled_init);
module_exit(polled_exit);
"""


def test_a_poller_leaves_the_queue_of_a_module_that_goes(guest, tmp_path):  # noqa: F811
    """It wakes when the file goes, hours before its time is over, and does not look at the queue's memory again."""
    folder = one_module(guest.arch, tmp_path, "polled", POLLED)
    out = guest(
        "insmod /polled.ko; pollfile /proc/polled 90000000 & until grep -q do_sys_poll /proc/$!/stack; do usleep 1000; done\n"
        "rmmod polled; echo removed $?; wait; echo woken\n"
        "pollfile /proc/version 0; dmesg | grep -cE 'Unable to handle|BUG|WARNING|Oops'; true",
        "polled",
        folder=folder,
        options=("--smp", "2"),
    )
    lines = [line.strip() for line in out.splitlines() if "tainting" not in line]
    assert sorted(lines[:2]) == ["0", "removed 0"] and lines[2:] == ["woken", "1", "0"], out


@pytest.mark.parametrize(
    "text, error",
    [
        ("#include <linux/tty.h>\nstatic struct tty_struct *t;", "linux/tty.h: modules cannot write to terminals"),
        (
            "#include <linux/interrupt.h>\nint init_module(void)\n{\n"
            'return request_threaded_irq(1, NULL, NULL, IRQF_ONESHOT, "x", NULL);\n}',
            "there are no threads of interrupts",
        ),
        ("static int number;\nmodule_param(number, bool, 0);", "with incompatible return type"),
        ("static long number[2];\nmodule_param_array(number, int, NULL, 0);", "with incompatible return type"),
    ],
)
def test_what_cannot_be_is_one_error(tmp_path, text, error):
    """One line of the compiler, which says what is wrong; what follows from it is left out."""
    (tmp_path / "absent.c").write_text(f'#include <linux/module.h>\n{text}\nMODULE_LICENSE("GPL");\n')
    status, said = make(tmp_path, "aarch64", objects="absent.o")
    assert status != 0
    errors = [line for line in said.splitlines() if " error: " in line]
    assert len(errors) == 1 and error in errors[0], said


def test_a_class_and_its_devices_are_in_sys(guest):  # noqa: F811
    """As udev looks for them: a directory of the class, a link to the device, its number; all gone with the module, also
    for who has a file of it open. A second class of the same name is refused."""
    out = guest(
        "insmod /chardev2.ko; ls -l /sys/class/chardev2 | cut -d'>' -f2; cd /sys/class/chardev2/chardev2; pwd -P; ls\n"
        "cat dev uevent; stat -c '%t:%T' /dev/chardev2; exec 3< dev; cd /; rmmod chardev2; cat <&3; exec 3<&-\n"
        "ls /sys/class /sys/devices/virtual | grep -c chardev; insmod /chardev2.ko; rmmod chardev2; echo $?",
        "chardev2",
    )
    lines = [line.strip() for line in out.splitlines()]
    assert lines.pop(0) == "total 0", out
    major = lines[3].partition(":")[0]
    assert lines[:3] == [
        "../../devices/virtual/chardev2/chardev2",
        "/sys/devices/virtual/chardev2/chardev2",
        "dev  uevent",
    ], out
    assert lines[3:7] == [f"{major}:0", f"MAJOR={major}", "MINOR=0", "DEVNAME=chardev2"] and major.isdigit(), out
    assert lines[7:] == [f"{int(major):x}:0", f"{major}:0", "0", "0"], out
