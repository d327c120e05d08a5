"""kprobes: counts that are exact, wherever in a function the probe stands; what is refused; and nothing that runs
notices a probe."""

import os
import random
import re
import struct
import subprocess

import pytest
from module_guest import guest, one_module, samples  # noqa: F401
from stories import story
from vitrine_guest import ROOT

LIST = "cat /sys/kernel/debug/kprobes/list"
SOAK = os.environ.get("SOAK_MINUTES", "0") != "0"
OPENS = "for i in 1 2 3 4 5 6 7; do cat /proc/version >/dev/null; done"


def hits(line):
    """(hits, executed, missed) of /proc/kprobe_sample."""
    return tuple(int(n) for n in re.search(r": (\d+) hits, (\d+) executed, (\d+) missed", line).groups())


def probe(symbol, words="", offset=0):
    """How often the kernel comes to an instruction while seven calls of uname() are made."""
    return (
        f"insmod /kprobe_sample.ko symbol={symbol} offset={offset} {words}\n"
        f"{LIST} | tr -s ' '; for i in 1 2 3 4 5 6 7; do uname >/dev/null; done; cat /proc/kprobe_sample; rmmod kprobe_sample\n"
    )


def test_three_ways(guest):
    """At a call site, by a jump and by a breakpoint: each counts the same calls, and shows the way in the list."""
    out = guest(
        probe("sys_newuname")
        + "echo 0 > /proc/sys/debug/kprobes-optimization\n"
        + probe("sys_newuname")
        + "echo 1 > /proc/sys/debug/kprobes-optimization\n"
        + probe("sys_newuname", "after=1")
        + f"{LIST} | wc -l",
        "kprobe_sample",
    ).splitlines()
    by_default = "[OPTIMIZED]" if guest.arch == "aarch64" else "[FTRACE]"
    by_break = "" if guest.arch == "aarch64" else "[FTRACE]"
    assert [line.split()[1:] for line in out[0:6:2]] == [
        ["k", "sys_newuname+0x0", *([way] if way else [])] for way in (by_default, by_break, by_break)
    ]
    assert [hits(line) for line in out[1:6:2]] == [(7, 0, 0), (7, 0, 0), (7, 7, 0)]
    assert out[6] == "0"


def test_refused(guest):
    """What may not be probed gets Linux's errno, and nothing is left."""
    out = guest(
        story("kprobes", "refused"),
        "kprobe_sample",
    ).splitlines()
    words = [line.rsplit(": ", 1)[-1] for line in out[:6]]
    middle = "Invalid or incomplete multibyte or wide character"
    # insmod takes ENOENT for a symbol that the module itself wants
    assert words == [
        "it asks for a symbol that is not there; dmesg names it",
        middle,
        *["Invalid argument; dmesg says what is wrong"] * 3,
        # on x86_64 its STI and HLT belong together
        *(["Invalid argument; dmesg says what is wrong"] if guest.arch == "x86_64" else ["no"]),
    ]
    assert out[6:] == ["0"]


def before_static_branches():
    """(function, offset) of short plain instructions of x86_64's kernel that stand right before the target of a static
    branch, with a plain one at the target: room for a jump over both."""
    vmlinux = f"{ROOT}/build/x86_64/vmlinux"
    run = lambda *words: subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    symbols = {
        words[2]: int(words[0], 16) for words in map(str.split, run("x86_64-linux-gnu-nm", vmlinux).splitlines())
    }
    table, end = (symbols[f"__{which}___jump_table"] for which in ("start", "stop"))
    dump = run(
        *("x86_64-linux-gnu-objdump", "-s", f"--start-address={table}", f"--stop-address={end}", "-j", ".data", vmlinux)
    )
    data = bytes.fromhex("".join("".join(line[18:53].split()) for line in dump.splitlines() if line[:9] == " ffffffff"))
    targets = {target for _, target, _ in struct.iter_unpack("<QQQ", data)}
    function, at, before, found = None, 0, None, []
    for line in run("x86_64-linux-gnu-objdump", "-d", "-w", "--no-show-raw-insn", vmlinux).splitlines():
        if head := re.match(r"([0-9a-f]+) <(\w+)>:$", line):
            function, at, before = head[2], int(head[1], 16), None
        elif insn := re.match(r"\s*([0-9a-f]+):\t(\w+)", line):
            addr = int(insn[1], 16)
            if addr in targets and before and addr - before[0] < 5 and before[1] == "xchg" and insn[2] == "mov":
                found.append((function, before[0] - at))
            before = addr, insn[2]
    return found


