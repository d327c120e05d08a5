"""trace_stat/workqueues and workfuncs: the printed form of old kernels, and the numbers that a module has queued."""

import os
import re
import subprocess

import pytest
from stories import story
from module_guest import CRASH, one_module, samples  # noqa: F401
from vitrine_guest import ROOT

# What seed 002 and a kernel of 2.6.30 print, and what a line of ours is matched by.
PRINTED = [
    (" # CPU INSERTED  EXECUTED  NAME  ", r" ?# CPU +INSERTED +EXECUTED +NAME *"),
    (" #  |     |         |       |  ", r" ?# +\| +\| +\| +\| *"),
    ("    0   38044    38044    events/0  ", r" +\d+ +\d+ +\d+ +\S+ *"),
    ("    0     426      426    khelper  ", r" +\d+ +\d+ +\d+ +\S+ *"),
    ("    0       0        0    kacpid  ", r" +\d+ +\d+ +\d+ +\S+ *"),
    ("# CPU  INSERTED  EXECUTED   NAME", r"# CPU  INSERTED  EXECUTED   NAME"),
    ("# |      |         |          |", r"# \|      \|         \|          \|"),
    ("  0   9853       9853       kblockd/0", r" *\d+ +\d+     +\d+       \S+"),
]
FUNCS_HEADER = """# CPU INSERTED EXECUTED    MAX us   AVG us   TASKNAME:PID
#  |     |        |           |      ` |     -WORKFUNC
#  |     |        |           |        |          |
"""
POOL = re.compile(r"  ( *\d+)   ( *\d+)   ( *\d+)                     (\S+):(\d+)")
FUNC = re.compile(r"  ( *\d+)   ( *\d+)   ( *\d+)   ( *\d+)   ( *\d+)   ([|`])-(.+)")
CPUS = 2
EACH, BY_TIMER, OWN, CANCELED = 20, 7, 30, 5
MANY = 300

SOURCE = f"""
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/jiffies.h>
#include <linux/workqueue.h>
MODULE_LICENSE("GPL");

static void by_task(struct work_struct *w) {{ }}
static void by_timer(struct work_struct *w) {{ }}
static void slow(struct work_struct *w) {{ msleep(24); }}
static void quick(struct work_struct *w) {{ }}

static struct work_struct works[{CPUS}][{EACH}], late[{BY_TIMER}], own[{OWN}], first;
static struct workqueue_struct *queue;
static struct timer_list timer;

static void timer_fn(struct timer_list *t)
{{
	for (int i = 0; i < {BY_TIMER}; i++)
		schedule_work(&late[i]);
}}

static int f(void)
{{
	for (int i = 0; i < {BY_TIMER}; i++)
		INIT_WORK(&late[i], by_timer);
	timer_setup(&timer, timer_fn, 0);
	mod_timer(&timer, jiffies + 2);
	for (int cpu = 0; cpu < {CPUS}; cpu++)
		for (int i = 0; i < {EACH}; i++) {{
			INIT_WORK(&works[cpu][i], by_task);
			schedule_work_on(cpu, &works[cpu][i]);
		}}
	queue = alloc_workqueue("counted", WQ_UNBOUND, 0);
	INIT_WORK(&first, slow);
	queue_work(queue, &first); /* the others wait behind it, so that they can be cancelled */
	for (int i = 0; i < {OWN}; i++) {{
		INIT_WORK(&own[i], quick);
		queue_work(queue, &own[i]);
		queue_work(queue, &own[i]); /* it is queued already: does not count */
	}}
	for (int i = 0; i < {CANCELED}; i++)
		cancel_work(&own[i * 3]);
	msleep(60);
	for (int i = 0; i < {OWN}; i++)
		flush_work(&own[i]);
	for (int i = 0; i < {BY_TIMER}; i++)
		flush_work(&late[i]);
	for (int cpu = 0; cpu < {CPUS}; cpu++)
		for (int i = 0; i < {EACH}; i++)
			flush_work(&works[cpu][i]);
	return 0;
}}
module_init(f);

/* Functions that return at once, 16 bytes apart: more than there are places for. */
asm(".pushsection .text; .balign 16; many: .rept {MANY}; ret; .balign 16; .endr; .popsection");
extern char many[];
static struct work_struct works_of_many[{MANY}];
static int fill;
module_param(fill, int, 0);

static void g(void)
{{
	for (int i = 0; i < {MANY} && fill; i++) {{
		INIT_WORK(&works_of_many[i], (work_func_t)(many + 16 * i));
		queue_work(queue, &works_of_many[i]);
	}}
	timer_delete_sync(&timer);
	destroy_workqueue(queue);
}}
module_exit(g);
"""

SCRIPT = story("workqueue")


