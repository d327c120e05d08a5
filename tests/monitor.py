"""QEMU's monitor (QMP) beside a guest: memory, breaks on the serial line, NMIs; and the kernel as built, to compare
with."""

import json
import os
import socket
import struct

from elftools.elf.elffile import ELFFile
from vitrine_guest import ROOT, Guest


class MonitoredGuest(Guest):
    """A guest with a QMP socket in the folder `scratch`."""

    link = None  # until the guest is at its prompt

    def __init__(self, scratch, **settings):
        self.scratch = str(scratch)
        path = os.path.join(self.scratch, "qmp")
        arguments = [*settings.pop("qemu_args", ()), "-qmp", f"unix:{path},server=on,wait=off"]
        super().__init__(qemu_args=arguments, **settings)
        while not os.path.exists(path):  # a guest that is not waited for (wait_prompt=False)
            self.child.expect(["."], 0.1)
        self.link = socket.socket(socket.AF_UNIX)
        while self.link.connect_ex(path):  # it has its name, and listens in a moment
            self.child.expect(["."], 0.1)
        self.replies = self.link.makefile("rb")
        self.replies.readline()  # the greeting
        self.qmp("qmp_capabilities")

    def qmp(self, command, **arguments):
        """One command, its answer; events between are passed over."""
        self.link.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
        while True:
            reply = json.loads(self.replies.readline())
            if "error" in reply:
                raise RuntimeError(f"{command}: {reply['error']['desc']}")
            if "return" in reply:
                return reply["return"]

    def memory(self, address, size):
        """Bytes of physical memory."""
        path = os.path.join(self.scratch, "memory")
        self.qmp("pmemsave", val=address, size=size, filename=path)
        with open(path, "rb") as file:
            return file.read()

    def human(self, command):
        """A command of the monitor for people; its text."""
        text = self.qmp("human-monitor-command", **{"command-line": command})
        assert not text.startswith("unknown command"), text
        return text

    def one_by_one(self, on):
        """QEMU translates each instruction alone, or no longer: its log then names them all. The command's name is
        another one since QEMU 8.1."""
        old = self.qmp("human-monitor-command", **{"command-line": "help singlestep"}).startswith("singlestep ")
        self.human(f"{'singlestep' if old else 'one-insn-per-tb'} {'on' if on else 'off'}")

    def send_break(self):
        """A break condition on the serial line."""
        self.qmp("chardev-send-break", id="console")

    def close(self):
        super().close()
        if self.link:
            self.link.close()


class A64:
    """Patchable places on aarch64: one instruction word."""

    HOOK, SIZE, NOP = "_mcount", 4, 0xD503201F.to_bytes(4, "little")
    ALTERNATIVE = "<i4s"  # of struct alternative: where, and the instruction

    @staticmethod
    def branch(kind, site, target):
        return (kind | ((target - site) >> 2 & 0x3FFFFFF)).to_bytes(4, "little")

    @classmethod
    def call(cls, site, target):
        return cls.branch(0x94000000, site, target)

    @classmethod
    def jump(cls, site, target):
        return cls.branch(0x14000000, site, target)

    @staticmethod
    def is_call(code):
        return code[3] >> 2 == 0x94 >> 2


class X64:
    """The same on x86_64: five bytes."""

    HOOK, SIZE, NOP = "__fentry__", 5, bytes.fromhex("0f1f440000")
    ALTERNATIVE = "<i3sx"

    @staticmethod
    def branch(opcode, site, target):
        return bytes([opcode]) + (target - site - 5).to_bytes(4, "little", signed=True)

    @classmethod
    def call(cls, site, target):
        return cls.branch(0xE8, site, target)

    @classmethod
    def jump(cls, site, target):
        return cls.branch(0xE9, site, target)

    @staticmethod
    def is_call(code):
        return code[0] == 0xE8


