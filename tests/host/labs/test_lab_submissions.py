"""What a submission may not do to the grader (tools/labs): change what is not the student's, include the solution, run
its own code on the host, fill the disk, never end."""

import difflib
import os
import subprocess
import sys
import types

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools", "labs"))

import course  # noqa: E402
import grading  # noqa: E402
import inclusion  # noqa: E402
import student  # noqa: E402
import unit  # noqa: E402
from catalogue import LabError, find  # noqa: E402
from test_labs import read, write  # noqa: E402
from workshop import Patch, Workshop  # noqa: E402


# ---- Files


@pytest.mark.parametrize(
    "how",
    [
        "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n",
        "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
        "diff --git a/a b/b\nsimilarity index 100%\nrename old a\nrename new b\n",
        "this is no patch\n",
    ],
    ids=["a link", "a renamed file", "one in git's older words", "no patch"],
)
def test_what_is_no_patch_of_files_is_refused(how, tmp_path):
    write(tmp_path, "p.patch", how)
    with pytest.raises(LabError):
        Patch(str(tmp_path / "p.patch"))


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/lab-outside", ".git/config", "labs/03-mcount/checks.py", "Makefile"]
)
def test_files_that_are_not_the_students_are_refused(name, tmp_path):
    head = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
    write(tmp_path, "p.patch", head + "@@ -0,0 +1 @@\n+evil\n")
    try:
        patch = Patch(str(tmp_path / "p.patch"))
    except LabError:
        return  # git itself would not have it
    assert patch.refused(find("mcount"))


@pytest.mark.parametrize(
    "text",
    [
        '#include "../../../../../kernel/mm/fault.c"',
        "#include </etc/passwd>",
        "#include <lib/../../../../../kernel/mm/fault.c>",
        '# inc\\\nlude "/etc/passwd"',
        '#/**/include "/etc/passwd"',
        '%:include "/etc/passwd"',
        '#define SOLUTION "/etc/passwd"\n#include SOLUTION',
        'char *a = "/*";\n#include "/etc/passwd"\nchar *b = "*/";',
        '#include "../nothing.c"',
        'asm(".inc" "bin \\"/etc/passwd\\"");',
        'char *a = R"x(" /* )x";\n#include "/etc/passwd"\nchar *b = "*/";',
        '\t.include "/etc/passwd"',
    ],
)
def test_the_graders_own_tree_cannot_be_included(text, tmp_path, monkeypatch):
    """It is around the tree in which a submission is built, and it has the solution."""
    name = "kernel/mm/fault.c"
    top = tmp_path / "t"
    os.makedirs(top / "kernel/mm")
    write(top, name, "int a;\n")
    lines = ["int a;\n", *(f"{line}\n" for line in text.split("\n"))]
    diff = difflib.unified_diff(lines[:1], lines, f"a/{name}", f"b/{name}")
    write(tmp_path, "p.patch", "".join(diff))

    class Place:
        """A workshop that is there already."""

        def __init__(self, *_):
            self.top = str(top)

        def tree(self, _, over):
            over(self.top)

    monkeypatch.setattr(student, "Workshop", Place)
    with pytest.raises(LabError, match="may include"):
        student.workshop_of_patch(find("cow"), str(tmp_path / "p.patch"), "cow", ROOT)


@pytest.mark.parametrize(
    "text, found",
    [
        ('.macro bring a, b\n\t.\\a\\b "/etc/passwd"\n.endm\n\tbring inc, lude\n', ".\\a\\b"),
        ('.macro bring a, b\n\tnop; \\a\\b "/etc/passwd"\n.endm\n\tbring .inc, lude\n', "; \\a\\b"),
        ('.macro bring a\n1:\t\\a\\()lude "/etc/passwd"\n.endm\n\tbring .inc\n', ":\t\\a\\()lude"),
        (".macro part name\n\\name\\()_body:\n\tldr\\name x0, [x1]\n\tb \\name\\()_end\n.endm\n", None),
    ],
)
def test_macros_of_assembly_make_no_directive(text, found):
    """One whose parts are a macro's arguments could be any; a label and an instruction's end may be."""
    assert inclusion.outside(ROOT, "arch/aarch64/ftrace.S", text) == found


@pytest.mark.parametrize(
    "name", ["kernel/mm/a`id`.c", "kernel/mm/$(shell id).c", "kernel/mm/a b.c", "kernel/mm/a;id;.c"]
)
def test_a_name_is_no_command(name):
    """What a student may add is a pattern, and `make` hands the name of each source to a shell."""
    one = find("irqsoff")
    assert one.is_students("kernel/mm/batch-2.c") and not one.is_students(name)


