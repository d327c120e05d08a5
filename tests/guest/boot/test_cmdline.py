"""The kernel's command line: tracing from the first moment, quietness, the first program, and what is wrong in it."""

import os
import re

import pytest
from vitrine_guest import PANICKED, GuestError

TRACING = "/sys/kernel/tracing"


TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def lines_of(guest, command):
    return ask(guest, command).replace("\r", "").splitlines()


def ask(guest, command):
    status, output = guest.run(command)
    assert status == 0, f"{command}: status {status}: {output}"
    return output


def test_tracing_from_boot(machine):
    """With the calls of before the tracer, of which a long command line makes more than are kept."""
    append = "ftrace=function ftrace_filter=schedule,vfs_*,*_boot_cpu,paging_init ftrace_notrace=vfs_read,vfs_init trace_buf_size=64K"
    with machine.guest(append=append + 90 * " loglevel=7", smp=2) as guest:
        ask(guest, f"cd {TRACING}; echo 0 > tracing_on")
        assert re.search(r"ftrace: 6144 calls from before the tracer, [1-9]\d* lost", guest.console)
        assert ask(guest, "cat current_tracer") == "function\n"
        names = ask(guest, "cat set_ftrace_filter").split()
        early = ["smp_setup_boot_cpu", "paging_init"]
        assert (
            "schedule" in names
            and "vfs_read" in names
            and all(n in ["schedule", *early] or n.startswith("vfs_") for n in names)
        )
        assert ask(guest, "cat set_ftrace_notrace").split() == ["vfs_init", "vfs_read"]
        assert ask(guest, "cat buffer_size_kb") == "67\n"  # 64 KiB in whole pages of 4,080 bytes of records
        trace = ask(guest, "cat trace")
        assert "schedule <-" in trace and "vfs_open" in trace and "vfs_read" not in trace and "vfs_init" not in trace
        lines = [line.split() for line in trace.splitlines() if not line.startswith("#")]
        assert [line[4] for line in lines if line[4] in early] == early == [line[4] for line in lines[:2]]
        assert "Starting tracer 'function'" in guest.console


def order_on_the_map(function):
    """What kernel/init/main.c calls in a function, in that order."""
    with open(os.path.join(TOP, "kernel", "init", "main.c"), encoding="ascii") as file:
        body = re.search(rf"^[^\n]*\b{function}\(.*?^}}", file.read(), re.M | re.S)[0]
    return re.findall(r"^\t(?:return )?(\w+)\(", body, re.M)


def test_a_boot_traced_whole(machine):
    """From the first C function that has a site to the first program, in order."""
    with machine.guest(append="ftrace=function trace_buf_size=8M", smp=2) as guest:
        ask(guest, f"cd {TRACING}; echo 0 > tracing_on")
        assert re.search(r"ftrace: [1-9]\d* calls from before the tracer, 0 lost", guest.console)
        assert (
            ask(guest, "cat per_cpu/cpu*/stats | grep -E '^(overrun|dropped)' | sort -u")
            == "dropped events: 0\noverrun: 0\n"
        )
        first = lines_of(guest, "head -13 trace | tail -1")[0]
        assert re.fullmatch(
            r" +<idle>-0 +\[000\] d\.\.1\. +\d+\.\d+: (asid_init <-arm64_boot|cpu_features_init <-x86_boot)", first
        )
        sites = set(ask(guest, "cat available_filter_functions").split())
        lines = lines_of(guest, "grep -E ' <-(start_kernel|kernel_init|do_one_initcall)$' trace")
        for function, last in (
            ("start_kernel", "rest_init"),
            ("kernel_init", "run_init_process"),
        ):  # which is jumped to
            listed = [call for call in order_on_the_map(function) if call in sites and call != last]
            assert (
                listed
                and [line.split()[4] for line in lines if line.endswith(f" <-{function}") and line.split()[4] in listed]
                == listed
            )
        order = ["populate_rootfs", "kobjects_init", "sockfs_init", "probe_devices", "pty_init", "make_boot_id"]
        assert [
            name for line in lines if line.endswith("<-do_one_initcall") and (name := line.split()[4]) in order
        ] == order
        stamps = [float(line.split()[3].rstrip(":")) for line in lines]
        assert stamps == sorted(stamps)


