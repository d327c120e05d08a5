"""What the tests know of each machine: its variants, and the names and texts that differ. No test asks which machine it
is on.

A test that takes the fixture `machine` runs once on each, with an id like [x86_64]. Which QEMU is started for one, and
how, is tools/vitrine_guest.py's.
"""

import functools
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

import pytest
from guest_programs import program_files
from monitor import MonitoredGuest
from vitrine_guest import MACHINES, Guest, ScriptRun


@dataclass(frozen=True)
class Variant:
    """Another machine of the same architecture: keywords of Guest(), what its console must say, and how /proc/cpuinfo
    must call its CPUs."""

    name: str
    setup: dict
    says: str = r"Vitrine version"
    model: str = ""


@dataclass(frozen=True, repr=False)
class Target:
    """One machine, as tests see it. Texts are regular expressions unless they are called names."""

    arch: str
    # -- variants
    cpus: tuple  # the models for which tests of `cpu=all` run, the default first
    variants: tuple  # further ones, booted by test_machines
    refused: tuple  # (CPU model, what the kernel says before it stops)
    # -- names
    console: str  # the serial port's, in /dev
    host_gcc: tuple  # prefixes of cross compilers
    syscall_entry: str  # the assembly at the bottom of a system call's backtrace
    registers: tuple  # words of a register dump
    kept_out: tuple  # lkdtm's crash types that end in an oops on the last of `cpus`: the kernel astray in user memory
    jumped_from: tuple  # how a dump tells who jumped to data; () where nothing but the stack knows
    arguments: tuple  # registers of a call's arguments, where a traced function's are handed to the tracer
    rng: tuple  # arguments for QEMU: a virtio device with random bytes
    legacy_rng: tuple  # the same, without the interface of virtio 1.0
    kept: tuple  # registers that a call keeps
    results: tuple  # and those that it returns values in
    back_to_breakpoints: bool  # a replay finds breakpoints and watchpoints backwards, not only the instruction before
    timer_rom: bytes  # firmware that reads the timer by a register of the CPU, if it has one, and ends with TIMER_READ
    # -- interrupts that QEMU can send to all CPUs, whatever they have masked: (name, QMP command, its line in
    # /proc/interrupts, its letter in the third of a trace line's flags)
    storms: tuple
    # -- second CPUs that can less than the first: (name, arguments for QEMU beside one CPU's, what the kernel says)
    lesser: tuple
    # -- what no firmware's setting is left of: (name, keywords of Guest(), command of the monitor, what it shows then)
    leftovers: tuple

    def __repr__(self):
        return self.arch

    @property
    def make(self):
        """The word in goals of make."""
        return MACHINES[self.arch].goal

    @property
    def irqchips(self):
        """Names of interrupt controllers, the default first."""
        return tuple(MACHINES[self.arch].irqchips)

    @property
    def boots(self):
        """Ways of booting beside QEMU's own loader."""
        return tuple(name for name in MACHINES[self.arch].boots if name != "kernel")

    def guest(self, **settings):
        return Guest(arch=self.arch, **settings)

    def monitored(self, scratch, **settings):
        return MonitoredGuest(scratch, arch=self.arch, **settings)

    def script(self, text, arguments=(), **settings):
        return ScriptRun(text, arguments, arch=self.arch, **settings)

    def programs(self, *names):
        return program_files(names, self.arch)


TIMER_READ = 3  # QEMU's exit status when 1 is written to the port 0xf4
X2APIC_TIMER = bytes.fromhex(  # 16-bit code
    "66 b8 01 00 00 00 0f a2 66 f7 c1 00 00 20 00 74 29"  # mov eax, 1; cpuid; test ecx, 1 << 21; jz to the last line
    "66 b9 1b 00 00 00 0f 32 66 0d 00 0c 00 00 0f 30"  # mov ecx, IA32_APIC_BASE; rdmsr; or eax, 0xc00; wrmsr
    "66 b9 38 08 00 00 66 b8 ff ff ff 00 66 31 d2"  # mov ecx, IA32_X2APIC_INIT_COUNT; mov eax, 0xffffff; xor edx, edx
    "0f 30 66 b9 39 08 00 00 0f 32"  # wrmsr; mov ecx, IA32_X2APIC_CUR_COUNT; rdmsr
    "b0 01 e6 f4 f4"  # mov al, 1; out 0xf4, al; hlt
)
RESET_VECTOR = bytes.fromhex("e9 0d f0")  # at 0xfff0: jmp 0xf000
X2APIC_ROM = bytes(0xF000) + X2APIC_TIMER.ljust(0xFF0, b"\0") + RESET_VECTOR.ljust(16, b"\0")


