"""Interrupts that nothing masks, by the thousand, while the function tracer records, readers read and text is
patched."""

import os
import re
import threading

import pytest
from machines import product
from monitor import Kernel, Text

SOAK_MINUTES = int(os.environ.get("SOAK_MINUTES", "0"))
TRACING = "/sys/kernel/tracing"
CALLS = 10000
CPUS = 4
ENOUGH = 1000 if SOAK_MINUTES else 100  # on each CPU, in each phase
PAUSE = 0.0003  # seconds between two, so that the guest gets some of the host's time


class Storm:
    """Sends the interrupt over and over, from a thread of its own, inside a `with`."""

    def __init__(self, guest, command):
        self.guest, self.command = guest, command
        self.over, self.failure = threading.Event(), None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        try:
            while not self.over.wait(PAUSE):
                self.guest.qmp(self.command)
        except (RuntimeError, OSError, ValueError) as failure:
            self.failure = failure

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(10)
        assert self.failure is None, f"{self.command}: {self.failure}"


class Machine:
    """A guest, its shell in the tracing folder, and how many of the interrupts each CPU has had."""

    def __init__(self, guest, line):
        self.guest, self.line = guest, line
        self.ok(f"cd {TRACING}; echo 0 > tracing_on")

    def ok(self, command):
        status, output = self.guest.run(command)
        assert status == 0, f"{command}: status {status}\n{output}"
        return output

    def counts(self):
        line = re.search(rf"^ *{self.line}((?: +\d+){{{CPUS}}})", self.ok("cat /proc/interrupts"), re.M)
        assert line, f"/proc/interrupts has no line {self.line}"
        return [int(number) for number in line.group(1).split()]

    def until_enough(self, work):
        """Do the work again and again until each CPU has had enough interrupts meanwhile."""
        before = self.counts()
        while min(now - then for now, then in zip(self.counts(), before)) < ENOUGH:
            work()

    def total(self, field):
        return sum(int(number) for number in re.findall(rf"^{field}: (\d+)$", self.ok("cat per_cpu/cpu*/stats"), re.M))


def count_calls(machine, size):
    """So many calls of one function, on all CPUs, with a reader: each was read, or is counted as lost."""
    machine.ok(
        f"echo {size} > buffer_size_kb; echo > trace; cat trace_pipe > /tmp/pipe & reader=$!; echo 1 > tracing_on; "
        f"calls {CALLS} {CPUS} && echo 0 > tracing_on && wait $reader"
    )
    lines, lost = map(
        int, re.match(r"lines (\d+) lost (\d+)", machine.ok("tracecheck -f sys_getppid < /tmp/pipe")).groups()
    )
    assert lines + lost == CALLS
    assert (machine.total("entries"), machine.total("read events"), machine.total("overrun")) == (0, lines, lost)
    assert machine.total("dropped events") == machine.total("commit overrun") == 0


def record_all(machine, flag):
    """Everything traced, what serves the interrupt too, with readers of both kinds; then the buffer is looked at.

    How many records of it were made inside the interrupt: on a busy host there may be none for a whole buffer.
    """
    machine.ok(
        "echo > trace; echo 1 > tracing_on; timeout 1 cat trace_pipe > /dev/null; "
        "timeout 20 cat trace > /tmp/trace; test -s /tmp/trace && echo 0 > tracing_on"
    )
    inside = 0
    for cpu in range(CPUS):
        stats = machine.ok(f"cat per_cpu/cpu{cpu}/stats; cat per_cpu/cpu{cpu}/trace > /tmp/trace")
        entries = int(re.search(r"^entries: (\d+)$", stats, re.M).group(1))
        assert entries > 0
        seen = machine.ok("tracecheck < /tmp/trace")
        assert re.fullmatch(rf"lines {entries} lost \d+ cpu{cpu} {entries}\n", seen), seen
        inside += int(machine.guest.run(rf"grep -c '\] ..{flag}' /tmp/trace")[1])
    return inside


@pytest.mark.soak
@pytest.mark.parametrize("machine,command,line,flag", product(lambda machine: machine.storms))
def test_interrupts_storm_while_tracing(tmp_path, machine, command, line, flag):
    kernel = Kernel(machine.arch)
    files = machine.programs("calls", "tracecheck", "storm", "flip")
    with machine.monitored(tmp_path, smp=CPUS, files=files, timeout=300 + 120 * SOAK_MINUTES, append="quiet") as guest:
        inside = Machine(guest, line)
        with Storm(guest, command):
            inside.ok("echo sys_getppid > set_ftrace_filter; echo function > current_tracer")
            for size in (1408, 8):
                inside.until_enough(lambda: count_calls(inside, size))
            inside.ok("storm 4 > /tmp/storm & storm=$!")
            inside.ok("echo > set_ftrace_filter; echo 64 > buffer_size_kb")
            found = []
            inside.until_enough(lambda: found.append(record_all(inside, flag)))
            while not any(found):
                found.append(record_all(inside, flag))
            inside.ok("echo 1 > tracing_on")
            inside.until_enough(lambda: inside.ok(f"flip {10 + 100 * SOAK_MINUTES}"))
            # Returns are hooked, by one user and by two, while these interrupts' own calls are too.
            inside.until_enough(
                lambda: inside.ok(
                    "echo function_graph > current_tracer; echo 1 > function_profile_enabled; sleep 0.2; "
                    "echo nop > current_tracer; sleep 0.1; echo function_graph > current_tracer; "
                    "echo 0 > function_profile_enabled; sleep 0.2; echo nop > current_tracer"
                )
            )
            inside.ok("kill -TERM $storm; wait $storm && grep 'storm: all well' /tmp/storm")
        assert "mismatches: 0\n" in inside.ok("cat /sys/kernel/debug/fgraph/stats")
        inside.ok("echo 0 > workqueue_profile_enabled")  # on from the boot on
        assert Text(guest, kernel).calls() == (set(), 0), "after the last nop"
        inside.ok("echo function > current_tracer")
        assert Text(guest, kernel).calls()[0] == set(kernel.sites)
        inside.ok("echo nop > current_tracer")
        assert not re.search("Oops|BUG|WARNING", inside.ok("dmesg"))
