"""A bootconfig behind the initramfs: its words on the command line, its keys in tracefs, and what is said of wrong ones."""

import re

import pytest
from test_cmdline import ask
from vitrine_guest import Setup

TRACING = "/sys/kernel/tracing"

pytestmark = pytest.mark.rooms("bootconfig")


def guest_with(machine, folder, text, **setup):
    config = folder / "boot.bconf"
    config.write_text(text)
    return machine.guest(bootconfig=str(config), **setup)


def said_about(guest):
    return re.findall(r"(?m)^\[[^]]*\] ((?:.*[Bb]ootconfig).*)$", ask(guest, "dmesg"))


def test_words_for_the_kernel_and_for_init(machine, tmp_path):
    """All keys are on the command line. What was there before comes behind them and wins; what is for init goes to init."""
    keys = """
        kernel {
            trace_clock = global        # the command line has another
            trace_options = "sym-offset,noirq-info"
            traceoff_after_boot
            loglevel = 7
            traceoff-on-warning         # Linux takes - for _
            panic = 8                   # the command line has another
            HELLO = "from below"
        }
        init { WORLD = two words; BOTH = 1 }
    """
    with guest_with(machine, tmp_path, keys, append="trace_clock=counter panic=9 -- BOTH=2") as guest:
        assert ask(guest, "cat /proc/cmdline") == (
            "trace_clock=global trace_options=sym-offset,noirq-info traceoff_after_boot loglevel=7 "
            'traceoff-on-warning panic=8 HELLO="from below" bootconfig trace_clock=counter panic=9 -- WORLD="two words" BOTH=1 BOTH=2\n'
        )
        assert "[counter]" in ask(guest, f"cd {TRACING}; cat trace_clock")
        assert {"sym-offset", "noirq-info"} <= set(ask(guest, "cat trace_options").split())
        assert ask(guest, "cat tracing_on") == "0\n"
        environment = ask(guest, "tr '\\0' '\\n' < /proc/1/environ").splitlines()
        assert {"HELLO=from below", "WORLD=two words", "BOTH=2"} <= set(environment) and "BOTH=1" not in environment
        assert ask(guest, "cat /proc/bootconfig").splitlines() == [
            'kernel.trace_clock = "global"',
            'kernel.trace_options = "sym-offset,noirq-info"',
            'kernel.traceoff_after_boot = ""',
            'kernel.loglevel = "7"',
            'kernel.traceoff-on-warning = ""',
            'kernel.panic = "8"',
            'kernel.HELLO = "from below"',
            'init.WORLD = "two words"',
            'init.BOTH = "1"',
            "# Parameters from bootloader:",
            "# bootconfig trace_clock=counter panic=9 -- BOTH=2",
        ]
        assert ask(guest, "cat /proc/sys/kernel/printk").split()[0] == "7"
        assert ask(guest, "cat /proc/sys/kernel/panic /proc/sys/kernel/traceoff_on_warning") == "9\n1\n"


KEYS = """
ftrace {
    options = noirq-info, func_stack_trace      # the second is the function tracer's own
    trace_clock = global
    buffer_size = 128KB
    cpumask = 1
    alloc_snapshot
    ftrace.filters = "vfs_*", schedule
    ftrace.notraces = vfs_read
    tracer = function
    event.sched {
        sched_switch { filter = "prev_pid == 1"; actions = "traceoff if prev_pid == 9999", "stacktrace:5 if prev_pid == 9999"; enable }
        sched_waking.filter = "pid == 1"
    }
    event.task.enable
    events = "irq:*", initcall_start
    instance.one {
        tracing_on = 0
        events = "sched:sched_process_fork"
    }
    instance.two { tracer = function; ftrace.filters = sys_getpid; buffer_size = 1M; trace_clock = counter }
}
"""


