"""Linux's own tests of system calls (tools/testing/selftests), as they are, against this kernel: tests/selftests.txt
says what each does."""

import os
import re
import shutil
import subprocess

import pytest
from linux_source import linux_file
from stories import story

TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "selftests.txt")
COMPILER = {"aarch64": "aarch64-linux-gnu-gcc", "x86_64": "gcc"}
# Who is under test, for the tests that are a machine's own.
OWN = {
    "arm64/": "aarch64",
    "x86/": "x86_64",
    "breakpoints/breakpoint_test_arm64": "aarch64",
    "breakpoints/breakpoint_test ": "x86_64",
}
# The machine on which the ordinary suite runs those that are no machine's own: each third row, since their build takes
# as long as their run, and the kernel's own tests cover the same calls.
SHORT, EACH = "x86_64", 3
# Tests that compute until seconds of CPU time are over: posixtimers.sh looks at the same timers in a moment.
LONG = {"timers/posix_timers"}
# What a folder's tests are linked with.
WITH = {
    "rseq/": ["rseq/rseq.c"],
    "vDSO/": ["vDSO/parse_vdso.c"],
    "arm64/signal/testcases": [
        "arm64/signal/test_signals.c",
        "arm64/signal/test_signals_utils.c",
        "arm64/signal/testcases/testcases.c",
        "arm64/signal/signals.S",
        "arm64/signal/sve_helpers.c",
    ],
}
# Tests that draw many random bytes get them from a cheaper source.
RANDOM = os.path.join(os.path.dirname(TABLE), "selftests_random.h")
DRAW_MANY = ("mm/mremap_test",)
# Tests that are built without optimisation, since they make accesses whose results they do not use.
PLAIN = ("breakpoints/",)


def rows(arch):
    """{test: (passed, others, why)} of the table, for one machine."""
    found = {}
    with open(TABLE, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            test, passed, others, *why = line.split(maxsplit=3)
            if all(not f"{test} ".startswith(start) or own == arch for start, own in OWN.items()):
                found[test] = int(passed), int(others), "".join(why).strip()
    return found


class Builder:
    """Makes the programs of tests, for the guest: static, so that they need nothing else there."""

    def __init__(self, source, arch, folder):
        self.source, self.arch, self.folder = source, arch, folder
        self.objects = {}  # of what several tests are linked with, by its source

    def gcc(self, test, *words):
        subprocess.run(
            [
                COMPILER[self.arch],
                "-O2",
                "-w",
                "-static",
                "-no-pie",
                "-D_GNU_SOURCE",
                "-DAT_RSEQ_FEATURE_SIZE=27",  # a C library's headers may be older
                "-DAT_RSEQ_ALIGN=28",
                "-I.",
                f"-I{os.path.dirname(test)}",
                "-Ifutex/include",
                "-Iarm64/signal",
                "-idirafter",
                "../../include",
                *words,
            ],
            cwd=self.source,
            check=True,
            capture_output=True,
            text=True,
        )

    def headers(self):
        """The headers of a C library are older than the tests: asm/sigcontext.h and hwcap.h of this very Linux stand
        before them."""
        uapi = os.path.join(self.folder, "uapi")
        if not os.path.exists(uapi):
            os.makedirs(f"{uapi}/asm")
            for header in ("hwcap.h", "sigcontext.h", "sve_context.h"):
                shutil.copy(linux_file(f"arch/arm64/include/uapi/asm/{header}"), f"{uapi}/asm")
        return [f"-I{uapi}"]

    def shared(self, test, source, headers):
        """The object of a source that all tests of a folder have."""
        if source not in self.objects:
            self.objects[source] = os.path.join(self.folder, source.replace("/", "-") + ".o")
            self.gcc(test, *headers, "-c", "-o", self.objects[source], source)
        return self.objects[source]

    def build(self, test):
        program = os.path.join(self.folder, test.replace("/", "-"))
        own = next((with_ for start, with_ in WITH.items() if test.startswith(start)), [])
        headers = self.headers() if test.startswith("arm64/") else []
        objects = [self.shared(test, source, headers) for source in own]
        more = ["-include", RANDOM] if test in DRAW_MANY else []
        if test.startswith(PLAIN):
            more.append("-O0")
        self.gcc(test, *headers, *more, "-o", program, f"{test}.c", *objects, "-lpthread", "-lrt", "-lm")
        return program


def counts(text):
    """(passed, not passed) in what a test has printed: in TAP's totals, or line by line."""
    if totals := re.findall(
        r"^# Totals: pass:(\d+) fail:(\d+) xfail:(\d+) xpass:\d+ skip:(\d+) error:(\d+)", text, re.M
    ):
        passed, failed, expected, skipped, wrong = map(int, totals[-1])
        return passed + expected, failed + skipped + wrong
    passed = re.findall(r"^(?:ok \d|\[OK\]|==>> completed\. PASS\(1\))", text, re.M)
    return len(passed), len(re.findall(r"^(?:not ok|\[FAIL\]|\[SKIP\]|==>> completed\. FAIL\(0\))", text, re.M))


def outcome(machine, scratch, tests):
    """{test: (passed, others, what it printed)} of these tests, run in one guest."""
    builder, files = Builder(linux_file("tools/testing/selftests"), machine.arch, scratch), {}
    for test in tests:
        program = builder.build(test)
        with open(program, "rb") as file:
            files[f"st/{os.path.basename(program)}"] = (0o755, file.read())
    run = machine.script(
        story("selftests").encode(), [], files=files, icount=True, mem="1G", timeout=400, append="loglevel=1"
    )
    try:
        run.wait_start()
        run.wait_exit()
    finally:
        run.guest.close()
    parts = re.split(r"^=== (\S+) (\d+)$", run.output, flags=re.M)[1:]
    ended = {name: (int(status), text) for name, status, text in zip(parts[::3], parts[1::3], parts[2::3])}
    found = {}
    for test in tests:
        status, text = ended.get(test.replace("/", "-"), (1, "it did not run"))
        both = counts(text)
        found[test] = (*(both if any(both) else (int(status == 0), int(status != 0))), text)  # some only exit
    return found


def chosen(arch):
    """The rows that this run is for: all under make soak, else the machine's own ones, and on one machine a part of the
    others, without those that are LONG."""
    every = rows(arch)
    if "SOAK_MINUTES" in os.environ:
        return every
    own = [test for test in every if f"{test} ".startswith(tuple(start for start, of in OWN.items() if of == arch))]
    others = [test for test in every if test not in own] if arch == SHORT else []
    return {test: every[test] for test in own + others[::EACH] if test not in LONG}


@pytest.mark.soak
def test_selftests(machine, tmp_path):
    if not linux_file("tools/testing/selftests"):
        pytest.skip("Linux's source cannot be had here")
    if not shutil.which(COMPILER[machine.arch]):
        pytest.skip(f"{COMPILER[machine.arch]} is not here")
    table = chosen(machine.arch)
    wrong = []
    for test, (passed, others, printed) in outcome(machine, str(tmp_path), table).items():
        expected = table[test][:2]
        if passed < expected[0] or others > expected[1]:  # a later QEMU may emulate what fails by the table
            wrong.append(
                f"{test}: {expected[0]} pass and {expected[1]} do not, by the table; now {passed} and {others}:\n{printed[-1500:]}"
            )
    assert not wrong, "\n".join(wrong)


def test_table_gives_reasons():
    """What does not pass has its reason, and a test that passes wholly needs none."""
    for arch in COMPILER:
        for test, (passed, others, why) in rows(arch).items():
            assert passed + others > 0 and bool(others) == bool(why), test
