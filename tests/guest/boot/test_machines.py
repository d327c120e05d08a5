"""Every machine that we name: numbers of CPUs, CPU models, interrupt controllers, boards, sizes of memory, ways of
booting."""

import gzip
import os
import pathlib
import re
import subprocess

import pytest
from machines import product, want_features
from stories import story
from vitrine_guest import PANICKED, ROOT, GuestError

SCRIPT = story("machines").encode()


def boots(machine, smp, timeout=120, model="", **settings):
    want_features(machine.arch, settings)
    run = machine.script(SCRIPT, [str(smp), model], smp=smp, timeout=timeout, **settings)
    try:
        run.wait_start()
        assert run.wait_exit() == 0, run.guest.tail()
        assert run.guest.exit_status() == 0, "powered off"
    finally:
        run.guest.close()
    return run.guest.console


def numbers_of_cpus(machine):
    """All with the default interrupt controller, the largest and a small one with the others."""
    some = [(smp, irqchip) for irqchip in machine.irqchips[1:] for smp in (3, 8)]
    return [
        (f"{smp}-{irqchip}", smp, irqchip)
        for smp, irqchip in [*((smp, machine.irqchips[0]) for smp in range(1, 9)), *some]
    ]


@pytest.mark.parametrize("machine,smp,irqchip", product(numbers_of_cpus))
def test_numbers_of_cpus(machine, smp, irqchip):
    boots(machine, smp, irqchip=irqchip)


@pytest.mark.parametrize("machine,variant", product(lambda machine: [(v.name, v) for v in machine.variants]))
def test_variants(machine, variant):
    assert re.search(variant.says, boots(machine, 2, model=variant.model, **variant.setup))


@pytest.mark.parametrize("machine,arguments,says", product(lambda machine: machine.lesser))
def test_a_cpu_that_can_less(machine, arguments, says):
    """The features of the boot CPU are used on all, so one that lacks some of them stays out."""
    with machine.guest(cpu="max", smp=1, timeout=60, qemu_args=arguments) as guest:
        assert re.search(says, guest.console)
        assert guest.run("grep -c ^processor /proc/cpuinfo") == (0, "1\n")


@pytest.mark.parametrize("machine,setup,command,shows", product(lambda machine: machine.leftovers))
def test_nothing_is_left_of_the_firmware(machine, setup, command, shows, tmp_path):
    with machine.monitored(tmp_path, timeout=60, **setup) as guest:
        assert re.search(shows, guest.human(command))


@pytest.mark.parametrize("mem", ["64M", "3G"])
def test_memory_sizes(machine, mem):
    boots(machine, 2, mem=mem)


@pytest.mark.parametrize("machine,boot", product(lambda machine: [(boot, boot) for boot in machine.boots]))
def test_through_a_boot_loader(machine, boot):
    """The image of `make iso`, to the same prompt as without it."""
    with machine.guest(boot=boot, smp=4, timeout=120) as guest:
        assert guest.run("grep -c ^processor /proc/cpuinfo") == (0, "4\n")
        assert guest.run("ls /bin/sh /dev/" + machine.console)[0] == 0
        assert guest.run("cat /proc/cmdline")[1].split() == []
        assert guest.run(
            "echo function > /sys/kernel/tracing/current_tracer; cat /sys/kernel/tracing/current_tracer"
        ) == (0, "function\n")
        guest.send("poweroff\n")
        assert guest.wait_end(), "QEMU did not end after poweroff"
        assert guest.exit_status() == 0


@pytest.mark.parametrize(
    "machine,cpu,says", product(lambda machine: [(cpu, cpu, says) for cpu, says in machine.refused])
)
def test_a_cpu_that_lacks_what_we_need(machine, cpu, says):
    """One line says so, nothing else happens, and QEMU ends with the status of a panic."""
    with machine.guest(cpu=cpu, wait_prompt=False, timeout=20) as guest:
        assert guest.expect(f"[^\r\n]*{says}[^\r\n]*\r?\n").group(0).strip().isprintable()
        assert guest.wait_end() and guest.exit_status() == PANICKED
        assert guest.console.count("Vitrine") == 1