def test_tracing(machine, tmp_path):
    """Each key does what a write to the file does, in the order that makes all of them good."""
    with guest_with(machine, tmp_path, KEYS, smp=2) as guest:
        assert [line for line in said_about(guest) if "ignored" in line] == []
        assert re.search(r"Load bootconfig: \d+ bytes 52 nodes", guest.console), re.findall("Load.*", guest.console)
        ask(guest, f"cd {TRACING}; echo 0 > tracing_on")
        assert {"noirq-info", "func_stack_trace"} <= set(ask(guest, "cat trace_options").split())
        assert "[global]" in ask(guest, "cat trace_clock")
        assert ask(guest, "cat current_tracer tracing_cpumask") == "function\n1\n"
        assert ask(guest, "cat buffer_size_kb") == "131\n"  # 128 KiB in whole pages of 4,080 bytes of records
        assert (
            "vfs_write\n" in ask(guest, "cat set_ftrace_filter")
            and ask(guest, "cat set_ftrace_notrace") == "vfs_read\n"
        )
        assert ask(
            guest,
            "cd events/sched; cat sched_switch/filter sched_waking/filter sched_switch/enable sched_waking/enable",
        ) == ("prev_pid == 1\npid == 1\n1*\n0\n")
        assert sorted(ask(guest, "cat sched_switch/trigger").splitlines()) == [
            "stacktrace:count=5 if prev_pid == 9999",
            "traceoff:unlimited if prev_pid == 9999",
        ]
        events = set(ask(guest, "cd ../..; cat set_event").split())
        assert {"sched:sched_switch", "task:task_rename", "task:task_newtask", "initcall:initcall_start"} <= events
        assert {line.split(":")[0] for line in events} == {"sched", "task", "irq", "initcall"}
        assert "func_stack_trace" in ask(guest, "cat trace_options")
        trace = ask(guest, "cat trace")
        assert "<stack trace>" in trace and "initcall_start: func=" in trace and "vfs_read <-" not in trace
        assert "[001]" not in trace  # not in the mask
        assert "# * Snapshot is allocated *" in ask(guest, "echo nop > current_tracer; cat snapshot")
        assert ask(guest, "ls instances").split() == ["one", "two"]
        assert ask(guest, "cd instances/one; cat tracing_on set_event; grep -vc '^#' trace || true") == (
            "0\nsched:sched_process_fork\n0\n"
        )
        assert ask(guest, "cd ../two; cat current_tracer set_ftrace_filter") == "function\nsys_getpid\n"
        assert "[counter]" in ask(guest, "cat trace_clock") and int(ask(guest, "cat buffer_size_kb")) >= 1024


WRONG = """
ftrace {
    options = nosuchoption
    tracing_on = maybe
    trace_clock = nosuchclock
    buffer_size = 12potatoes
    buffer_sise = 1M
    cpumask = 800
    ftrace.filters = nosuchfunction
    tracer
    event.sched.sched_swich.enable
    event.sched.sched_waking { filter = "pod == 1"; actions = explode; enable = 7; rate = 3 }
    event.sched.actions = traceoff
    events = "shced:*"
    instance { one { tracer = nosuchtracer; instance.deep.events = "irq:*" } }
}
"""


def test_what_is_wrong_is_said_once(machine, tmp_path):
    """One line for each wrong value, in the words that a write to the file gets; all else is as if it were not there."""
    with guest_with(machine, tmp_path, WRONG) as guest:
        said = [
            line.removeprefix("bootconfig: ftrace.")
            for line in said_about(guest)
            if "ignored" in line or "taken as" in line
        ]
        begins = [
            "instance.one.tracer: 'nosuchtracer' ignored: no tracer 'nosuchtracer'; there are: ",
            "instance.one.instance.deep.events ignored: there is no such key",
            "options: 'nosuchoption' ignored: no option 'nosuchoption'",
            "tracing_on: 'maybe' taken as 0: 'maybe' is not a number: 0 stops recording",
            "trace_clock: 'nosuchclock' ignored: no clock 'nosuchclock'; there are: local global",
            "buffer_size: '12potatoes' ignored: it is not a number of bytes, 1K or more",
            "buffer_sise ignored: there is no such key; close: buffer_size",
            "cpumask: '800' ignored: '800' has CPUs that this machine has not; all CPUs are 1",
            "ftrace.filters: 'nosuchfunction' ignored: nothing matches 'nosuchfunction'",
            "tracer ignored: it needs a value",
            "event.sched.sched_swich ignored: no event 'sched:sched_swich'; close: sched:sched_switch",
            "event.sched.sched_waking.filter: 'pod == 1' ignored: 'pod == 1', column 4: Field not found; close: pid",
            "event.sched.sched_waking.actions: 'explode' ignored: no trigger 'explode'; there are: traceon",
            "event.sched.sched_waking.enable: '7' ignored: '7' is not 0 (off) or 1 (on)",
            "event.sched.sched_waking.rate ignored: there is no such key",
            "event.sched.actions ignored: only a single event has it",
            "events: 'shced:*' ignored: no event 'shced:*'",
        ]
        for begin in begins:
            assert [line for line in said if line.startswith(begin)], f"{begin}: {said}"
        assert len(said) == len(begins)
        assert ask(guest, f"cd {TRACING}; cat current_tracer set_event tracing_on") == "nop\n0\n"
        assert ask(guest, "ls instances") == "one\n"


