"""The kernel's text as it is in memory, read from outside, against what the build made: nothing but sites may differ."""

import os
import re
import struct

import pytest
from guest_programs import program_files
from monitor import Kernel, MonitoredGuest

NOP = 0xD503201F
TRACING = "/sys/kernel/tracing"


def branch(kind, site, target):
    """The word of B (0x14000000) or BL (0x94000000) at `site` to `target`."""
    return kind | ((target - site) >> 2 & 0x3FFFFFF)


class Text:
    """A kernel's text in a running guest."""

    def __init__(self, guest, kernel):
        self.kernel, self.start = kernel, kernel.symbols["_stext"]
        size = kernel.symbols["_etext"] - self.start
        guest.qmp("stop")
        self.now = [word for word, in struct.iter_unpack("<I", guest.memory(kernel.physical(self.start), size))]
        guest.qmp("cont")
        self.built = [word for word, in struct.iter_unpack("<I", kernel.read(self.start, size))]

    def calls(self):
        """The sites that call the tracer. Fails when one is neither that nor a nop, or anything else has changed."""
        symbols, sites, branches = self.kernel.symbols, set(self.kernel.sites), self.kernel.branches
        tracer_calls = {symbols["ftrace_call"], symbols["ftrace_graph_call"]}
        calling, branching = set(), 0
        for index, word in enumerate(self.now):
            address = self.start + 4 * index
            if address in sites:
                assert self.built[index] == branch(0x94000000, address, symbols["_mcount"])
                if word == branch(0x94000000, address, symbols["ftrace_caller"]):
                    calling.add(address)
                else:
                    assert word == NOP, f"site {address:#x} holds {word:#010x}"
            elif address in branches:
                assert word in (NOP, branch(0x14000000, address, branches[address])), f"branch {address:#x}: {word:#010x}"
                branching += word != NOP
            elif address in tracer_calls:
                assert word == NOP or word >> 26 == 0x94000000 >> 26, f"call {address:#x} holds {word:#010x}"
            else:
                assert word == self.built[index], f"{address:#x} holds {word:#010x}, built was {self.built[index]:#010x}"
        return calling, branching


def addresses(guest, name):
    """The sites of the functions that a file of tracefs lists."""
    status, output = guest.run(f"cat {TRACING}/available_filter_functions_addrs")
    assert status == 0
    at = {}
    for line in output.splitlines():
        address, function = line.split()
        at.setdefault(function, set()).add(int(address, 16))
    _, output = guest.run(f"cut -d ' ' -f 1 {TRACING}/{name}")
    return set().union(*(at[function] for function in output.split())) if output else set()


@pytest.mark.parametrize("gic,cpu", [(2, "cortex-a57"), (3, "max")])
def test_sites_are_what_they_should_be(tmp_path, gic, cpu):
    kernel = Kernel()
    with MonitoredGuest(tmp_path, smp=4, gic=gic, cpu=cpu, timeout=120) as guest:
        sites = set(kernel.sites)
        assert Text(guest, kernel).calls() == (set(), 0), "after booting every site is a nop"
        assert addresses(guest, "available_filter_functions") == sites
        for filters in ("schedule", "vfs_* ksys_*", "*lock*"):
            assert guest.run(f"cd {TRACING}; set -f; for f in {filters}; do echo $f; done > set_ftrace_filter; set +f; "
                             "echo function > current_tracer")[0] == 0
            calling, _ = Text(guest, kernel).calls()
            assert calling and calling == addresses(guest, "set_ftrace_filter") == addresses(guest, "enabled_functions")
        assert guest.run("echo > set_ftrace_filter")[0] == 0
        calling, _ = Text(guest, kernel).calls()
        assert calling == sites, "without a filter every site calls"
        guest.run("echo '*lock*' > set_ftrace_notrace")
        calling, _ = Text(guest, kernel).calls()
        assert calling == sites - addresses(guest, "set_ftrace_notrace")
        guest.run("echo > set_ftrace_notrace; echo sched_switch > current_tracer")
        calling, branching = Text(guest, kernel).calls()
        assert calling == set() and branching > 0, "sched_switch uses tracepoints and no sites"
        guest.run("echo nop > current_tracer")
        assert Text(guest, kernel).calls() == (set(), 0)


@pytest.mark.soak
def test_patching_under_fire(tmp_path):
    """Four CPUs in a storm of system calls while tracer and filters change; then each word of text is looked at."""
    minutes = int(os.environ.get("SOAK_MINUTES", "0"))
    times = 2000 if minutes else 150
    kernel = Kernel()
    files = program_files(["storm", "flip"])
    with MonitoredGuest(tmp_path, smp=4, files=files, timeout=180 + 120 * minutes, append="quiet") as guest:
        def ok(command):
            status, output = guest.run(command)
            assert status == 0, f"{command}: status {status}\n{output}"
            return output

        ok(f"cd {TRACING}; echo 64 > buffer_size_kb")
        ok("storm 4 > /tmp/storm & storm=$!")
        ok("until grep -q started /tmp/storm; do sleep 0.05; done")
        for round_ in range(max(1, 2 * minutes)):
            ok(f"flip {times}")
            assert Text(guest, kernel).calls()[0] == set(), f"round {round_}: after the last nop"
            ok("echo function > current_tracer")
            assert Text(guest, kernel).calls()[0] == set(kernel.sites), f"round {round_}: all on"
            ok("echo nop > current_tracer")
        ok("kill -TERM $storm; wait $storm")
        assert "storm: all well" in ok("cat /tmp/storm")
        assert not re.search("Oops|BUG|WARNING", ok("dmesg"))
