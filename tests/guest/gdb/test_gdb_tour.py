"""docs/gdb-ftrace.md: its sessions, done again by tools/doc-gdb, go as the page tells."""

import os
import re
import subprocess
import sys

from vitrine_guest import MACHINES, ROOT

PAGE = os.path.join(ROOT, "docs", "gdb-ftrace.md")


def sessions(text, arch):
    return re.findall(rf"<!-- gdb: {arch}.*?-->\n(.*?)<!-- end of gdb -->\n", text, re.S)


def typed(text):
    return re.findall(r"^    ((?:\$|\(gdb\)) .*)$", text, re.M)


def check_life(text):
    """Of one hooked call: entry code, both patched places, the hooked return, and the way back."""
    for line in (
        r"vfs_write is called by ksys_write, in the task sh-\d+; its site holds call ftrace_caller",
        r"  ftrace_call: patched to call the tracer, while there is one: call function_\w+",
        r"  ftrace_graph_call: patched to jump .*: jump ftrace_graph_caller",
        r"    ftrace_graph_caller\+0x\w+/0x\w+ .* ; .*",
        r"back in vfs_write, behind its site: .*",
        r"its return address, at 0x\w+, is return_to_handler_entry\S+ now; on the shadow stack: ksys_write\+\S+",
        r"    return_to_handler_entry\+0x\w+/0x\w+ .* ; .*",
        r"back in ksys_write: what vfs_write returned is as it was",
    ):
        assert re.search(rf"^    {line}$", text, re.M), f"{line}\n{text}"


def test_tour(tmp_path):
    with open(PAGE, encoding="utf-8") as file:
        before = file.read()
    page = tmp_path / "page.md"
    page.write_text(before)
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tools/doc-gdb"), page],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    after = page.read_text()
    assert done.returncode == 0 and typed(after) == typed(before), done.stdout
    for arch in MACHINES:
        compiled, linked, nop, call, life, *_ = sessions(after, arch)
        assert re.search(r"R_\w+ +(_mcount|__fentry__)", compiled) and re.search(r"<(_mcount|__fentry__)>$", linked), (
            compiled + linked
        )
        assert re.search(r"vfs_write\S+: site .*: nop\n", nop) and len(re.findall(r"\bnopl?\b", nop)) == 3, nop
        assert "holds: call function_trace_call" in call and re.search(r"(bl|call) .*<function_trace_call>", call), call
        check_life(life)
    shown = sessions(after, "aarch64")[-1]
    assert (
        re.search(r"#0 +return_to_handler<vfs_write> .*\n +#1 .* ksys_write ", shown)
        and "vfs_write returns to ksys_write" in shown
    ), shown


def test_hunt(tmp_path):
    """docs/time-travel.md: backwards from the maximum to who asked for it."""
    page = tmp_path / "page.md"
    with open(os.path.join(ROOT, "docs", "time-travel.md"), encoding="utf-8") as file:
        page.write_text(file.read())
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tools/doc-gdb"), page],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    after = page.read_text()
    assert done.returncode == 0 and re.search(r"= 70\d{4}\n", after), done.stdout
    assert (
        re.search(r"#0 +trace_max_take .*(\n.*)*plant_spin_lock_irqsave \(ns=700000\)", after)
        and "$2 = 700000" in after
    ), after
    assert re.search(r"\(gdb\) x/i .*\n.*<_raw_spin_lock_irqsave.*msr\s+daifset, #", after), after


def test_a_session_that_fails_is_told(tmp_path):
    page = tmp_path / "page.md"
    for text, said in (
        (
            "<!-- gdb: x86_64 -->\n    (gdb) vt-bt zork\n<!-- end of gdb -->\n",
            "(gdb) vt-bt zork: zork: a pid or `all` is wanted",
        ),
        ("<!-- gdb: x86_64 -->\n    $ false\n<!-- end of gdb -->\n", "'false' ended with status 1: "),
    ):
        page.write_text(text)
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "tools/doc-gdb"), "--check", page],
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1 and done.stderr == f"{page}: {said}\n" and page.read_text() == text