def test_a_bad_file_is_named_with_line_and_column(machine, tmp_path):
    """By the kernel, since the tool would have refused it: the tool's checks are passed by here."""
    text = b"ftrace {\n  .tracer = function\n}\n\0"
    text += bytes(-len(text) % 4)
    tail = text + len(text).to_bytes(4, "little") + sum(text).to_bytes(4, "little") + b"#BOOTCONFIG\n"
    bad_sum = text + len(text).to_bytes(4, "little") + (sum(text) + 1).to_bytes(4, "little") + b"#BOOTCONFIG\n"
    with open(Setup(arch=machine.arch).initrd, "rb") as file:
        base = file.read()
    for end, line, words in (
        (tail, "Failed to parse bootconfig: Invalid keyword at 2:3.", "bootconfig"),
        (bad_sum, "bootconfig: the one behind the initramfs is damaged: checksum failed", "bootconfig"),
        (b"", "'bootconfig' found on command line, but no bootconfig found", "bootconfig"),
        (tail, "bootconfig: the one behind the initramfs is not used: 'bootconfig' is not on the command line", ""),
    ):
        (tmp_path / "initrd").write_bytes(base + end)
        with machine.guest(initrd=str(tmp_path / "initrd"), append=words) as guest:
            assert said_about(guest)[0] == line
            assert ask(guest, "cat /proc/bootconfig") == ""
            assert ("initramfs: damaged" in guest.console) == (end == bad_sum)


def test_kprobes(machine, tmp_path):
    """Events at instructions from both places; those of kprobe_event= begin on, and what is wrong is in error_log."""
    keys = """
        ftrace.event.kprobes {
            opens { probes = "do_sys_openat2 dfd=$arg1"; filter = "dfd != 1"; enable }
            both.probes = vfs_read, vfs_write
            bad { probes = no_such_function; enable }
        }
    """
    append = "kprobe_event=p,vfs_open;r:mine/ret,vfs_open,res=$retval:s32;p:x,nosuch"
    with guest_with(machine, tmp_path, keys, append=append) as guest:
        assert ask(guest, f"cd {TRACING}; cat dynamic_events").splitlines() == [
            "p:kprobes/p_vfs_open_0 vfs_open",
            "r:mine/ret vfs_open res=$retval:s32",
            "p:kprobes/opens do_sys_openat2 dfd=$arg1",
            "p:kprobes/both vfs_read",
            "p:kprobes/both vfs_write",
        ]
        assert ask(guest, "cat set_event") == "kprobes:p_vfs_open_0\nmine:ret\nkprobes:opens\n"
        assert ask(guest, "cat events/kprobes/opens/filter") == "dfd != 1\n"
        refused = "Invalid probed address or symbol"
        assert f"kprobe_event: 'p:x nosuch' ignored: {refused}" in ask(guest, "dmesg")
        assert [line for line in said_about(guest) if "ignored" in line] == [
            f"bootconfig: ftrace.event.kprobes.bad.probes: 'no_such_function' ignored: {refused}"
        ]
        assert ask(guest, "grep -c 'Invalid probed address or symbol' error_log") == "2\n"
        ask(guest, "echo > trace; cat /proc/version > /dev/null; echo 0 > tracing_on")
        trace = ask(guest, "cat trace")
        assert re.search(r"p_vfs_open_0: \(vfs_open\+0x0/", trace) and "<- vfs_open) res=0\n" in trace


# The examples of Linux's boottime-trace.rst, with functions of this kernel for those of Linux's drivers.
EVENTS = """
ftrace.event {
        task.task_newtask {
                filter = "pid < 128"
                enable
        }
        kprobes.vfs_read {
                probes = "vfs_read $arg1 $arg2"
                filter = "common_pid < 200"
                enable
        }
        synthetic.initcall_latency {
                fields = "unsigned long func", "u64 lat"
                hist {
                        keys = func.sym, lat
                        values = lat
                        sort = lat
                }
        }
        initcall.initcall_start.hist {
                keys = func
                var.ts0 = common_timestamp.usecs
        }
        initcall.initcall_finish.hist {
                keys = func
                var.lat = common_timestamp.usecs - $ts0
                onmatch {
                        event = initcall.initcall_start
                        trace = initcall_latency, func, $lat
                }
        }
}
"""


