"""The tracer kmemtrace: the lines of 2.6.30, a balance that is slabinfo's, and the table of call sites."""

import os
import re
import struct
import subprocess

import pytest
from stories import story
from module_guest import CRASH, one_module, samples  # noqa: F401
from test_graph import script
from vitrine_guest import ROOT

# What a kernel of 2.6.30 prints by its formats, and what our lines are matched by.
ALLOC = re.compile(
    r"  \+      (?P<type>[KCP])   (?P<req> *\d+)   (?P<given> *\d+)   [0-9a-f]{8}   0x(?P<ptr>[0-9a-f]+)     -1   (?P<site>.+)"
)
FREE = re.compile(r"  -      (?P<type>[KCP]) {28}0x(?P<ptr>[0-9a-f]+) {10}(?P<site>.+)")
HEADER = """# tracer: kmemtrace
#
#
# ALLOC  TYPE  REQ   GIVEN  FLAGS           POINTER         NODE    CALLER
# FREE   |      |     |       |              |   |            |        |
# |

"""
FULL = re.compile(
    r" +\S+-\d+ +\[\d+\] [^:]{5} +\d+\.\d{6}: type_id (?P<type>[012]) call_site (?P<site>\S+( \[\w+\])?) ptr (?P<ptr>\d+)"
    r"(?P<alloc> bytes_req \d+ bytes_alloc \d+ gfp_flags \d+ node -1)?"
)
PRINTED = [
    ("  +      K     16     16   000000d0   0xf5f3c0a0     -1   alloc_pipe_info", ALLOC),
    ("  +      C    128   4096   000080d0   0xf5f3c0a0     -1   getname", ALLOC),
    ("  -      K                            0xf5f3c0a0          free_pipe_info", FREE),
    (
        "    bash-1408  [000] ....     52.001207: type_id 1 call_site getname+0x24/0x90 ptr 4126392480 bytes_req 4096"
        " bytes_alloc 4096 gfp_flags 208 node -1",
        FULL,
    ),
]
STAT = re.compile(r" (\S+(?: \[\w+\])?) +\| +(\d+)/(\d+) *\| +(\d+)/(\d+) *\| +(\d+) \| +(\d+\.\d{3})%")
STAT_HEADER = " Callsite                           | Total_alloc/Per | Total_req/Per   | Hit      | Frag"

TASK, IRQ, FREED, SIZE = 40, 25, 30, 100
SOURCE = f"""
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
MODULE_LICENSE("GPL");

static struct kmem_cache *cache;
static void *by_task[{TASK}], *by_irq[{IRQ}], *large;
static struct timer_list timer;

static void timer_fn(struct timer_list *t)
{{
	for (int i = 0; i < {IRQ}; i++)
		by_irq[i] = kmem_cache_alloc(cache, GFP_ATOMIC);
}}

/* In a thread of CPU 1, so that both CPUs count. */
static void work_fn(struct work_struct *w)
{{
	for (int i = {TASK} / 2; i < {TASK}; i++)
		by_task[i] = kmem_cache_alloc(cache, GFP_KERNEL);
}}
static DECLARE_WORK(work, work_fn);

static int f(void)
{{
	cache = kmem_cache_create("kmt_objects", {SIZE}, 0, 0, NULL);
	timer_setup(&timer, timer_fn, 0);
	mod_timer(&timer, jiffies + 2);
	schedule_work_on(1, &work);
	for (int i = 0; i < {TASK} / 2; i++)
		by_task[i] = kmem_cache_alloc(cache, GFP_KERNEL);
	flush_work(&work);
	msleep(40);
	for (int i = 0; i < {FREED}; i++) {{
		kmem_cache_free(cache, by_task[i]);
		by_task[i] = NULL;
	}}
	large = kmalloc(20000, GFP_KERNEL);
	kfree(kmalloc(33, GFP_KERNEL));
	return 0;
}}
module_init(f);

/* More call sites than a CPU has places for. */
#define FOUR(x) x x x x
static noinline void many(void)
{{
	preempt_disable();
	FOUR(FOUR(FOUR(FOUR(FOUR(kfree(kmalloc(8, GFP_ATOMIC));)))))
	FOUR(kfree(kmalloc(8, GFP_ATOMIC));)
	preempt_enable();
}}
static void g(void)
{{
	many();
	timer_delete_sync(&timer);
	for (int i = 0; i < {TASK}; i++)
		kmem_cache_free(cache, by_task[i]);
	for (int i = 0; i < {IRQ}; i++)
		kmem_cache_free(cache, by_irq[i]);
	kmem_cache_destroy(cache);
	kfree(large);
}}
module_exit(g);
"""
# What is left between two marks: directories, a process, open files. The shell itself copies the files, after it has
# waited for what tasks leave behind when they end. So what a mark takes for itself is the same each time, and cancels
# out.
SCRIPT = story("kmemtrace")