def test_options_and_clock_from_boot(machine):
    with machine.guest(
        append="trace_options=sym-offset,noirq-info trace_clock=global ftrace=sched_switch tracing_thresh=300 alloc_snapshot"
    ) as guest:
        options = ask(guest, f"cd {TRACING}; cat trace_options").split()
        assert "sym-offset" in options and "noirq-info" in options
        assert "[global]" in ask(guest, "cat trace_clock")
        assert ask(guest, "cat current_tracer tracing_thresh") == "sched_switch\n300\n"
        assert "# * Snapshot is allocated *" in ask(guest, "cat snapshot")
        ask(guest, "echo 1 > options/test_nop_accept; ! echo 1 > options/test_nop_refuse")
        assert "test_nop_refuse set to 1 is refused" in ask(guest, "dmesg")
        assert "==>" in ask(guest, "cat trace")


def test_events_from_boot(machine):
    append = (
        'trace_event=sched:sched_switch,task:,initcall:* trace_trigger="sched_process_exec.stacktrace:1 if pid == 9999,sched_process_exec.nosuch" '
        "trace_instance=one,sched:sched_process_fork,nosuch:* trace_instance=two trace_instance=a/b traceoff_after_boot initcall_debug"
    )
    with machine.guest(append=append, smp=2) as guest:
        assert ask(guest, f"cd {TRACING}; grep -c sched_switch: trace") != "0\n"
        assert (
            ask(guest, "cat set_event | sort")
            == "initcall:initcall_finish\ninitcall:initcall_level\ninitcall:initcall_start\n"
            "sched:sched_process_exec\nsched:sched_switch\ntask:task_newtask\ntask:task_rename\n"
        )
        assert (
            ask(guest, "cat events/sched/sched_process_exec/trigger tracing_on")
            == "stacktrace:count=1 if pid == 9999\n0\n"
        )
        assert ask(guest, "ls instances").split() == ["one", "two"]
        assert (
            ask(guest, "cat instances/one/set_event instances/one/tracing_on instances/two/set_event")
            == "sched:sched_process_fork\n1\n"
        )
        assert "child_comm" in ask(guest, "cat instances/one/trace")
        said = ask(guest, "dmesg")
        assert "calling  futex_init+0x0/" in guest.console and "initcall futex_init+0x0/" in guest.console
        for word in (
            "trace_trigger: 'sched_process_exec.nosuch'",
            "trace_instance: 'nosuch:*'",
            "trace_instance: 'a/b'",
        ):
            assert f"{word} ignored: " in said
        ask(guest, "rmdir instances/one && mkdir instances/one && rmdir instances/*")
        said = re.sub(r"(?m)^\[[^]]*\] ", "", said)
        assert re.findall("^entering initcall level: (.*)$", said, re.M) == ["early", "core", "fs", "device", "late"]
        calls = re.findall(r"^calling  (\w+\+0x0/0x[0-9a-f]+) @ 1 irqs_disabled\(\) 0$", said, re.M)
        assert calls == re.findall(r"^initcall (\S+) returned 0 after \d+ usecs, irqs_disabled\(\) 0$", said, re.M)
        assert [
            call.split("+")[0] for call in calls if call.startswith(("futex_", "rcu_", "populate_", "probe_", "late_"))
        ] == ["futex_init", "rcu_init", "populate_rootfs", "probe_devices", "late_trace_init"]
        events = re.findall(r"initcall_(level|start|finish): (.*)\n", ask(guest, "cat trace"))
        assert [text for event, text in events if event == "level"] == [
            f"level={name}" for name in ("early", "core", "fs", "device", "late")
        ]
        *seen, last = calls[: 1 + next(n for n, call in enumerate(calls) if call.startswith("late_trace_init+"))]
        assert [text for event, text in events if event == "start"] == [f"func={call}" for call in (*seen, last)]
        # That one ends the trace.
        assert [text for event, text in events if event == "finish"] == [f"func={call} ret=0" for call in seen]


def test_events_printed(machine):
    with machine.guest(append="quiet tp_printk trace_event=lab_step,sched:sched_switch", smp=2) as guest:
        ask(guest, "echo 3 half > /sys/kernel/debug/lab/step; sleep 0.1")
        assert "lab_step: step=3 what=half" in ask(guest, "dmesg")
        assert "prev_comm=sleep" in ask(guest, "dmesg | grep sched_switch:")
        ask(
            guest,
            "echo 'step == 5' > /sys/kernel/tracing/events/lab/lab_step/filter; echo 4 half > /sys/kernel/debug/lab/step",
        )
        ask(guest, "echo 0 > /proc/sys/kernel/tracepoint_printk; echo 5 half > /sys/kernel/debug/lab/step")
        assert "step=4" not in ask(guest, "dmesg") and "step=5" not in ask(guest, "dmesg")
        assert "step=5" in ask(guest, "cat /sys/kernel/tracing/trace")
        ask(
            guest,
            "echo 1 > /proc/sys/kernel/tracepoint_printk; echo 5 half > /sys/kernel/debug/lab/step; echo 0 > /proc/sys/kernel/tracepoint_printk",
        )
        assert "step=5" in ask(guest, "dmesg")
    with machine.guest() as guest:
        assert (
            ask(guest, "echo 1 > /proc/sys/kernel/tracepoint_printk; cat /proc/sys/kernel/tracepoint_printk") == "0\n"
        )


