"""What a student does: starts a lab on a branch of their own, sees what they have changed, hands it in, has it graded.

A started lab's tree has a file .lab: which lab, the seed, the commit of the starting code, and the branch that it was
started from.

A tree that was handed out with several labs lacks the parts of all of them, and some parts need each other: without
mcount no tracepoint can be switched on. So there a lab may be started on the branch of another one: what was written
for that one is then part of the new lab's starting code.
"""

import json
import os
import shutil
import subprocess

import cutting
import inclusion
from catalogue import LabError, find
from workshop import MARK, Patch, Workshop

EXPORTED = ".lab-export"  # in a tree that was handed out: the labs that were taken out of it
HANDS = ["-c", "user.name=lab", "-c", "user.email=lab@localhost"]


def git(top, *words, check=True):
    """A git command's output in the repository at `top`."""
    done = subprocess.run(["git", "-C", top, *words], capture_output=True, check=False)
    if check and done.returncode:
        raise LabError(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="surrogateescape")  # names and sources are any bytes, a line may end in \r\n


def commit(top, message):
    """Commit all that has changed; under a name of our own where git knows none."""
    known = git(top, "config", "user.email", check=False).strip()
    git(top, "add", "-A")
    git(top, *([] if known else HANDS), "commit", "-q", "--no-verify", "-m", message)
    return git(top, "rev-parse", "HEAD").strip()