AARCH64 = Target(
    arch="aarch64",
    cpus=("cortex-a57", "max"),
    variants=(
        Variant("cortex-a72", {"cpu": "cortex-a72"}, "at EL1", "Cortex-A72"),
        Variant("neoverse-n1", {"cpu": "neoverse-n1"}, "at EL1", "Neoverse-N1"),
        # Entered as a hypervisor would be: the other CPUs by SMC.
        Variant("el2-cortex-a57", {"board": "virt,virtualization=on", "irqchip": "gicv3"}, "at EL2"),
        Variant(
            "el2-cortex-a72", {"board": "virt,virtualization=on", "irqchip": "gicv3", "cpu": "cortex-a72"}, "at EL2"
        ),
        Variant("el2-max", {"board": "virt,virtualization=on", "irqchip": "gicv3", "cpu": "max"}, "at EL2"),
    ),
    refused=(),
    console="ttyAMA0",
    host_gcc=("aarch64-none-elf-", "aarch64-elf-", "aarch64-linux-gnu-"),
    syscall_entry=r"el0t_64_sync",
    registers=("pc : ", "lr : ", "sp : ", "x29: "),
    kept_out=("EXEC_USERSPACE", "ACCESS_USERSPACE"),
    jumped_from=("lr : lkdtm_EXEC_DATA",),
    arguments=(),  # gcc's hook comes when they may be anywhere
    rng=("-global", "virtio-mmio.force-legacy=false", "-device", "virtio-rng-device"),
    legacy_rng=("-device", "virtio-rng-device"),
    kept=tuple(f"x{n}" for n in range(19, 30)),
    results=("x0", "x1"),
    back_to_breakpoints=True,
    timer_rom=b"",
    storms=(),
    lesser=(),
    leftovers=(),
)

X86_64 = Target(
    arch="x86_64",
    cpus=("qemu64", "max"),
    variants=(
        Variant("smep-smap", {"cpu": "qemu64,+smep,+smap"}),
        # Without CPUID's leaf 0xb, the boot CPU learns its APIC id from leaf 1.
        Variant("smep-level-7", {"cpu": "qemu64,+smep,-smap,level=7"}),
        Variant("max-without-smep-smap", {"cpu": "max,-smep,-smap"}),
        Variant("max-without-xsave", {"cpu": "max,-xsave"}),
        Variant("nehalem", {"cpu": "Nehalem"}),
        Variant("skylake", {"cpu": "Skylake-Client"}),
        Variant("epyc", {"cpu": "EPYC"}),
        Variant("x2apic", {"irqchip": "x2apic", "cpu": "max"}),
        Variant("tsc-deadline", {"cpu": "max,+tsc-deadline"}),
        # What the clock is measured against, and what it is made of.
        Variant("hpet", {}, r"processor \(HPET\)"),
        Variant("without-hpet", {"board": "q35,hpet=off"}, r"processor \(PIT\)"),
        Variant("without-hpet-and-pit", {"board": "q35,hpet=off,pit=off"}, r"processor \(PM timer\)"),
        Variant("hpet-as-clock", {"append": "clocksource=hpet"}, "Switched to clocksource hpet"),
        Variant("i440fx", {"board": "pc"}),
    ),
    refused=(("qemu64,-lm", "no long mode"), ("qemu64,-nx", "no no-execute")),
    console="ttyS0",
    host_gcc=("x86_64-elf-", "x86_64-linux-gnu-"),
    syscall_entry=r"entry_SYSCALL_64\w*",
    registers=("RIP: ", "RSP: ", "RBP: ", "RAX: "),
    kept_out=("EXEC_USERSPACE", "ACCESS_USERSPACE"),
    jumped_from=(),
    arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    rng=("-device", "virtio-rng-pci"),
    legacy_rng=("-device", "virtio-rng-pci,disable-modern=on,disable-legacy=off"),
    kept=("rbx", "rbp", "r12", "r13", "r14", "r15"),
    results=("rax", "rdx"),
    back_to_breakpoints=False,  # QEMU 7.2 does not come to an end there
    timer_rom=X2APIC_ROM,
    storms=(("nmi", "inject-nmi", "NMI:", "[zZ]"),),
    lesser=(
        (
            "without-avx",
            ("-smp", "maxcpus=2,sockets=2", "-device", "max-x86_64-cpu,socket-id=1,core-id=0,thread-id=0,avx=off"),
            r"smp: CPU1 lacks features of the boot CPU: CPUID 0x1\.0 ecx, bits 0x10000000\r",
        ),
    ),
    # On this board the BIOS lets the 8259s in by LVT0.
    leftovers=(
        ("lapic", {"board": "pc", "smp": 2}, "info lapic 0", r"LVT0\s+0x00010000 .*\s+LVT1\s+0x00000400 "),
        ("pic", {"board": "pc"}, "info pic", r"(?s)(?=.*pic0: irr=\w\w imr=ff ).*pic1: irr=\w\w imr=ff "),
    ),
)

