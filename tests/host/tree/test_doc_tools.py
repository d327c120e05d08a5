"""What tools/doc-sessions and tools/latency-record refuse, before they start any guest."""

import os
import subprocess
import sys

import pytest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools")
BEGIN, END = "<!-- record: written by tools/latency-record -->", "<!-- end of record -->"


def refused(folder, tool, *words):
    """The last line of the message. A QEMU that does not exist: a guest would be another message."""
    done = subprocess.run(
        [sys.executable, os.path.join(TOOLS, tool), *words],
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
        timeout=600,
        env={**os.environ, "VITRINE_QEMU": "/none"},
    )
    assert done.returncode and not done.stdout and "Traceback" not in done.stderr, done
    return done.stderr.splitlines()[-1]


def test_a_page_that_is_missing(tmp_path):
    assert refused(tmp_path, "doc-sessions", "--check", "none.md") == "none.md: No such file or directory"
    assert (
        refused(tmp_path, "latency-record", "--write", "none.md")
        == "latency-record: [Errno 2] No such file or directory: 'none.md'"
    )


def test_a_session_without_commands(tmp_path):
    (tmp_path / "page.md").write_text("<!-- session: aarch64 -->\n    text\n<!-- end of session -->\n")
    assert refused(tmp_path, "doc-sessions", "page.md") == "page.md: a session without a prompt"


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}\n{BEGIN}\n"])
def test_a_page_without_marks(tmp_path, text):
    (tmp_path / "page.md").write_text(text)
    assert refused(tmp_path, "latency-record", "--write", "page.md").endswith(
        f"the lines '{BEGIN}' and '{END}' are wanted"
    )
    assert (tmp_path / "page.md").read_text() == text


@pytest.mark.parametrize(
    "words", ["--seconds 0", "--seconds -1", "--seconds x", "--seconds 1e3", "--smp 0", "--smp -2", "--smp 1.5"]
)
def test_figures_out_of_range(tmp_path, words):
    option, value = words.split()
    assert refused(tmp_path, "latency-record", f"{option}={value}").endswith(f"is wanted, not '{value}'")
