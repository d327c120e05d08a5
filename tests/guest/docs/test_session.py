"""The session that every ftrace tutorial begins with, typed at the prompt and read as a person reads it."""

import re

import pytest
from machines import product, want_features
from test_formats import COLUMNS, parse, split_trace, tracers

PROMPT = r"/[\w/]* # $"


class Terminal:
    """A guest at whose prompt lines are typed."""

    def __init__(self, guest):
        self.guest = guest

    def type(self, line):
        """Type a line, see it echoed, and give what came between it and the next prompt.

        In a line that is wider than the terminal the shell moves on to the next row by a space and a return.
        """
        self.guest.send(line + "\n")
        self.guest.expect("(?: \r)?".join(map(re.escape, line)) + "\r\n")
        self.guest.expect(PROMPT)
        return self.guest.before().replace("\r\n", "\n")


@pytest.mark.parametrize("machine,irqchip", product(lambda machine: [(name, name) for name in machine.irqchips]))
def test_the_session(machine, irqchip):
    want_features(machine.arch, {"irqchip": irqchip})
    with machine.guest(irqchip=irqchip, smp=2, timeout=120) as guest:
        shell = Terminal(guest)
        assert (
            shell.type(
                "ls -d /dev/null /dev/"
                + machine.console
                + " /proc/self /sys/kernel/debug/tracing/trace 2>&1 | grep -c :"
            )
            == "0\n"
        )
        shell.type("cd /sys/kernel/tracing")
        assert set(shell.type("cat available_tracers").split()) == set(tracers())
        names = shell.type(
            "echo 0 > tracing_on; echo schedule > set_ftrace_filter; echo 'hrtimer_*' >> set_ftrace_filter; "
            "cat set_ftrace_filter"
        ).split()
        assert "schedule" in names and len(names) > 3
        assert all(name == "schedule" or name.startswith("hrtimer_") for name in names)
        trace = shell.type(
            "echo function > current_tracer; echo 1 > tracing_on; sleep 1; echo 0 > tracing_on; head -20 trace"
        )
        _, lines = split_trace(trace, "")
        lines = [parse(line) for line in lines if not line.startswith("#")]
        assert len(lines) >= 7
        assert {fields["function"] for fields in lines} <= set(names)
        trace = shell.type(
            "echo > set_ftrace_filter; echo sched_switch > current_tracer; echo 1 > tracing_on; ls / | grep s | wc -l; "
            "cat trace"
        )
        count, trace = trace.split("\n", 1)
        assert int(count) >= 2  # at least sbin and sys
        _, lines = split_trace(trace, "", tracer="sched_switch")
        assert any(" ==> " in line for line in lines) and any("   + " in line for line in lines)
        live_pipe(guest, shell)
        # What reads trace_pipe in the background does not take the prompt with it.
        shell.type("cat trace_pipe > /tmp/live &")
        shell.type("until test -s /tmp/live; do usleep 1000; done; kill %1 2>/dev/null || kill $!; wait")
        assert int(shell.type("wc -l < /tmp/live")) > 0
        assert (
            shell.type(f"test -c /dev/null -a -c /dev/{machine.console}; echo $?") == "0\n"
        ), "the usual devices are there"
        guest.send("poweroff\n")
        assert guest.wait_end(), "QEMU did not end after poweroff"


def live_pipe(guest, shell):
    """cat trace_pipe shows what happens now, consumes it, waits, and ends on ^C."""
    shell.type("echo nop > current_tracer; echo > trace; echo 1 > tracing_on")
    shell.type("echo first > trace_marker")
    guest.send("cat trace_pipe\n")
    guest.expect(r"tracing_mark_write: first\r\n")
    guest.send("\x03")
    guest.expect(PROMPT)
    _, lines = split_trace(shell.type("cat trace"), "", tracer="nop")
    assert lines == [], "what trace_pipe has shown is gone"
    shell.type("echo sched_switch > current_tracer")
    guest.send("cat trace_pipe\n")
    for _ in range(20):  # live: lines keep coming
        line = guest.expect(r"[^\r\n]+(==>|  \+)[^\r\n]+\r\n").group(0).strip("\r\n")
        assert COLUMNS.match(line), line
    guest.send("\x03")
    guest.expect(PROMPT)
    assert shell.type("echo $?") == "130\n"