@pytest.fixture(scope="module")
def parts(samples, tmp_path_factory):  # noqa: F811
    """{label: text} of the script, from one run. By instructions: the host would make a work as long as it likes, and
    others late."""
    arch, _ = samples
    folder = one_module(arch, tmp_path_factory.mktemp("counted"), "counted", SOURCE)
    (folder / "script").write_text(SCRIPT)
    done = subprocess.run(
        [os.path.join(ROOT, "tools/vrun"), "--arch", arch, "--smp", str(CPUS), "--icount"]
        + ["--file", f"{folder}/counted.ko:/counted.ko", folder / "script"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0 and not re.search(CRASH, done.stdout), done.stdout
    out = re.sub(r"^\[ .*\n", "", done.stdout, flags=re.M)
    return dict(part.split("\n", 1) for part in out.split("@")[1:])


def functions(text):
    """{task: (inserted, executed, {function: (inserted, executed, max, avg)})} of exactly the form of workfuncs."""
    assert text.startswith(FUNCS_HEADER), text
    pools, rows, ended = {}, None, True
    for line in text[len(FUNCS_HEADER) :].splitlines():
        if pool := POOL.fullmatch(line):
            assert ended, f"before {line}: no last function"
            rows = {}
            pools[pool[4]] = (int(pool[2]), int(pool[3]), rows)
        else:
            func = FUNC.fullmatch(line)
            assert func and rows is not None, line
            name = func[7].split("+")[0]
            assert name not in rows, f"{name} twice"
            rows[name] = tuple(int(n) for n in func.groups()[1:5])
            ended = func[6] == "`"
    for task, (inserted, executed, rows) in pools.items():
        assert inserted == sum(row[0] for row in rows.values()), task
        assert executed == sum(row[1] for row in rows.values()), task
    return pools


@pytest.mark.parametrize("line, pattern", PRINTED, ids=[line.strip() for line, _ in PRINTED])
def test_the_patterns_accept_what_is_printed(line, pattern):
    assert re.fullmatch(pattern, line)


def test_lines_are_those_of_the_old_kernels(parts):
    lines = parts["workqueues"].splitlines()
    for n, row in ((0, 0), (1, 1), (0, 5), (1, 6)):
        assert re.fullmatch(PRINTED[row][1], lines[n])
    for line in lines[2:]:
        assert re.fullmatch(PRINTED[2][1], line) and re.fullmatch(PRINTED[7][1], line), line
    assert [line.split()[3] for line in lines[2:]] == ["events/0", "counted", "events/1"]


def test_it_counts_what_was_queued(parts):
    pools = functions(parts["workfuncs"])
    by_timer = 0
    for cpu in range(CPUS):
        inserted, executed, rows = pools[f"kworker/{cpu}:0"]
        assert inserted == executed and rows["by_task"][:2] == (EACH, EACH)
        by_timer += rows.get("by_timer", (0, 0))[1]
    assert by_timer == BY_TIMER
    inserted, executed, rows = pools["kworker/counted"]
    assert rows["quick"][:2] == (OWN, OWN - CANCELED) and rows["slow"][:2] == (1, 1)
    assert inserted == OWN + 1 and executed == OWN + 1 - CANCELED
    rows = {line.split()[3]: line.split()[1:3] for line in parts["workqueues"].splitlines()[2:]}
    assert rows["counted"] == [str(inserted), str(executed)]
    assert rows["events/1"] == [str(n) for n in pools["kworker/1:0"][:2]]


def test_times(parts):
    _, _, longest, average = functions(parts["workfuncs"])["kworker/counted"][2]["slow"]
    assert 20_000 <= average == longest
    _, _, longest, average = functions(parts["workfuncs"])["kworker/counted"][2]["quick"]
    assert average <= longest < 20_000


def test_events_agree(parts):
    """The events of both times tell of each work that the table counts."""
    events = parts["events"].replace(" [counted]", "")

    def count(pattern, text=events):
        return len(re.findall(f"^{pattern}$", text, re.M))

    assert count(r"workqueue_insertion: thread=kworker/counted:\d+ func=quick") == OWN
    ran = OWN - CANCELED
    assert count(r"workqueue_execution: thread=kworker/counted:\d+ func=quick") == ran
    assert count(r"workqueue_execute_start: work struct \w+: function quick") == ran
    assert count(r"workqueue_execute_end: work struct \w+: function quick") == ran
    assert count(r"workqueue_queue_work: work struct=\w+ function=by_timer workqueue=events .*") == BY_TIMER
    assert count(r"workqueue_creation: thread=kworker/counted:\d+ cpu=-1") == 1
    assert count(r"workqueue_destruction: thread=kworker/counted:\d+", parts["last"]) == 1


def test_what_has_gone_is_not_shown(parts):
    gone, twice = functions(parts["gone"]), functions(parts["twice"])
    assert "kworker/counted" not in gone and "kworker/counted" not in twice
    for cpu in range(CPUS):
        rows, more = gone[f"kworker/{cpu}:0"][2], twice[f"kworker/{cpu}:0"][2]
        assert "by_task" not in rows and not any(name.startswith("0x") for name in (*rows, *more))
        assert rows["[former modules]"][0] >= EACH and more["[former modules]"][0] >= 2 * EACH
    assert sum(rows[2]["[former modules]"][1] for rows in twice.values()) == 2 * (CPUS * EACH + BY_TIMER)


def test_switching(parts):
    """Off, the numbers stay and nothing is counted; on begins at zero; bad input changes nothing."""
    off, twice, reset = (functions(parts[label]) for label in ("off", "twice", "reset"))
    assert off["kworker/counted"] == (0, 0, {})
    for cpu in range(CPUS):
        rows = off[f"kworker/{cpu}:0"][2]
        assert rows["[former modules]"] == twice[f"kworker/{cpu}:0"][2]["[former modules]"] and "by_task" not in rows
        assert "[former modules]" not in reset[f"kworker/{cpu}:0"][2]
    assert parts["enabled"] == "0\n"
    assert "Invalid argument" in parts["refused"] and parts["after_x"] == "1\n"


def test_what_found_no_place_is_told(parts):
    """Both files say it, in one line behind the header: of a work each time it is queued, and when it runs."""
    *header, queues = parts["no_room_queues"].splitlines()
    assert header == [line for line, _ in PRINTED[5:7]]
    assert parts["no_room_funcs"] == FUNCS_HEADER + queues + "\n"
    missed = re.fullmatch(r"# not counted, there was no room: (\d+)", queues)
    assert missed and 2 * (MANY - 256) <= int(missed[1]) < 2 * MANY, queues
