"""What tools/lab says on a computer that lacks what it needs."""

import os
import subprocess
import sys

import pytest
from test_labs import ROOT


def test_a_computer_without_python_is_told(tmp_path):
    """It is the first command of a handout, on a computer that may have nothing but git and make."""
    with open(f"{ROOT}/tools/lab", encoding="utf-8") as file:
        text = file.read()
    assert text.count("/usr/bin/python3") == 2
    (tmp_path / "lab").write_text(text.replace("/usr/bin/python3", str(tmp_path / "python3")))
    done = subprocess.run(["sh", tmp_path / "lab", "list"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lab: python3 is missing: `make deps` installs it")


@pytest.mark.parametrize(
    "lacking, how", [("elftools", "sys.modules['elftools'] = None"), ("rsync", "os.environ['PATH'] = ''")]
)
def test_what_is_missing_is_told_in_a_line(lacking, how):
    """A computer that has built the kernel need not have what labs are graded with."""
    code = f"import os, runpy, sys; {how}; sys.argv = ['lab', 'solve', 'look']; sys.path.insert(0, 'tools/labs'); "
    code += "runpy.run_path('tools/labs/command.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    said = f"lab: {lacking} is missing: `make deps` installs it, and all else that grading needs\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
