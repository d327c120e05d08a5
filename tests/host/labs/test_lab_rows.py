"""The rows of `tools/lab check`: what one has from another, and what it has not."""

import fcntl
import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools", "labs"))

import grading  # noqa: E402
import proving  # noqa: E402
from catalogue import LabError, find  # noqa: E402
from test_labs import read, write  # noqa: E402
from workshop import Workshop  # noqa: E402


def test_nothing_of_a_tree_stays_for_the_next(tmp_path):
    """A workshop's files are the tree's again, whatever the row before has put over them; and one that begins as another
    has what was built there."""
    root, lab = tmp_path / "root", types.SimpleNamespace(folder=str(tmp_path), given=str(tmp_path / "none"))
    root.mkdir()
    write(root, "a.c", "a")

    def over(top):
        write(top, "a.c", "b")
        write(top, "new.c", "")

    one, other = Workshop("one", str(root)), Workshop("other", str(root))
    one.tree(lab, start=False, over=over)
    assert read(one.top, "a.c") == "b"
    os.makedirs(os.path.join(one.top, "build"), exist_ok=True)
    write(one.top, "build/made", "")
    other.begin_as(one)
    for workshop in (one, other):
        workshop.tree(lab, start=False)
        assert sorted(os.listdir(workshop.top)) == ["a.c", "build"]
        assert (read(workshop.top, "a.c"), os.listdir(os.path.join(workshop.top, "build"))) == ("a", ["made"])
        workshop.leave()
        with open(f"{workshop.top}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_guest_that_is_to_lose_ends_sooner(monkeypatch):
    """By what the solution's has used; and where the row must pass, never."""
    one, asked = find("mcount"), []

    def run(lab, workshop, arches, seed, most):
        asked.append(most)
        lost = grading.Lost("a", "b")
        lost_ones = ("reach",) if len(asked) > 1 else ()
        return [grading.Result(c, arches[0], 1, c.name in lost_ones and lost, spent=3) for c in lab.checks], []

    monkeypatch.setattr(grading, "run_checks", run)
    monkeypatch.setattr(
        proving, "Workshop", lambda name: types.SimpleNamespace(tree=no_tree, begin_as=no_tree, leave=no_tree)
    )
    rows = ["solution", "reach_one_more"]
    assert proving.table([one], only=rows, arches=["aarch64"], say=lambda line: None)
    assert asked == [{}, {("reach", "aarch64"): proving.LEAST + 3 * proving.TIMES}]


def test_workshops_are_left(monkeypatch):
    """All of them, in the order in which every run takes them, also when a row fails: else two runs can wait for each
    other. One name is taken again only after it was left."""
    taken, held = [], set()

    def workshop(name):
        assert name not in held
        taken.append(name)
        held.add(name)
        return types.SimpleNamespace(tree=no_tree, begin_as=no_tree, leave=lambda: held.remove(name))

    def run(lab, workshop, arches, seed, most):
        raise LabError("planted")

    monkeypatch.setattr(grading, "run_checks", run)
    monkeypatch.setattr(proving, "Workshop", workshop)
    for _ in range(2):
        assert not proving.table([find("mcount")], short=True, jobs=2, arches=["aarch64"], say=lambda line: None)
        assert not held
    assert taken == ["check", "check-0", "check-1", "check-start"] * 2


def no_tree(*_, **__):
    """What a workshop of nothing does."""