def test_the_events_of_linuxs_document(machine, tmp_path):
    """A synthetic event is made of two of the kernel's, and has seen each initcall of this boot."""
    with guest_with(machine, tmp_path, EVENTS) as guest:
        assert [line for line in said_about(guest) if "ignored" in line] == []
        assert ask(guest, f"cd {TRACING}; cat dynamic_events").splitlines() == [
            "p:kprobes/vfs_read vfs_read arg1=$arg1 arg2=$arg2",
            "s:synthetic/initcall_latency\tunsigned long func; u64 lat",
        ]
        enabled = "for e in task/task_newtask kprobes/vfs_read initcall/initcall_start; do cat events/$e/enable; done"
        assert ask(guest, enabled) == "1\n1\n0*\n"
        assert ask(guest, "cat events/task/task_newtask/filter events/kprobes/vfs_read/filter") == (
            "pid < 128\ncommon_pid < 200\n"
        )
        triggers = "cd events; for e in synthetic/initcall_latency initcall/initcall_start initcall/initcall_finish"
        assert ask(guest, f"{triggers}; do cat $e/trigger; done").splitlines() == [
            "hist:keys=func.sym,lat:vals=hitcount,lat:sort=lat:size=2048 [active]",
            "hist:keys=func:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:size=2048:clock=global [active]",
            "hist:keys=func:vals=hitcount:lat=common_timestamp.usecs-$ts0:sort=hitcount:size=2048:clock=global"
            ":onmatch(initcall.initcall_start).trace(initcall_latency,func,$lat) [active]",
        ]
        hist = ask(guest, "cat synthetic/initcall_latency/hist")
        lats = [
            (int(lat), int(hits), int(total))
            for lat, hits, total in re.findall(
                r"\{ func: \[[0-9a-f]+\] \w+ +, lat: +(\d+) \} hitcount: +(\d+)  lat: +(\d+)", hist
            )
        ]
        assert len(lats) > 20 and [lat for lat, _, _ in lats] == sorted(lat for lat, _, _ in lats)
        assert all(total == lat * hits for lat, hits, total in lats)
        finished = re.search(r"Hits: (\d+)", ask(guest, "cat initcall/initcall_finish/hist"))
        assert sum(hits for _, hits, _ in lats) == int(finished[1])


OTHERS = """
ftrace.instance {
        foo {
                tracer = "function"
                ftrace.filters = "user_*"
        }
        bar {
                tracer = "function"
                ftrace.filters = "kernel_*"
        }
}
ftrace {
        tracing_on = 0
        tracer = function_graph
        event.kprobes {
                start_event {
                        probes = "net_dev_init"
                        actions = "traceon"
                }
                end_event {
                        probes = "net_dev_init%return"
                        actions = "traceoff"
                }
        }
}
"""

PARAMETERS = """
kernel {
        trace_options = sym-addr
        trace_event = "initcall:*"
        tp_printk
        trace_buf_size = 1M
        ftrace = function
        ftrace_filter = "vfs*"
}
"""


def test_the_other_examples_of_linuxs_document(machine, tmp_path):
    """Two instances with a tracer each, the calls of one function of the boot alone, and parameters as keys."""
    with guest_with(machine, tmp_path, OTHERS) as guest:
        assert [line for line in said_about(guest) if "ignored" in line] == []
        ask(guest, f"cd {TRACING}")
        for name in ("foo", "bar"):
            begin = {"foo": "user_", "bar": "kernel_"}[name]
            assert ask(guest, f"cat instances/{name}/current_tracer") == "function\n"
            names = ask(guest, f"cat instances/{name}/set_ftrace_filter").split()
            assert names and all(n.startswith(begin) for n in names)
        assert "kernel_init" in ask(guest, "cat instances/bar/set_ftrace_filter").split()
        assert ask(guest, "cat current_tracer tracing_on") == "function_graph\n0\n"
        # An interrupt may come between, so other calls may be in the trace, but not those around this one.
        calls = re.findall(r"(\w+)\(\)", ask(guest, "cat trace"))
        assert "open_softirq" in calls and "do_one_initcall" not in calls and "probe_devices" not in calls


def test_the_parameters_of_linuxs_document(machine, tmp_path):
    with guest_with(machine, tmp_path, PARAMETERS) as guest:
        assert [line for line in said_about(guest) if "ignored" in line] == []
        assert "sym-addr\n" in ask(guest, f"cd {TRACING}; cat trace_options")
        assert ask(
            guest, "cat current_tracer; grep -c ^vfs set_ftrace_filter; grep -vc ^vfs set_ftrace_filter || true"
        ).split() == ["function", "20", "0"]
        assert {line.split(":")[0] for line in ask(guest, "cat set_event").split()} == {"initcall"}
        assert 1024 <= int(ask(guest, "cat buffer_size_kb")) < 1032
        assert "initcall_start: func=" in ask(guest, "dmesg")


