"""Every pointer that a system call takes, with addresses that are mapped in the kernel
(tests/guest/progs/proc/userptr.c)."""

import re

import pytest
from guest_programs import program_files
from machines import product
from monitor import Kernel
from page_tables import PAGE, kernel_mappings


def number(word, text):
    return int(re.search(rf"\b{word} ([0-9a-f]+)\b", text).group(1), 16)


@pytest.mark.parametrize("machine,cpu", product(lambda machine: [(cpu, cpu) for cpu in machine.cpus]))
def test_no_pointer_reaches_the_kernel(tmp_path, machine, cpu):
    kernel = Kernel(machine.arch)
    with machine.monitored(
        tmp_path, cpu=cpu, smp=2, timeout=240, files=program_files(["userptr"], machine.arch)
    ) as guest:
        text_at = kernel.physical(kernel.symbols["_text"])
        before = guest.memory(text_at, PAGE)
        status, output = guest.run("cd /tmp && userptr")
        assert status == 0, output
        assert guest.memory(text_at, PAGE) == before, "the kernel's text has changed"
        name = guest.memory(kernel.physical(kernel.symbols["nodename"]), len(b"vitrine\0"))
        mappings = kernel_mappings(guest, kernel)

    def physical(virtual):
        """Where an address leads by the page tables; None when it is not mapped."""
        return next(
            (
                one.physical + virtual - one.virtual
                for one in mappings
                if one.virtual <= virtual < one.virtual + one.size
            ),
            None,
        )

    # The addresses that the program tried are mapped, or the whole test shows nothing.
    assert physical(number("linear", output)) == number("physical", output)
    assert physical(number("text", output)) == text_at
    assert physical(number("data", output)) == kernel.physical(kernel.symbols["nodename"])
    assert name == b"vitrine\0"