def test_static_branches(guest):
    """No jump lies over the place to which a static branch leads that is off: it may be switched on."""
    if guest.arch != "x86_64":
        pytest.skip("a jump replaces a single instruction there")
    places = before_static_branches()
    out = guest(
        "".join(
            f"insmod /kprobe_sample.ko symbol={function} offset={offset} && {LIST} | tr -s ' ' && rmmod kprobe_sample\n"
            for function, offset in places
        ),
        "kprobe_sample",
    ).splitlines()
    assert len(out) > 5 and all(" k " in line for line in out), (places, out)
    assert not [line for line in out if "OPTIMIZED" in line]


@pytest.mark.parametrize("words", ["", "breakpoints=1"])
def test_any_instruction(guest, words):
    """Probes on each instruction of places of the kernel that are chosen at random, in the long form of all of it, while
    programs run: they compute what they always compute, and the text is afterwards what it was."""
    seed = random.randrange(1 << 30)
    places = random.Random(seed)
    walks = ["walk 0 $size\n"] if SOAK else [f"walk {places.randrange(4, 100)}\n" for _ in range(4)]
    out = guest(
        f"WORDS={words}\n"
        + story("kprobes", "walk")
        + "".join(walks)
        + f'{LIST} | wc -l; test "$(ls -l /bin; seq 300 | sort -r; sed s/e/f/g /etc/passwd)" = "$want"; echo $?',
        "kprobe_walk",
        timeout=3000 if SOAK else 300,
    ).splitlines()
    assert out[-2:] == ["0", "0"], seed
    probed = [int(re.match(r"done: (\d+) probed", line)[1]) for line in out[:-2]]
    assert len(probed) == len(walks) and sum(probed) > (100000 if SOAK else 600), (seed, out)


def test_a_module_goes(guest):
    """A probe in a module: counted while the module is there, gone with it, and the module can come back. An event for a
    function that a module does not have waits for nothing while that module is there."""
    out = guest(
        story("kprobes", "module_goes"),
        "kprobe_sample",
        "ftrace_calls",
    ).splitlines()
    assert out[0].split()[1:4] == ["k", "calls_show+0x0", "ftrace_calls"]
    assert out.pop(2) == "refused 1"
    assert [hits(out[1]), hits(out[4])] == [(2, 0, 0), (2, 0, 0)]
    assert out[2:4] + out[5:] == ["0", "msleep", "msleep"]


def test_events_of_a_module(guest):
    """Fprobe events and tracepoint probes wait for a module, record while it is there, and let it go while they are on;
    an eprobe on a module's event holds it."""
    look = "cat /proc/ftrace_calls >/dev/null; cat /proc/tracepoint-sample 2>/dev/null"
    load = "insmod /ftrace_calls.ko; insmod /tracepoint_sample.ko"
    out = guest(
        story("kprobes", "module_events"),
        "ftrace_calls",
        "tracepoint_sample",
        "trace_events_sample",
    ).splitlines()
    assert out[:3] == [
        "f:fprobes/fn ftrace_calls:calls_show m=$arg1:x64",
        "f:fprobes/rt ftrace_calls:calls_show%return r=$retval:s32",
        "t:tracepoints/tp subsys_eventname first=$arg1:s32 task=+0($arg2):x64",
    ], out
    assert out[3:5] == ["2", "2"], out
    assert [re.sub(r"\(.*\)", "()", line) for line in out[5:11]] == [f"tp: () first={n} task" for n in (0, 1, 2) * 2]
    assert out[11:14] == ["1", "0", "0"] and out[14] != "0", out
    assert re.match(r"of_module: \(sample.sample_any\) length=[56]$", out[15]) and out[16:] == ["0"], out


def test_symbols_of_another_module(guest):
    """A probe whose arguments name a symbol that has gone is not put in when its own module comes back: it would read
    what lies there now. It records again when both have come."""
    out = guest(story("kprobes", "module_symbols"), "ftrace_calls", "tracepoint_sample").split()
    assert out == ["1", "1", "1", "1", "2", "2", "0"], out