def test_what_is_in_the_tree_can_be_included():
    """What the tree's own files do, and whatever stands in a comment."""
    for name in ("kernel/mm/fault.c", "trace/ring_buffer/write.c", "arch/x86_64/ftrace.S", "trace/ftrace/fgraph.c"):
        assert not inclusion.outside(ROOT, name, read(ROOT, name))
    text = '#include "../sched/sched.h"\n#include <lib/types.h> // such\n/*\n#include "/etc/passwd"\n*/\n'
    assert not inclusion.outside(ROOT, "kernel/mm/fault.c", text)


def test_the_next_submission_does_not_wait_for_the_last_one(tmp_path):
    """A workshop that is not used any more may still be there. Another process does wait."""
    first = Workshop("t", str(tmp_path))
    again = Workshop("t", str(tmp_path))
    ask = ["flock", "-n", f"{tmp_path}/build/labs/t.lock", "true"]
    assert subprocess.run(ask, check=False).returncode == 1
    del first
    assert subprocess.run(ask, check=False).returncode == 1
    del again
    assert subprocess.run(ask, check=False).returncode == 0


def test_a_build_cannot_fill_the_disk(tmp_path):
    """What a source of a few lines can ask for: an array of many GiB."""
    os.makedirs(tmp_path / "build/labs/t")
    write(tmp_path, "build/labs/t/Makefile", "20 33:\n\techo 'char a[1UL << $@] = {1};' | gcc -c -x c - -o $@.o\n")
    workshop = Workshop("t", str(tmp_path))
    assert workshop.build("20") is None
    assert workshop.build("33")
    assert (
        not os.path.exists(tmp_path / "build/labs/t/33.o") or os.path.getsize(tmp_path / "build/labs/t/33.o") <= 1 << 30
    )


def test_limits_of_an_administrator_are_kept():
    """Lower ones than ours."""
    words = "import resource, unit, workshop\nresource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
    words += "workshop.build_limits()\nunit.limits(25)\nprint(resource.getrlimit(resource.RLIMIT_CPU))"
    where = os.path.join(ROOT, "tools", "labs")
    done = subprocess.run([sys.executable, "-c", words], cwd=where, capture_output=True, text=True, check=False)
    assert done.stdout == "(20, 20)\n", done.stderr


