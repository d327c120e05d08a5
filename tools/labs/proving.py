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
# CPU seconds that a guest which is to lose its check may use: so many, and so many times those of the solution's.
LEAST, TIMES = 1, 5


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
    """The rows of a lab, the solution first. short: one wrong solution, the first."""
    names = {check.name for check in lab.checks}
    rows = [Case(lab, "solution", set(), lab.machines)]
    wrong = lab.wrong[:1] if short else lab.wrong
    rows += [
        Case(lab, f"wrong/{one.name}", one.loses, one.machines, patch=one.path, perhaps=one.perhaps) for one in wrong
    ]
    if lab.cuts or lab.files:
        rows.append(Case(lab, "start", names - set(lab.free), lab.machines, start=True))
    return [row for row in rows if not only or row.name in only or row.name.partition("/")[2] in only]


def prove(case, workshop, seed, arches, most=None):
    """Lines that say what is not as it should be; and the results. most: as of grading.run_checks(), for the checks that
    are to be lost."""
    most = {key: seconds for key, seconds in (most or {}).items() if key[0] in {*case.loses, *case.perhaps}}
    arches = [arch for arch in case.machines if not arches or arch in arches]
    workshop.tree(case.lab, start=case.start, over=case.over)
    if case.lab.solve and not case.start:
        answers = grading.solve(case.lab, workshop, arches, seed)
        with open(os.path.join(workshop.top, case.lab.files[0]), "w", encoding="utf-8") as file:
            file.write(answers)
    results, _ = grading.run_checks(case.lab, workshop, arches, seed, most)
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


class Rows:
    """The rows of one lab, one after the other or several at a time. The solution is built and tried first, by itself:
    each wrong one begins with what was built for it, and a guest that is to lose its check is ended as soon as it has
    used several times the CPU time of the solution's. The starting code has no solution.patch, so it is built apart."""

    def __init__(self, lab, arches, seed):
        self.lab, self.arches, self.seed, self.most = lab, arches, seed, {}
        self.first = Workshop(f"check-{lab.name}" if lab.solution else "check")

    def solution(self, case):
        wrong, results = self.proved(case, self.first)
        if not wrong:
            self.most = {(one.check.name, one.arch): LEAST + TIMES * one.spent for one in results if one.spent}
        return case, wrong, results

    def other(self, case, workshops):
        if case.start:
            workshop = Workshop("check-start")
            try:
                return case, *self.proved(case, workshop)
            finally:
                workshop.leave()
        workshop = workshops.get()
        try:
            workshop.begin_as(self.first)
            return case, *self.proved(case, workshop)
        finally:
            workshops.put(workshop)

    def proved(self, case, workshop):
        try:
            return prove(case, workshop, self.seed, self.arches, self.most)
        except LabError as error:
            return [str(error)], []


def results_of(rows, lab, jobs, pool, arches, seed):
    """(row, lines that say what is wrong, results) of each. The workshops are taken in this order, and left at the
    end: two runs may be under way at once."""
    all_of, workshops = Rows(lab, arches, seed), queue.Queue()
    copies = [Workshop(f"check-{number}") for number in range(jobs)]
    for workshop in copies:
        workshops.put(workshop)
    try:
        if rows[0].name == "solution":
            yield all_of.solution(rows.pop(0))
        yield from pool.map(lambda case: all_of.other(case, workshops), rows)
    finally:
        for workshop in [all_of.first, *copies]:
            workshop.leave()


def table(labs, short=False, jobs=1, only=None, arches=None, seed=SEED, say=print):
    """All rows of these labs; True when each is as it should be. The points in a line are the same each time: those of
    checks that a row loses only perhaps are not counted."""
    rows = {lab: cases(lab, short, only) for lab in labs}
    if not any(rows.values()):
        raise LabError(f"there is no row {' or '.join(only or [])}")
    good = True
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for lab in labs:
            for case, wrong, results in results_of(rows[lab], lab, jobs, pool, arches, seed) if rows[lab] else ():
                sure = [result for result in results if result.check.name not in case.perhaps]
                earned, most = sum(result.earned for result in sure), sum(result.points for result in sure)
                say(f"{lab.name:14} {case.name:28} {earned:4} of {most:<4} {'WRONG' if wrong else 'as it should be'}")
                for line in wrong:
                    say(f"    {line}")
                good = good and not wrong
    return good
