"""Small functions of Linux's headers that modules of drivers use; the function that a module's warning names."""

import re

import pytest
from test_modules import make, run

HELPERS = """
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

MODULE_LICENSE("GPL");

struct item {
	struct list_head node;
	char *text;
};
static LIST_HEAD(items);
static atomic64_t checked = ATOMIC64_INIT(0);

static void *items_start(struct seq_file *m, loff_t *pos)
{
	return seq_list_start_head(&items, *pos);
}

static void *items_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &items, pos);
}

static void items_stop(struct seq_file *m, void *v)
{
}

static int items_show(struct seq_file *m, void *v)
{
	if (v == &items)
		seq_printf(m, "state %c\\n", task_state_to_char(current));
	else
		seq_printf(m, "%s\\n", list_entry(v, struct item, node)->text);
	return 0;
}

static const struct seq_operations items_sops = {
	.start = items_start, .next = items_next, .stop = items_stop, .show = items_show};

static int items_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &items_sops);
}

static noinline int check(int number)
{
	atomic64_inc(&checked);
	return WARN_ONCE(number < 0, "the number is %d\\n", number);
}

static noinline void complain(int number)
{
	WARN_ON(number == 5);
}

static ssize_t items_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	struct item *item;
	int number;

	if (kstrtoint_from_user(from, n, 10, &number) == 0) {
		pr_info("number %d: %d\\n", number, check(number));
		complain(number);
		return n;
	}
	item = kmalloc(sizeof(*item), GFP_KERNEL);
	item->text = memdup_user_nul(from, n - 1);
	list_add_tail(&item->node, &items);
	return n;
}

static const struct proc_ops items_ops = {
	.proc_open = items_open, .proc_read = seq_read, .proc_write = items_write, .proc_lseek = seq_lseek,
	.proc_release = seq_release};

static int __init helpers_init(void)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL), pages = __get_free_pages(GFP_KERNEL, 1);

	pr_info("pages %d %d %d\\n", *(char *)page, offset_in_page(page) == 0, offset_in_page(pages) == 0);
	free_page(page);
	free_pages(pages, 1);
	return proc_create("items", 0644, NULL, &items_ops) ? 0 : -ENOMEM;
}

static void __exit helpers_exit(void)
{
	struct item *item, *next;

	remove_proc_entry("items", NULL);
	list_for_each_entry_safe(item, next, &items, node) {
		kfree(item->text);
		kfree(item);
	}
	pr_info("checked %lld\\n", (long long)atomic64_read(&checked));
}
module_init(helpers_init);
module_exit(helpers_exit);
"""


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_helpers_that_drivers_use(arch, tmp_path):
    """Pages as numbers, lists and texts of programs in a file of /proc. A warning in a function that ends with it names
    that function, not its caller."""
    (tmp_path / "helpers.c").write_text(HELPERS)
    status, said = make(tmp_path, arch, objects="helpers.o")
    assert status == 0 and "warning" not in said, said
    out = run(
        arch,
        [tmp_path / "helpers.ko"],
        "insmod /helpers.ko; echo one > /proc/items; echo two > /proc/items; cat /proc/items\n"
        "echo 5 > /proc/items; echo -6 > /proc/items; echo -7 > /proc/items; rmmod helpers\n"
        "dmesg | grep -oE 'pages [0-9] .*|number .*|checked .*|the number is.*|helpers.c:[0-9]* [a-z]*'",
        tmp_path,
    )
    assert [re.sub(r":\d+ ", " ", line) for line in out.splitlines()] == [
        "state R",
        "one",
        "two",
        "pages 0 1 1",
        "number 5: 0",
        "helpers.c complain",
        "number == 5",
        "the number is -6",
        "helpers.c check",
        "number -6: 1",
        "number -7: 1",
        "checked 3",
    ]
