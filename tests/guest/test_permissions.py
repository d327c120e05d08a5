"""What the kernel's page tables permit: nothing is both writable and executable, by no mapping and by no two of
them."""

import pytest
from machines import product
from monitor import Kernel
from page_tables import PAGE, kernel_mappings, left_of_boot


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
    assert len(mappings) > 20, "these are no page tables"
    assert not [one for one in mappings if one.user], "the kernel's half is the kernel's"
    assert not [one for one in mappings if one.writable and one.executable]
    code = [one for one in mappings if one.executable]
    for one in code:
        assert text <= one.physical and one.physical + one.size <= rodata, f"{one} is not the kernel's text"
    assert sum(one.size for one in code) >= kernel.symbols["_etext"] - kernel.symbols["_text"]
    for one in mappings:
        assert not (one.writable and overlaps(one, text, data)), f"text or constants can be written through {one}"
    # And what is to be written can be.
    assert any(one.writable and overlaps(one, data, data + PAGE) for one in mappings)
