"""The labs that this tree has: what a folder labs/NN-name says of itself in lab.toml.

    title = "..."               in the list, and above the handout
    teaches = "..."             one line
    lecture = "..."             what a course has taught before
    weeks = 1
    machines = ["aarch64", "x86_64"]
    after = ["backtrace"]       labs whose subject this one takes as known
    files = ["trace/*.c"]       what a student may change or add, as patterns of fnmatch
    free = ["sites"]            checks that the starting code passes, as the handout says
    hidden = ["tests/..."]      what shows the solution, and is not handed out
    solve = "solve.sh"          for a lab with answers: a script of the lab's folder that prints them in a guest, its $1
                                being the seed; they become the first of `files` (tools/lab solve). solve.py MACHINE
                                SEED does it on the host, in a tree in which the files that the lab gives are as they
                                were handed out

A folder given/ beside it holds files that come into the student's tree, and that no other tree has.

    [[cut]]                     what is taken out of the tree, each named by symbol
    file = "arch/aarch64/patch.c"
    function = "encode"         or label, member, macro (see cutting.py)
    body = "return 0;"          what stands there in its place

A lab whose solution is not in this tree has it as solution.patch, which is not handed out.
"""

import fnmatch
import importlib.util
import os
import re

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEYS = {"title", "teaches", "lecture", "weeks", "machines", "after", "files", "free", "hidden", "solve", "cut"}
LEVELS = ("core", "complete", "challenge")
PLAIN_NAME = re.compile(r"[A-Za-z0-9_./+-]+")


class LabError(Exception):
    """What a person can do something about: one line for standard error."""


class Lab:
    """One lab: its folder, what lab.toml says, and its checks."""

    def __init__(self, folder):
        self.folder = folder
        number, self.name = os.path.basename(folder).split("-", 1)
        self.number = int(number)
        path = os.path.join(folder, "lab.toml")
        try:
            with open(path, "rb") as file:
                said = tomllib.load(file)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise LabError(f"{path}: {error}") from error
        if set(said) - KEYS or not {"title", "teaches", "lecture", "machines"} <= set(said):
            wrong = ", ".join(sorted(set(said) - KEYS)) or "title, teaches, lecture or machines is missing"
            raise LabError(f"{path}: not understood: {wrong}")
        self.title, self.teaches, self.lecture = said["title"], said["teaches"], said["lecture"]
        self.weeks = said.get("weeks", 1)
        self.machines, self.after = said["machines"], said.get("after", [])
        self.files, self.free = said.get("files", []), said.get("free", [])
        self.hidden, self.cuts = said.get("hidden", []), said.get("cut", [])
        self.solve = os.path.join("labs", os.path.basename(folder), said["solve"]) if "solve" in said else None
        if self.solve:
            self.hidden = [*self.hidden, self.solve]
        self.given = os.path.join(folder, "given")
        path = os.path.join(folder, "solution.patch")
        self.solution = path if os.path.exists(path) else None  # what this tree lacks to be the solution
        self._checks = None

    @property
    def checks(self):
        """Those of checks.py, in its order (grading.check makes them)."""
        if self._checks is None:
            spec = importlib.util.spec_from_file_location(f"checks_{self.name}", os.path.join(self.folder, "checks.py"))
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self._checks = [value for value in vars(module).values() if hasattr(value, "points")]
            self._look_at_checks()
        return self._checks

    def _look_at_checks(self):
        names = [check.name for check in self._checks]
        if len(set(names)) != len(names) or set(self.free) - set(names):
            raise LabError(f"lab {self.name}: two checks of one name, or `free` names one that is not there")
        for check in self._checks:
            if check.level not in LEVELS or not check.host and check.points % len(self.machines):
                raise LabError(
                    f"lab {self.name}, check {check.name}: a level is one of {', '.join(LEVELS)}, and points"
                    f" are shared out evenly among {len(self.machines)} machines"
                )

    @property
    def points(self):
        return sum(check.points for check in self.checks)

    def is_students(self, path):
        """May a student change this file? Its name becomes part of commands: `make` gives it to a shell."""
        return bool(PLAIN_NAME.fullmatch(path)) and any(fnmatch.fnmatchcase(path, pattern) for pattern in self.files)

    @property
    def wrong(self):
        """The solutions that students get wrong: [Wrong], by name."""
        folder = os.path.join(self.folder, "wrong")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return [Wrong(self, os.path.join(folder, name)) for name in names if name.endswith(".patch")]


class Wrong:
    """A wrong solution: a patch of the solution (this tree, with solution.patch where there is one), which says in its
    head what it is, and which checks it loses.

    Loses: sites, range       names of checks
    On: aarch64               the machines that it is tried on; without this line all of the lab's
    Perhaps: threads          checks that find it in some runs: threads of this host that race
    """

    def __init__(self, lab, path):
        self.path, self.name = path, os.path.basename(path)[: -len(".patch")]
        with open(path, encoding="utf-8") as file:
            head = file.read().split("\n--- ", 1)[0]
        loses = re.search(r"^Loses: (.+)$", head, re.M)
        on = re.search(r"^On: (.+)$", head, re.M)
        perhaps = re.search(r"^Perhaps: (.+)$", head, re.M)
        if not loses:
            raise LabError(f"{path}: no line 'Loses: CHECK, ...' in its head")
        self.loses = {word.strip() for word in loses.group(1).split(",")}
        self.perhaps = {word.strip() for word in perhaps.group(1).split(",")} if perhaps else set()
        self.machines = on.group(1).replace(",", " ").split() if on else lab.machines
        if (self.loses | self.perhaps) - {check.name for check in lab.checks}:
            raise LabError(f"{path}: it names a check that lab {lab.name} has not")


def all_labs(root=ROOT):
    """Each lab of the tree, in the order of their numbers."""
    folder = os.path.join(root, "labs")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [Lab(os.path.join(folder, name)) for name in names if re.fullmatch(r"\d+-\w+", name)]


def find(name, root=ROOT):
    """A lab by its name, with or without its number."""
    labs = all_labs(root)
    for lab in labs:
        if name in (lab.name, str(lab.number), os.path.basename(lab.folder)):
            return lab
    raise LabError(f"there is no lab '{name}'; there are: {', '.join(lab.name for lab in labs) or 'none'}")
