"""The labs (tools/lab, labs/): that each fits this tree, and what a student and an instructor do with them. What needs a
build and a guest is in tests/guest/docs/test_lab_grades.py."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import types

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools", "labs"))

import command  # noqa: E402
import course  # noqa: E402
import cutting  # noqa: E402
import grading  # noqa: E402
import proving  # noqa: E402
import student  # noqa: E402
from catalogue import Lab, LabError, all_labs, find  # noqa: E402
from workshop import MARK, Patch, Workshop, sources_of  # noqa: E402

LABS = all_labs()
NAMES = [lab.name for lab in LABS]


def tree(folder):
    """A copy of the tree's sources."""
    subprocess.run(["rsync", "-a", *sources_of(ROOT), f"{ROOT}/", f"{folder}/"], check=True)
    return str(folder)


def repository(folder):
    """The same as a repository of one commit."""
    top = tree(folder)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words], cwd=top, check=True)
    return top


def lab(top, *words, status=0):
    """tools/lab of the tree at `top`: what it printed."""
    done = subprocess.run(
        [os.path.join(top, "tools/lab"), *words], cwd=top, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def write(top, name, text):
    with open(os.path.join(top, name), "w", encoding="utf-8") as file:
        file.write(text)


def read(top, name):
    with open(os.path.join(top, name), encoding="utf-8") as file:
        return file.read()


# ---- Each lab


@pytest.mark.parametrize("one", LABS, ids=NAMES)
def test_a_lab_is_whole(one):
    """Its pages are there, points are round, and there are four wrong solutions or more, each with what it loses."""
    for name in ("handout.md", "instructor.md", "hints.gdb"):
        assert os.path.exists(os.path.join(one.folder, name)), name
    assert one.points == 100
    assert {check.level for check in one.checks} == {"core", "complete", "challenge"}
    assert all(check.by_hand for check in one.checks)
    assert len(one.wrong) >= 4
    said = read(one.folder, "instructor.md")
    assert all(f"`{wrong.name}`" in said for wrong in one.wrong)
    for wrong in one.wrong:
        row = next(line for line in said.splitlines() if f"`{wrong.name}`" in line)
        assert all(name in row for name in wrong.loses) or "all" in row, f"{wrong.name}: {wrong.loses}"


@pytest.mark.parametrize("one", LABS, ids=NAMES)
def test_cuts_fit_the_tree(one, tmp_path):
    """Each symbol that a lab takes out is there, and each wrong solution is a patch of this tree. Of what was taken out
    no line is left that only the solution had."""
    top, solved = tree(tmp_path / "start"), tree(tmp_path / "solved")
    cutting.give(one, solved)
    if one.solution:
        proving.apply(one.solution, solved)
    for wrong in one.wrong:
        subprocess.run(["patch", "-p1", "-s", "-f", "--dry-run", "-i", wrong.path], cwd=solved, check=True)
    before = {cut["file"]: read(top, cut["file"]) for cut in one.cuts}
    cutting.cut(one, top)
    for name, text in before.items():
        if not os.path.exists(os.path.join(top, name)):
            continue  # the whole file was cut
        now = read(top, name)
        assert now != text
        if name.endswith(".c") and "LAB_YOURS(" in now:
            assert "#include <lib/lab.h>" in now
        # What remains is C: as many braces opened as closed.
        assert now.count("{") == now.count("}"), name


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
@pytest.mark.parametrize("one", LABS, ids=NAMES)
def test_the_starting_code_compiles(one, arch, tmp_path):
    """Each file that a lab cuts, as the machine's kernel compiles it. What else the kernel was built of is taken as it is."""
    machines = ("aarch64", "x86_64")
    names = {cut["file"] for cut in one.cuts if cut["file"].endswith((".c", ".S"))}
    mine = sorted(name for name in names if not any(f"/{other}/" in name for other in machines if other != arch))
    if arch not in one.machines or not mine:
        pytest.skip("nothing of this machine is cut")
    top = tree(tmp_path)
    os.mkdir(f"{top}/build")
    unused = ("*.o", "/debian*", "/guest-tests", "/root", "/userland", "/vmlinux*", "*.cpio")
    words = ["rsync", "-a", *(f"--exclude={name}" for name in unused)]
    subprocess.run([*words, f"{ROOT}/build/{arch}/", f"{top}/build/{arch}/"], check=True)
    cutting.cut(one, top)
    objects = [f"build/{arch}/{name.rpartition('.')[0]}.o" for name in mine]
    done = subprocess.run(["make", f"ARCH={arch}", *objects], cwd=top, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr


# ---- Cutting

SOURCE = """#include <lib/types.h>

/* What one() does. */
static int one(int a,
	       int b)
{
	if (a) {
		return b;
	}
	return a;
}

struct s {
	int kept;
	int taken; /* and why */
};

/* Two. */
int two(void)
{
	return one(1, 2);
}
"""


ASSEMBLY = """/* What push does. */
.macro push what:vararg
	pushq	\\what
.endm

/* Two, whose head is elsewhere. */
	user_head two
	.cfi_startproc
	push	%rax
	.cfi_endproc
	.size	two_body, . - two_body

FUNC three
	nop
FUNC_END three
"""


def cut_source(tmp_path, *cuts, name="a.c", text=SOURCE):
    write(tmp_path, name, text)
    os.makedirs(tmp_path / "include/lib", exist_ok=True)
    os.makedirs(tmp_path / "labs", exist_ok=True)
    shutil.copy(os.path.join(ROOT, "labs/lab.h"), tmp_path / "labs/lab.h")
    one = Lab.__new__(Lab)
    one.name, one.given, one.cuts = "x", "", [{"file": name, **cut} for cut in cuts]
    cutting.cut(one, str(tmp_path))
    return read(tmp_path, name)


def test_a_body_becomes_a_stub(tmp_path):
    text = cut_source(tmp_path, {"function": "one", "body": "return 7;"})
    expected = 'static int one(int a,\n\t       int b)\n{\n\tLAB_YOURS("x", "one()");\n\treturn 7;\n}\n'
    assert "/* What one() does. */\n" + expected in text
    assert text.startswith("#include <lib/types.h>\n#include <lib/lab.h>\n")
    assert SOURCE.partition("struct s")[2] in text


def test_all_of_a_function_goes(tmp_path):
    text = cut_source(tmp_path, {"function": "two", "remove": True})
    assert text == SOURCE.partition("\n/* Two. */")[0]


def test_a_comment_is_exchanged(tmp_path):
    text = cut_source(tmp_path, {"function": "two", "quiet": True, "body": "return 0;", "comment": "/* Yours. */"})
    assert text.endswith("/* Yours. */\nint two(void)\n{\n\treturn 0;\n}\n")


def test_a_member_goes(tmp_path):
    text = cut_source(tmp_path, {"member": "s.taken"})
    assert "struct s {\n\tint kept;\n};\n" in text


def test_a_line_goes(tmp_path):
    text = cut_source(tmp_path, {"line": "int kept;"})
    assert text == SOURCE.replace("\tint kept;\n", "")
    with pytest.raises(LabError, match="2 line"):
        cut_source(tmp_path, {"line": "return one(1, 2)"}, {"line": "return"})


def test_assembly_becomes_a_stub(tmp_path):
    """A macro, a function, and a body whose head is another macro's. What opens and closes them stays, and so do the
    comments."""
    cuts = [{"macro": "push"}, {"label": "two", "body": "ret"}, {"label": "three", "quiet": True}]
    text = cut_source(tmp_path, *cuts, name="a.S", text=ASSEMBLY)
    expected = ASSEMBLY.replace("\tpushq\t\\what", "\t/* lab x: push is yours to write */")
    expected = expected.replace("\tpush\t%rax\n\t.cfi_endproc\n", "").replace("\tnop\n", "")
    assert text == expected.replace("\t.cfi_startproc", "\t/* lab x: two is yours to write */\n\tret")
    for cut, kind in (({"macro": "pus"}, "macro"), ({"label": "push"}, "label")):
        with pytest.raises(LabError, match=f"a.S: no {kind} of the name"):
            cut_source(tmp_path, cut, name="a.S", text=ASSEMBLY)


def test_a_file_goes(tmp_path):
    with pytest.raises(FileNotFoundError):
        cut_source(tmp_path, {"whole": True})


def test_a_renamed_symbol_is_an_error(tmp_path):
    with pytest.raises(LabError, match="a.c: no function of the name 'three'"):
        cut_source(tmp_path, {"function": "three"})


# ---- A student


def test_a_student_starts_changes_and_hands_in(tmp_path):
    top = repository(tmp_path / "t")
    assert "no lab was started" in lab(top, "submit", status=2)
    said = lab(top, "start", "mcount", "--seed", "77")
    assert "labs/03-mcount/handout.md" in said and "arch/aarch64/patch.c" in said
    assert json.loads(read(top, MARK))["seed"] == 77
    assert "LAB_YOURS" in read(top, "arch/aarch64/patch.c") and "0x3ffffff" not in read(top, "arch/aarch64/patch.c")
    assert "nothing was changed" in lab(top, "submit", status=2)
    assert "started already" in lab(top, "start", "mcount", status=2)

    write(top, "arch/aarch64/patch.c", read(top, "arch/aarch64/patch.c") + "/* mine */\n")
    assert lab(top, "diff").endswith("+/* mine */\n")
    write(top, "kernel/panic.c", read(top, "kernel/panic.c") + "/* not mine */\n")
    assert "not part of lab mcount: kernel/panic.c" in lab(top, "submit", status=2)
    subprocess.run(["git", "checkout", "-q", "--", "kernel/panic.c"], cwd=top, check=True)
    lab(top, "submit", str(tmp_path / "s.patch"))
    patch = Patch(str(tmp_path / "s.patch"))
    assert patch.files == ["arch/aarch64/patch.c"] and patch.refused(find("mcount")) == []
    again = tree(tmp_path / "again")
    cutting.cut(find("mcount"), again)
    patch.apply(again)
    assert read(again, "arch/aarch64/patch.c").endswith("/* mine */\n")

    # A person's own settings of git, and an editor's own letters and line ends, change nothing.
    for setting in (["diff.noprefix", "true"], ["diff.context", "0"]):
        subprocess.run(["git", "config", *setting], cwd=top, check=True)
    theirs = b"/* \xe4 */\r\n/* a\rb */\n"
    with open(os.path.join(top, "arch/aarch64/patch.c"), "ab") as file:
        file.write(theirs)
    done = subprocess.run([os.path.join(top, "tools/lab"), "diff"], cwd=top, capture_output=True, check=True)
    assert b"+/* \xe4 */\r\n" in done.stdout
    lab(top, "submit", str(tmp_path / "s.patch"))
    again = tree(tmp_path / "third")
    cutting.cut(find("mcount"), again)
    Patch(str(tmp_path / "s.patch")).apply(again)
    with open(os.path.join(again, "arch/aarch64/patch.c"), "rb") as file:
        assert file.read().endswith(theirs)


def test_a_start_that_is_broken_off_leaves_nothing(tmp_path, monkeypatch):
    """The tree is as it was, and the lab can be started once more; with a folder of its own likewise."""
    top = repository(tmp_path / "t")
    real = cutting.cut

    def half(one, place):
        real(one, place)
        write(place, "new.c", "")
        raise LabError("it does not fit")

    for folder in (None, str(tmp_path / "beside")):
        monkeypatch.setattr(cutting, "cut", half)
        with pytest.raises(LabError, match="it does not fit"):
            student.start(top, "mcount", folder)
        assert student.git(top, "status", "--porcelain") == ""
        assert student.git(top, "branch", "--format=%(refname:short)").split() == ["main"]
        assert not os.path.exists(tmp_path / "beside")
    monkeypatch.setattr(cutting, "cut", real)
    assert student.start(top, "mcount")[1] == top


# ---- An instructor


def test_a_tree_is_handed_out(tmp_path):
    out = str(tmp_path / "out")
    lab(ROOT, "export", out, "--labs", "mcount")
    names = subprocess.run(["git", "ls-files"], cwd=out, capture_output=True, text=True, check=True).stdout.split()
    assert "labs/03-mcount/handout.html" in names and "labs/03-mcount/checks.py" in names
    assert not [name for name in names if "instructor" in name or "/wrong/" in name or "tests/mutation" in name]
    assert {name.split("/")[1] for name in names if re.match(r"labs/\d", name)} == {"03-mcount"}
    links = re.findall(r"\]\((\.\./labs/[^)]+)\)", read(out, "docs/labs.md"))
    assert links == ["../labs/03-mcount/handout.md"] and "| cow |" in read(out, "docs/labs.md")
    log = subprocess.run(["git", "log", "--format=%s"], cwd=out, capture_output=True, text=True, check=True).stdout
    assert log == "The starting code\n"
    solution = re.search(r"return \(kind == PATCH_CALL.*", read(ROOT, "arch/aarch64/patch.c")).group()
    assert not [name for name in names if name.endswith((".c", ".md", ".txt", ".S")) and solution in read(out, name)]
    assert "was not handed out" in lab(out, "start", "cow", status=2) or "no lab 'cow'" in lab(
        out, "start", "cow", status=2
    )
    lab(out, "start", "mcount")
    assert lab(out, "diff") == ""
    assert "there is something in it" in lab(ROOT, "export", out, status=2)


def test_what_git_does_not_know_is_not_handed_out(tmp_path, monkeypatch):
    top = repository(tmp_path / "t")
    for name in ("grades of autumn.csv", "labs/03-mcount/notes.txt"):
        write(top, name, "ann,50\n")
    monkeypatch.setattr(course, "ROOT", top)
    course.export(str(tmp_path / "out"), ["mcount"], say=lambda line: None)
    assert not os.path.exists(tmp_path / "out/grades of autumn.csv")
    assert os.listdir(tmp_path / "out/labs/03-mcount").count("notes.txt") == 0
    assert os.path.exists(tmp_path / "out/labs/03-mcount/lab.toml")


def test_labs_are_done_one_after_the_other(tmp_path):
    """In a tree that was handed out with two labs the second begins with what was written for the first."""
    out = str(tmp_path / "out")
    assert "students begin with mcount" in lab(ROOT, "export", out, "--labs", "mcount,wakeup")
    assert "first  lab" not in lab(out, "start", "mcount")
    write(out, "arch/aarch64/patch.c", read(out, "arch/aarch64/patch.c") + "/* mine */\n")
    said = lab(out, "start", "wakeup", status=2)
    assert "not committed (arch/aarch64/patch.c)" in said
    lab(out, "submit")
    commit = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "mine", "-a"]
    subprocess.run(commit, cwd=out, check=True)
    said = lab(out, "start", "wakeup")
    assert "with   what you have committed for lab mcount" in said and "first  lab" not in said
    begun = json.loads(read(out, MARK))
    assert begun["lab"] == "wakeup" and begun["from"] == "lab/mcount"
    assert lab(out, "diff") == "" and "nothing was changed" in lab(out, "submit", status=2)
    workshop = student.workshop_of(student.Started(out))
    assert read(workshop.top, "arch/aarch64/patch.c").endswith("/* mine */\n")

    # From the first commit it lacks that, and says what to do.
    for words in (["switch", "-q", "main"], ["branch", "-q", "-D", "lab/wakeup"]):
        subprocess.run(["git", *words], cwd=out, check=True)
    said = lab(out, "start", "wakeup")
    assert "lacks  what you have written for mcount" in said and "git switch lab/mcount" in said
    assert "first  lab mcount: until that is written, this tree traces no function" in said


def test_a_lab_starts_on_no_other_labs_branch(tmp_path):
    """In the whole tree each lab's starting code has the solution of the others, so it is made from the first branch."""
    top = repository(tmp_path / "t")
    lab(top, "start", "mcount")
    assert "`git switch main` first" in lab(top, "start", "cow", status=2)


def test_a_lab_without_code_is_handed_out(tmp_path):
    """What it gives is in the tree, where a build finds it; the script that knows the answers is not."""
    out = str(tmp_path / "out")
    assert "begin with" not in lab(ROOT, "export", out, "--labs", "look")
    for name in (
        "samples/lab_look.c",
        "userland/bin/lab_look.c",
        "labs/01-look/answers.toml",
        "labs/01-look/handout.html",
    ):
        assert os.path.exists(os.path.join(out, name)), name
    assert not os.path.exists(os.path.join(out, "labs/01-look/solve.sh"))
    lab(out, "start", "look", "--seed", "5")
    write(out, "labs/01-look/answers.toml", '[aarch64]\ncalls = "pipe_write 1"\n')
    assert '+calls = "pipe_write 1"' in lab(out, "diff")
    assert "is code" in lab(ROOT, "solve", "mcount", status=2)
    assert lab(out, "solve", "look", status=2) == "lab: what answers lab look was not handed out with this tree\n"


def workshop_of(tmp_path, files):
    """A workshop that is filled with these files already."""
    workshop = Workshop("student", str(tmp_path / "root"))
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(workshop.top, name)), exist_ok=True)
        write(workshop.top, name, text)
    workshop.build = lambda goal: None
    return workshop


