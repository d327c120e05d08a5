"""The kernel's text as it is in memory, read from outside, against what the build made: nothing but sites may
differ."""

import os
import re
import struct
import time

import pytest
from machines import product
from monitor import Kernel, Text, patch_stats

TRACING = "/sys/kernel/tracing"


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


@pytest.mark.parametrize("machine,cpu", product(lambda machine: [(cpu, cpu) for cpu in machine.cpus]))
def test_sites_are_what_they_should_be(tmp_path, machine, cpu):
    kernel = Kernel(machine.arch)
    with machine.monitored(tmp_path, smp=4, cpu=cpu, timeout=120) as guest:
        sites = set(kernel.sites)
        # Works are counted from the boot on, as trace_stat/workqueues of Linux did.
        assert guest.run(f"echo 0 > {TRACING}/workqueue_profile_enabled")[0] == 0
        assert Text(guest, kernel).calls() == (set(), 0), "after booting every site is a nop"
        assert addresses(guest, "available_filter_functions") == sites
        for filters in ("schedule", "vfs_* ksys_*", "*lock*"):
            assert (
                guest.run(
                    f"cd {TRACING}; set -f; for f in {filters}; do echo $f; done > set_ftrace_filter; set +f; "
                    "echo function > current_tracer"
                )[0]
                == 0
            )
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
        assert (
            guest.run(
                "echo schedule > set_ftrace_filter; echo > set_ftrace_notrace; echo function > current_tracer; "
                "echo 1 > function_profile_enabled; echo vfs_read > stack_trace_filter; "
                "echo 1 > /proc/sys/kernel/stack_tracer_enabled"
            )[0]
            == 0
        )
        calling, _ = Text(guest, kernel).calls()
        assert len(calling) == 2 and calling == addresses(
            guest, "enabled_functions"
        ), "entries and returns of different users"
        guest.run("echo nop > current_tracer; echo 0 > /proc/sys/kernel/stack_tracer_enabled")
        calling, _ = Text(guest, kernel).calls()
        assert calling == addresses(guest, "set_ftrace_filter"), "returns only"
        users = "/sys/kernel/debug/ftrace_sample/users"
        assert (
            guest.run(
                f"for user in '0 filter vfs_*' '1 filter vfs_r*' '2 flags 1' '2 filter vfs_w*' '0 on' '1 on' '2 on'; do "
                f"echo $user > {users} || exit; done"
            )[0]
            == 0
        )
        calling, _ = Text(guest, kernel).calls()
        assert len(calling) > 5 and calling == addresses(
            guest, "enabled_functions"
        ), "users alone, together, with registers"
        guest.run(f"for user in 0 1 2; do echo $user off > {users}; done; echo 0 > function_profile_enabled")
        assert Text(guest, kernel).calls() == (set(), 0)
        guest.qmp("stop")
        slots = struct.unpack("<512Q", guest.memory(kernel.physical(kernel.symbols["fixmap_pte"]), 4096))
        assert not any(slots[1:]), "no alias of text is left (slot 0 is the early console's)"


def test_what_sites_call_lies_behind_them():
    """On x86_64 the last byte of a nop and of a call are then the same: it need not be written."""
    kernel = Kernel("x86_64")
    callers = [kernel.symbols[f"ftrace_{name}caller"] for name in ("", "graph_", "return_", "regs_", "list_")]
    assert max(kernel.sites) < min(callers)


def cpu_times(guest):
    """Nanoseconds that the host has given to each of the guest's CPUs."""
    times = []
    for cpu in guest.qmp("query-cpus-fast"):
        with open(f"/proc/{cpu['thread-id']}/schedstat", encoding="ascii") as file:
            times.append(int(file.read().split()[0]))
    return times


def test_parked_cpus_sleep(tmp_path, machine):
    """While text changes the host's time is the changing CPU's: it does not go to CPUs that wait (1.6 to 2.4 times as
    much, where they spin). What else the host does makes it more, never less: the least of several counts."""
    with machine.monitored(tmp_path, smp=4, timeout=120) as guest:
        switches = "for i in 1 2 3 4 5 6 7 8; do echo function > current_tracer; echo nop > current_tracer; done"
        least, tries = 99, 0
        while least >= 1.3 and tries < 8:
            tries += 1
            before = cpu_times(guest)
            assert guest.run(f"cd {TRACING}; taskset 1 sh -c '{switches}'")[0] == 0
            own, *others = (after - was for after, was in zip(cpu_times(guest), before))
            least = min(least, sum(others) / own)
        assert least < 1.3


def test_each_change_is_one_stop_and_keeps_caches_coherent(tmp_path, machine):
    """Missing cache maintenance does not show under TCG: so it is counted. Each line written is cleaned and
    invalidated."""
    kernel = Kernel(machine.arch)
    with machine.monitored(tmp_path, smp=2, timeout=120) as guest:
        assert guest.run(f"cd {TRACING}; echo schedule > set_ftrace_filter; echo function > current_tracer")[0] == 0
        calling, _ = Text(guest, kernel).calls()
        for filters in ("vfs_read", "'*lock*'", "'vfs_*'", "schedule"):
            before = patch_stats(guest, kernel)
            assert guest.run(f"echo {filters} > set_ftrace_filter")[0] == 0
            now, _ = Text(guest, kernel).calls()
            sites, maps, syncs, *maintenance = (new - old for new, old in zip(patch_stats(guest, kernel), before))
            changed, calling = calling ^ now, now
            assert (sites, syncs) == (len(changed), 1), filters
            assert len({site >> 12 for site in changed}) <= maps <= len(changed)
            if maintenance:  # where instruction fetches do not see stores by themselves; lines are 64 bytes long
                lines = len({site >> 6 for site in changed})
                assert maintenance[0] >= lines and maintenance[1] == maintenance[0], filters


@pytest.mark.soak
def test_patching_under_fire(tmp_path, machine):
    """Four CPUs in a storm of system calls while tracer and filters change; then each word of text is looked at."""
    minutes = int(os.environ.get("SOAK_MINUTES", "0"))
    times, end = 50 if minutes else 15, time.monotonic() + 60 * minutes
    kernel = Kernel(machine.arch)
    files = machine.programs("storm", "flip")
    with machine.monitored(tmp_path, smp=4, files=files, timeout=300 + 120 * minutes, append="quiet") as guest:

        def ok(command):
            status, output = guest.run(command)
            assert status == 0, f"{command}: status {status}\n{output}"
            return output

        ok(f"cd {TRACING}; echo 64 > buffer_size_kb")
        ok("storm 4 > /tmp/storm & storm=$!")
        ok("until grep -q started /tmp/storm; do sleep 0.05; done")
        switches = 0
        while not switches or time.monotonic() < end:
            ok(f"flip {times}")
            switches += 2 * times + 2
            assert Text(guest, kernel).calls()[0] == set(), f"after {switches} switches and the last nop"
            ok("echo function > current_tracer")
            assert Text(guest, kernel).calls()[0] == set(kernel.sites), f"after {switches} switches, all on"
            ok("echo nop > current_tracer")
        print(f"{switches} switches of the tracer")
        ok("kill -TERM $storm; wait $storm")
        assert "storm: all well" in ok("cat /tmp/storm")
        assert not re.search("Oops|BUG|WARNING", ok("dmesg"))
