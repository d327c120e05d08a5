"""What lab look is graded by. What lab_look and its part of the kernel do follows from the seed, and is worked out here a
second time; what they make the kernel do is counted by the grader's own traces."""

import collections
import os
import re

from catalogue import tomllib
from grading import Lost, check

TRACING = "/sys/kernel/tracing"
ANSWERS = "labs/01-look/answers.toml"


class Numbers:
    """The generator of lab_look.c (Knuth's for MMIX), as it stands at the beginning of a question."""

    def __init__(self, seed, question):
        self.state = (seed * 1000003 + question) % 2**64
        for _ in range(3):
            self.below(1)

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def answer(attempt, question, form):
    """The two words of an answer; Lost when it has another form."""
    try:
        with open(os.path.join(attempt.top, ANSWERS), "rb") as file:
            said = str(tomllib.load(file)[attempt.arch][question])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise Lost(f"an answer to `{question}` in {ANSWERS}", f"none ({error})") from error
    found = re.fullmatch(r"\s*(\S+)\s+(\d+)\s*", said)
    if not found:
        raise Lost(f"an answer of the form '{form}'", f"'{said}'")
    return found[1], int(found[2])


def is_most(attempt, question, counts, form):
    """The answer is the name that has the most, and how much that is. The right one is not shown: it is the student's to
    find."""
    name, number = answer(attempt, question, form)
    most = max(counts.values())
    attempt.true(f"the name that has the most ({question})", counts.get(name) == most, f"{name} {number}")
    attempt.true(f"how many times (or bytes) that is ({question})", number == most, f"{name} {number}")


def traced(attempt, question, before, after="cat trace"):
    """The lines of the trace that the question's work has left."""
    ran = attempt.guest(
        f"cd {TRACING}; {before}; lab_look {question} {attempt.seed}; echo 0 > tracing_on; {after}", smp=1
    )
    return ran.lines


@check("calls: the pipe function that is called most", points=20, by_hand="function tracer, set_ftrace_filter, uniq -c")
def calls(attempt):
    # Counted by the profiler, not from records; nothing else in this guest has a pipe.
    lines = traced(
        attempt,
        "calls",
        "echo 'pipe_*' > set_ftrace_filter; echo 1 > function_profile_enabled",
        "cat trace_stat/function0",
    )
    counts = {name: int(hits) for name, hits in re.findall(r"^\s*(pipe_\w+)\s+(\d+)", "\n".join(lines), re.M)}
    is_most(attempt, "calls", counts, "pipe_poll 12")


@check("wakes: who wakes look-c most often", points=20, by_hand="events/sched/sched_waking")
def wakes(attempt):
    numbers = Numbers(attempt.seed, 2)
    steps, usual = 200 + numbers.below(200), numbers.below(3)
    order, counts = [0], collections.Counter()
    for _ in range(steps - 1):
        further = usual if numbers.below(100) < 60 else numbers.below(3)
        order.append((order[-1] + 1 + further) % 4)
        if order[-1] == 2:
            counts[f"look-{'abcd'[order[-2]]}"] += 1
    is_most(attempt, "wakes", counts, "look-a 12")


@check("fails: the system call that fails most often", points=20, by_hand="events/syscalls")
def fails(attempt):
    numbers, counts = Numbers(attempt.seed, 3), collections.Counter()
    kinds = ["close", "kill", "lseek", "chdir", "munmap", "write", "dup", None]
    times, favourite = 200 + numbers.below(200), numbers.below(8)
    for _ in range(times):
        counts[kinds[favourite if numbers.below(100) < 20 else numbers.below(8)]] += 1
    del counts[None]
    is_most(attempt, "fails", counts, "open 12")


@check(
    "allocs: the place that allocates the most bytes",
    points=20,
    level="complete",
    by_hand="events/kmem/kmalloc and kmem_cache_alloc: call_site and bytes_alloc",
)
def allocs(attempt):
    lines = traced(
        attempt, "allocs", "echo 1 > events/kmem/kmalloc/enable; echo 1 > events/kmem/kmem_cache_alloc/enable"
    )
    counts = collections.Counter()
    for line in lines:
        found = re.search(r" look-allocs-\d+ .*call_site=(\w+)\+.* bytes_alloc=(\d+)", line)
        if found:
            counts[found[1]] += int(found[2])
    is_most(attempt, "allocs", counts, "kstrdup 4096")


@check(
    "sections: the longest section with interrupts off, to 3 %",
    points=10,
    level="complete",
    by_hand="irqsoff, tracing_max_latency, with make qemu-arm64 ICOUNT=1",
)
def sections(attempt):
    numbers = Numbers(attempt.seed, 5)
    names = ["look_flush", "look_refill", "look_rehash", "look_scan", "look_update"]
    longest = numbers.below(5)
    took = [2000 + numbers.below(2000) if i == longest else 300 + numbers.below(1000) for i in range(5)]
    name, number = answer(attempt, "sections", "look_scan 1234")
    attempt.true("the function with the longest section", name == names[longest], name)
    attempt.true("microseconds of it, to 3 %", took[longest] <= number <= 1.03 * took[longest] + 10, number)


@check(
    "slow: the step that is slow, and in which of the calls",
    points=10,
    level="challenge",
    by_hand="function_graph on look_call and its steps, with ICOUNT=1",
)
def slow(attempt):
    numbers = Numbers(attempt.seed, 6)
    which, step = numbers.below(200), ["look_check", "look_find", "look_copy", "look_notify"][numbers.below(4)]
    attempt.same(
        "step and number of the call",
        "right",
        "right" if answer(attempt, "slow", "look_find 17") == (step, which + 1) else "another",
    )