def test_without_an_initrd(machine):
    """A line says what is missing, before the panic says what follows from it."""
    guest = machine.guest(initrd="", timeout=30, wait_prompt=False)
    try:
        with pytest.raises(GuestError, match="No working init found") as caught:
            guest.expect("never")
        assert caught.value.status == PANICKED
        before = guest.console.split("Kernel panic", 1)[0]
        assert re.search(r"initramfs: the boot loader gave none[^\r\n]*\r\n", before)
        assert re.search(r"initcall populate_rootfs\+0x0/0x[0-9a-f]+ failed: No such file or directory\r\n", before)
    finally:
        guest.close()


def test_names_of_one_file_in_an_archive(machine, tmp_path):
    """Two names that cpio packs as one file are one, a symbolic link is text, and what is compressed is told off."""
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "one").write_text("together\n")
    (folder / "two").hardlink_to(folder / "one")
    os.utime(folder / "one", (1000000000, 1000000000))
    (folder / "link").symlink_to("aim")
    (folder / "aim").write_text("the contents of what the link leads to\n")
    names = "links\nlinks/one\nlinks/two\nlinks/aim\nlinks/link\n"
    pack = ["cpio", "-o", "-H", "newc", "--quiet"]
    archive = subprocess.run(pack, cwd=tmp_path, input=names.encode(), check=True, capture_output=True).stdout
    base = pathlib.Path(ROOT, "build", machine.arch, "initramfs.cpio").read_bytes()
    made = tmp_path / "initrd"
    made.write_bytes(base + bytes(-len(base) % 4) + archive + gzip.compress(archive))
    with machine.guest(initrd=str(made)) as guest:
        assert "initramfs: it is compressed: only plain cpio archives can be read" in guest.console
        assert not re.search(r"initramfs: .*: error", guest.console)
        listed = subprocess.run(["cpio", "-t", "--quiet"], input=base, check=True, capture_output=True).stdout
        files = len(listed.splitlines() + names.splitlines())
        assert f"initramfs: {files} files unpacked from {made.stat().st_size >> 10} KiB" in guest.console
        assert guest.run("stat -c %Y /links/one") == (0, "1000000000\n"), "the name with the contents came later"
        assert guest.run("cd /links; echo more >> two; cat one") == (0, "together\nmore\n")
        assert guest.run("ls -l link | grep -c -e '-> aim'; cat link") == (
            0,
            "1\nthe contents of what the link leads to\n",
        )


def test_memory_of_the_archives(machine, tmp_path):
    """That of the initrd is free once its files are there, and so is that of a file which a later one replaces."""
    mib = 40
    archives = []
    for size in (mib << 20, 1):
        (tmp_path / "replaced").write_bytes(b"x" * size)
        pack = ["cpio", "-o", "-H", "newc", "--quiet"]
        archives.append(subprocess.run(pack, cwd=tmp_path, input=b"replaced\n", check=True, capture_output=True).stdout)
    base = pathlib.Path(ROOT, "build", machine.arch, "initramfs.cpio").read_bytes()
    made = tmp_path / "initrd"
    made.write_bytes(base + bytes(-len(base) % 4) + b"".join(archives))
    with machine.guest(initrd=str(made)) as guest:
        assert guest.run("cat /replaced") == (0, "x")
        total, free = (int(word) for word in guest.run("sed -n '/^Mem[TF]/s/[^0-9]//gp' /proc/meminfo")[1].split())
        before, ram = (int(word) for word in re.search(r"Memory: (\d+)K/(\d+)K", guest.run("dmesg")[1]).groups())
        assert before + (made.stat().st_size >> 10) - 8 <= total < ram, "two pages may be shared with something else"
        assert total - free < (len(base) >> 10) + (mib << 9), "half of what the replaced file had is more than the rest"


def test_a_panic_can_end_the_machine_with_a_status(machine):
    """panic=-1: what the kernel gives arch_power_off() is what QEMU's exit says."""
    guest = machine.guest(append="panic=-1 init=/bin/nosuch", wait_prompt=False, timeout=30)
    try:
        guest.expect("end Kernel panic", panic=False)
        assert guest.wait_end(), "QEMU did not end"
        assert guest.exit_status() == PANICKED
    finally:
        guest.close()


@pytest.mark.parametrize("year", ["1999", "2026", "2080"])
def test_the_real_time_clock_tells_the_century(machine, year):
    with machine.guest(qemu_args=["-rtc", f"base={year}-02-28T12:00:00"]) as guest:
        assert guest.run("date '+%Y-%m-%d %H'") == (0, f"{year}-02-28 12\n")
