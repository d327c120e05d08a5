"""A module of a hundred functions that tools/bench loads in its guests."""

import os
import subprocess
import tempfile

from bench_glibc import read_file
from vitrine_guest import ROOT, GuestError

# A letter and N written to its parameter `call` do a thing N times: c calls the function `called`, q queues a work and
# waits for it, a allocates an object and frees it.
MODULE_FUNCTIONS = 100
MODULE = """#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
MODULE_LICENSE("GPL");
noinline void called(void);
noinline void called(void)
{
	barrier();
}
static void fn(struct work_struct *work)
{
}
static DECLARE_WORK(work, fn);
static int call(const char *text, const struct kernel_param *kp)
{
	for (unsigned long n = simple_strtoul(text + 1, NULL, 10); n--;) {
		if (*text == 'c') {
			called();
		} else if (*text == 'q') {
			queue_work_on(0, system_wq, &work);
			flush_work(&work);
		} else {
			kfree(kmalloc(100, GFP_KERNEL));
		}
	}
	return 0;
}
static const struct kernel_param_ops ops = {.set = call};
module_param_cb(call, &ops, NULL, 0200);
static int begin(void)
{
	return 0;
}
static void end(void)
{
}
module_init(begin);
module_exit(end);
"""
MODULE += "".join(
    f"noinline int f{n}(int a);\nnoinline int f{n}(int a)\n{{\n\treturn a + {n};\n}}\n"
    for n in range(MODULE_FUNCTIONS - 5)
)


def build_module(arch):
    """The module that MODULES loads: its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("bench_module.c", MODULE), ("Makefile", "obj-m += bench_module.o\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
        done = subprocess.run(
            ["make", "-s", "-C", ROOT, f"M={folder}", f"ARCH={arch}"],
            env=clean,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise GuestError(f"the module cannot be built:\n{done.stdout}{done.stderr}", 1)
        return read_file(os.path.join(folder, "bench_module.ko"))
