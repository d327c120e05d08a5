"""kprobes: counts that are exact, wherever in a function the probe stands; what is refused; and nothing that runs
notices a probe."""

import random
import re
import struct
import subprocess

import pytest
from module_guest import guest, samples  # noqa: F401
from vitrine_guest import ROOT

LIST = "cat /sys/kernel/debug/kprobes/list"
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
        "try() { insmod /kprobe_sample.ko $* 2>&1; }\n"
        "try symbol=no_such_function; try symbol=sys_newuname offset=1; try symbol=kprobe_breakpoint; try symbol=vfs_read offset=99999999\n"
        "try symbol=init_task; try symbol=arch_cpu_idle && rmmod kprobe_sample && echo no\n"
        f"{LIST} | wc -l; ls /proc/kprobe_sample 2>/dev/null; true",
        "kprobe_sample",
    ).splitlines()
    words = [line.rsplit(": ", 1)[-1] for line in out[:6]]
    middle = "Invalid or incomplete multibyte or wide character"
    if guest.arch == "x86_64":
        middle = "Invalid parameters; dmesg names the one"  # inside of the call site
    # insmod takes ENOENT for a symbol that the module itself wants
    assert words == [
        "it asks for a symbol that is not there; dmesg names it",
        middle,
        *["Invalid parameters; dmesg names the one"] * 3,
        # on x86_64 its STI and HLT belong together
        *(["Invalid parameters; dmesg names the one"] if guest.arch == "x86_64" else ["no"]),
    ]
    assert out[6:] == ["0"]


def before_static_branches():
    """(function, offset) of short plain instructions of x86_64's kernel that stand right before the target of a static
    branch, with a plain one at the target: room for a jump over both."""
    vmlinux = f"{ROOT}/build/x86_64/vmlinux"
    run = lambda *words: subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    symbols = {words[2]: int(words[0], 16) for words in map(str.split, run("x86_64-linux-gnu-nm", vmlinux).splitlines())}
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
    """Probes on each instruction of places of the kernel that are chosen at random, while programs run: they compute
    what they always compute, and the text is afterwards what it was."""
    seed = random.randrange(1 << 30)
    places = random.Random(seed)
    walks = "".join(f"walk {places.randrange(4, 100)}\n" for _ in range(4))
    out = guest(
        "first=$(grep ' T _stext$\\| t _stext$' /proc/kallsyms | cut -d' ' -f1); last=$(grep ' _etext$' /proc/kallsyms | cut -d' ' -f1)\n"
        "low=${first#????????}; size=$((0x${last#????????} - 0x$low))\n"
        'want="$(ls -l /bin; seq 300 | sort -r; sed s/e/f/g /etc/passwd)"\n'
        "walk() {\n"
        "  at=$(printf '%s%08x' ${first%????????} $((0x$low + size * $1 / 100 / 16 * 16)))\n"
        f"  insmod /kprobe_walk.ko first=0x$at bytes=1500 batch=200 ms=20 {words} || exit 1\n"
        '  while ! grep -q done /proc/kprobe_walk; do test "$(ls -l /bin; seq 300 | sort -r; sed s/e/f/g /etc/passwd)" = "$want" || exit 2; done\n'
        "  cat /proc/kprobe_walk; rmmod kprobe_walk\n"
        "}\n"
        + walks
        + f'{LIST} | wc -l; test "$(ls -l /bin; seq 300 | sort -r; sed s/e/f/g /etc/passwd)" = "$want"; echo $?',
        "kprobe_walk",
    ).splitlines()
    assert out[-2:] == ["0", "0"], seed
    probed = [int(re.match(r"done: (\d+) probed", line)[1]) for line in out[:-2]]
    assert len(probed) == 4 and sum(probed) > 600, (seed, out)


def test_a_module_goes(guest):
    """A probe in a module: counted while the module is there, gone with it, and the module can come back."""
    out = guest(
        "insmod /ftrace_calls.ko\n"
        "insmod /kprobe_sample.ko symbol=ftrace_calls:calls_show\n"
        f"{LIST} | tr -s ' '; cat /proc/ftrace_calls >/dev/null; cat /proc/ftrace_calls >/dev/null; cat /proc/kprobe_sample\n"
        f"rmmod ftrace_calls; {LIST} | wc -l; insmod /ftrace_calls.ko; cat /proc/ftrace_calls | cut -d' ' -f1; cat /proc/kprobe_sample; rmmod kprobe_sample\n"
        "cat /proc/ftrace_calls | cut -d' ' -f1; rmmod ftrace_calls",
        "kprobe_sample",
        "ftrace_calls",
    ).splitlines()
    assert out[0].split()[1:4] == ["k", "calls_show+0x0", "ftrace_calls"]
    assert [hits(out[1]), hits(out[4])] == [(2, 0, 0), (2, 0, 0)]
    assert out[2:4] + out[5:] == ["0", "msleep", "msleep"]


