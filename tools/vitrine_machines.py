"""The machines that a guest can be: what to start for each of them, and how ports and shared folders hang at it."""

import os
import platform
import stat

# Exit statuses of tools/vrun that are not the script's own.
TIMED_OUT, PANICKED, NO_STATUS = 124, 125, 126
MAX_CPUS = 64  # NR_CPUS of include/kernel/smp.h


class GuestError(Exception):
    """The guest ended, panicked or fell silent when it should have gone on. status: what vrun exits with."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Machine:
    """What to start for one architecture, and what its end says."""

    def __init__(
        self,
        *,
        goal,
        qemu,
        kernel,
        board,
        cpu,
        irqchips,
        exit_device,
        exit_status,
        boots,
        gdb,
        ports,
        share,
        firmware=(),
        idle_rom=None,
    ):
        """gdb: its word for the architecture; ports: the device that ports hang at, to which the number of ports is
        added; share: the device of a shared folder, likewise; firmware: for QEMU's own -kernel on that board, in place
        of the board's; idle_rom: a program that waits for the CPU's timer and ends (vitrine_icount.py)."""
        self.gdb, self.goal, self.qemu, self.kernel, self.board, self.cpu = gdb, goal, qemu, kernel, board, cpu
        self.irqchips, self.exit_device, self.exit_status, self.boots = irqchips, exit_device, exit_status, boots
        self.ports, self.share, self.firmware = list(ports), list(share), list(firmware)
        self.idle_rom = idle_rom


def exit_status_semihosting(code):
    """SYS_EXIT_EXTENDED hands the status on as it is; powering off ends with 0."""
    return code


def exit_status_isa_debug(code):
    """Writing s to isa-debug-exit ends QEMU with s << 1 | 1, powering off with 0. 1 is QEMU's own way to fail: None."""
    return code >> 1 if code & 1 and code > 1 else 0 if code == 0 else None


# Lets the GICv2 deliver interrupt 27, sets the virtual timer to a millisecond, executes WFI, and ends by semihosting.
AARCH64_IDLE = bytes.fromhex(
    "0000a1d221008052010000b90100a152010001b90240409121008052410000b9e11f8052410400b9"
    "81849ed201e31bd5210080d221e31bd57f2003d5610000100003805200005ed42600020000000000"
    "0000000000000000"
)


def drive(file, device):
    """A disk with this raw image, as this device; the image itself stays unwritten."""
    return [
        "-drive",
        f"file={file},format=raw,snapshot=on,if=none,id=image",
        "-device",
        f"{device},drive=image,bootindex=0",
    ]


UEFI = ["-bios", "/usr/share/ovmf/OVMF.fd"]
# How the kernel gets into memory: {name: arguments that start it from this ISO image}, or None for QEMU's own -kernel.
DIRECTLY = {"kernel": None}
BY_GRUB = {
    "cdrom": lambda iso: ["-cdrom", iso],
    "disk": lambda iso: drive(iso, "ide-hd"),
    "usb": lambda iso: ["-device", "qemu-xhci", *drive(iso, "usb-storage")],
    "uefi-cdrom": lambda iso: [*UEFI, "-cdrom", iso],
    "uefi-disk": lambda iso: [*UEFI, *drive(iso, "ide-hd")],
    "uefi-usb": lambda iso: [*UEFI, "-device", "qemu-xhci", *drive(iso, "usb-storage")],
}

# irqchips: interrupt controllers by name, the default first, each with what it adds to the board (-M) and to the CPU
# (-cpu).
MACHINES = {
    # A flat Image: QEMU gives an ELF kernel no device tree.
    "aarch64": Machine(
        goal="arm64",
        qemu="qemu-system-aarch64",
        kernel="Image",
        board="virt",
        cpu="cortex-a57",
        irqchips={"gicv2": (",gic-version=2", ""), "gicv3": (",gic-version=3", "")},
        exit_device=["-semihosting-config", "enable=on,target=native"],
        exit_status=exit_status_semihosting,
        boots=DIRECTLY,
        gdb="aarch64",
        ports=["-global", "virtio-mmio.force-legacy=false", "-device", "virtio-serial-device"],
        share=["-global", "virtio-mmio.force-legacy=false", "-device", "virtio-9p-device"],
        idle_rom=AARCH64_IDLE,
    ),
    # The ELF file itself, by its PVH note; the firmware is QEMU's small one, made for that: SeaBIOS looks at devices
    # for 16 million instructions first. (GRUB wants a BIOS, and other boards have theirs.)
    "x86_64": Machine(
        goal="x86_64",
        qemu="qemu-system-x86_64",
        kernel="vmlinux",
        board="q35",
        cpu="qemu64",
        irqchips={"apic": ("", ""), "x2apic": ("", ",+x2apic")},
        exit_device=["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"],
        exit_status=exit_status_isa_debug,
        boots={**DIRECTLY, **BY_GRUB},
        gdb="i386:x86-64",
        ports=["-device", "virtio-serial-pci"],
        share=["-device", "virtio-9p-pci"],
        firmware=["-bios", "qboot.rom"],
    ),
}


def qemu_of(machine):
    """The program. VITRINE_QEMU: another QEMU than the one on PATH, for whoever has built their own."""
    return os.environ.get("VITRINE_QEMU") or machine.qemu


