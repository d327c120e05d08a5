"""tools/branch-report: which hints it calls wrong, from tables as trace_stat/branch_annotated shows them."""

import importlib.machinery
import importlib.util
import io
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/branch-report")
LOADER = importlib.machinery.SourceFileLoader("branch_report", PATH)
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("branch_report", LOADER))
LOADER.exec_module(tool)

ONE = """ correct incorrect    %      function            file        line
 ------- ----------  ---- ------------------ -------------- -----
 40      60          60    pipe_write         pipe.c         203
 880     120         12    mutex_lock         mutex.c        140
 9       90          90    seldom             slab.c         7
 5000    0           0     right              fork.c         1
 0       0           X     never              fault.c        9
"""
TWO = """ 99      1           1     pipe_write         pipe.c         203
 1000    100         9     mutex_lock         mutex.c        140
 0       0           X     never              fault.c        9
"""


def said(**tables):
    out = io.StringIO()
    wrong = tool.report({arch: tool.read_hints(text) for arch, text in tables.items()}, out)
    return wrong, out.getvalue()


def test_rows():
    hints = tool.read_hints(ONE)
    assert len(hints) == 5 and hints["pipe_write", "pipe.c", 203].wrong == 0.6
    assert hints["never", "fault.c", 9].asked == 0 and hints["never", "fault.c", 9].wrong == 0


def test_the_report():
    wrong, text = said(aarch64=ONE, x86_64=TWO)
    assert wrong == 1
    first, second = text.split("1 hints are wrong in more than one of ten\n")
    assert first.startswith("1 hints are wrong more often than right\n") and "pipe_write" in first
    assert "aarch64         40 right        60 wrong   60 %" in first and "x86_64          99 right" in first
    assert "mutex_lock" in second and "seldom" not in text  # asked too seldom to say
    assert text.endswith("5 hints in all, 1 of which were never asked\n")
    assert said(x86_64=TWO)[0] == 0


def test_the_line_of_source():
    path = os.path.join(os.path.dirname(PATH), "../kernel/fs/pipe/pipe.c")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "unlikely(" in line)
    assert tool.source_line("pipe.c", number) == ("kernel/fs/pipe/pipe.c", lines[number - 1].strip())
