"""The boot CPU, to which the interrupts of devices go: where it may leave, they follow elsewhere."""

ONLINE = "/sys/devices/system/cpu/cpu0/online"


def interrupts(guest):
    """How many the device with random bytes has sent, by CPU."""
    status, text = guest.run("head -1 /proc/interrupts; grep virtio /proc/interrupts")
    assert status == 0, text
    names, line = text.splitlines()[:2]
    counts = line.split(":")[1].split()
    return {name: int(count) for name, count in zip(names.split(), counts)}


def reads(guest):
    status, text = guest.run("dd if=/dev/hwrng bs=64 count=20 2> /dev/null | wc -c")
    assert (status, text) == (0, "1280\n"), text


def test_interrupts_follow(machine, tmp_path):
    """Linux has no file for the boot CPU on x86_64, and lets it leave on aarch64."""
    with machine.guest(smp=3, timeout=120, qemu_args=machine.rng) as guest:
        reads(guest)
        first = interrupts(guest)
        assert first["CPU0"] > 0 and first["CPU1"] == first["CPU2"] == 0, first
        if machine.arch == "x86_64":
            assert guest.run(f"ls {ONLINE} 2> /dev/null")[0] != 0
            assert guest.run("echo 0 > /sys/devices/system/cpu/cpu1/online")[0] == 0
            reads(guest)
            assert interrupts(guest)["CPU0"] > first["CPU0"]
            return
        assert guest.run(f"echo 0 > {ONLINE}")[0] == 0
        reads(guest)
        then = interrupts(guest)
        assert "CPU0" not in then and then["CPU1"] > 0 and then["CPU2"] == 0, then
        assert guest.run(f"echo 1 > {ONLINE}")[0] == 0
        reads(guest)
        again = interrupts(guest)
        assert again["CPU0"] == first["CPU0"] and again["CPU1"] > then["CPU1"], (first, then, again)


def test_a_cpu_comes_for_the_first_time(machine):
    """maxcpus= leaves CPUs out at boot: one that comes later gets its idle task, its stacks and its threads then."""
    with machine.guest(smp=3, timeout=120, append="quiet maxcpus=1") as guest:
        cpus = "/sys/devices/system/cpu"
        assert guest.run(f"cat {cpus}/online {cpus}/offline")[1] == "0\n1-2\n"
        for _ in range(2):
            assert guest.run(f"echo 1 > {cpus}/cpu2/online; cat {cpus}/online")[1] == "0,2\n"
            threads = guest.run("ps")[1]
            assert all(f"[{name}]" in threads for name in ("migration/2", "ksoftirqd/2", "kworker/2:0")), threads
            tracer = (
                "cd /sys/kernel/tracing; echo function > current_tracer; taskset 4 cat /proc/stat | grep -c '^cpu[0-9]'"
            )
            assert guest.run(f"{tracer}; echo nop > current_tracer")[1] == "2\n"
            assert (
                guest.run(f"grep -q cat- per_cpu/cpu2/trace; echo 0 > {cpus}/cpu2/online; cat {cpus}/online")[1]
                == "0\n"
            )
        assert (
            guest.run(f"cd /; echo 1 > {cpus}/cpu1/online; echo 1 > {cpus}/cpu2/online; cat {cpus}/online")[1]
            == "0-2\n"
        )
