"""tests/mutation: the curated list fits the tree, each rule makes the mutations that it should, and a mutation is one
line."""

import importlib.util
import os
import subprocess
import sys
import time
import types

import pytest
from elftools.elf.elffile import ELFFile

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "mutation")


def load(name):
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)  # its modules find each other
    spec = importlib.util.spec_from_file_location(f"mutation_{name}", os.path.join(FOLDER, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


operators = load("operators")


def test_the_list_fits_the_tree():
    found = operators.curated()
    assert len(found) >= 200
    assert len({mutation.key for mutation in found}) == len(found)
    folders = {"/".join(mutation.file.split("/")[:2]) for mutation in found}
    assert {"arch/aarch64", "arch/x86_64", "drivers/tty", "kernel/irq", "kernel/time"} <= folders
    for mutation in found:
        before = (operators.ROOT / mutation.file).read_text().split("\n")
        after = mutation.applied().split("\n")
        assert [n for n, (one, other) in enumerate(zip(before, after), 1) if one != other] == [mutation.line], mutation


NAMED = """
int one(void)
{
	if (a)
		return -1;
	return -1;
}

static __always_inline struct two *two(int a,
				       int b)
{
	return -1;
}

SYSCALL_DEFINE2(three, int, a, int, b)
{
	return -1;
}
"""


def test_lines_are_named_by_their_functions(tmp_path, monkeypatch):
    """A line that stands in the file several times is that of a function, or its N-th there, or is refused."""
    (tmp_path / "a.c").write_text(NAMED)
    monkeypatch.setattr(operators, "ROOT", tmp_path)
    monkeypatch.setattr(operators, "CURATED", tmp_path / "list")

    def places(*marks):
        operators.CURATED.write_text("a.c\n" + "".join(f"-{mark} return -1;\n+ return 0;\n" for mark in marks))
        return [mutation.line for mutation in operators.curated()]

    assert places("one:1", "one:2", "two", "three") == [5, 6, 12, 17]
    for mark, said in (
        ("", "4 lines 'return -1;': say"),
        ("one", "2 lines 'return -1;' in one: say"),
        ("one:3", "2 lines"),
    ):
        with pytest.raises(operators.BadList, match=f"a.c has {said}"):
            places(mark)
    with pytest.raises(operators.BadList, match="a.c has 0 lines 'return -1;' in four"):
        places("four")


def test_what_caught_a_bug_is_kept(tmp_path, monkeypatch):
    """A new catch takes an old one's place, a bug that lived loses its line, and one that is not of the list has none."""
    caught = load("caught")
    listed = [mutation.key for mutation in caught.curated() if not mutation.equivalent]
    one, other, third = listed[:3]
    monkeypatch.setattr(caught, "FILE", tmp_path / "caught.txt")
    assert caught.caught() == {}
    unit, guest = "tests/unit/lib/lib_bitmap_test.c", "tests/guest/proc/test_user_pointers.py::test_b[x86_64]"
    assert caught.keep({one: {"status": "caught", "by": unit}}) == (1, len(listed))
    found = {
        other: {"status": "caught", "by": guest},
        third: {"status": "hung", "by": "tests/guest/a.sh"},
        "0123456789abcdef": {"status": "caught", "by": "tests/guest/a.sh"},
    }
    assert caught.keep(found) == (2, len(listed))
    assert caught.caught() == {one: unit, other: guest}
    assert caught.keep({third: {"status": "caught", "by": "tests/unit/gone_test.c"}})[0] == 3
    assert third not in caught.caught()  # whose test has gone
    assert caught.keep({one: {"status": "survived"}})[0] == 1
    assert list(caught.caught()) == [other]


def test_tests_that_are_about_a_file_are_there():
    coverage = load("coverage")
    rows = [line.split() for line in coverage.ABOUT.read_text().splitlines() if line and not line.startswith("#")]
    for row, *names in rows:
        assert any(str(path).startswith(str(operators.ROOT / row)) for path in operators.ROOT.glob(f"{row}*")), row
        assert names and all((operators.ROOT / coverage.guest_test(name)).is_file() for name in names), row
    assert coverage.about("arch/aarch64/task/fpsimd.c")[0] == "frames.sh"
    assert coverage.about("kernel/fs/pipe/pipe.c")[:2] == ["files.sh", "faultcalls.sh"]


@pytest.mark.parametrize(
    "rule, line, becomes",
    [
        ("negated", "if (a < b)", ["if (!(a < b))"]),
        ("negated", "} else if (f(x)) {", ["} else if (!(f(x))) {"]),
        ("negated", "if (a) return;", []),
        ("compared", "if (a < b && c == d)", ["if (a <= b && c == d)", "if (a < b && c != d)"]),
        ("compared", "p->x >>= 1;", []),
        ("off_by_one", "return n + 1;", ["return n;"]),
        ("off_by_one", "x = 0;", ["x = 1;"]),
        ("off_by_one", "a - 1.5", []),
        ("dropped", "spin_lock(&l);", [";"]),
        ("dropped", "p->count = 0;", [";"]),
        ("dropped", "n++;", [";"]),
        ("dropped", "int n = 0;", []),
        ("dropped", "return f(x);", []),
        ("swapped", "copy(to, from, n);", ["copy(from, to, n);"]),
        ("swapped", "swap(a, b);", []),
        ("joined", "return a && b || c;", ["return a || b || c;", "return a && b && c;"]),
        ("answered", "return -EINVAL;", ["return 0;"]),
        ("answered", "return true;", ["return false;"]),
        ("masked", "x |= BIT(3);", ["x &= BIT(3);"]),
        ("masked", "return a & ~b;", ["return a & b;"]),
    ],
)
def test_rule(rule, line, becomes):
    assert list(getattr(operators, rule)(line)) == becomes


def test_only_statements_are_mutated():
    text = "/* a < b */\nint table[] = {1 + 1};\nint f(int x)\n{\n\t/* x == 1\n\t * y == 1 */\n\tif (x == 1) /* why == so */\n\t\treturn 0;\n#if 1 == 2\n#endif\n}\n"
    assert [line for _, line in operators.body_lines(text)] == ["if (x == 1)", "return 0;"]


def test_sample_is_repeatable_and_mixed():
    files = operators.sources(["kernel/sched"])
    first = operators.sample(files, 64, 7)
    assert (
        [str(mutation) for mutation in first]
        == [str(mutation) for mutation in operators.sample(files, 64, 7)]
        != [str(m) for m in operators.sample(files, 64, 8)]
    )
    assert len({mutation.rule for mutation in first}) == len(operators.RULES)


@pytest.mark.parametrize(
    "words, said",
    [(["run", "--files", "kernel/nosuch"], "no C file"), (["run", "--tests", "many"], "invalid int"), ([], "required")],
)
def test_what_is_refused(words, said):
    done = subprocess.run(
        [sys.executable, os.path.join(FOLDER, "mutation"), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and said in done.stderr


def test_lines_are_named_as_in_the_tree():
    """A map that calls files by another tree's names would send no test to any line, and every bug would count as not
    run."""
    with open("build/aarch64/trace/ftrace/ftrace.o", "rb") as file:
        _, places = load("coverage").Lines.line_table(ELFFile(file).get_dwarf_info())
    files = {name for place in places for name, _ in place}
    assert "trace/ftrace/ftrace.c" in files
    assert [name for name in files if not (operators.ROOT / name).is_file()] == []


def test_the_machine_of_a_file():
    """A bug in a file that only one machine is built with is given to that machine's tests; as mk/machines.mk says."""
    coverage = load("coverage")
    own = {file: coverage.machine_of(file) for file in operators.sources(())}
    assert own["boot/x86_memory.c"] == own["boot/acpi.c"] == own["drivers/rtc/mc146818.c"] == "x86_64"
    assert own["boot/fdt.c"] == own["drivers/irqchip/gic-v2.c"] == own["arch/aarch64/patch.c"] == "aarch64"
    assert own["boot/boot_info.c"] is own["kernel/smp.c"] is own["drivers/virtio/virtio.c"] is None
    for file, machine in own.items():
        for arch in {"aarch64", "x86_64"} - {machine} if machine else ():
            assert not (operators.ROOT / "build" / arch / file).with_suffix(".o").exists(), file


def test_tests_without_a_machine_in_their_name_are_asked():
    """Those of the other machine are not."""
    for arch, name in (("aarch64", "output/test_forms.py"), ("x86_64", "proc/processes.sh")):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--collect-only", *load("coverage").of_machine(arch)]
            + [f"tests/guest/{name}"],
            cwd=operators.ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        found = [line for line in done.stdout.splitlines() if "::" in line]
        assert found and all(arch in line or "_64" not in line for line in found)
        assert arch == "x86_64" or [line for line in found if arch not in line]


def test_tests_for_a_line(tmp_path, monkeypatch):
    """A Python file is one test, as its guests are shared; a script on several machines is run on one of them."""
    coverage = load("coverage")
    file = "kernel/init/initcall.c"
    text = (operators.ROOT / file).read_text().split("\n")
    tests = {
        "tests/guest/test_a.py::one[aarch64]": {"seconds": 1, "lines": {file: [3, 4, 5]}},
        "tests/guest/test_a.py::two[aarch64]": {"seconds": 2, "lines": {file: [9]}},
        "tests/guest/b.sh::aarch64,smp=1": {"seconds": 9, "lines": {file: [3]}},
        "tests/guest/b.sh::aarch64,smp=4": {"seconds": 1, "lines": {file: [3]}},
    }
    monkeypatch.setattr(coverage, "BUILD", tmp_path)
    with coverage.gzip.open(tmp_path / "aarch64.map.gz", "wt") as out:
        coverage.json.dump({"tests": tests, "texts": {file: text}}, out)
    known = coverage.Map("aarch64")
    assert known.tests_for(file, 3) == ["tests/guest/test_a.py", "tests/guest/b.sh::aarch64,smp=4"]
    assert known.tests_for(file, 9) == ["tests/guest/test_a.py"]
    assert known.tests_for(file, 30) == []
    assert known.seconds["tests/guest/test_a.py"] == 3


def test_what_computes_for_ever_is_ended_long_before_the_clock_does(tmp_path):
    """A guest that hangs spins; a loaded computer's clock says nothing about that."""
    program = types.ModuleType("mutation_program")
    with open(os.path.join(FOLDER, "mutation"), encoding="utf-8") as file:
        program.__file__ = file.name
        exec(compile(file.read(), file.name, "exec"), program.__dict__)
    tree = object.__new__(program.Tree)
    tree.top = tmp_path
    mine = f"timeout {1000 + os.getpid()} sh"  # not that of another clone's suite
    spins = ["sh", "-c", f"setsid -w {mine} -c 'while :; do :; done'; echo never"]  # as vrun starts QEMU
    assert tree.call(spins, 300, 1) == (None, "")
    # It has been killed; on a loaded computer it is there for a moment more.
    end = time.monotonic() + 100
    while (
        left := subprocess.run(["pgrep", "-f", mine], check=False, capture_output=True).stdout
    ) and time.monotonic() < end:
        time.sleep(0.1)
    assert not left
    assert tree.call(["sh", "-c", "echo said; sleep 2.5; exit 3"], 300, 1) == (3, "said\n")