ACCELERATORS = {"tcg": None, "kvm": "Linux", "hvf": "Darwin"}  # QEMU's name, and the system that has it
HOST_NAMES = {"arm64": "aarch64", "AMD64": "x86_64", "amd64": "x86_64"}


def accel_arguments(arch, accel, cpu, icount):
    """Arguments for QEMU's -accel, and the CPU model when none was chosen: None, and tcg, leave QEMU as it is. A
    hypervisor runs only its own kind of machine, with the CPU that the computer has."""
    if accel in (None, "tcg"):
        return [], cpu
    if accel not in ACCELERATORS:
        raise GuestError(f"accel {accel}: there are {', '.join(ACCELERATORS)}", NO_STATUS)
    here = HOST_NAMES.get(platform.machine(), platform.machine())
    if platform.system() != ACCELERATORS[accel]:
        raise GuestError(f"accel {accel}: this is for {ACCELERATORS[accel]}; tcg runs everywhere", NO_STATUS)
    if here != arch:
        raise GuestError(f"accel {accel}: this computer is {here} and the guest {arch}: only tcg can run it", NO_STATUS)
    if icount:
        raise GuestError(f"accel {accel}: instructions are counted (icount, replay) under tcg only", NO_STATUS)
    if accel == "kvm" and not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise GuestError("accel kvm: /dev/kvm is not there, or you may not use it (group kvm)", NO_STATUS)
    return ["-accel", accel], cpu or "host"


MAX_PORTS = 30  # of one device; its number 0 is not for named ones


def port_arguments(machine, ports):
    """Arguments that give the guest these channels, {name there (/dev/virtio-ports/NAME): file or socket here}.

    A number is the descriptor of a connected socket that QEMU inherits. A file is emptied and gets what the guest
    writes. "socket:PATH" is a socket on which QEMU listens: who connects is the host's side, and may go and come
    again."""
    if not ports:
        return []
    if len(ports) > MAX_PORTS:
        raise GuestError(f"{len(ports)} ports: there can be {MAX_PORTS}", NO_STATUS)
    *before, device = machine.ports
    words = [*before, f"{device},max_ports={len(ports) + 1}"]
    for number, (name, target) in enumerate(ports.items()):
        if not name or "/" in name or name in (".", "..") or len(os.fsencode(name)) > 100:
            raise GuestError(f"port '{name}': this is no name for a file", NO_STATUS)
        if isinstance(target, int):
            backend = f"socket,fd={target}"
        elif target.startswith("socket:"):
            backend = f"socket,server=on,wait=off,path={quoted(target.removeprefix('socket:'))}"
        else:
            check_writable(name, target)
            backend = f"file,path={quoted(target)}"
        words += [
            "-chardev",
            f"{backend},id=port{number}",
            "-device",
            f"virtserialport,chardev=port{number},id=port{number},name={quoted(name)}",
        ]
    return words


SHARE_TAG = "host"  # the shared folder's name in the guest, which init mounts at SHARE_PLACE
SHARE_PLACE = "/host"
# A folder of this machine that the guest has for a root: its name there, and where init mounts it.
ROOT_TAG = "root"
ROOT_PLACE = "/debian"
DEBIAN_ROOT = "debian"  # the one that tools/debroot makes, in build/ARCH


def share_arguments(machine, folder, tag=SHARE_TAG, options="", what="share"):
    """Arguments that give the guest a folder of this machine, with the rights of whoever starts QEMU. `options` are
    more of QEMU's for it; `what` it is stands in messages. Files on several devices below it get inode numbers that
    differ."""
    if not os.path.exists(folder):
        made_by = f": make debian-root ARCH={machine.goal} makes it"
        wanted = what == "root" and os.path.basename(folder) == DEBIAN_ROOT
        raise GuestError(f"{what} {folder}: there is no such folder{made_by if wanted else ''}", NO_STATUS)
    if not os.path.isdir(folder):
        raise GuestError(f"{what} {folder}: not a folder", NO_STATUS)
    if not os.access(folder, os.R_OK | os.X_OK):
        raise GuestError(f"{what} {folder}: it may not be read", NO_STATUS)
    *before, device = machine.share
    path = quoted(os.path.abspath(folder))
    return [
        "-fsdev",
        f"local,id=fs-{tag},path={path},security_model=none,multidevs=remap{options}",
        *before,
        f"{device},fsdev=fs-{tag},mount_tag={tag}",
    ]


def quoted(text):
    """As a value in one of QEMU's lists."""
    return text.replace(",", ",,")


def check_writable(name, path):
    """The file exists then, empty: QEMU's own message would come after others of its own."""
    try:
        if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
            raise GuestError(f"port {name}: {path}: a FIFO; a file or socket:PATH is wanted", NO_STATUS)
        with open(path, "wb"):
            pass
    except OSError as error:
        raise GuestError(f"port {name}: {path}: {error.strerror}", NO_STATUS) from error


def has_ports(machine, board):
    """Whether this board (-M) is one of those that ports hang at; the others have another bus, or none."""
    return board is None or board.split(",")[0] in (machine.board, "pc", "q35")
