"""What the kernel's page tables permit: nothing is both writable and executable, by no mapping and by no two of
them."""

import struct

import pytest
from machines import product
from monitor import Kernel
from page_tables import PAGE, kernel_mappings, left_of_boot


# x86_64's IDT: the vectors that have a stack of their own or that programs may raise, and which of both it is.
GATES = {1: (4, 0), 2: (2, 0), 3: (0, 3), 4: (0, 3), 8: (1, 0), 18: (3, 0)}


def gates(guest, kernel, table):
    """{vector: (number of its stack, privilege that may raise it)} of those gates that have either."""
    raw = guest.memory(kernel.physical(kernel.symbols[table]), 256 * 16)
    found = {}
    for vector, (first, _) in enumerate(struct.iter_unpack("<QQ", raw)):
        assert first >> 40 & 0x9F == 0x8E, f"vector {vector} has no interrupt gate"
        if first >> 32 & 7 or first >> 45 & 3:
            found[vector] = (first >> 32 & 7, first >> 45 & 3)
    return found


def overlaps(mapping, start, stop):
    return mapping.physical < stop and start < mapping.physical + mapping.size


@pytest.mark.parametrize("machine,cpu", product(lambda machine: [(cpu, cpu) for cpu in machine.cpus]))
@pytest.mark.parametrize("tracing", ["nop", "function"])
def test_nothing_is_writable_and_executable(tmp_path, machine, cpu, tracing):
    kernel = Kernel(machine.arch)
    text, rodata, data = (
        kernel.physical(kernel.symbols[name]) & -PAGE for name in ("_text", "__start_rodata", "_data")
    )
    with machine.monitored(tmp_path, cpu=cpu, smp=2, timeout=60) as guest:
        assert guest.run(f"echo {tracing} > /sys/kernel/tracing/current_tracer")[0] == 0
        mappings = kernel_mappings(guest, kernel)
        assert not left_of_boot(guest, kernel), "boot's identity map is still there"
        if machine.arch == "x86_64":
            assert gates(guest, kernel, "idt") == gates(guest, kernel, "step_idt") == GATES
    assert len(mappings) > 20, "these are no page tables"
    assert not [one for one in mappings if one.user], "the kernel's half is the kernel's"
    assert not [one for one in mappings if one.writable and one.executable]
    code = [one for one in mappings if one.executable]
    for one in code:
        assert text <= one.physical and one.physical + one.size <= rodata, f"{one} is not the kernel's text"
    assert sum(one.size for one in code) >= kernel.symbols["_etext"] - kernel.symbols["_text"]
    for one in mappings:
        assert not (one.writable and overlaps(one, text, data)), f"text or constants can be written through {one}"
    # Data can be written.
    assert any(one.writable and overlaps(one, data, data + PAGE) for one in mappings)