def test_a_first_copy_that_fails_goes(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    workshop = Workshop("t", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workshop._fill(str(tmp_path))
    assert os.listdir(tmp_path / "build/labs") == ["t.lock"]


def test_starting_code_that_is_not_there_is_said(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with pytest.raises(LabError, match="commit 1234567, is not in this repository"):
        Workshop("t", str(tmp_path))._unpack("1234567", str(tmp_path))


def test_a_name_that_is_no_text_ends_no_class(tmp_path):
    """A submission that has a file with a name that is not UTF-8 is refused, and no other."""
    name = "trace\\377.c"
    head = f'diff --git "a/{name}" "b/{name}"\nnew file mode 100644\n--- /dev/null\n+++ "b/{name}"\n'
    write(tmp_path, "ann.patch", head + "@@ -0,0 +1 @@\n+x\n")
    said = []
    course.grade_all("mcount", str(tmp_path), {}, say=said.append)
    assert "not part of lab mcount: trace\\udcff.c" in said[0] and "ann,0," in read(tmp_path, "grades.csv")


def attempt_of_f():
    attempt = grading.Attempt(find("cow"), "aarch64", types.SimpleNamespace(top="/nonexistent"), 1)
    attempt._kernel = types.SimpleNamespace(symbols={"f": 0x1000})
    return attempt


def test_a_report_without_gdb(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert attempt_of_f()._places([("f", "10")]) == {}


def test_gdb_is_asked_once_for_each_place(monkeypatch):
    """The checks of a kernel that panics at boot find the same places."""
    attempt, asked = attempt_of_f(), []

    def run(words, **_):
        asked.append(words[4::2])
        return types.SimpleNamespace(stdout='Line 3 of "a.c" starts at\nNo line number information\n')

    monkeypatch.setattr(subprocess, "run", run)
    for _ in range(2):
        assert attempt._places([("f", "10"), ("f", "20"), ("g", "1")]) == {"f+0x10": "a.c:3"}
    assert [words[:2] for words in asked] == [["info line *0x100f", "info line *0x101f"]]


# ---- A guest that never ends


@pytest.mark.parametrize(
    "script, leaves, over",
    [
        ("exec sleep 60", False, True),
        ("while :; do :; done", False, True),
        ("exec sleep 60", True, True),
        ("sleep 4", False, False),
    ],
    ids=["waits for what never comes", "runs for ever", "does not power off", "ends"],
)
def test_a_guest_is_watched(script, leaves, over, monkeypatch):
    """Instead of QEMU a shell; the one that ends is given more patience than it needs."""
    for name, value in (("CPU_SECONDS", 1), ("LEAVE_LOOKS", 2), ("LEAVE_SECONDS", 1)):
        monkeypatch.setattr(grading, name, value)
    shell = subprocess.Popen(["sh", "-c", script])
    watch = grading.Watch(shell.pid, looks=4 if over and not leaves else 10000)
    if leaves:
        watch.leaves()
    try:
        status = shell.wait(timeout=3600)  # a backstop: on a host with much to do a second of CPU time takes minutes
    finally:
        shell.kill()
    watch.done.set()
    watch.join()
    assert (watch.over, status) == (over, -9 if over else 0)


# ---- A unit test with a student's code in it

TEST_C = "int mine(int a);\nint helper(int a) { return a; }\nint main(void) { return mine(1); }\n"


@pytest.mark.parametrize(
    "code, found",
    [
        ("int mine(int a) { return helper(a); }", None),
        ("int mine(int a) { char b[9]; __builtin_memcpy(b, &a, 4); return b[a & 3]; }", None),
        ("void exit(int); int mine(int a) { exit(0); }", "exit"),
        ("int puts(const char *s) { return 0; } int mine(int a) { return a; }", "puts"),
        (
            "__attribute__((constructor)) static void first(void) { helper(1); } int mine(int a) { return a; }",
            ".init_array",
        ),
        ('int mine(int a) { __asm__ volatile("syscall"); return a; }', "syscall"),
        (
            "void __asan_unpoison_memory_region(void *p, long n); "
            "int mine(int a) { __asan_unpoison_memory_region(&a, 64); return a; }",
            "__asan_unpoison_memory_region",
        ),
    ],
    ids=["the test's own", "memcpy", "leaves", "stands in for the library", "runs first", "a system call", "blinds"],
)
def test_a_students_objects_are_looked_at(code, found, tmp_path):
    write(tmp_path, "test.c", TEST_C)
    write(tmp_path, "mine.c", "int helper(int a);\n" + code + "\n")
    for words in (["-c", "test.c", "mine.c"], ["-o", "test", "test.o", "mine.o"]):
        subprocess.run(["gcc", "-fsanitize=address", "-O1", *words], cwd=tmp_path, check=True)
    files = [str(tmp_path / name) for name in ("test", "mine.o", "test.o")]
    if found is None:
        unit.looked_at(files[0], files[1:2], files[2:])
        return
    with pytest.raises(grading.Lost) as lost:
        unit.looked_at(files[0], files[1:2], files[2:])
    assert lost.value.seen.strip() == found


@pytest.mark.parametrize(
    "code, found",
    [
        ('__attribute__((no_sanitize("thread"))) int mine(int a);', "no_sanitize"),
        ("__attribute__((__no_sanitize_thread__)) int mine(int a);", "__no_sanitize_thread__"),
        ("/* It needs no no_sanitize here. */ int mine(int a);", None),
    ],
)
def test_nothing_is_kept_from_the_sanitizers(code, found, tmp_path):
    """A data race that ThreadSanitizer may not see is still one."""
    write(tmp_path, "mine.c", code)
    if found is None:
        unit.all_is_seen(str(tmp_path), ["mine.c"])
        return
    with pytest.raises(grading.Lost) as lost:
        unit.all_is_seen(str(tmp_path), ["mine.c"])
    assert lost.value.seen == f"{found} in mine.c"


def test_a_student_without_a_seed_is_told_before_grading(tmp_path):
    """Numbers of another student would be points lost, or a copy's points won."""
    for name in ("ann", "bob", "cy"):
        (tmp_path / f"{name}.patch").write_text("")
    with pytest.raises(LabError, match="no line for ann, cy, so nothing was graded"):
        course.grade_all("mcount", str(tmp_path), {"bob": 7})
    assert sorted(os.listdir(tmp_path)) == ["ann.patch", "bob.patch", "cy.patch"]
