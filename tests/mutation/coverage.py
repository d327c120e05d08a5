"""Which test runs which lines of the kernel: learned once from the translated code of each guest, and read from unit
tests' heads."""

import bisect
import collections
import difflib
import functools
import gzip
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from elftools.elf.elffile import ELFFile
from operators import ROOT

BUILD = ROOT / "build" / "mutation"
ABOUT = ROOT / "tests" / "mutation" / "tests.txt"
ARCHES = ("aarch64", "x86_64")
# Tests that build kernels of their own: they would not run the one with the bug, or take minutes.
BUILDERS = ("tests/guest/docs/test_lab_grades.py", "tests/guest/tracers/test_branch.py")
# Instructions that end a block: what may go elsewhere.
ENDS = {
    "aarch64": re.compile(r"b|b\..*|bl|br|blr|ret|cbn?z|tbn?z|svc|brk|eret|wf[ie]|isb|msr"),
    "x86_64": re.compile(r"j\w+|call|ret|iretq?|sysret\w*|syscall|hlt|int3?|ud2|l?jmp|sti|cli"),
}


@functools.cache
def uses():
    """What mk/machines.mk lists for each machine, by make itself: the beginnings of the names of files."""
    lists = "".join(f"$(info {arch} $(USES_{arch}))" for arch in ARCHES)
    made = subprocess.run(
        ["make", "-s", "-f", "-", "all"],
        cwd=ROOT,
        input=f"include mk/machines.mk\n{lists}\nall:\n",
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in made.stdout.splitlines()]
    return {arch: tuple(pattern.rstrip("%") for pattern in patterns) for arch, *patterns in rows}


def machine_of(file):
    """The machine that alone is built with this file; None: several machines are."""
    found = [arch for arch, beginnings in uses().items() if file.startswith(beginnings)]
    return found[0] if len(found) == 1 else None


class NotLearned(Exception):
    """There is no map of this machine yet."""


class Lines:
    """The lines of a kernel's instructions."""

    def __init__(self, arch):
        kernel = ROOT / "build" / arch / "vmlinux"
        listing = subprocess.run(
            [f"{arch}-linux-gnu-objdump", "-d", "--no-show-raw-insn", kernel],
            capture_output=True,
            text=True,
            check=True,
        )
        self.addresses, self.last = [], []
        for line in listing.stdout.splitlines():
            if match := re.match(r"\s*([0-9a-f]+):\s+(\S+)", line):
                self.addresses.append(int(match[1], 16))
                self.last.append(bool(ENDS[arch].fullmatch(match[2])))
        with open(kernel, "rb") as file:
            self.starts, self.places = self.line_table(ELFFile(file).get_dwarf_info())

    @staticmethod
    def line_table(dwarf):
        """Addresses in order, and what begins there: (file, line), None behind a sequence's end."""
        rows = {}
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            folders, files = program["include_directory"], program["file_entry"]
            # A compiler cache may have taken the object from another copy of the tree: names are from the folder it was
            # compiled in.
            top = folders[0].decode()
            names = []
            for entry in files:
                folder = folders[entry.dir_index].decode()
                names.append(os.path.relpath(os.path.join(top, folder, entry.name.decode()), top))
            for row in program.get_entries():
                if state := row.state:
                    rows.setdefault(state.address, set())
                    if not state.end_sequence:
                        rows[state.address].add((names[state.file], state.line))
        starts = sorted(rows)
        return starts, [rows[start] for start in starts]

    def of_block(self, address):
        """(file, line) of each instruction from this one to the end of its block; of none if it is not the kernel's."""
        n = bisect.bisect_left(self.addresses, address)
        while n < len(self.addresses):
            place = bisect.bisect_right(self.starts, self.addresses[n]) - 1
            if place >= 0:
                yield from self.places[place]
            if self.last[n]:
                return
            n += 1


def of_machine(arch):
    """Options of pytest for the tests of this machine, and those that have no machine in their name."""
    return ["-k", " and ".join(f"not {other}" for other in ARCHES if other != arch)]


def learn(arch, workers):
    """Run the machine's guest tests once, as they are, and keep for each test its seconds and the lines that it
    runs."""
    folder = BUILD / "blocks" / arch
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    report = BUILD / f"{arch}.xml"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            str(workers),
            f"--junitxml={report}",
            *of_machine(arch),
            "tests/guest",
        ],
        cwd=ROOT,
        check=False,
        env={**os.environ, "VITRINE_QEMU": str(ROOT / "tests/mutation/qemu"), "COVERAGE": str(folder)},
    )
    lines = Lines(arch)
    blocks = {}
    for path in folder.iterdir():
        test = path.name.rpartition("@")[0].replace("%", "/")
        blocks.setdefault(test, set()).update(re.findall(r"pc:0x([0-9a-f]+)", path.read_text()))
    seconds = durations(report)
    found = {}
    known = {}  # of each block: many tests share most
    for test, addresses in blocks.items():
        run = collections.defaultdict(set)
        for address in addresses:
            if address not in known:
                number = int(address, 16)
                known[address] = (
                    list(lines.of_block(number)) if lines.addresses[0] <= number <= lines.addresses[-1] else []
                )
            for file, line in known[address]:
                run[file].add(line)
        if test in seconds:  # else it failed, or was something else's
            found[test] = {"seconds": seconds[test], "lines": {file: sorted(numbers) for file, numbers in run.items()}}
    texts = {file: text_lines(file) for known in found.values() for file in known["lines"]}
    with gzip.open(BUILD / f"{arch}.map.gz", "wt") as file:
        json.dump({"tests": found, "texts": texts}, file)
    print(f"{arch}: {len(found)} tests, {len({place for places in known.values() for place in places})} lines")