TARGETS = (AARCH64, X86_64)


def qemu_of(machine):
    """The QEMU that guests of this machine get, to be asked what it can do."""
    return os.environ.get("VITRINE_QEMU") or shutil.which(machine.qemu)


@functools.cache
def emulated(arch, cpu):
    """Does this QEMU have all features of this CPU model? (7.2 emulates neither x2APIC nor the TSC deadline.)"""
    machine = MACHINES[arch]
    command = [
        qemu_of(machine),
        "-M",
        machine.board,
        "-cpu",
        f"{cpu},enforce",
        "-display",
        "none",
        "-nodefaults",
        "-S",
        "-monitor",
        "stdio",
    ]
    return (
        subprocess.run(command, input="quit\n", text=True, capture_output=True, check=False, timeout=600).returncode
        == 0
    )


@functools.cache
def reads_timer_under_icount(arch, cpu):
    """Does this QEMU go on, under icount, when this CPU reads its timer by a register of its own? (10.0 says `Bad icount
    read` and ends.)"""
    machine, rom = MACHINES[arch], next(target.timer_rom for target in TARGETS if target.arch == arch)
    if not rom:
        return True
    with tempfile.NamedTemporaryFile(suffix=".rom") as file:
        file.write(rom)
        file.flush()
        command = [qemu_of(machine), "-M", machine.board, "-cpu", cpu, "-bios", file.name]
        command += [*"-icount shift=0,sleep=off -display none -nodefaults".split(), *machine.exit_device]
        done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=600)
    assert done.returncode == TIMER_READ or "Bad icount read" in done.stderr, done
    return done.returncode == TIMER_READ


@functools.cache
def trace_events(arch):
    """Names of what this QEMU can log of itself: -trace NAME."""
    command = [qemu_of(MACHINES[arch]), "-trace", "help"]
    return frozenset(subprocess.run(command, text=True, capture_output=True, check=True, timeout=600).stdout.split())


def want_features(arch, setup):
    """Skip the test when it asks for a feature by name that this QEMU cannot emulate: it would test the default once
    more. The same when it would end under icount."""
    machine = MACHINES[arch]
    cpu = setup.get("cpu") or machine.cpu
    if "irqchip" in setup:
        cpu += machine.irqchips[setup["irqchip"]][1]
    if "+" in cpu and not emulated(arch, cpu):
        pytest.skip(f"this QEMU does not emulate {cpu}")
    if setup.get("icount") and not reads_timer_under_icount(arch, cpu):
        pytest.skip(f"this QEMU ends when {cpu} reads its timer under icount")


def params():
    """For pytest's parametrize: each machine with its id."""
    return [pytest.param(target, id=target.arch) for target in TARGETS]


def product(rows):
    """The same for rows of each machine: rows(target) gives (name, value...) tuples; ids are arch-name."""
    return [pytest.param(target, *row[1:], id=f"{target.arch}-{row[0]}") for target in TARGETS for row in rows(target)]
