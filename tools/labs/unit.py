"""A unit test of the tree (tests/unit), built and run on this host with a student's code in it: Attempt.unit of a check.

The test and all that it has besides are the tree's own, since a submission cannot change them. But the student's code
runs in the test's process, on the grader's host. So before it runs, its object files are looked at: they may use what
other objects of the test define, and what compiler and sanitizer need, and nothing of the C library; they may define
nothing that a library defines as well, have nothing that runs before main(), and no system calls. The limits are of CPU
time and of output, as for a guest.
"""

import glob
import os
import re
import resource
import subprocess
import tempfile

from catalogue import LabError
from inclusion import STRING_OR_COMMENT
from lost import EVIDENCE_LINES, Lost, Unbuilt
from workshop import limit

UNIT = "build/host/unit"
# Backstops for a test that never ends: those under ASan use some 5 seconds, TSan's some 10 on two CPUs, and more the
# more CPUs its threads have.
CPU_SECONDS, WALL_SECONDS = {"asan": 30, "tsan": 45}, 3600
OUTPUT_BYTES = 16 << 20
# What compilers call without being told to, the sanitizers' own, and what the host's stand-ins for headers call.
# Of the sanitizers' functions not those by which a program tells them to look away.
COMMON = re.compile(
    r"_GLOBAL_OFFSET_TABLE_|mem(cpy|set|move|cmp)|__stack_chk_fail|sched_yield|__libc_single_threaded|__ubsan_handle_\w+"
    r"|__asan_(init|handle_no_return|option_\w+|version_mismatch_\w+|(un)?register_globals|report_\w+|load\w+|store\w+"
    r"|mem\w+|stack_\w+|(un)?poison_stack_memory|set_shadow_\w+|alloca\w+|(before|after)_dynamic_init)"
    r"|__tsan_(init|func_\w+|(unaligned_)?(volatile_)?(read|write)\w*|atomic\w+|mem\w+)"
)
# What makes a compiler leave a function out of a sanitizer's sight.
UNSEEN = re.compile(r"\b_*(no_sanitize\w*|no_address_safety_analysis|disable_sanitizer_\w+)")
# Sections with code that runs by itself, but for the sanitizers' (priority 99 is kept for the implementation).
BY_ITSELF = re.compile(r"\.(preinit_array|ctors|dtors|init|fini)\b\S*|\.(init|fini)_array(?!\.00099\b)\S*")
SYSTEM_CALL = re.compile(r"\t(syscall|sysenter|int +\$|svc\b)")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=True).stdout


def symbols(kind, *files):
    """Names that nm shows of these files. kind: its option."""
    lines = output("nm", kind, "--format=posix", *files).splitlines()
    return {line.split()[0].partition("@")[0] for line in lines if line[:1].strip() and not line.endswith(":")}


def objects(top, binary):
    """The object files of a test: {source: object}. BINARY.d has a rule for each."""
    with open(f"{binary}.d", encoding="utf-8") as file:
        found = re.findall(rf"^({UNIT}/obj/[^/]+/(\S+)\.o):", file.read(), re.M)
    return {source: os.path.join(top, name) for name, source in found}


def looked_at(binary, mine, others):
    """Lost when the object files `mine` of a student have what they may not have."""
    libraries = re.findall(r"=> (/\S+)", output("ldd", binary))
    foreign = {
        name
        for name in symbols("--undefined-only", *mine) - symbols("--defined-only", *mine, *others)
        if not COMMON.fullmatch(name)
    }
    foreign |= symbols("--extern-only", *mine) & symbols("--defined-only", *mine) & symbols("-D", *libraries)
    for one in mine:
        foreign |= {found.group() for found in BY_ITSELF.finditer(output("objdump", "-h", one))}
        foreign |= {found.group(1) for found in SYSTEM_CALL.finditer(output("objdump", "-d", one))}
    if foreign:
        raise Lost("code that uses the kernel's functions alone", ", ".join(sorted(foreign)))


def all_is_seen(top, sources):
    """Lost when one of these files of a student keeps a function out of the sanitizers' sight."""
    for name in sources:
        with open(os.path.join(top, name), encoding="utf-8", errors="replace") as file:
            found = UNSEEN.search(STRING_OR_COMMENT.sub(lambda part: part[1] or " ", file.read()))
        if found:
            raise Lost("code that the sanitizers look at", f"{found.group()} in {name}")


def limits(seconds):
    limit(resource.RLIMIT_CPU, seconds)
    limit(resource.RLIMIT_FSIZE, OUTPUT_BYTES)
    limit(resource.RLIMIT_CORE, 0)


def started(top, binary, sanitizer, seed):
    """Run it: (status, output). What is random in a test follows from the seed."""
    environment = {key: value for key, value in os.environ.items() if key != "SOAK_MINUTES"}
    environment |= {"UNIT_SEED": str(seed), "CMOCKA_MESSAGE_OUTPUT": "TAP", "ASAN_OPTIONS": "malloc_context_size=2"}
    # ThreadSanitizer's shadow memory wants the old layout of the address space.
    words = ["setarch", "-R", binary] if sanitizer == "tsan" else [binary]
    with tempfile.TemporaryFile() as file:
        try:
            status = subprocess.run(
                words,
                cwd=top,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                preexec_fn=lambda: limits(CPU_SECONDS[sanitizer]),
                timeout=WALL_SECONDS,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = -9
        file.seek(0)
        return status, file.read().decode(errors="replace")


def run(workshop, lab, name, sanitizer, seed):
    """Attempt.unit()."""
    goal = f"{UNIT}/{name}.{sanitizer}"
    binary = os.path.join(workshop.top, goal)
    wrong = workshop.build(goal)
    if wrong:
        raise Unbuilt("a unit test that can be built with your code", wrong)
    made = objects(workshop.top, binary)
    sources = [source for source in made if lab.is_students(source)]
    mine = [made[source] for source in sources]
    if not mine:
        raise LabError(f"{name}_test.c: no file of lab {lab.name} is an object of its own there")
    all_is_seen(workshop.top, sources)
    looked_at(binary, mine, [one for one in made.values() if one not in mine])
    status, said = started(workshop.top, binary, sanitizer, seed)
    (test,) = glob.glob(os.path.join(glob.escape(workshop.top), "tests/unit/*", f"{name}_test.c"))
    with open(test, encoding="utf-8") as file:
        wanted = re.findall(r"cmocka_unit_test\((\w+)\)", file.read())
    passed = re.findall(r"^ok \d+ - (\w+)$", said, re.M)
    if status or passed != wanted:
        seen = f"status {status}, and {len(passed)} of {len(wanted)}"
        raise Lost(f"each test of {name}_test.c passed", seen, evidence(said))


def evidence(said):
    """The lines that say what went wrong: a sanitizer's report, or what a test's assertion said, before what follows."""
    lines = [line for line in said.splitlines() if not re.match(r"ok |1\.\.|\s*$|=+$", line)]
    first = next((at for at, line in enumerate(lines) if re.search(r"ERROR|WARNING|not ok|runtime error", line)), None)
    lines = lines[-EVIDENCE_LINES:] if first is None else lines[first : first + EVIDENCE_LINES]
    return "\n".join(lines)