def test_what_does_not_exist_is_said_and_passed_over(machine):
    append = (
        "ftrace=nosuchtracer ftrace_filter=shcedule,schedule trace_options=nosuchoption,nofuncgraph-proc trace_buf_size=x "
        "trace_clock=sundial stacktrace=1 ftrace_notrace=schedule" + 40 * ",vfs_statistics"
    )
    with machine.guest(append=append) as guest:
        said = ask(guest, "dmesg")
        for message in (
            "cannot start tracer 'nosuchtracer': no tracer 'nosuchtracer'; there are: function ",
            "ftrace_filter: 'shcedule' ignored: nothing matches 'shcedule'; close: schedule\n",
            "trace_options: 'nosuchoption' ignored: no option 'nosuchoption'",
            "trace_options: 'nofuncgraph-proc' ignored: 'nofuncgraph-proc' is an option of a tracer that is not selected: function_graph",
            "trace_clock: 'sundial' ignored: no clock 'sundial'; there are: local global ",
            "'trace_buf_size=x' refused: Invalid argument",
            "ftrace_notrace=schedule,vfs_statistics",
            "refused: Argument list too long",
        ):
            assert message in said, message
        assert (
            ask(guest, "cat /proc/sys/kernel/stack_tracer_enabled") == "1\n"
        )  # Linux does not look at what is behind it
        assert (
            ask(guest, f"cd {TRACING}; cat current_tracer set_ftrace_filter set_ftrace_notrace")
            == "nop\nschedule\n#### no functions disabled ####\n"
        )
        assert ask(guest, "cat buffer_size_kb") == "7 (expanded: 1408)\n"


@pytest.mark.parametrize("append,shown", [("quiet", False), ("loglevel=3", False), ("loglevel=7", True), ("", True)])
def test_loglevel(machine, append, shown):
    with machine.guest(append=append) as guest:
        before_prompt = guest.console
        assert ("ftrace: allocating" in before_prompt) == shown
        assert "ftrace: allocating" in ask(guest, "dmesg")
        assert ask(guest, "cat /proc/cmdline").strip() == append


def test_another_first_program(machine):
    with pytest.raises(GuestError, match="Requested init /bin/nosuch failed") as caught:
        machine.guest(append="init=/bin/nosuch")
    assert caught.value.status == PANICKED
    with machine.guest(append="init=/bin/sh") as guest:  # no init before it: a shell alone
        assert ask(guest, "echo $$") == "1\n"
    with pytest.raises(GuestError, match="Attempted to kill init") as caught:
        machine.guest(append="init=/bin/true")
    assert caught.value.status == PANICKED


def test_words_that_nobody_knows(machine):
    """They are named in one line, and booting goes on. The first program gets 30 of them, and the log names the rest."""
    words = [f"word{n}" for n in range(2, 33)]
    with machine.guest(append=f"nosuchword nosuchname=5 quiet {' '.join(words)}") as guest:
        said = ask(guest, "dmesg")
        assert (
            f'Unknown kernel command line parameters "nosuchword nosuchname=5 {" ".join(words)}", '
            "will be passed to user space."
        ) in said
        assert re.findall(r"too many words for init, '(\w+)' left out", said) == ["word31", "word32"]
        assert ask(guest, "mount -t proc proc /proc; tr '\\0' ' ' < /proc/1/cmdline").split()[-30:] == ["nosuchword", *words[:29]]


def test_arguments_for_the_first_program(machine):
    """What the kernel does not know is the first program's: name=value its environment, words its arguments."""
    with pytest.raises(GuestError, match="Attempted to kill init"):
        with machine.guest(append='init=/bin/sh HELLO=there -- -c "echo [$HELLO]"', wait_prompt=False) as guest:
            guest.expect(r"\[there\]\r\n", panic=False)
            guest.expect("never")
    # HOME= and TERM= are there already: they are replaced, each in its place.
    with machine.guest(append="TERM=vt52 HELLO=there HOME=/tmp init=/bin/sh") as guest:
        assert ask(guest, "mount -t proc proc /proc; tr '\\0' ' ' < /proc/1/environ").split() == ["HOME=/tmp", "TERM=vt52", "HELLO=there"]