class Kernel:
    """The kernel as it was built: symbols, text, tables; how its instructions look; and where QEMU puts it."""

    def __init__(self, arch, build=None):
        """build: the folder of the build, where it is another than this tree's."""
        self.arch, build = arch, build or os.path.join(ROOT, "build", arch)
        self.path = os.path.join(build, "vmlinux")
        with open(self.path, "rb") as file:
            elf = ELFFile(file)
            self.code = {"EM_AARCH64": A64, "EM_X86_64": X64}[elf["e_machine"]]
            symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
            self.symbols = {symbol.name: symbol["st_value"] for symbol in symbols}
            self.sizes = {symbol.name: symbol["st_size"] for symbol in symbols}
            loads = list(elf.iter_segments("PT_LOAD"))
            self.segments = [(segment["p_vaddr"], segment.data()) for segment in loads]
        self.load = loads[0]["p_paddr"] - loads[0]["p_vaddr"] + self.symbols["_text"]
        image = os.path.join(build, "Image")
        if os.path.exists(image):  # a flat image says itself where it wants to be
            with open(image, "rb") as file:
                offset = struct.unpack_from("<Q", file.read(64), 8)[0]
            # Documentation/arch/arm64/booting.rst: text_offset from a 2 MiB boundary; QEMU puts its own boot code
            # below.
            self.load = 0x40000000 + (offset if offset >= 4096 else offset + (2 << 20))

    def physical(self, virtual):
        return virtual - self.symbols["_text"] + self.load

    def read(self, virtual, size):
        for start, data in self.segments:
            if start <= virtual and virtual + size <= start + len(data):
                return data[virtual - start : virtual - start + size]
        raise ValueError(f"{virtual:#x} is in no segment")

    def table(self, start, stop, form):
        """The entries of a table between two symbols, each unpacked by struct's `form`."""
        return list(struct.iter_unpack(form, self.read(self.symbols[start], self.symbols[stop] - self.symbols[start])))

    @property
    def sites(self):
        """Addresses of all call sites."""
        return [
            self.symbols["_text"] + offset for offset, in self.table("__start_mcount_loc", "__stop_mcount_loc", "<I")
        ]

    @property
    def branches(self):
        """{address of a static branch: where it jumps when its key is on}."""
        return {code: target for code, target, _ in self.table("__start___jump_table", "__stop___jump_table", "<QQQ")}

    @property
    def alternatives(self):
        """{address of an instruction that boot may replace: what by}."""
        start = self.symbols["__start___alternatives"]
        entries = self.table("__start___alternatives", "__stop___alternatives", self.code.ALTERNATIVE)
        return {start + 8 * index + distance: new for index, (distance, new) in enumerate(entries)}


CALLERS = (
    "ftrace_caller",
    "ftrace_entry_caller",
    "ftrace_return_caller",
    "ftrace_list_caller",
    "ftrace_regs_caller",
    "ftrace_kprobe_caller",
    *(f"ftrace_single_caller_{n}" for n in range(4)),
)


class Text:
    """A kernel's text in a running guest, against what was built: nothing but patchable places may differ."""

    def __init__(self, guest, kernel):
        self.kernel, self.start = kernel, kernel.symbols["_stext"]
        size = kernel.symbols["_etext"] - self.start
        guest.qmp("stop")
        self.now = bytearray(guest.memory(kernel.physical(self.start), size))
        guest.qmp("cont")
        self.built = kernel.read(self.start, size)

    def take(self, address, size=None):
        """What stands at a patchable place; from then on it counts as equal."""
        at, size = address - self.start, size or self.kernel.code.SIZE
        found = bytes(self.now[at : at + size])
        self.now[at : at + size] = self.built[at : at + size]
        return found

    def _place(self, address):
        """FUNCTION+0xOFFSET (ADDRESS)"""
        start, name = max((at, name) for name, at in self.kernel.symbols.items() if at <= address)
        return f"{name}+{address - start:#x} ({address:#x})"

    def calls(self):
        """(sites that call the tracer, number of static branches that are on). Fails when a site is neither that nor a
        nop, a branch neither that nor a nop, or anything else has changed."""
        code, symbols = self.kernel.code, self.kernel.symbols
        calling, branching = set(), 0
        for site in self.kernel.sites:
            found = self.take(site)
            assert self.kernel.read(site, code.SIZE) == code.call(site, symbols[code.HOOK])
            if found in (code.call(site, symbols[caller]) for caller in CALLERS):
                calling.add(site)
            else:
                assert (
                    found == code.NOP
                ), f"the site at {self._place(site)} holds {found.hex(' ')}, and neither a nop nor a tracer's call"
        for branch, target in self.kernel.branches.items():
            found = self.take(branch)
            jump = code.jump(branch, target)
            assert found in (code.NOP, jump), (
                f"the static branch at {self._place(branch)} holds {found.hex(' ')}, and not"
                f" {code.NOP.hex(' ')} (a nop) or {jump.hex(' ')} (a jump)"
            )
            branching += found != code.NOP
        for address, new in self.kernel.alternatives.items():
            found = self.take(address, len(new))
            assert found in (self.kernel.read(address, len(new)), new), f"alternative {address:#x} holds {found.hex()}"
        found = self.take(symbols["ftrace_graph_call"])
        assert found in (code.NOP, code.jump(symbols["ftrace_graph_call"], symbols["ftrace_graph_caller"])), found.hex()
        for name in ("ftrace_call", "ftrace_entry_call"):
            found = self.take(symbols[name])
            assert found == code.NOP or code.is_call(found), f"{name} holds {found.hex()}"
        if self.now != self.built:
            at = next(at for at, (now, built) in enumerate(zip(self.now, self.built)) if now != built)
            raise AssertionError(
                f"{self.start + at:#x} holds {self.now[at : at + 8].hex()}, built was {self.built[at : at + 8].hex()}"
            )
        return calling, branching


def patch_stats(guest, kernel):
    """struct patch_stats: sites written, alias maps, stops, and then what the machine has besides (<asm/patch.h>)."""
    guest.qmp("stop")
    raw = guest.memory(kernel.physical(kernel.symbols["patch_stats"]), kernel.sizes["patch_stats"])
    guest.qmp("cont")
    return struct.unpack(f"<{len(raw) // 8}Q", raw)
