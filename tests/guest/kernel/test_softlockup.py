"""The log tells of a task that keeps its CPU with preemption off, and of no other."""

import re

import pytest
from stories import story
from test_modules import make, run

HOLD = """
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/delay.h>

MODULE_LICENSE("GPL");

static int stage;
module_param(stage, int, 0644);
static struct task_struct *holder;

static noinline void hold_stage(int now)
{
	while (READ_ONCE(stage) == now)
		cpu_relax();
}

static int hold(void *unused)
{
	while (!READ_ONCE(stage))
		msleep(20);
	hold_stage(1);
	preempt_disable();
	hold_stage(2);
	preempt_enable();
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int __init hold_init(void)
{
	holder = kthread_create(hold, NULL, "holder");
	if (IS_ERR(holder))
		return PTR_ERR(holder);
	kthread_bind(holder, 0);
	wake_up_process(holder);
	return 0;
}

static void __exit hold_exit(void)
{
	kthread_stop(holder);
}

module_init(hold_init);
module_exit(hold_exit);
"""


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_a_soft_lockup_is_told(arch, tmp_path):
    """First the thread is busy for four seconds, which is no fault; then it is busy with preemption off until the log has
    told it twice. The other CPU runs the script."""
    (tmp_path / "hold.c").write_text(HOLD)
    status, said = make(tmp_path, arch, objects="hold.o")
    assert status == 0 and "warning" not in said, said
    out = run(
        arch,
        [tmp_path / "hold.ko"],
        story("softlockup"),
        tmp_path,
        "--smp",
        "2",
    )
    lines = out.splitlines()
    refused = "sh: echo: write error: Invalid argument"
    assert lines[:6] == ["10", refused, refused, "1", "0", "0"], out
    told = [line.strip() for line in lines[6:]]
    assert re.fullmatch(r"watchdog: BUG: soft lockup - CPU#0 stuck for [2-9]s! \[holder:\d+\]?", told[0]), out
    first, second = (i for i, line in enumerate(told) if "lockup" in line)
    seconds = [int(re.search(r"stuck for (\d+)s!", told[i])[1]) for i in (first, second)]
    assert seconds[0] + 2 <= seconds[1] < 20, out  # the host may hold the watchdog up for a second
    frames = told[told.index("Call trace:") + 1 : second]
    assert re.match(r"hold_stage\+0x\S+ \[hold\]", frames[0]) and re.match(r"hold\+0x\S+ \[hold\]", frames[1]), out
    assert first == 0 and frames[2].startswith("kthread+")
