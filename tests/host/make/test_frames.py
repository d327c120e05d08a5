"""The kernel as linked: what a walk by frame records relies on."""

import re
import shutil
import subprocess

from machines import X86_64

# Assembly: rbp is saved and restored by hand there, or is not a kernel's frame pointer yet.
BY_HAND = {"no_protocol", "no_cpuid", "no_long_mode"}


def functions():
    """Of the x86_64 kernel: name to instructions, as objdump writes them."""
    objdump = next(prefix + "objdump" for prefix in X86_64.host_gcc if shutil.which(prefix + "objdump"))
    text = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", "build/x86_64/vmlinux"], check=True, capture_output=True, text=True
    ).stdout
    found, body = {}, []
    for line in text.splitlines():
        start = re.match(r"[0-9a-f]+ <(.+)>:", line)
        if start:
            body = found.setdefault(start[1], [])
        elif "\t" in line:
            body.append(line.split("\t", 1)[1].strip())
    return found


def is_assembly(name):
    return name in BY_HAND or name.startswith(("ftrace_", "return_to_handler", ".L"))


def test_rbp_is_a_frame_pointer_everywhere():
    """A function of the tracer may have no frame, but keeps its caller's in rbp: an interrupt in it can be walked
    from."""
    found = functions()
    frames = {name for name, body in found.items() if any(re.match(r"mov +%rsp,%rbp", line) for line in body)}
    assert len(frames) > 1000
    others = {name: body for name, body in found.items() if name not in frames and not is_assembly(name)}
    assert "function_trace_call" in others, "the leaf functions are meant"
    bad = [name for name, body in others.items() if any(re.search(r",%[re]?bp[wl]?$", line) for line in body)]
    assert not bad