def test_events_of_a_module(guest):
    """Fprobe events and tracepoint probes wait for a module, record while it is there, and let it go while they are on;
    an eprobe on a module's event holds it."""
    look = "cat /proc/ftrace_calls >/dev/null; cat /proc/tracepoint-sample 2>/dev/null"
    load = "insmod /ftrace_calls.ko; insmod /tracepoint_sample.ko"
    out = guest(
        "cd /sys/kernel/tracing\n"
        "echo 'f:fn ftrace_calls:calls_show m=$arg1:x64' > dynamic_events\n"
        "echo 'f:rt ftrace_calls:calls_show%return r=$retval:s32' >> dynamic_events\n"
        "echo 't:tp subsys_eventname first=$arg1:s32 task=+0($arg2):x64' >> dynamic_events; cat dynamic_events\n"
        "echo 1 > events/fprobes/enable; echo 1 > events/tracepoints/enable\n"
        f"for i in 1 2; do {load}; {look}; rmmod ftrace_calls; rmmod tracepoint_sample; done\n"
        f"echo 0 > events/enable; {load}; {look}\n"
        "echo 'f:late calls_show' >> dynamic_events; echo 1 > events/fprobes/late/enable\n"
        f"{look}; grep -c 'fn: (calls_show+0x0/.*m=0x[1-9a-f]' trace; grep -c 'rt: (.* <- calls_show.* r=0$' trace\n"
        "grep -o 'tp: (.*) first=.* task' trace; grep -c 'late: (calls_show+0x0' trace; rmmod ftrace_calls\n"
        "echo 0 > events/enable; echo > dynamic_events; echo $?; cat enabled_functions | wc -l\n"
        "insmod /trace_events_sample.ko; echo 'e:of_module sample.sample_any length=$length:s32' > dynamic_events\n"
        "rmmod trace_events_sample 2>/dev/null; echo $?; echo 1 > events/eprobes/enable\n"
        "echo abcde > /sys/module/trace_events_sample/parameters/say; grep -o 'of_module: .*' trace\n"
        "echo 0 > events/enable; echo > dynamic_events; rmmod trace_events_sample; echo $?",
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


def test_all_off_and_on(guest):
    """debugfs kprobes/enabled: probes stay registered, and are not called."""
    out = guest(
        "insmod /kprobe_sample.ko symbol=sys_newuname; cd /sys/kernel/debug/kprobes; cat enabled\n"
        "uname >/dev/null; echo 0 > enabled; cat enabled; uname > /dev/null; cat /proc/kprobe_sample; cat list | wc -l\n"
        "echo 1 > enabled; uname >/dev/null; cat /proc/kprobe_sample; echo 2 > enabled 2>/dev/null; echo $?; cat enabled\n"
        "rmmod kprobe_sample",
        "kprobe_sample",
    ).splitlines()
    assert out[0:2] + out[3:4] + out[5:] == ["1", "0", "1", "1", "1"]
    assert [hits(out[2]), hits(out[4])] == [(1, 0, 0), (2, 0, 0)]


def test_returns(guest):
    """kretprobes: what a call got and gave, calls that the entry passes over, maxactive, and what is refused."""
    out = guest(
        "insmod /kretprobe_sample.ko symbol=do_sys_openat2\n"
        f"{LIST} | tr -s ' ' | grep ' r '; cat /proc/version >/dev/null; cat /proc/none 2>/dev/null; cat /proc/kretprobe_sample\n"
        "insmod /kprobe_sample.ko symbol=kretprobe_sample:at_return 2>/dev/null; echo $?\n"
        "insmod /kprobe_sample.ko symbol=kretprobe_sample:at_entry; echo $?; rmmod kprobe_sample; rmmod kretprobe_sample\n"
        "for words in symbol=no_such_function maxactive=5000 symbol=memcpy; do insmod /kretprobe_sample.ko $words 2>/dev/null; echo $?; done\n"
        f"insmod /kretprobe_sample.ko symbol=sys_setuid maxactive=1; uname >/dev/null; cat /proc/kretprobe_sample; rmmod kretprobe_sample\n"
        f"{LIST} | wc -l; cat /sys/kernel/tracing/enabled_functions | wc -l",
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
