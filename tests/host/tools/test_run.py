"""tests/run with a choice of tests (make test ONLY=): what is built for them, what is said; and the suite in the
background."""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import tempfile
import threading

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")


def run(*words, before=""):
    """tests/run, as a shell starts it that has done `before`. Its tests have a folder of their own: without, pytest
    would clear up what earlier runs have left, however long that takes."""
    with tempfile.TemporaryDirectory() as scratch:
        return subprocess.run(
            ["setsid", "sh", "-c", f'{before} exec tests/run "$@"', "sh", *words],
            cwd=ROOT,
            env={**os.environ, "PYTEST_ADDOPTS": f"--basetemp={scratch}/tests"},
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )


def make(*words):
    """make with these words and no others: those of a make that runs this test would come along in MAKEFLAGS."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "FILE", "ON")}
    return subprocess.run(
        ["make", *words], cwd=ROOT, env=environment, text=True, timeout=300, capture_output=True, check=False
    )


@pytest.fixture(scope="module")
def runner():
    """tests/run as a module."""
    loader = importlib.machinery.SourceFileLoader("tests_run", os.path.join(ROOT, "tests/run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tests_run", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "item, goals",
    [
        ("tests/guest/boot/boots.sh::x86_64", ["guest-programs-x86_64"]),
        ("tests/guest/boot/boots.sh::aarch64,smp=4", ["guest-programs-arm64"]),
        ("tests/guest/boot/test_machines.py::test_through_a_boot_loader[x86_64-usb]", ["guest-programs-x86_64", "iso"]),
        ("tests/guest/gdb/test_gdb_tour.py::test_tour", ["guest-programs-arm64", "guest-programs-x86_64"]),
        ("tests/guest/trace-files/test_vtrace.py::test_x[aarch64]", ["importer", "guest-programs-arm64"]),
        ("tests/host/userland/test_shell.py::test_language[aarch64-3]", ["arm64"]),
        ("tests/host/tools/test_vrun.py::test_status_is_the_scripts[aarch64-0]", []),
        ("tests/host/tools/test_bench.py::test_figures", []),
        ("tests/unit/lib/lib_rbtree_test.c::asan", []),
    ],
)
def test_what_a_chosen_test_needs(runner, item, goals):
    assert runner.goals(item) == goals


def test_no_test_has_such_a_name():
    done = run("--build", "-k", "nosuchtest")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "tests/run: no test's name matches 'nosuchtest' (pytest -k)\n0 passed, 0 failed\n"


def test_one_file():
    """make check FILE=: the tests of that file and no others; ON= leaves those of one machine."""
    done = run("--build", "--file", "tests/host/tree/test_style.py", "-k", "test_clean_file")
    assert done.returncode == 0 and done.stdout.endswith("\n1 passed, 0 failed\n"), done.stdout


def test_a_file_that_is_not_there():
    for path in ("tests/guest/nothing.sh", "README.md", "tests/guest/conftest.sh", "docs/lab.sh", "tests"):
        done = run("--file", path)
        assert (done.returncode, done.stdout) == (2, "") and f"no test file '{path}'" in done.stderr
    done = make("check")
    assert done.returncode == 2 and "FILE=tests/guest/events/lab.sh names the file" in done.stderr


def test_a_name_finds_its_file(runner, monkeypatch):
    """A test that has been moved is found by its old path; a folder is all its tests."""
    for path in ("lab.sh", "tests/guest/lab.sh", "tests/guest/events/lab.sh"):
        assert runner.named(path) == ("tests/guest/events/lab.sh", None)
    assert runner.named("tests/unit/mm/") == ("tests/unit/mm", None) and runner.named("tests/unit") == (
        "tests/unit",
        None,
    )
    monkeypatch.setattr(runner, "test_files", lambda: ["tests/host/a/test_x.py", "tests/host/b/test_x.py"])
    several = "several test files are called 'test_x.py': tests/host/a/test_x.py tests/host/b/test_x.py"
    assert runner.named("test_x.py") == (None, several)


def test_a_kernel_without_rooms(tmp_path):
    """The scripts of the other machine and tests in Python are left out, what needs an absent room is skipped by name."""
    build = tmp_path / "x86_64-none"
    build.mkdir()
    (build / "kernel.objects").write_text("build/x86_64-none/kernel/panic.o\n")
    done = run("--build-of", str(build), "--file", "tests/guest/hist")
    assert done.returncode == 0 and done.stdout.endswith("\n0 passed, 0 failed\n"), done.stdout
    assert "needs room trace/hist, which this kernel leaves out" in done.stdout and "aarch64" not in done.stdout
    done = run("--build-of", str(build), "--file", "test_graph.py")
    assert done.returncode == 1 and "there is no such test" in done.stdout
    done = make("-n", "check", "FILE=lab.sh", "CORE=1", "ON=arm64", "MAKE=true")
    assert "--file 'lab.sh' -k 'aarch64' --build-of 'build/aarch64-core'\n" in done.stdout, done


def test_one_machine():
    """ON= takes a machine by the name of its goal or of its folder, and names the machines when it is another word."""
    for word, arch in (("arm64", "aarch64"), ("aarch64", "aarch64"), ("x86_64", "x86_64")):
        done = make("-n", "check", "FILE=tests/guest/events/lab.sh", f"ON={word}")
        assert f"tests/run --build --file 'tests/guest/events/lab.sh' -k '{arch}'\n" in done.stdout, done
    done = make("check", "FILE=tests/guest/events/lab.sh", "ON=mips")
    assert done.returncode == 2 and "no machine mips; ON= takes one of: arm64 x86_64\n" in done.stderr


def test_words_that_are_no_choice():
    done = run("-k", "a=b")
    assert done.returncode == 1 and done.stdout == "0 passed, 1 failed\n"
    assert re.search('unexpected character "="|end of input; got =', done.stderr), done.stderr  # pytest 7, 8


def test_a_choice_in_the_background():
    """A shell without job control ignores SIGINT for what it starts in the background; ^C and SIGINT reach what tests
    start all the same."""
    done = run(
        "--build",
        "-k",
        "test_typing_and_expecting or (test_nothing_stays_behind and 2 and x86_64)",
        before='trap "" INT;',
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\n3 passed, 0 failed\n") and "no tests ran" not in done.stdout


def test_lint_runs_beside_all_others(runner, monkeypatch):
    """When nothing else does."""
    calls = []
    monkeypatch.setattr(
        runner,
        "run_pytest",
        lambda folders, more, workers, **how: calls.append((folders, more, how)) or (1, len(folders)),
    )
    assert runner.run_tests(runner.FOLDERS, [], 2) == (2, 4)
    beside = [how["preexec_fn"] for folders, _, how in calls if folders == [runner.BESIDE]]
    assert beside == [runner.after_guests] and os.path.exists(os.path.join(ROOT, runner.BESIDE))
    assert all(
        f"--ignore={runner.BESIDE}" in more and not how for folders, more, how in calls if folders != [runner.BESIDE]
    )
    calls.clear()
    assert runner.run_tests(["tests/host/tools/test_run.py", runner.BESIDE], [], 2) == (2, 2)
    assert runner.run_tests(["tests/unit"], [], 2) == (1, 1) and len(calls) == 3
    assert runner.run_tests([runner.BESIDE], [], 2) == (1, 1) and len(calls) == 4


def test_unit_tests_run_while_make_builds(runner, monkeypatch):
    """Those do not wait for make, all others do; and what cannot be built is one failure, with nothing run behind it."""
    began, calls = threading.Event(), []

    def one_run(folders, more, workers, **how):
        calls.append(folders)
        began.set()
        return 1, 0

    def made(wanted, well):
        assert began.wait(60) and calls == [["tests/unit"]] and wanted == ["arm64", "iso"]
        return well

    monkeypatch.setattr(runner, "run_pytest", one_run)
    monkeypatch.setattr(runner, "make", lambda wanted: made(wanted, True))
    assert runner.run_beside_make(["arm64", "iso"], runner.FOLDERS, [], 2) == (3, 0)
    assert sorted(map(tuple, calls)) == [("tests/host", "tests/guest"), (runner.BESIDE,), ("tests/unit",)]
    began.clear()
    calls.clear()
    monkeypatch.setattr(runner, "make", lambda wanted: made(wanted, False))
    assert runner.run_beside_make(["arm64", "iso"], runner.FOLDERS, [], 2) == (1, 1) and calls == [["tests/unit"]]


def own_conftest():
    spec = importlib.util.spec_from_file_location("tests_conftest", os.path.join(ROOT, "tests/conftest.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_that_shares_a_guest_is_long_as_a_whole(monkeypatch):
    """A function or a script that is named stands for itself."""
    module = own_conftest()
    monkeypatch.setattr(module, "LONGEST", {"guest/a.py": 0, "guest/b.py::two": 1, "guest/c.sh": 2})
    tests = ["tests/guest/a.py::x[1]", "tests/guest/a.py::y", "tests/guest/b.py::two[x86_64]", "tests/guest/c.sh::a"]
    assert [module.place(one) for one in [*tests, "tests/guest/b.py::one", "tests/guest/c.py::a"]] == [0, 0, 1, 2, 3, 3]
    assert [module.kept_together(tests[n:]) for n in range(4)] == [2, 1, 0, 0] and module.kept_together(tests[:2]) == 2


def test_a_block_ends_where_a_file_does():
    """When that is near."""
    module = own_conftest()
    near, whole_files = module.NEAR, module.whole_files
    tests = ["a.py::1", "a.py::2", "b.py::1", "b.py::2", "b.py::3", "c.sh::x"]
    assert [whole_files(tests, num) for num in range(8)] == [0, 2, 2, 5, 5, 5, 6, 7]
    long = [f"a.py::{n}" for n in range(1 + near)]
    assert whole_files(long, 1) == 1 and whole_files([*long[:-1], "b.py::1"], 1) == near
    assert whole_files([], 3) == 3


def test_generic_tests_run_on_one_machine_unless_they_are_named(runner):
    short = runner.selected(["tests/guest/sched/sched.sh"], ["--one-machine"])
    whole = runner.selected(["tests/guest/sched/sched.sh"], [])
    assert len(whole) == 2 and len(short) == 1 and short[0] in whole