def test_answers_of_a_script_in_a_guest(tmp_path, monkeypatch):
    """The script's first argument is the seed, and each machine has a part of the answers."""
    ran = []

    def guest(attempt, script):
        ran.append((attempt.arch, attempt.top, script))
        return grading.Ran(0, f'calls = "{attempt.arch} 1"\n', "")

    monkeypatch.setattr(grading.Attempt, "guest", guest)
    one = find("look")
    workshop = workshop_of(tmp_path, {one.solve: "echo $1\n"})
    said = grading.solve(one, workshop, ["aarch64", "x86_64"], 7)
    assert said == '[aarch64]\ncalls = "aarch64 1"\n\n[x86_64]\ncalls = "x86_64 1"\n'
    assert ran == [(arch, workshop.top, "set -- 7\necho $1\n") for arch in ("aarch64", "x86_64")]


def test_answers_about_what_was_handed_out(tmp_path, monkeypatch):
    """A program on the host runs in a tree with the files that the lab gives, whatever the student has made of them."""
    one = find("race")
    given = "drivers/rtc/rtc_dev.c"
    program = f"import sys\nprint(sys.argv[1:], len(open('{given}').read()))\n"
    workshop = workshop_of(tmp_path, {one.solve: program, given: "mended", "other.c": "as it is"})
    monkeypatch.setattr(Workshop, "build", lambda workshop, goal: None)
    length = len(read(one.given, given))
    assert grading.solve(one, workshop, ["aarch64"], 7) == f"[aarch64]\n['aarch64', '7'] {length}\n"
    write(workshop.top, one.solve, "sys.exit(1)\n")
    with pytest.raises(LabError, match="solve.py on aarch64"):
        grading.solve(one, workshop, ["aarch64"], 7)
    other = workshop.as_given(one)
    assert (read(workshop.top, given), read(other.top, "other.c")) == ("mended", "as it is")