def lines_of(text):
    """[(sign, type, req, given, ptr, site) or 'mark'] of minimalistic lines, each of exactly the form."""
    out = []
    for line in text.splitlines():
        if match := ALLOC.fullmatch(line):
            out.append(("+", match["type"], int(match["req"]), int(match["given"]), match["ptr"], match["site"]))
        elif match := FREE.fullmatch(line):
            out.append(("-", match["type"], 0, 0, match["ptr"], match["site"]))
        else:
            assert line.endswith("tracing_mark_write: mark"), repr(line)
            out.append("mark")
    return out


@pytest.fixture(scope="module")
def parts(samples, tmp_path_factory):  # noqa: F811
    """{label: text} of the script, from one run. By instructions: the host would make workers late, and what they free
    belongs to a balance."""
    arch, _ = samples
    folder = one_module(arch, tmp_path_factory.mktemp("kmt"), "kmt", SOURCE)
    (folder / "script").write_text(SCRIPT)
    done = subprocess.run(
        [os.path.join(ROOT, "tools/vrun"), "--arch", arch, "--smp", "2", "--icount", "--timeout", "200"]
        + ["--file", f"{folder}/kmt.ko:/kmt.ko", folder / "script"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0 and not re.search(CRASH, done.stdout), done.stdout[-3000:]
    out = re.sub(r"^\[ .*\n", "", done.stdout, flags=re.M)
    return dict(part.split("\n", 1) for part in out.split("@")[1:])


@pytest.mark.parametrize("line, pattern", PRINTED, ids=[line.strip() for line, _ in PRINTED])
def test_the_patterns_accept_what_is_printed(line, pattern):
    assert pattern.fullmatch(line)


def test_lines_are_those_of_the_old_kernels(parts):
    assert parts["balance"].startswith(HEADER)
    kinds = {(record[0], record[1]) for record in lines_of(parts["balance"][len(HEADER) :]) if record != "mark"}
    assert kinds == {(sign, kind) for sign in "+-" for kind in "KCP"}


def test_full_lines(parts):
    assert parts["plain"].startswith("# tracer: kmemtrace\n#\n# entries-in-buffer/entries-written: ")
    rows = [line for line in parts["plain"].splitlines() if line[0] != "#" and "tracing_mark_write" not in line]
    assert len(rows) > 200 and not [line for line in rows if not FULL.fullmatch(line)]
    full = [FULL.fullmatch(line) for line in parts["full"].splitlines()]
    short = lines_of(parts["module"])
    assert [(match["alloc"] is None, int(match["ptr"])) for match in full] == [
        (record[0] == "-", int(record[4], 16)) for record in short
    ]


def objects(slabinfo):
    """{bytes of an object: objects in use}."""
    found = {}
    for line in slabinfo.splitlines()[2:]:
        _, active, _, size, *_ = line.split()
        found[int(size)] = found.get(int(size), 0) + int(active)
    return found


def test_the_balance_is_slabinfos_change(parts):
    """What slabinfo has more of, of each size, was a + and is no - yet; what MemFree has less of, the pages."""
    records = lines_of(parts["balance"][len(HEADER) :])
    first = records.index("mark")
    between = records[first + 1 : records.index("mark", first + 1)]
    given = {record[4]: record[3] for record in records[:first] if record[0] == "+"}
    balance, pages = {}, 0
    for sign, kind, _, size, ptr, _ in between:
        if sign == "+":
            given[ptr] = size
        change = 1 if sign == "+" else -1
        if kind == "P":
            pages += change * given.get(ptr, 4096)
        elif given.get(ptr, 0) <= 8192:  # a block of pages by kmalloc is none of slabinfo's
            size = given.get(ptr, "allocated before the trace began")
            balance[size] = balance.get(size, 0) + change
    before, after = objects(parts["slab1"]), objects(parts["slab2"])
    wanted = {size: n - before.get(size, 0) for size, n in after.items() if n != before.get(size, 0)}
    assert sum(balance.values()) == sum(wanted.values()) >= 50
    if all(isinstance(size, int) for size in balance):
        assert {size: n for size, n in balance.items() if n} == wanted
    free = [int(re.search(r"MemFree: +(\d+) kB", parts[label])[1]) for label in ("mem1", "mem2")]
    assert pages == (free[0] - free[1]) * 1024


def test_a_caches_objects_are_counted_exactly(parts):
    """From tasks on two CPUs and from an interrupt: none lost, none doubled."""
    rows = [record for record in lines_of(parts["module"]) if record[1] == "C"]
    held = set()
    for sign, _, req, given, ptr, _ in rows:
        assert sign == "-" or (req == SIZE and given >= SIZE)
        assert (ptr in held) == (sign == "-"), ptr
        held ^= {ptr}
    assert len([row for row in rows if row[0] == "+"]) == TASK + IRQ
    assert len(held) == TASK + IRQ - FREED == int(parts["slabinfo"].split()[1])


def test_call_sites(parts):
    header, *rows = parts["stat"].splitlines()
    assert header == STAT_HEADER
    table, lost = {}, []
    for line in rows:
        match = STAT.fullmatch(line)
        assert match, repr(line)
        alloc, each, req, req_each, hits = (int(n) for n in match.groups()[1:6])
        assert each == alloc // hits and req_each == req // hits
        assert abs(float(match[7]) - 100 * (alloc - req) / alloc) < 0.0011
        lost.append(alloc - req)
        table[match[1]] = (hits, req, alloc)
    assert lost == sorted(lost, reverse=True)
    module = {name.split("+")[0]: row for name, row in table.items() if "[kmt]" in name}
    assert module["timer_fn"][:2] == (IRQ, IRQ * SIZE)
    assert module["work_fn"][:2] == (TASK // 2, TASK // 2 * SIZE)
    in_f = sorted(row for name, row in table.items() if name.startswith("f+") and "[kmt]" in name)
    assert (1, 33, 64) in in_f and (TASK // 2, TASK // 2 * SIZE) in [row[:2] for row in in_f]
    assert any(hits == 1 and req == 20000 and alloc >= 20480 for hits, req, alloc in in_f)


def test_numbers_stay_and_begin_at_zero(parts):
    assert int(parts["kept"]) >= 3 and int(parts["reset"].splitlines()[0]) == 0


def test_what_found_no_place_is_told(parts):
    header, line = parts["no_room"].splitlines()
    missed = re.fullmatch(r"# not counted, there was no room: (\d+)", line)
    assert header == STAT_HEADER and missed and int(missed[1]) >= 4, line


BINARY = story("kmemtrace_bin")


def test_bytes_are_what_kmemtrace_user_reads(machine):
    """The option bin: 32 bytes of an event, and 24 more of an allocation, one for each line of text."""
    parts = script(machine, BINARY)
    dumped = [line[10:58] for line in parts["bytes"].splitlines() if "|" in line]
    data, at, events = bytes.fromhex("".join(dumped).replace(" ", "")), 0, []
    while data[at : at + 1] == b"#":
        at = data.index(b"\n", at) + 1
    while at < len(data):
        event_id, type_id, size, cpu, _, _, ptr = struct.unpack_from("<BBHIQQQ", data, at)
        assert (event_id, size) in ((0, 56), (1, 32)) and cpu < 4
        events.append((type_id, ptr, event_id == 0))
        at += size
    text = [FULL.fullmatch(line) for line in parts["text"].splitlines()]
    assert events and events == [(int(m["type"]), int(m["ptr"]), m["alloc"] is not None) for m in text]
