"""The tutorial's modules, cut out of its text: built as it says, loaded from a folder of the host, traced, edited."""

import re

import pytest
from test_modules import make, run
from tutorial_sources import document_text

SEED = "seeds/000_*.txt"


def listings():
    """The C texts that the tutorial prints: lines with a number in front, from the first comment to module_exit."""
    text = document_text(SEED)
    if text is None:
        pytest.skip("the tutorials' texts are not on this machine")
    text = text.replace("\xa0", " ")  # as a browser copies it
    found = re.findall(r"((?:^ +\d+\. .*\n)*?^ +\d+\. +module_exit\(ftrace_demo_exit\);.*\n)", text, re.M)
    return ["\n".join(re.sub(r"^ +\d+\. ?", "", line).rstrip() for line in part.splitlines()) + "\n" for part in found]


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_the_tutorials_session(arch, tmp_path):
    texts = listings()
    assert len(texts) == 4 and texts[0] == texts[1]
    share = tmp_path / "my"
    share.mkdir()
    (share / "ftrace_demo.c").write_text(texts[0])
    status, said = make(share, arch, objects="ftrace_demo.o")
    assert status == 0, said
    (share / "ftrace_demo.ko").rename(share / "first.ko")
    (share / "ftrace_demo.c").write_text(texts[3])  # edited: it calls tracing_off()
    status, said = make(share, arch, objects="ftrace_demo.o")
    assert status == 0, said
    out = run(
        arch,
        [],
        "cd /sys/kernel/debug/tracing; pwd\n"
        "echo 0 > tracing_enabled; echo 1 > /proc/sys/kernel/ftrace_enabled; echo function_graph > current_tracer\n"
        "insmod /host/first.ko; lsmod | tail -n 1; echo ':mod:ftrace_demo' > set_ftrace_filter; cat set_ftrace_filter\n"
        "rmmod ftrace_demo; echo 1 > tracing_enabled; insmod /host/first.ko; rmmod ftrace_demo\n"
        "grep -o '/\\* [^C].* \\*/\\|/\\* Can.*' trace; echo nop > current_tracer; echo > set_ftrace_filter\n"
        "echo 1 > tracing_on; echo function > current_tracer; insmod /host/ftrace_demo.ko; cat tracing_on\n"
        "grep -o 'ftrace_demo_init.*' trace; echo 1 > tracing_on; rmmod ftrace_demo; cat tracing_on\n"
        "grep -o 'ftrace_demo_exit.*' trace; cat /proc/modules",
        tmp_path,
        "--share",
        share,
    )
    assert out.splitlines() == [
        "/sys/kernel/debug/tracing",
        "ftrace_demo            12288  0",
        "ftrace_demo_init [ftrace_demo]",
        "ftrace_demo_exit [ftrace_demo]",
        "/* Can not see this in trace unless loaded for the second time */",
        "/* Module unloading */",
        "0",
        "ftrace_demo_init <-do_one_initcall",
        "ftrace_demo_init: ftrace_demo_init called",
        "0",
        "ftrace_demo_exit <-sys_delete_module",
        "ftrace_demo_exit: ftrace_demo_exit called",
    ]


def passes(guest, command):
    status, output = guest.run(command)
    assert status == 0, f"{command}: {output}"
    return output


def test_edited_while_the_guest_runs(machine, tmp_path):
    """One session in one guest, whose /host is the folder: make, insmod, trace, rmmod; then the text is edited on the
    host and made there again, and the guest, which has never been left, loads it and shows the new text."""
    text = listings()[0]
    old, new = "Module unloading", "Edited on the host"
    assert old in text
    with machine.guest(timeout=240, share=str(tmp_path)) as guest:
        passes(guest, "cd /sys/kernel/tracing; echo function_graph > current_tracer")
        passes(guest, "echo ':mod:ftrace_demo' > set_ftrace_filter")
        for edited, here, gone in ((text, old, new), (text.replace(old, new), new, old)):
            (tmp_path / "ftrace_demo.c").write_text(edited)
            status, said = make(tmp_path, machine.arch, objects="ftrace_demo.o")
            assert status == 0, said
            passes(guest, "echo > trace; insmod /host/ftrace_demo.ko")
            assert passes(guest, "lsmod").splitlines()[-1].split()[0] == "ftrace_demo"
            passes(guest, "rmmod ftrace_demo")
            trace = passes(guest, "cat trace")
            assert here in trace and gone not in trace, trace
            assert re.search(r"\| +ftrace_demo_exit \[ftrace_demo\]\(\) \{", trace), trace
        assert passes(guest, "cat /proc/modules; rm /host/ftrace_demo.ko") == ""
    assert not (tmp_path / "ftrace_demo.ko").exists()
