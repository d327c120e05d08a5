"""QEMU's monitor (QMP) beside a guest: its memory, its serial line's break condition; and what the build put into the kernel."""

import json
import os
import socket
import struct

from elftools.elf.elffile import ELFFile
from vitrine_guest import ROOT, Guest


class MonitoredGuest(Guest):
    """A guest with a QMP socket in the folder `scratch`."""

    def __init__(self, scratch, **settings):
        self.scratch = str(scratch)
        path = os.path.join(self.scratch, "qmp")
        arguments = [*settings.pop("qemu_args", ()), "-qmp", f"unix:{path},server=on,wait=off"]
        super().__init__(qemu_args=arguments, **settings)
        self.link = socket.socket(socket.AF_UNIX)
        self.link.connect(path)
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

    def send_break(self):
        """A break condition on the serial line."""
        self.qmp("chardev-send-break", id="console")

    def close(self):
        super().close()
        self.link.close()


class Kernel:
    """The kernel as it was built: symbols, text, tables; and where QEMU puts it (aarch64)."""

    def __init__(self, arch="aarch64"):
        build = os.path.join(ROOT, "build", arch)
        with open(os.path.join(build, "vmlinux"), "rb") as file:
            elf = ELFFile(file)
            self.symbols = {symbol.name: symbol["st_value"] for symbol in elf.get_section_by_name(".symtab").iter_symbols()}
            self.segments = [(segment["p_vaddr"], segment.data()) for segment in elf.iter_segments("PT_LOAD")]
        with open(os.path.join(build, "Image"), "rb") as file:
            offset = struct.unpack_from("<Q", file.read(64), 8)[0]
        # Documentation/arch/arm64/booting.rst: text_offset from a 2 MiB boundary; QEMU puts its own boot code below.
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
        return [self.symbols["_text"] + offset for offset, in self.table("__start_mcount_loc", "__stop_mcount_loc", "<I")]

    @property
    def branches(self):
        """{address of a static branch: where it jumps when its key is on}."""
        return {code: target for code, target, _ in self.table("__start___jump_table", "__stop___jump_table", "<QQQ")}