class Started:
    """The lab that a tree was started for."""

    def __init__(self, top):
        self.top = top
        try:
            with open(os.path.join(top, MARK), encoding="utf-8") as file:
                said = json.load(file)
            name, self.seed, self.begin = said["lab"], said["seed"], said["begin"]
            self.came = said.get("from", "main")
        except FileNotFoundError:
            raise LabError(
                "no lab was started in this tree: `tools/lab list` shows them, `tools/lab start NAME` starts one"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise LabError(f"{MARK} was changed ({error}): `git checkout HEAD -- {MARK}` puts it back") from error
        self.lab = find(name, top)

    def changed(self):
        """Files that differ from the starting code: tracked ones, and new ones that are not ignored."""
        names = git(self.top, "diff", "--name-only", "--no-renames", "-z", self.begin).split("\0")
        names += git(self.top, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
        return sorted({name for name in names if name and name != MARK})

    def others(self):
        """Those of them that are not the student's to change."""
        return [name for name in self.changed() if not self.lab.is_students(name)]

    def patch(self):
        """The student's files as a patch of the starting code."""
        mine = [name for name in self.changed() if self.lab.is_students(name)]
        if not mine:
            return ""
        new = [
            name
            for name in git(self.top, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
            if name in mine
        ]
        if new:
            git(self.top, "add", "--intent-to-add", "--", *new)
        # A person's settings (diff.noprefix, diff.context) make patches that fit no tree.
        form = ["--no-renames", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", "-U3"]
        return git(self.top, "diff", *form, self.begin, "--", *mine)

    def copy_mine(self, top):
        """The student's files over the tree at `top`."""
        for name in self.changed():
            if not self.lab.is_students(name):
                continue
            here, there = os.path.join(self.top, name), os.path.join(top, name)
            if os.path.islink(here):
                raise LabError(f"{name}: a symbolic link, where a file is wanted")
            if os.path.exists(here):
                os.makedirs(os.path.dirname(there), exist_ok=True)
                shutil.copy2(here, there)
            elif os.path.exists(there):
                os.remove(there)
        inclusion.look(top, [name for name in self.changed() if self.lab.is_students(name)])


def exported_labs(top):
    """The labs that a tree which was handed out lacks; None in the whole tree."""
    try:
        with open(os.path.join(top, EXPORTED), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def written_before(top):
    """In a tree that was handed out: the lab whose branch this is, or None; and the other labs that were begun."""
    out = exported_labs(top) or []
    branches = set(git(top, "for-each-ref", "--format=%(refname:short)", "refs/heads/lab").split())
    try:
        mine = Started(top).lab.name
    except LabError:
        mine = None
    return mine, [name for name in out if name != mine and f"lab/{name}" in branches]


def traces_nothing(top, name):
    """Is this another lab than mcount, in a tree that was handed out without mcount's part and where that is not written
    yet? Then no function is traced there and no event happens."""
    if name == "mcount" or "mcount" not in (exported_labs(top) or []):
        return False
    words = ["git", "-C", top, "merge-base", "--is-ancestor", "lab/mcount", "HEAD"]
    return subprocess.run(words, capture_output=True, check=False).returncode != 0


def start(top, name, folder=None, seed=1):
    """A branch (or, in `folder`, a working tree with one) without what the lab asks for. Returns the Lab and where it is."""
    lab = find(name, top)
    out = exported_labs(top)
    if out is not None and lab.name not in out:
        raise LabError(f"lab {lab.name} was not handed out with this tree; it has: {', '.join(out)}")
    dirty = [line[3:] for line in git(top, "status", "--porcelain").splitlines()]
    if dirty and not folder:
        names = ", ".join(dirty[:3]) + (", ..." if len(dirty) > 3 else "")
        raise LabError(
            f"this tree has changes that are not committed ({names}): commit them or `git stash -u` them first"
        )
    branch = f"lab/{lab.name}"
    if git(top, "branch", "--list", branch).strip():
        raise LabError(
            f"this lab was started already: `git switch {branch}` goes there (`git branch -D {branch}` forgets it)"
        )
    base = git(top, "rev-parse", "HEAD").strip()
    if out is None and os.path.exists(os.path.join(top, MARK)):
        raise LabError(f"this is the branch of another lab: `git switch {Started(top).came}` first")
    came = git(top, "symbolic-ref", "--short", "-q", "HEAD", check=False).strip() or base
    there = os.path.abspath(folder) if folder else top
    if folder:
        git(top, "worktree", "add", "-q", "-b", branch, there, base)
    else:
        git(top, "switch", "-q", "-c", branch)
    try:
        begin = base
        if out is None and (lab.cuts or os.path.isdir(lab.given)):
            cutting.cut(lab, there)
            begin = commit(there, f"Lab {lab.name}: the starting code")
        with open(os.path.join(there, MARK), "w", encoding="utf-8") as file:
            json.dump({"lab": lab.name, "seed": seed, "begin": begin, "from": came}, file)
            file.write("\n")
        commit(there, f"Lab {lab.name}: begun")
    except BaseException:
        forget(top, branch, came, folder and there)
        raise
    return lab, there


def forget(top, branch, came, folder):
    """Take back a start that was broken off, so that the tree is as it was and the lab can be started once more. Nothing
    of the student's is on the branch: `start` begins from a tree that has no changes, or in a folder of its own."""
    if folder:
        git(top, "worktree", "remove", "--force", folder, check=False)
    else:
        git(top, "reset", "-q", "--hard", check=False)
        git(top, "clean", "-q", "-f", "-d", check=False)
        git(top, "switch", "-q", *([] if git(top, "branch", "--list", came).strip() else ["--detach"]), came, check=False)
    git(top, "branch", "-q", "-D", branch, check=False)


def workshop_of(started):
    """The student's work over the starting code, ready to be built."""
    workshop = Workshop(started.lab.name, started.top)
    workshop.tree(started.lab, begin=started.begin, over=started.copy_mine)
    return workshop


def workshop_of_patch(lab, path, name, root):
    """The same from a file that was handed in, over the starting code that this tree makes."""
    patch = Patch(path)
    others = patch.refused(lab)
    if others:
        raise LabError(f"{path}: it changes what is not part of lab {lab.name}: {', '.join(others[:5])}")

    def over(top):
        patch.apply(top)
        inclusion.look(top, patch.files)

    workshop = Workshop(name, root)
    workshop.tree(lab, over=over)
    return workshop
