"""The kernel's command line: tracing from the first moment, quietness, the first program, and what is wrong in it."""

import re

import pytest
from vitrine_guest import PANICKED, GuestError

TRACING = "/sys/kernel/tracing"


def ask(guest, command):
    status, output = guest.run(command)
    assert status == 0, f"{command}: status {status}: {output}"
    return output


def test_tracing_from_boot(machine):
    with machine.guest(append="ftrace=function ftrace_filter=schedule,vfs_* ftrace_notrace=vfs_read trace_buf_size=64K", smp=2) as guest:
        ask(guest, f"cd {TRACING}; echo 0 > tracing_on")
        assert ask(guest, "cat current_tracer") == "function\n"
        names = ask(guest, "cat set_ftrace_filter").split()
        assert "schedule" in names and "vfs_read" in names and all(n == "schedule" or n.startswith("vfs_") for n in names)
        assert ask(guest, "cat set_ftrace_notrace") == "vfs_read\n"
        assert ask(guest, "cat buffer_size_kb") == "67\n"  # 64 KiB in whole pages of 4,080 bytes of records
        trace = ask(guest, "cat trace")
        assert "schedule <-" in trace and "vfs_open" in trace and "vfs_read" not in trace
        assert "Starting tracer 'function'" in guest.console


def test_options_and_clock_from_boot(machine):
    with machine.guest(append="trace_options=sym-offset,noirq-info trace_clock=global ftrace=sched_switch tracing_thresh=300 alloc_snapshot") as guest:
        options = ask(guest, f"cd {TRACING}; cat trace_options").split()
        assert "sym-offset" in options and "noirq-info" in options
        assert "[global]" in ask(guest, "cat trace_clock")
        assert ask(guest, "cat current_tracer tracing_thresh") == "sched_switch\n300\n"
        assert "# * Snapshot is allocated *" in ask(guest, "cat snapshot")
        ask(guest, "echo 1 > options/test_nop_accept; ! echo 1 > options/test_nop_refuse")
        assert "test_nop_refuse set to 1 is refused" in ask(guest, "dmesg")
        assert "==>" in ask(guest, "cat trace")


def test_events_from_boot(machine):
    append = 'trace_event=sched:sched_switch,task: trace_trigger="sched_process_exec.stacktrace:1 if pid == 9999,sched_process_exec.nosuch" ' \
             'trace_instance=one,sched:sched_process_fork,nosuch:* trace_instance=two trace_instance=a/b traceoff_after_boot initcall_debug'
    with machine.guest(append=append, smp=2) as guest:
        assert ask(guest, f"cd {TRACING}; grep -c sched_switch: trace") != "0\n"
        assert ask(guest, "cat set_event | sort") == "sched:sched_process_exec\nsched:sched_switch\ntask:task_newtask\ntask:task_rename\n"
        assert ask(guest, "cat events/sched/sched_process_exec/trigger tracing_on") == "stacktrace:count=1 if pid == 9999\n0\n"
        assert ask(guest, "ls instances").split() == ["one", "two"]
        assert ask(guest, "cat instances/one/set_event instances/one/tracing_on instances/two/set_event") == "sched:sched_process_fork\n1\n"
        assert "child_comm" in ask(guest, "cat instances/one/trace")
        said = ask(guest, "dmesg")
        for word in ("trace_trigger: 'sched_process_exec.nosuch'", "trace_instance: 'nosuch:*'", "trace_instance: 'a/b'"):
            assert f"{word} ignored: " in said
        ask(guest, "rmdir instances/one && mkdir instances/one && rmdir instances/*")
        said = re.sub(r"(?m)^\[[^]]*\] ", "", said)
        assert re.findall("^entering initcall level: (.*)$", said, re.M) == ["early", "core", "fs", "device", "late"]
        calls = re.findall(r"^calling  (\w+\+0x0/0x[0-9a-f]+) @ 1 irqs_disabled\(\) 0$", said, re.M)
        assert calls == re.findall(r"^initcall (\S+) returned 0 after \d+ usecs, irqs_disabled\(\) 0$", said, re.M)
        assert [call.split("+")[0] for call in calls if call.startswith(("futex_", "rcu_", "populate_", "probe_", "late_"))] == \
            ["futex_init", "rcu_init", "populate_rootfs", "probe_devices", "late_trace_init"]


def test_events_printed(machine):
    with machine.guest(append="quiet tp_printk trace_event=lab_step,sched:sched_switch", smp=2) as guest:
        ask(guest, "echo 3 half > /sys/kernel/debug/lab/step; sleep 0.1")
        assert "lab_step: step=3 what=half" in ask(guest, "dmesg")
        assert "prev_comm=sleep" in ask(guest, "dmesg | grep sched_switch:")
        ask(guest, "echo 'step == 5' > /sys/kernel/tracing/events/lab/lab_step/filter; echo 4 half > /sys/kernel/debug/lab/step")
        ask(guest, "echo 0 > /proc/sys/kernel/tracepoint_printk; echo 5 half > /sys/kernel/debug/lab/step")
        assert "step=4" not in ask(guest, "dmesg") and "step=5" not in ask(guest, "dmesg")
        assert "step=5" in ask(guest, "cat /sys/kernel/tracing/trace")
        ask(guest, "echo 1 > /proc/sys/kernel/tracepoint_printk; echo 5 half > /sys/kernel/debug/lab/step; echo 0 > /proc/sys/kernel/tracepoint_printk")
        assert "step=5" in ask(guest, "dmesg")
    with machine.guest() as guest:
        assert ask(guest, "echo 1 > /proc/sys/kernel/tracepoint_printk; cat /proc/sys/kernel/tracepoint_printk") == "0\n"


def test_what_does_not_exist_is_said_and_passed_over(machine):
    append = "ftrace=nosuchtracer ftrace_filter=nosuch_function,schedule trace_options=nosuchoption,nofuncgraph-proc trace_buf_size=x " \
             "trace_clock=sundial stacktrace=1"
    with machine.guest(append=append) as guest:
        said = ask(guest, "dmesg")
        for message in ("cannot start tracer 'nosuchtracer': no such tracer", "ftrace_filter: 'nosuch_function' ignored: no function matches",
                        "trace_options: 'nosuchoption' ignored: no such option",
                        "trace_options: 'nofuncgraph-proc' ignored: it is the tracer function_graph's, which is not selected",
                        "trace_clock: 'sundial' ignored: no such clock", "'trace_buf_size=x' refused: Invalid argument"):
            assert message in said, message
        assert ask(guest, "cat /proc/sys/kernel/stack_tracer_enabled") == "1\n"  # Linux does not look at what is behind it
        assert ask(guest, f"cd {TRACING}; cat current_tracer set_ftrace_filter") == "nop\nschedule\n"
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
    """They are named in one line, and booting goes on."""
    with machine.guest(append="nosuchword nosuchname=5 quiet") as guest:
        assert 'Unknown kernel command line parameters "nosuchword nosuchname=5", will be passed to user space.' in ask(guest, "dmesg")


def test_arguments_for_the_first_program(machine):
    """What the kernel does not know is the first program's: name=value its environment, words its arguments."""
    with pytest.raises(GuestError, match="Attempted to kill init"):
        with machine.guest(append="init=/bin/sh HELLO=there -- -c \"echo [$HELLO]\"", wait_prompt=False) as guest:
            guest.expect(r"\[there\]\r\n", panic=False)
            guest.expect("never")
