"""mmiotrace against QEMU's own log of what reaches the devices: the same accesses in the same order, none missing."""

import re
from collections import Counter

import pytest
from machines import trace_events
from stories import story
from monitor import Kernel
from page_tables import PAGE, kernel_mappings

TRACING = "/sys/kernel/tracing"
LINE = re.compile(r"([RW]) ([1248]) (\d+\.\d{6}) \d+ 0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ \d+")
BUS = re.compile(
    r"memory_region_ops_(read|write) cpu (\d+) mr \S+ addr 0x([0-9a-f]+) value 0x([0-9a-f]+) size (\d) name '(.*)'"
)
# The device's own lines: where its registers are, and for each event's name that a QEMU may know it by, how a line looks
# and how many bytes its numbers of registers are apart.
OWN = {
    "aarch64": (0x09000000, {"pl011_write": (r"pl011_(read|write) addr (0x[0-9a-f]+) value (0x[0-9a-f]+)", 1)}),
    "x86_64": (
        0xFEE00000,
        {
            "apic_mem_writel": (r"apic_mem_(read|write)l (0x[0-9a-f]+) = (0x[0-9a-f]+)", 1),
            "apic_register_write": (r"apic_register_(read|write) register (0x[0-9a-f]+) = (0x[0-9a-f]+)", 16),
        },
    ),
}
DEVICES = {  # one CPU sends nobody an interrupt, which gic_dist does
    "aarch64": {1: {"gic_cpu", "pl011", "virtio-mmio"}, 4: {"gic_cpu", "gic_dist", "pl011", "virtio-mmio"}},
    "x86_64": dict.fromkeys((1, 4), {"apic-msi", "virtio-pci-notify-virtio-serial"}),
}
MESSAGE = 0xFEE00000  # x86_64: there devices write their interrupts as messages, and the APIC has no register
# Else a notification ends in QEMU before it comes to where accesses are logged.
NOTIFY = {arch: ["-global", f"virtio-{bus}.ioeventfd=off"] for arch, bus in (("aarch64", "mmio"), ("x86_64", "pci"))}
# As Linux prints them, each with its kind: the same expressions are in mmiotrace.sh.
PRINTED = [
    "R 4 63.298574 1 0xfd9fe400 0x80000000 0xffffffffa02a14b2 0",
    "W 1 63.298580 2 0xa0000 0x0 0xffffffffa02a14b2 0",
]

# Accesses of all CPUs: consoles, timers, interrupts to others, virtio. Records of before the mark are left out, since
# the mappings are not all hidden at one moment.
SCRIPT = story("mmiotrace")


def traced(machine, tmp_path, smp, events):
    """({cpu: [(kind, width, address, value)]} of the guest's trace, the lines of QEMU's log)."""
    log = tmp_path / "qemu.log"
    arguments = [word for event in events for word in ("-trace", event)] + ["-D", str(log), *NOTIFY[machine.arch]]
    ports = {"out": str(tmp_path / "out"), "load": str(tmp_path / "load")}
    run = machine.script(SCRIPT.encode(), smp=smp, timeout=200, qemu_args=arguments, ports=ports)
    try:
        run.wait_start()
        status = run.wait_exit()
    finally:
        run.guest.close()
    assert status == 0, run.output
    assert set(re.findall(r"(?:overrun|dropped events): (\d+)", run.output)) == {"0"}, run.output
    mark, *parts = re.split(r"^@\d+\n", (tmp_path / "out").read_text(encoding="ascii"), flags=re.M)
    since = float(re.search(r"MARK (\S+) everything", mark)[1])
    found = {}
    for cpu, text in enumerate(parts):
        lines = [match.groups() for match in map(LINE.fullmatch, text.splitlines()) if match]
        found[cpu] = [
            (kind, int(width), int(address, 16), int(value, 16))
            for kind, width, time, address, value in lines
            if float(time) > since
        ]
    assert len(found) == smp
    return found, log.read_text(encoding="utf-8", errors="replace").splitlines()


def places(part, whole):
    """Where the one list stands in the other, without a gap."""
    first = part[0]
    return [at for at, entry in enumerate(whole) if entry == first and whole[at : at + len(part)] == part]


@pytest.mark.parametrize("line", PRINTED)
def test_the_pattern_accepts_linux(line):
    assert LINE.fullmatch(line)


