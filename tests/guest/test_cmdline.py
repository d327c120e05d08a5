"""The kernel's command line: tracing from the first moment, quietness, the first program, and what is wrong in it."""

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
