"""A copy of the tree in which a lab's code is built and tried.

What is graded is always made the same way: the starting code of the lab, the student's files over it, and over these
what the grader brings (labs/NN-name/plant). Nothing else of a student's tree counts. The copy stays (build/labs/NAME),
and only files that differ are written, so that `make` builds what has changed.
"""

import fcntl
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import weakref

import cutting
from catalogue import ROOT, LabError

BUILD_SECONDS = 3600  # a backstop: a first build on a slow machine
FILE_BYTES, COMPILER_SECONDS = (
    1 << 30,
    900,
)  # one file that a build makes, the CPU time of one compiler: far more than any needs
# What is built, or fetched, and no guest of a lab has.
UNUSED = [".git", "/build/labs", "/build/mutation", "/build/guests", "/build/host/linux*"]
UNUSED += ["/build/*-branch*", "/build/*/debian*", "/build/*/guest-tests"]
MARK = ".lab"  # in a student's tree: which lab it is, and of which commit its starting code


def sources_of(top):
    """rsync's words that leave out what is made."""
    return [f"--exclude={name}" for name in ("/build", "/.git", "__pycache__", "*.pyc", "/" + MARK)]


def limit(which, most):
    """A limit of resource for this process. The one that an administrator has set may be lower, and cannot be raised."""
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def build_limits():
    """For a source that would fill the disk, or be compiled for ever."""
    limit(resource.RLIMIT_FSIZE, FILE_BYTES)
    limit(resource.RLIMIT_CPU, COMPILER_SECONDS)


class Patch:
    """A submission: the files that it changes, and nothing that would reach out of the tree."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        try:
            with open(self.path, encoding="utf-8", errors="surrogateescape") as file:
                self.text = file.read()
        except OSError as error:
            raise LabError(f"{path}: {error.strerror}") from error
        self.empty = not self.text.strip()
        self.files = [] if self.empty else self._files()

    def _files(self):
        done = subprocess.run(
            ["git", "apply", "--numstat", "-z", self.path],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            cwd="/",
            check=False,
        )
        if done.returncode:
            raise LabError(f"{self.path}: this is no patch: {done.stderr.strip()}")
        if any(
            word in self.text
            for word in ("mode 120000", "mode 160000", "\nrename from ", "\nrename old ", "\ncopy from ")
        ):
            raise LabError(
                f"{self.path}: it has symbolic links, renamed files or other repositories; tools/lab submit makes none"
            )
        return [line.split("\t", 2)[2] for line in done.stdout.split("\0") if line]

    def refused(self, lab):
        """The files that are not the student's."""
        return [name for name in self.files if not lab.is_students(name)]

    def apply(self, top):
        """Over the tree at `top`; LabError when it does not fit."""
        if self.empty:
            return
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(top)}
        done = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", self.path],
            cwd=top,
            env=environment,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        if done.returncode:
            raise LabError(f"{self.path}: it does not fit the lab's starting code: {done.stderr.strip()}")


class Place:
    """A lock on a folder, until leave() or for as long as this object lives. Other processes wait; in this one all who
    ask get the same object, since a Workshop that is not used any more may live on until Python looks for such ones. So
    two threads must not use one name at once. Whoever takes several leaves all of them, and takes them in one order:
    else two processes can wait for each other."""

    held = weakref.WeakValueDictionary()

    def __init__(self, path):
        self._path = path
        self._file = open(path + ".lock", "w", encoding="ascii")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"lab: waiting for another run to leave {os.path.relpath(path)}", file=sys.stderr)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        self.held[path] = self

    def leave(self):
        self.held.pop(self._path, None)
        self._file.close()


