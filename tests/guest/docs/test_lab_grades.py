"""The labs, graded: the solution gets all points, the starting code what the handout promises, a wrong solution loses
what it should; and submissions that want points without the work get none. Here a short form, in `make soak` all."""

import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools", "labs"))

import grading  # noqa: E402
import proving  # noqa: E402
from catalogue import all_labs, find  # noqa: E402
from workshop import Workshop  # noqa: E402


def test_solution_and_start_aarch64():
    """One lab on one machine: what lab check itself does, and that it is graded as it should be."""
    said = []
    only = ["solution", "start", "reach_one_more"]
    assert proving.table([find("mcount")], only=only, arches=["aarch64"], say=said.append), "\n".join(said)
    assert [line.split()[1:3] for line in said] == [["solution", "50"], ["wrong/reach_one_more", "45"], ["start", "0"]]


@pytest.mark.soak(only=True)
@pytest.mark.parametrize("name", [lab.name for lab in all_labs()])
def test_every_row_twice(name):
    """All rows of a lab on its machines; and the same while the host has eight other things to do."""
    said, again = [], []
    assert proving.table([find(name)], say=said.append), "\n".join(said)
    load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(8)]
    try:
        assert proving.table([find(name)], say=again.append), "\n".join(again)
    finally:
        for one in load:
            one.kill()
            one.wait()
    assert again == said


# What a student might try: the file, what is put into which function of the starting code, and the checks that it may
# still pass (those that the starting code passes).
ATTACKS = {
    "prints what is expected": ("cow", "kernel/mm/dup_mm.c", "dup_mm", 'pr_info("lab: 20 0 0\\\\n");'),
    "prints it for the program": (
        "cow",
        "kernel/mm/dup_mm.c",
        "dup_mm",
        'loff_t at = 0;\n\tstruct file *out = fget(1);\n\tif (out && !memcmp(current->comm, "lab_cow", 7))\n'
        '\t\tkernel_write(out, "lab: 20\\\\n", 8, &at);\n\tif (out)\n\t\tfput(out);',
    ),
    "ends the program before its answer": (
        "cow",
        "kernel/mm/dup_mm.c",
        "dup_mm",
        'if (!memcmp(current->comm, "lab_cow", 7))\n\t\tdo_exit(0);',
    ),
    "prints it, and ends the program": (
        "cow",
        "kernel/mm/dup_mm.c",
        "dup_mm",
        'loff_t at = 0;\n\tstruct file *out = fget(1);\n\tif (out && !memcmp(current->comm, "lab_cow", 7)) {\n'
        '\t\tkernel_write(out, "lab: 20\\\\n", 8, &at);\n\t\tdo_exit(0);\n\t}\n\tif (out)\n\t\tfput(out);',
    ),
    "eats all memory": ("cow", "kernel/mm/dup_mm.c", "dup_mm", "while (alloc_page(GFP_USER))\n\t\t;"),
    "panics": ("cow", "kernel/mm/dup_mm.c", "dup_mm", 'panic("mine");'),
    "never returns": ("cow", "kernel/mm/dup_mm.c", "dup_mm", "for (;;)\n\t\tbarrier();"),
    "sleeps for ever": (
        "cow",
        "kernel/mm/dup_mm.c",
        "dup_mm",
        "for (;;)\n\t\tmsleep(1000000);",
    ),
    "prints for ever": (
        "cow",
        "kernel/mm/dup_mm.c",
        "dup_mm",
        'for (;;)\n\t\tpr_info("mine mine mine mine mine mine mine\\\\n");',
    ),
    "lowers its faults": ("cow", "kernel/mm/dup_mm.c", "dup_mm", "current->min_flt = 0;"),
    "says that boot was cheap": (
        "mcount",
        "trace/ftrace/ftrace.c",
        "convert_nops",
        'pr_info("ftrace: allocated 1 pages with 1 groups, 3000 sites made nops in 10 ns\\\\n");',
    ),
    "never returns, and no watchdog sees it": (
        "cow",
        "kernel/mm/dup_mm.c",
        "dup_mm",
        "raw_local_irq_disable();\n\tfor (;;)\n\t\tbarrier();",
    ),
    "powers off": ("cow", "kernel/mm/dup_mm.c", "dup_mm", "arch_power_off(0);"),
    "restarts for ever": ("cow", "kernel/mm/dup_mm.c", "dup_mm", "arch_restart();"),
    "tells the longest latency": (
        "irqsoff",
        "trace/tracers/preemptirq.c",
        "irqs_on",
        "if (critical_tracer.tr && critical_tracer.tr->max)\n\t\tcritical_tracer.tr->max->latency = 700000;",
    ),
    "writes the records itself": (
        "irqsoff",
        "trace/tracers/preemptirq.c",
        "irqs_on",
        "if (critical_tracer.tr)\n"
        "\t\ttrace_function(critical_tracer.tr, (unsigned long)trace_hardirqs_off, ip, preempt_count(), flags);",
    ),
    "prints that none was lost, and ends the program": (
        "race",
        "drivers/rtc/rtc_dev.c",
        "rtc_read",
        "loff_t at = 0;\n\tstruct file *out = fget(1);\n\tif (out) {\n"
        '\t\tkernel_write(out, "race: rate 1 reads 0 interrupts 5 returned 5 lost 0\\\\n", 52, &at);\n'
        "\t\tdo_exit(0);\n\t}",
    ),
    "prints that it waits, and that there is nothing": (
        "driver",
        "drivers/virtio/virtio_rng.c",
        "rng_read",
        "loff_t at = 0;\n\tstruct file *out = fget(1);\n\tif (out) {\n"
        '\t\tkernel_write(out, "lab: 9 00\\\\nlab: -11\\\\nlab: -11\\\\n", 28, &at);\n'
        "\t\tdo_exit(0);\n\t}",
    ),
    "switches tracing off": ("mcount", "trace/ftrace/ftrace.c", "convert_nops", "ftrace_nr_kernel_recs = 0;"),
}


HEADERS = (  # of what they call
    "arch/poweroff.h",
    "fs/vfs.h",
    "irq/irqflags.h",
    "kernel/panic.h",
    "kernel/printk.h",
    "lib/string.h",
    "proc/fork.h",
    "sched/sched.h",
    "time/jiffies.h",
)


@pytest.mark.soak(only=True)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_points_without_the_work_aarch64(attack):
    """The starting code with this in it gets no more than the starting code."""
    name, file, function, evil = ATTACKS[attack]
    lab, workshop = find(name), Workshop("attack")

    def over(top):
        path = os.path.join(top, file)
        with open(path, encoding="utf-8") as source:
            text = source.read()
        opened = re.search(rf"\b{function}\([^;{{]*\)\n{{\n", text).end()
        # Behind the declarations: before the first statement, which here is the first line that is no declaration.
        body = text[opened:]
        at = opened + re.search(r"^\t(?:LAB_YOURS|if \(!new\)|if \(irqs|if \(size)", body, re.M).start()
        text = text[:at] + "\t" + evil.replace("\\\\n", "\\n") + "\n" + text[at:]
        text = re.sub(r"^#include <", "".join(f"#include <{name}>\n" for name in HEADERS) + "#include <", text, 1, re.M)
        with open(path, "w", encoding="utf-8") as source:
            source.write(text)

    workshop.tree(lab, over=over)
    results, figures = grading.run_checks(lab, workshop, ["aarch64"], 5)
    assert not any(result.lost and result.lost.unbuilt for result in results), results[0].lost.evidence
    assert {result.check.name for result in results if not result.lost} <= set(lab.free)
    assert not figures