def text_lines(file):
    path = ROOT / file
    return path.read_text(errors="replace").split("\n") if path.is_file() else []


def durations(report):
    """Seconds of each test that passed, but for Python files in which one failed: such a file is run as a whole."""
    found, failed = {}, set()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        path = case.get("classname").replace(".", "/")
        is_python = (ROOT / f"{path}.py").exists()
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(f"{path}.py")
        if len(case) or not (is_python or path.endswith("/sh")):  # failure, error, skipped
            continue
        name = f"{path}.py::" if is_python else f"{path[:-3]}.sh::"
        found[name + case.get("name")] = float(case.get("time"))
    return {name: seconds for name, seconds in found.items() if name.partition("::")[0] not in failed}


class Map:
    """Which tests are worth running for a line. Tests of one Python file may share a guest, and only the first of them
    is seen to start it: so such a file is run as a whole."""

    def __init__(self, arch):
        try:
            with gzip.open(BUILD / f"{arch}.map.gz", "rt") as file:
                learned = json.load(file)
        except FileNotFoundError as error:
            raise NotLearned(
                f"nothing is known yet of what {arch}'s tests run: 'tests/mutation/mutation learn {arch}' finds out (some 7 minutes)"
            ) from error
        tests, self.texts, self.moved = learned["tests"], learned["texts"], {}
        self.seconds, self.lines = collections.Counter(), {}
        for name, known in tests.items():
            test = name.partition("::")[0] if ".py::" in name else name
            if test in BUILDERS:
                continue
            self.seconds[test] += known["seconds"]
            lines = self.lines.setdefault(test, collections.defaultdict(set))
            for file, numbers in known["lines"].items():
                lines[file].update(numbers)
        self.share = collections.Counter(
            (file, line) for files in self.lines.values() for file, numbers in files.items() for line in numbers
        )

    def learned_line(self, file, line):
        """Where a line stood when this map was learned: the tree has changed since then."""
        if file not in self.moved:
            blocks = difflib.SequenceMatcher(
                None, text_lines(file), self.texts.get(file, []), autojunk=False
            ).get_matching_blocks()
            self.moved[file] = {block.a + n + 1: block.b + n + 1 for block in blocks for n in range(block.size)}
        return self.moved[file].get(line, line)

    def tests_for(self, file, line):
        """Tests that run this line: those first that tests.txt names for the file, then those that run much of this
        file which others do not, and take little time; of a script that runs on several machines the best of them. If
        the compiler has given the line no instruction of its own, those of the nearest line above it which has one."""
        line = self.learned_line(file, line)
        nearest = max(
            (other for lines in self.lines.values() for other in lines.get(file, ()) if other <= line), default=None
        )
        found = []
        if nearest is not None and line - nearest <= 5:
            found = [test for test, files in self.lines.items() if line in files.get(file, ())] or [
                test for test, files in self.lines.items() if nearest in files.get(file, ())
            ]
        best = self.best_of(found, file)
        named = {}  # whether they run the line or not: of inlined code that is not known for certain
        for name in about(file):
            path = guest_test(name)
            learned = self.best_of((test for test in self.lines if test.startswith(path)), file)
            named[path] = best.get(path, learned.get(path, path))  # itself, when it is newer than the map
        return list({**named, **{path: test for path, test in best.items() if path not in named}}.values())

    def best_of(self, tests, file):
        """{path: of these tests the one of this path that is worth most}, the best first."""
        best = {}
        for test in sorted(tests, key=lambda test: -self.worth(test, file)):
            best.setdefault(test.partition("::")[0], test)
        return best

    def worth(self, test, file):
        return sum(1 / self.share[file, line] for line in self.lines[test].get(file, ())) / (self.seconds[test] + 10)


@functools.cache
def guest_test(name):
    """The path of a guest test that tests.txt names without its folder; itself, when there is none."""
    return next((str(path.relative_to(ROOT)) for path in (ROOT / "tests/guest").glob(f"*/{name}")), name)


def about(file):
    """The guest tests that tests.txt names for this file, the nearest row's first."""
    rows = [line.split() for line in ABOUT.read_text().splitlines() if line and not line.startswith("#")]
    found = {}
    for _, *tests in sorted((row for row in rows if file.startswith(row[0])), key=lambda row: -len(row[0])):
        found |= dict.fromkeys(tests)
    return list(found)


def unit_tests():
    """{source: [unit test]}: what each test's binary is compiled of, as make has noted it. A test that has not been
    compiled yet is compiled first, as no source would be known to be its own."""
    unit = ROOT / "build/host/unit"
    tests = {path.name: str(path.relative_to(ROOT)) for path in (ROOT / "tests/unit").glob("*/*_test.c")}
    names = (name.removesuffix("_test.c") for name in tests)
    missing = [f"{unit.relative_to(ROOT)}/{name}.asan" for name in names if not [*unit.glob(f"{name}.*d")]]
    if missing:
        environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
        subprocess.run(["make", "-s", "-k", *missing], cwd=ROOT, env=environment, check=False)
    found = collections.defaultdict(list)
    for path in sorted(unit.glob("*.d")):
        test = tests.get(f"{path.name.split('.')[0]}_test.c")
        if not test:
            continue  # of a test that is no more
        for source in re.findall(r"\S+\.[ch]\b", path.read_text()):
            source = os.path.normpath(source)
            if not source.startswith(("tests", "/")) and test not in found[source]:
                found[source].append(test)
    return found
