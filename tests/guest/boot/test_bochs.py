"""The image of `make iso` on a machine that is not QEMU: bochs, with its own BIOS and devices, interprets each
instruction."""

import os
import pty
import shutil

import pexpect
import pexpect.fdpexpect
import pytest
from vitrine_guest import ROOT

SHARED = "/usr/share/bochs"
SETTINGS = """\
display_library: term
romimage: file={shared}/BIOS-bochs-latest
vgaromimage: file={shared}/VGABIOS-lgpl-latest
megs: 256
cpu: model=corei7_sandy_bridge_2600k, count=1, ips=50000000, reset_on_triple_fault=0
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path={image}, status=inserted
boot: cdrom
com1: enabled=1, mode=term, dev={terminal}
log: {log}
panic: action=fatal
"""


@pytest.mark.soak(only=True)
def test_the_image_boots_and_traces(tmp_path):
    if not shutil.which("bochs") or not os.path.exists(f"{SHARED}/BIOS-bochs-latest"):
        pytest.skip("bochs is not here: apt-get install bochs bochs-term bochsbios vgabios")
    ours, terminal = pty.openpty()
    image = os.path.join(ROOT, "build/x86_64/vitrine.iso")
    settings = SETTINGS.format(shared=SHARED, image=image, terminal=os.ttyname(terminal), log=tmp_path / "log")
    (tmp_path / "bochsrc").write_text(settings)
    # It draws its screen on a terminal, and Debian's begins in its debugger.
    words = ["-q", "-f", str(tmp_path / "bochsrc")]
    bochs = pexpect.spawn("bochs", words, env={**os.environ, "TERM": "xterm"}, dimensions=(40, 120), encoding="latin1")
    console = pexpect.fdpexpect.fdspawn(ours, encoding="utf-8", codec_errors="replace", timeout=300)
    try:
        bochs.expect("<bochs:1>", timeout=60)
        bochs.sendline("c")
        console.expect(r"Booting on CPU 0x0 by multiboot2")
        console.expect(r"tsc: Detected \d+\.\d+ MHz processor \(\w+\)")
        console.expect(r"/ # $")
        for command, answer in (
            ("uname -m", r"\nx86_64\r"),
            ("cd /sys/kernel/tracing; echo function > current_tracer; echo nop > current_tracer; echo $?", r"\n0\r"),
            ("echo 'p:one vfs_read' > kprobe_events && echo > kprobe_events; echo done $?", r"\ndone 0\r"),
        ):
            console.send(f"{command}\n")
            console.expect(answer)
            console.expect(r" # $")
    finally:
        bochs.close(force=True)
        os.close(terminal)
        console.close()