HISTS = """
ftrace.event {
    synthetic.woken { fields = "u64 lat", "pid_t pid"; actions = "hist:keys=pid:name=mine" }
    sched.sched_waking.hist { keys = pid; var.ts0 = common_timestamp.usecs; var.p2 = pid + 1; filter = "pid > 1" }
    sched.sched_switch.hist {
        0 { keys = prev_pid, prev_state; values = prev_prio; size = 256; sort = prev_pid.descending, hitcount; pause }
        1 {
            keys = next_pid; filter = "next_pid > 1"
            var { lat = common_timestamp.usecs - $ts0; hi = prev_pid * 2 }
            onmatch { event = sched.sched_waking; trace = woken, $lat, next_pid }
            onmax { 0 { var = $lat; save = next_comm, prev_pid } 1 { var = $hi; snapshot } }
            onchange { var = $hi; trace = woken, $lat, next_pid }
        }
        keys = next_prio
    }
    synthetic.other.fields = "char comm[16]"
}
ftrace.instance.one.event {
    synthetic.deep.fields = "u64 n"
    task.task_newtask.hist { keys = comm; name = tasks; nohitcount; onmatch.trace = deep }
    task.task_rename.hist {
        0 { keys = pid; size }
        1 { keys = pid; var.x = pid; onchange.3.var = $x }
        values = pid
        var.x.y = 1
    }
    sched.sched_switch.hist { keys = nosuch; continue }
    synthetic.bad { fields = "u65 n"; hist.keys = n }
}
"""


def test_histograms(machine, tmp_path):
    """Each key of a histogram has its place in the line; a key that is not known and one that lacks a part are told."""
    with guest_with(machine, tmp_path, HISTS) as guest:
        said = [line.removeprefix("bootconfig: ftrace.") for line in said_about(guest) if "ignored" in line]
        one = "instance.one.event."
        begins = [
            f"{one}synthetic.bad.fields: 'u65 n' ignored: Invalid type",
            f"{one}task.task_newtask.hist ignored: onmatch needs event; onmax and onchange need var",
            f"{one}task.task_rename.hist.0 ignored: each of its keys but pause, continue, clear and snapshot needs a value",
            f"{one}task.task_rename.hist.1 ignored: a handler needs trace, save or snapshot",
            f"{one}task.task_rename.hist ignored: a histogram needs keys",
            f"{one}sched.sched_switch.hist: 'hist:keys=nosuch:continue' ignored: 'hist:keys=nosuch:continue', column 10:",
            f"{one}task.task_newtask.hist.nohitcount ignored: there is no such key",
            f"{one}task.task_rename.hist.var.x.y ignored: there is no such key",
        ]
        assert len(said) == len(begins)
        for line, begin in zip(said, begins, strict=True):
            assert line.startswith(begin)
        assert ask(guest, f"cd {TRACING}; cat synthetic_events").splitlines() == [
            "woken\tu64 lat; pid_t pid",
            "other\tchar[16] comm",
            "deep\tu64 n",
        ]
        assert ask(guest, "cd events/sched; cat sched_waking/trigger").splitlines() == [
            "hist:keys=pid:vals=hitcount:ts0=common_timestamp.usecs,p2=pid+1:sort=hitcount:size=2048:clock=global if pid > 1 [active]"
        ]
        assert ask(guest, "cat sched_switch/trigger").splitlines() == [
            "hist:keys=prev_pid,prev_state:vals=hitcount,prev_prio:sort=prev_pid.descending,hitcount:size=256 [paused]",
            "hist:keys=next_pid:vals=hitcount:lat=common_timestamp.usecs-$ts0,hi=prev_pid*2:sort=hitcount:size=2048:clock=global"
            ":onmatch(sched.sched_waking).trace(woken,$lat,next_pid):onmax($lat).save(next_comm,prev_pid)"
            ":onmax($hi).snapshot():onchange($hi).trace(woken,$lat,next_pid) if next_pid > 1 [active]",
            "hist:keys=next_prio:vals=hitcount:sort=hitcount:size=2048 [active]",
        ]
        assert "hist:name=mine:keys=pid:" in ask(guest, "cat ../synthetic/woken/trigger")