@pytest.mark.parametrize("smp", (1, 4))
def test_all_that_reaches_the_devices_is_traced(machine, tmp_path, smp):
    """CPU by CPU: QEMU's log holds the trace in one piece. On another CPU's accesses QEMU's order says nothing."""
    found, log = traced(machine, tmp_path, smp, ["memory_region_ops_*"])
    bus, names = {cpu: [] for cpu in found}, {}
    for match in filter(None, map(BUS.search, log)):
        address = int(match[3], 16)
        if address >= 0x10000 and address != MESSAGE:  # the others are ports
            kind = "R" if match[1] == "read" else "W"
            bus[int(match[2])].append((kind, int(match[5]), address, int(match[4], 16)))
            names[address] = match[6]
    for cpu, accesses in found.items():
        assert len(accesses) > 40, f"CPU {cpu}"
        at = places(accesses, bus[cpu])
        assert len(at) == 1, f"CPU {cpu}: {first_difference(accesses, bus[cpu])}"
    seen = {names[address] for accesses in found.values() for _, _, address, _ in accesses}
    assert DEVICES[machine.arch][smp] <= seen, seen


def first_difference(part, whole):
    """For a failure: where the two part that agree longest."""
    longest = (0, 0)
    for at, entry in enumerate(whole):
        if entry == part[0]:
            same = next((n for n, (a, b) in enumerate(zip(part, whole[at:])) if a != b), len(part))
            longest = max(longest, (same, at))
    same, at = longest
    return f"{same} of {len(part)} agree; then {part[same : same + 5]}, QEMU {whole[at + same : at + same + 5]}"


def test_a_device_says_the_same(machine, tmp_path):
    """The device's own log, line for line."""
    base, forms = OWN[machine.arch]
    (name,) = forms.keys() & trace_events(machine.arch)
    pattern, apart = forms[name]
    found, log = traced(machine, tmp_path, 1, [name.replace("write", "*")])
    trace = [(kind, address - base, value) for kind, _, address, value in found[0] if 0 <= address - base < 0x1000]
    own = [
        ("R" if match[1] == "read" else "W", apart * int(match[2], 16), int(match[3], 16))
        for match in filter(None, map(re.compile(pattern).search, log))
    ]
    assert len(trace) > 40
    assert len(places(trace, own)) == 1, first_difference(trace, own)


def device_pages(guest, kernel):
    """{virtual: physical} of the mapped pages that are no RAM."""
    ram = (lambda at: at >= 0x40000000) if kernel.arch == "aarch64" else (lambda at: at < 0xE0000000)
    return {m.virtual: m.physical for m in kernel_mappings(guest, kernel) if m.size == PAGE and not ram(m.physical)}


def test_pages_go_and_come_back(machine, tmp_path):
    """From outside: while the tracer is selected each page is mapped once, elsewhere; before and after at its place."""
    kernel = Kernel(machine.arch)
    with machine.monitored(tmp_path, smp=2, timeout=120) as guest:

        def select(tracer):
            status, output = guest.run(f"cd {TRACING}; echo {tracer} > current_tracer; grep ^MAP trace")
            pages = {int(line.split()[4], 16) & -PAGE for line in output.splitlines()}
            assert (tracer == "mmiotrace") == (status == 0) == bool(pages)
            return pages, device_pages(guest, kernel)

        _, before = select("nop")
        assert len(before) >= 3
        for _ in range(2):
            hidden, now = select("mmiotrace")
            assert hidden <= set(before) and not hidden & set(now)
            assert Counter(now.values()) == Counter(before.values())
            assert select("nop") == (set(), before)


def test_the_clock_is_a_device(machine, tmp_path):
    """The HPET as the clock: the kernel's readings of it are traced, and those of the tracer are not, or it would never end."""
    if machine.arch != "x86_64":
        pytest.skip("its clock is no device")
    script = story("mmiotrace_hpet")
    run = machine.script(script.encode(), smp=2, timeout=100, append="clocksource=hpet")
    try:
        run.wait_start()
        assert run.wait_exit() == 0, run.output
    finally:
        run.guest.close()
    offsets = [int(match[4], 16) - 0xFED00000 for match in filter(None, map(LINE.fullmatch, run.output.splitlines()))]
    assert len(offsets) > 30 and set(offsets) == {0xF0, 0xF4}, run.output[-2000:]
