"""What the checks of the labs (labs/*/checks.py) make of outputs and answers that are right in a rare form, or wrong in a
form that nobody has thought of. The guests are stand-ins that print what a test gives them."""

import os
import re
import struct
import subprocess
import sys
import types

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools", "labs"))

import grading  # noqa: E402
from catalogue import LabError, find  # noqa: E402


class Printing(grading.Attempt):
    """Its guests print said(script)."""

    def __init__(self, name, said, arch="aarch64", top=ROOT):
        super().__init__(find(name), arch, types.SimpleNamespace(top=str(top)), 1)
        self.said = said

    def guest(self, script, **setup):
        self.ran = grading.Ran(0, self.said(script), "")
        return self.ran


def check_of(name, check):
    return next(one for one in find(name).checks if one.name == check)


def made_by(name, function):
    """A function of a lab's checks.py."""
    return find(name).checks[0].__globals__[function]


# ---- What a check cannot cope with


@pytest.mark.parametrize(
    "error", [StopIteration(), struct.error("short"), ZeroDivisionError("none"), UnicodeError("?"), LookupError("x")]
)
def test_no_exception_of_a_check_ends_the_grading(error):
    """Its points are lost, and the report has the line that could not go on, and what the guest had printed."""

    def broken(attempt):
        attempt.guest("echo")
        raise error

    lost = grading.passed(broken, Printing("mcount", lambda script: "first\nand last\n"))
    assert lost.seen == f"{type(error).__name__}: {error}"
    lines = lost.evidence.splitlines()
    assert re.fullmatch(r"labs/test_lab_checks.py:\d+: raise error", lines[0]) and lines[1:] == ["first", "and last"]


def test_a_thread_that_never_gets_its_mutex_costs_one_check():
    """Lab wakeup with a mutex that hangs: the note that the last check looks for is not there."""
    attempt = Printing("wakeup", lambda script: "not over\n======\n" * 3)
    lost = grading.passed(check_of("wakeup", "cost"), attempt)
    assert lost.seen.startswith("StopIteration") and lost.evidence.startswith("09-wakeup/checks.py:")
    assert "not over" in lost.evidence


def test_a_guest_that_cannot_begin_is_no_lost_point():
    """QEMU is not there: that is nothing that a student could mend in the kernel."""

    def begins(attempt):
        raise grading.GuestError("cannot start qemu-system-aarch64", 2)

    with pytest.raises(LabError, match="no guest can be started: cannot start qemu"):
        grading.passed(begins, None)


def test_a_symbol_without_text_is_shown_as_such():
    """Lab backtrace: sprint_symbol() that writes nothing for an address of no symbol."""
    known = types.SimpleNamespace(text=0x1000, size=0x1000, offsets=list(range(0, 0x1000, 16)))
    known.say = lambda address: "f+0x0/0x10 [module]" if address % 16 == 0 else "f+0x1/0x10"

    def said(script, but=None):
        asked = [int(word, 16) for word in re.findall(r"0x[0-9a-f]+", script)]
        return "".join(f"symbol: {one:x} {'' if one == but else known.say(one)}\n" for one in asked)

    for but, seen in ((None, None), (0x1FFF, "")):
        attempt = Printing("backtrace", lambda script, but=but: said(script, but))
        attempt.data["symbols"] = known
        lost = grading.passed(check_of("backtrace", "lookup"), attempt)
        assert (lost and lost.seen) == seen, lost
    assert lost.expected == "0x1fff: f+0x1/0x10"


# ---- Answers


def test_an_answer_that_is_no_text_is_said(tmp_path):
    """The file of answers in the letters of another system, or no file of answers."""
    for name, folder, question in (("look", "01-look", "calls"), ("race", "13-race", "lost")):
        os.makedirs(tmp_path / "labs" / folder)
        attempt = Printing(name, None, top=tmp_path)
        for text in (b'# f\xfcr mich\n[aarch64]\ncalls = "a 1"\n', b"[aarch64\n", b"aarch64 = 1\n"):
            (tmp_path / "labs" / folder / "answers.toml").write_bytes(text)
            with pytest.raises(grading.Lost, match=f"an answer to `{question}` in labs/{folder}/answers.toml, seen none"):
                made_by(name, "answer")(attempt, question, "a 1")


@pytest.mark.parametrize(
    "said, words",
    [
        ("rtc_read+12", ("rtc_read", 12)),
        (" rtc_read+0xc ", ("rtc_read", 12)),
        ("rtc_read", ("rtc_read", 0)),
        ("rtc_account.part.0+8", ("rtc_account.part.0", 8)),
        ("rtc_read 12", None),
    ],
)
def test_an_instruction_of_lab_race(said, words, tmp_path):
    """As gdb shows it; a part of a function that gcc has split has a dot in its name."""
    os.makedirs(tmp_path / "labs/13-race")
    (tmp_path / "labs/13-race/answers.toml").write_text(f'[aarch64]\nwhere = "{said}"\n')
    attempt, answer = Printing("race", None, top=tmp_path), made_by("race", "answer")
    if words:
        assert answer(attempt, "where", "rtc_read+12") == words
        return
    with pytest.raises(grading.Lost, match="of the form 'rtc_read"):
        answer(attempt, "where", "rtc_read+12")


def test_the_checks_need_no_newer_python_than_the_rest():
    """tomllib came with Python 3.11; before that tomli is the same."""
    words = "import sys, tomllib\nsys.modules['tomli'], sys.modules['tomllib'] = tomllib, None\n"
    words += "import catalogue\nprint(sum(lab.points for lab in catalogue.all_labs()))"
    where = os.path.join(ROOT, "tools", "labs")
    done = subprocess.run([sys.executable, "-c", words], cwd=where, capture_output=True, text=True, check=False)
    assert done.stdout == "1400\n", done.stderr


# ---- Right in a rare form


def test_a_driver_of_lab_race_may_tell_more():
    """/proc/driver/rtc with lines in another order, and one more: what was measured is still found."""
    receipt = made_by("race", "receipt")

    def said(script):
        runs = [
            f"race: rate 9 reads 4 interrupts 7 returned 7 lost 0\nrace: receipt {receipt(int(seed))}\n"
            "reads: 4\nmost: 2\nfailed: 0\n"
            for seed in re.findall(r"lab_race fresh (\d+)", script)
        ]
        return "".join(runs) + f"longest: {longest}\n# tracer: irqsoff\n"

    for longest, seen in ((12, None), (44, "44")):
        lost = grading.passed(check_of("race", "fresh"), Printing("race", said))
        assert (lost and lost.seen) == seen, lost


def test_each_place_in_the_bytes_of_lab_driver_follows_from_four_of_them():
    """Bytes that come twice in the source look as if two readers had had them: that is points lost by one's seed."""
    for seed in (1, 2):
        for arch in ("aarch64", "x86_64"):
            attempt = grading.Attempt(find("driver"), arch, types.SimpleNamespace(top=ROOT), seed)
            given = made_by("driver", "source")(attempt)
            assert len(given) == 1 << 18
            assert len({given[at : at + 4] for at in range(len(given) - 3)}) == len(given) - 3