def test_all_off_and_on(guest):
    """debugfs kprobes/enabled: probes stay registered, and are not called. A function whose probes are all disabled is as
    it was compiled, also when one that was on has gone."""
    out = guest(
        story("kprobes", "all_off"),
        "kprobe_sample",
    ).splitlines()
    assert out[0:2] + out[3:4] + out[5:7] == ["1", "0", "1", "1", "1"]
    patched = "2 0" if guest.arch == "aarch64" else "0 1"  # probes by a jump, and functions that call
    assert out[7:] == ["0 0", patched, "0 0", "1"], out
    assert [hits(out[2]), hits(out[4])] == [(1, 0, 0), (2, 0, 0)]


def test_returns(guest):
    """kretprobes: what a call got and gave, calls that the entry passes over, maxactive, and what is refused."""
    out = guest(
        story("kprobes", "returns"),
        "kprobe_sample",
        "kretprobe_sample",
    ).splitlines()
    assert out[0].split()[1:4] == ["r", "do_sys_openat2+0x0", "[FTRACE]"]
    # dfd is AT_FDCWD, which is even; the last call is the one that opens the file itself, and has not returned yet
    returns, passed, missed, got, gave = re.search(
        r": (\d+) returns, (\d+) passed over, (\d+) missed, (\w+) gave (-?\d+)", out[1]
    ).groups()
    assert int(returns) >= 2 and (passed, missed, got[-8:]) == ("0", "0", "ffffff9c") and int(gave) >= 0
    assert out[2:4] == ["1", "0"]
    assert out[4:7] == ["1", "1", "1"]
    assert out[7].startswith("sys_setuid: 0 returns, 0 passed over, 0 missed")
    assert out[8:] == ["0", "0"]


BREAKPOINT = """
#include <linux/module.h>
MODULE_LICENSE("GPL");
static int __init breakpoint_init(void)
{
	asm volatile("%s");
	pr_info("it is passed over\\n");
	return 0;
}
module_init(breakpoint_init);
"""


def test_a_breakpoint_without_a_probe(guest, tmp_path):
    """It is a fault of the kernel, and not passed over, also when it is the instruction that probes put there."""
    insn, says = {"aarch64": ("brk 4", "Oops - BRK"), "x86_64": ("int3", "Oops: unexpected exception")}[guest.arch]
    folder = one_module(guest.arch, tmp_path, "oops", BREAKPOINT % insn)
    out = guest(
        "{ sh -c 'insmod /oops.ko'; } > /dev/null 2>&1; echo $?; dmesg | grep -oE 'Oops( -|:) [a-zA-Z ]*'; dmesg | grep -c passed; true",
        "oops",
        folder=folder,
        timeout=30,
    )
    assert out.splitlines() == ["139", says, "0"], out


NO_SITE = """
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
MODULE_LICENSE("GPL");
static struct kretprobe probe;
static size_t data_size;
static int try(const char *name, u32 flags)
{
	int err;

	probe = (struct kretprobe){.kp.addr = (kprobe_opcode_t *)kallsyms_lookup_name(name), .kp.flags = flags,
				   .data_size = data_size};
	err = register_kretprobe(&probe);
	if (err)
		return err;
	flags = probe.kp.flags & KPROBE_FLAG_GONE;
	unregister_kretprobe(&probe);
	return flags;
}
static int __init no_site_init(void)
{
	struct kprobe entry = {.symbol_name = "sys_getppid", .flags = KPROBE_FLAG_GONE};
	int err;

	pr_info("%d %d, %d %d\\n", try("sys_getppid", 0), try("sys_getppid", KPROBE_FLAG_DISABLED), try("memcpy", 0),
		try("memcpy", KPROBE_FLAG_DISABLED));
	err = register_kprobe(&entry);
	pr_info("%d %d %d\\n", try("sys_getppid", KPROBE_FLAG_GONE), err, entry.flags);
	unregister_kprobe(&entry);
	data_size = 4096;
	pr_info("%d\\n", try("sys_getppid", 0));
	data_size = 4097;
	pr_info("%d\\n", try("sys_getppid", 0));
	return 0;
}
module_init(no_site_init);
"""


def test_returns_of_what_is_not_traced(guest, tmp_path):
    """A function without a call site is refused also when its address is given and the probe begins disabled. A probe
    whose module has gone can be registered again as it is, and too much data has an error of its own, as on Linux."""
    folder = one_module(guest.arch, tmp_path, "no_site", NO_SITE)
    said = guest("dmesg -c > /dev/null; insmod /no_site.ko\ndmesg | cut -d] -f2-", "no_site", folder=folder)
    assert [line.strip() for line in said.splitlines()] == ["0 0, -22 -22", "0 0 0", "0", "-7"]