def test_lab_race_records_and_replays(tmp_path):
    """labs/13-race/replay, which students call and the grader does: a seed asks for a recording, all other words are
    handed on, and nothing comes on standard error."""
    os.makedirs(tmp_path / "tools")
    write(tmp_path, "tools/vrun", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    os.chmod(tmp_path / "tools/vrun", 0o755)

    def words(*arguments):
        replay = [f"{ROOT}/labs/13-race/replay", *arguments]
        environment = {**os.environ, "GDB_PORT": "1234"}
        done = subprocess.run(replay, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    recorded = words("x86_64", "7", "--gdb-arg=-batch")
    assert recorded[:5] == ["--arch", "x86_64", "--append", "quiet", "--gdb-arg=-batch"]
    assert recorded[-6:] == ["--recording", "build/x86_64/race", "--replay", "1234", "labs/13-race/run.sh", "7"]
    assert words("aarch64")[-4:] == ["--recording", "build/aarch64/race", "--replay", "1234"]


def test_a_solution_beside_the_tree(tmp_path):
    """Lab tracer's solution adds to this tree. It is the base of the wrong ones, could be handed in, and is not handed
    out."""
    one = find("tracer")
    rows = {case.name: case.patches for case in proving.cases(one, short=False)}
    assert rows.pop("solution") == [one.solution] and rows.pop("start") == []
    assert all(patches[0] == one.solution and len(patches) == 2 for patches in rows.values())
    assert Patch(one.solution).refused(one) == []
    out = str(tmp_path / "out")
    course.export(out, ["tracer"], say=lambda line: None)
    assert os.listdir(os.path.join(out, "labs", "06-tracer", "plant"))
    assert not os.path.exists(os.path.join(out, "labs", "06-tracer", "solution.patch"))


def test_points_in_a_line_of_the_table_are_the_same_each_time(monkeypatch):
    """A check that a wrong solution loses in some runs only does not change the line."""
    one = find("ring")
    case = next(case for case in proving.cases(one, short=False) if case.perhaps)
    no_tree = types.SimpleNamespace(tree=lambda *_, **__: None, begin_as=lambda other: None, leave=lambda: None)
    monkeypatch.setattr(proving, "Workshop", lambda name: no_tree)
    lines = []
    for found in (True, False):

        def run(lab, workshop, arches, seed, found=found):
            lost = case.loses | (case.perhaps if found else set())
            gone = grading.Lost("this", "that")
            return [grading.Result(c, "host", c.points, gone if c.name in lost else None) for c in lab.checks], []

        monkeypatch.setattr(grading, "run_checks", run)
        assert proving.table([one], only=[case.name], say=lines.append)
    assert lines[0] == lines[1] and " of 90 " in lines[0], lines


def test_seeds_are_each_students_own(tmp_path):
    write(tmp_path, "class.csv", "ann,1\nbob,2\n\ncarol\n")
    first = course.seeds(str(tmp_path / "class.csv"), say=lambda line: None)
    assert list(first) == ["ann", "bob", "carol"] and len(set(first.values())) == 3
    assert course.seeds(str(tmp_path / "class.csv"), say=lambda line: None) == first
    assert os.stat(tmp_path / "class.key").st_mode & 0o77 == 0
    os.remove(tmp_path / "class.key")
    assert course.seeds(str(tmp_path / "class.csv"), say=lambda line: None) != first


def test_a_class_that_a_spreadsheet_has_written(tmp_path):
    """It puts a mark before the first name; a name may have a comma; and the file may be in another code."""
    write(tmp_path, "class.csv", '\ufeff"Roe, Ann",1\nbob,2\n')
    said = []
    given = course.seeds(str(tmp_path / "class.csv"), say=said.append)
    assert list(given) == ["Roe, Ann", "bob"]
    write(tmp_path, "seeds.csv", "".join(f"{line}\n" for line in said))
    assert course.read_seeds(str(tmp_path / "seeds.csv")) == given
    (tmp_path / "class.csv").write_bytes(b"J\xfcrgen\n")
    with pytest.raises(LabError, match="no CSV file in UTF-8"):
        course.seeds(str(tmp_path / "class.csv"))


@pytest.mark.parametrize(
    "words, said",
    [
        (["check", "mcount", "--arch", "arm46"], "lab: none of these labs is for arm46\n"),
        (["check", "mcount", "--only", "nothing"], "lab: there is no row nothing\n"),
        (["check", "mcount", "-j", "0"], "invalid count value: '0'"),
        (["grade-all", "mcount", "/tmp", "-j", "0"], "invalid count value: '0'"),
    ],
)
def test_nothing_to_check_is_not_as_it_should_be(words, said):
    assert said in lab(ROOT, *words, status=2)


def test_a_machine_has_two_names(monkeypatch):
    asked = []
    monkeypatch.setattr(proving, "table", lambda *words: asked.append(words[4]) or True)
    args = types.SimpleNamespace(names=["mcount"], short=False, jobs=1, only=None, arch=["arm64"], seed=1)
    assert command.cmd_check(args) == 0 and asked == [{"aarch64"}]


def test_results_are_gradescopes():
    one = find("mcount").checks[0]
    good, bad = grading.Result(one, "aarch64", 10), grading.Result(one, "x86_64", 10, grading.Lost(1, 2, "why"))
    said = grading.gradescope([good, bad], [("n (aarch64)", 5)])
    assert said["score"] == 10 and [test["score"] for test in said["tests"]] == [10, 0]
    assert said["tests"][1]["max_score"] == 10 and "expected: 1\nseen: 2\nwhy" in said["tests"][1]["output"]
    assert said["leaderboard"] == [{"name": "n (aarch64)", "value": 5, "order": "asc"}]


def test_a_fault_is_shown_once():
    """A panic at boot costs several checks, and its report is printed with the first: times and addresses differ."""
    one, two = find("mcount").checks[:2]
    panic = "[    0.0{0}] Unable to handle kernel write at ffffffc0800030{0}\n[    0.0{0}] pc : write_sites+0x138/0x21c"
    lost = [grading.Lost("a kernel that goes on", "a panic", panic.format(at)) for at in (48, 52)]
    other = grading.Lost("a kernel that goes on", "a panic", panic.format(60).replace("write_sites", "encode"))
    results = [grading.Result(one, "aarch64", 10, lost[0]), grading.Result(two, "aarch64", 10, lost[1])]
    out = io.StringIO()
    grading.text(find("mcount"), 1, [*results, grading.Result(two, "x86_64", 10, other)], [], out)
    said = out.getvalue()
    assert said.count("write_sites") == 1 and said.count("encode+") == 1
    assert f"| the same lines as of {one.name} (aarch64)" in said


def test_a_kernel_without_events_gets_no_points_for_waits():
    """Lab wakeup where no tracepoint can be switched on: no wait is seen, which is right of no tracer."""
    one = find("wakeup")
    console = "[    0.1] lab mcount: encode() is yours to write\n[    0.2] lab wakeup: consider() is yours to write\n"

    class Silent(grading.Attempt):
        """A guest whose trace and events are empty."""

        def guest(self, script, **setup):
            return grading.Ran(0, "most: 0\n======\n======\n======\n" * 30, console)

    attempt = Silent(one, "aarch64", types.SimpleNamespace(top=ROOT), 1)
    tracer = [check for check in one.checks if check.level == "core"]
    assert [check.name for check in tracer] == ["longest", "overlap", "fair", "moment", "whole"]
    for check in tracer:
        lost = grading.passed(check, attempt)
        assert lost.seen == "none; not written: mcount: encode(), wakeup: consider()", check.name


def test_machines_are_graded_side_by_side():
    """Each in a thread of its own: one that waits for another does not wait for ever; what one raises is raised."""
    both = threading.Barrier(2, timeout=200)
    assert grading.side_by_side(lambda item: (item, both.wait() >= 0), ["a", "b"]) == [("a", True), ("b", True)]

    def one(item):
        if item == "b":
            raise LabError(f"it is {item}")

    with pytest.raises(LabError, match="it is b"):
        grading.side_by_side(one, ["a", "b"])


def test_points_do_not_fall_for_words_alone():
    """What a check cannot read costs its points and nothing else."""

    def broken(attempt):
        return int("words")

    broken.points = 1
    lost = grading.passed(broken, None)
    assert "ValueError" in lost.seen
