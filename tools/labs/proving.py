"""Whether a lab's points say what they should: the solution gets all of them, the starting code what the handout
promises, and each wrong solution loses just those of the checks that it names.

The solution is this tree, with a solution.patch where the lab has one, so a change of the kernel that breaks a lab is
seen here and not by a class.
"""

import concurrent.futures
import os
import queue
import subprocess

import grading
from catalogue import LabError
from workshop import Workshop

SEED = 1
MOST = 2000  # bytes of a report


def apply(patch, top):
    """A patch over the tree at `top`. Lines that have moved do not matter, others do."""
    done = subprocess.run(
        ["patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "-i", os.path.abspath(patch)],
        cwd=top,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LabError(f"{patch}: it does not fit the tree any more: {done.stdout.strip()}")


class Case:
    """One row of the table: a tree, and the checks that it must lose on each machine."""

    def __init__(self, lab, name, loses, machines, start=False, patch=None, perhaps=()):
        self.lab, self.name, self.loses, self.machines = lab, name, loses, machines
        self.start, self.perhaps = start, perhaps
        self.patches = [path for path in (None if start else lab.solution, patch) if path]

    def over(self, top):
        """What the tree lacks to be the solution, and over it a wrong solution's patch."""
        for path in self.patches:
            apply(path, top)


def cases(lab, short, only=None):
    """The rows of a lab. short: one wrong solution, the first. The starting code comes last: what a solution.patch
    changes in headers is built once for all other rows."""
    names = {check.name for check in lab.checks}
    rows = [Case(lab, "solution", set(), lab.machines)]
    wrong = lab.wrong[:1] if short else lab.wrong
    rows += [
        Case(lab, f"wrong/{one.name}", one.loses, one.machines, patch=one.path, perhaps=one.perhaps) for one in wrong
    ]
    if lab.cuts or lab.files:
        rows.append(Case(lab, "start", names - set(lab.free), lab.machines, start=True))
    return [row for row in rows if not only or row.name in only or row.name.partition("/")[2] in only]


def prove(case, workshop, seed, arches):
    """Lines that say what is not as it should be; and the results."""
    arches = [arch for arch in case.machines if not arches or arch in arches]
    workshop.tree(case.lab, start=case.start, over=case.over)
    if case.lab.solve and not case.start:
        answers = grading.solve(case.lab, workshop, arches, seed)
        with open(os.path.join(workshop.top, case.lab.files[0]), "w", encoding="utf-8") as file:
            file.write(answers)
    results, _ = grading.run_checks(case.lab, workshop, arches, seed)
    wrong = sorted(
        {f"it does not build for {r.arch}:\n{r.lost.evidence}" for r in results if r.lost and r.lost.unbuilt}
    )
    for result in results if not wrong else ():
        if result.check.name in case.perhaps:
            continue
        if result.lost and result.check.name not in case.loses:
            wrong.append(
                f"{result.check.name} is lost on {result.arch}: {result.lost}\n{result.lost.evidence}".rstrip()[:MOST]
            )
        if not result.lost and result.check.name in case.loses:
            wrong.append(f"{result.check.name} is passed on {result.arch}, and should not be")
    return wrong, results


def table(labs, short=False, jobs=1, only=None, arches=None, seed=SEED, say=print):
    """All rows of these labs; True when each is as it should be. The points in a line are the same each time: those of
    checks that a row loses only perhaps are not counted."""
    rows = [case for lab in labs for case in cases(lab, short, only)]
    if not rows:
        raise LabError(f"there is no row {' or '.join(only or [])}")
    workshops = queue.Queue()
    for number in range(jobs):
        workshops.put(Workshop(f"check-{number}"))

    def one(case):
        workshop = workshops.get()
        try:
            return case, *prove(case, workshop, seed, arches)
        except LabError as error:
            return case, [str(error)], []
        finally:
            workshops.put(workshop)

    good = True
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case, wrong, results in pool.map(one, rows):
            sure = [result for result in results if result.check.name not in case.perhaps]
            earned, most = sum(result.earned for result in sure), sum(result.points for result in sure)
            say(
                f"{case.lab.name:14} {case.name:28} {earned:4} of {most:<4} {'as it should be' if not wrong else 'WRONG'}"
            )
            for line in wrong:
                say(f"    {line}")
            good = good and not wrong
    return good
