"""Per-CPU variables of modules, and alloc_percpu()."""

import re

from module_guest import CRASH, DMESG, guest, log, one_module, samples  # noqa: F401

VALUES = """
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
MODULE_LICENSE("GPL");

static int seven = 7;
struct pair { int value; int *where; char pad[3000]; };
static DEFINE_PER_CPU(struct pair, pair) = {.value = 5, .where = &seven};
DEFINE_PER_CPU(char, odd) = 'o';
EXPORT_PER_CPU_SYMBOL(odd);
static DEFINE_PER_CPU_ALIGNED(u64, line) = 1;
static u64 __percpu *given;

static void change(void *unused)
{
	int was = this_cpu_xchg(line, 3);

	this_cpu_add(pair.value, smp_processor_id() * 10);
	this_cpu_add(line, was);
	*this_cpu_ptr(given) += 100 + this_cpu_inc_return(line) + *this_cpu_read(pair.where);
}

static int f(void)
{
	unsigned cpu, wrong = 0;
	void *many[64];
	int n = 0;

	given = alloc_percpu(u64);
	for_each_possible_cpu(cpu)
		wrong += *per_cpu_ptr(given, cpu) || per_cpu(pair, cpu).value != 5 || per_cpu(pair, cpu).where != &seven ||
			 per_cpu(odd, cpu) != 'o' || (unsigned long)per_cpu_ptr(&line, cpu) % 64;
	on_each_cpu(change, NULL, 1);
	for_each_possible_cpu(cpu)
		printk("values: cpu%u %d %llu %llu %c\\n", cpu, per_cpu(pair, cpu).value, per_cpu(line, cpu),
		       *per_cpu_ptr(given, cpu), per_cpu(odd, cpu));
	while (n < 64 && (many[n] = __alloc_percpu(1000, 64)))
		memset(per_cpu_ptr(many[n++], 0), 0xff, 1000);
	for (int i = 0; i < n; i += 2)
		free_percpu(many[i]);
	for (int i = 0; i < n; i += 2)
		many[i] = __alloc_percpu(1000, 64);
	for (int i = 0; i < n; i++) {
		wrong += !many[i] || (i % 2 == 0 && *(char *)per_cpu_ptr(many[i], 0));
		free_percpu(many[i]);
	}
	printk("values: wrong %u, room for %d, for the wrong %d\\n", wrong, n,
	       !!__alloc_percpu(40000, 1) + !!__alloc_percpu(8, 128) + !!__alloc_percpu(8, 3) + !!__alloc_percpu(0, 1));
	free_percpu(NULL);
	return 0;
}
module_init(f);
static void g(void)
{
	free_percpu(given);
}
module_exit(g);
"""


def test_variables_begin_with_their_value_on_each_cpu_and_their_room_comes_back(guest, tmp_path):  # noqa: F811
    folder = one_module(guest.arch, tmp_path, "values", VALUES)
    # 3,200 bytes of a room of 32 KiB: eleven loads fill it, unless each rmmod gives it back.
    out = guest(
        "insmod /values.ko; rmmod values\n" + DMESG + "i=0\nwhile [ $i -lt 12 ]; do insmod /values.ko && rmmod values; "
        "i=$((i+1)); done\ndmesg | grep -c 'wrong 0, room'",
        "values",
        options=("--smp", "4"),
        folder=folder,
    )
    assert not re.search(CRASH, out), out
    lines = [line for line in log(out) if line.startswith("values:") or line.isdigit()]
    # given: 100, the line's 3 + 1 + 1, and the 7 that the pointer leads to.
    assert lines[:4] == [f"values: cpu{cpu} {5 + 10 * cpu} 5 112 o" for cpu in range(4)], out
    assert re.fullmatch(r"values: wrong 0, room for (2[5-9]|3[0-2]), for the wrong 0", lines[4]), out
    assert lines[5:] == ["12"], out


FULL = """
#include <linux/module.h>
#include <linux/percpu.h>
MODULE_LICENSE("GPL");
static DEFINE_PER_CPU(char, big[20000]);
static int f(void) { return this_cpu_read(big[0]); }
module_init(f);
static void g(void) { }
module_exit(g);
"""


def test_a_module_whose_variables_find_no_room_is_refused_with_a_line(guest, tmp_path):  # noqa: F811
    one_module(guest.arch, tmp_path, "full", FULL)
    one_module(guest.arch, tmp_path, "full2", FULL)
    out = guest(
        "insmod /full.ko && insmod /full2.ko\n"
        + DMESG
        + "lsmod | cut -d' ' -f1; rmmod full; insmod /full2.ko && echo now",
        "full",
        "full2",
        folder=tmp_path,
    )
    lines = log(out)
    assert any("Cannot allocate memory" in line or "Out of memory" in line for line in lines), out
    assert "full2: its per-CPU variables (20000 bytes) find no room" in lines, out
    assert lines[-3:] == ["Module", "full", "now"], out


def test_calls_are_counted_on_each_cpu(guest):  # noqa: F811
    out = guest(
        "insmod /percpu_counts.ko function=sys_newuname && cat /proc/percpu_counts\n"
        "for cpu in 0 2 2; do taskset -c $cpu uname >/dev/null; done; cat /proc/percpu_counts; rmmod percpu_counts",
        "percpu_counts",
        options=("--smp", "4"),
    )
    counts = [int(n) for n in re.findall(r"^(?:cpu\d|sum) (\d+)$", out, re.M)]
    assert counts == [0, 0, 0, 0, 0, 1, 0, 2, 0, 3], out