class Workshop:
    """The copy `name`, filled by the calls below in this order: solution or start, then student or patch, then plant."""

    def __init__(self, name, root=ROOT):
        self.root, self.top = root, os.path.join(root, "build", "labs", name)
        self.log = self.top + ".log"
        self._given = None
        os.makedirs(os.path.dirname(self.top), exist_ok=True)
        self._place = Place.held.get(self.top) or Place(self.top)

    def leave(self):
        """Others may use the copy. It is the end of this object."""
        if self._given:
            self._given.leave()
        self._place.leave()

    def _fill(self, source, but=()):
        """As the tree at `source`, but for what these words of rsync name. A first copy takes what is built there, and
        the times that make goes by. It has the workshop's name when it is whole: one that was broken off would have
        everything built again."""
        if not os.path.isdir(self.top):
            excluded = [f"--exclude={name}" for name in UNUSED]
            first = tempfile.mkdtemp(dir=os.path.dirname(self.top))
            try:
                subprocess.run(["rsync", "-a", *excluded, f"{self.root}/", f"{first}/"], check=True)
                os.rename(first, self.top)
            except BaseException:
                shutil.rmtree(first, ignore_errors=True)
                raise
        words = ["rsync", "-rlpc", "--delete", *sources_of(source), *but]
        subprocess.run([*words, f"{source}/", f"{self.top}/"], check=True)

    def tree(self, lab, begin=None, start=True, over=lambda top: None):
        """Fill with the lab's starting code (start) or the solution, `over` called for what comes above it; and what the
        grader plants. begin: the commit of a student's repository that has the starting code."""
        self._given = None
        scratch = self.top + ".tree"
        if begin:
            shutil.rmtree(scratch, ignore_errors=True)
            os.mkdir(scratch)
            self._unpack(begin, scratch)
        else:
            # To write all of it takes longer than all else here: what is the same from the last time stays.
            words = ["rsync", "-ac", "--delete", *sources_of(self.root)]
            subprocess.run([*words, f"{self.root}/", f"{scratch}/"], check=True)
            (cutting.cut if start else cutting.give)(lab, scratch)
        over(scratch)
        plant = os.path.join(lab.folder, "plant")
        if os.path.isdir(plant):
            shutil.copytree(plant, scratch, dirs_exist_ok=True)
        self._fill(scratch)

    def as_given(self, lab):
        """Another workshop with this one's tree, in which the files that the lab gives are as they were handed out: for
        a question about the code that a student began with. Made once for each tree."""
        if not self._given:
            self._given = Workshop(f"{os.path.basename(self.top)}-given", self.root)
            names = [
                os.path.join(os.path.relpath(folder, lab.given), name)
                for folder, _, files in os.walk(lab.given)
                for name in files
            ]
            self._given._fill(self.top, [f"--exclude=/{os.path.normpath(name)}" for name in names])
            subprocess.run(["rsync", "-rlpc", f"{lab.given}/", f"{self._given.top}/"], check=True)
        return self._given

    def begin_as(self, other):
        """All of another workshop comes here, what is built there, too: make then builds only what differs from it."""
        if os.path.isdir(other.top):
            subprocess.run(["rsync", "-a", "--delete", f"{other.top}/", f"{self.top}/"], check=True)

    def _unpack(self, commit, scratch):
        archive = subprocess.Popen(["git", "archive", commit], cwd=self.root, stdout=subprocess.PIPE)
        whole = False
        try:
            with archive.stdout, tarfile.open(fileobj=archive.stdout, mode="r|") as tar:
                tar.extractall(scratch)
            whole = True
        except tarfile.ReadError:
            pass  # git has said why, and written nothing
        if archive.wait() or not whole:
            raise LabError(f"the starting code, commit {commit}, is not in this repository")

    def build(self, goal):
        """`make GOAL`: None, or the first lines that the compiler minded."""
        environment = {
            key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
        }
        try:
            done = subprocess.run(
                ["make", "--no-print-directory", goal],
                cwd=self.top,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                preexec_fn=build_limits,
                timeout=BUILD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "the build did not end"
        with open(self.log, "w", encoding="utf-8") as file:
            file.write(done.stdout)
        if done.returncode == 0:
            return None
        wrong = [line for line in done.stdout.splitlines() if "error:" in line or "undefined" in line or "***" in line]
        return "\n".join(wrong[:8] or done.stdout.splitlines()[-8:])
