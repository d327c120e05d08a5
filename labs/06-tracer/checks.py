"""What lab tracer is graded by: plant/samples/lab_tracer.c takes mutexes as this file tells it, and notes how long by its
own look at the clock. The lines of the trace must say the same, of these mutexes and of no other hold of them."""

import re
from collections import namedtuple

from grading import Lost, check

TRACING = "/sys/kernel/tracing"
PLANT = "/sys/kernel/debug/lab/mutex"
# Instructions between a look of the plant and one of the tracer: calls, probes, a tick that comes there.
SLACK = 8000
# On two CPUs QEMU lets each run for a millisecond, and either look may come before the other CPU's turn.
SLACK_SMP = 3000000
ALLOCATED = 16  # the number of the first mutex that is no variable's

Hold = namedtuple("Hold", "pid mutex function wait held")
LINE = re.compile(
    r"^ *\S.*-(\d+) +\[\d+\] \S+ +\d+\.\d+: mutex=(\S+) at=(\w+)\+\S+ wait=(\d+) held=(\d+)$",
    re.M,
)
NOTE = re.compile(r"^hold (\d+) (\S+) (\w+) (\d+) (\d+)$", re.M)


def holds_of(pattern, text):
    return [
        Hold(int(pid), mutex, function, int(wait), int(held))
        for pid, mutex, function, wait, held in pattern.findall(text)
    ]


class Told:
    """A run: `notes` of the plant, and the `lines` of the trace that are of the plant's mutexes."""

    def __init__(self, attempt, script, smp=1):
        begin = f"cd {TRACING}\necho mutex > current_tracer || exit 9\n"
        ran = attempt.guest(f"P={PLANT}\n{begin}{script}\ncat trace\ncat $P\n", smp=smp, status=None)
        if ran.status:
            raise Lost("a tracer `mutex`, and a script that ends well", f"status {ran.status}", ran.output[-600:])
        self.output, self.notes = ran.output, holds_of(NOTE, ran.output)
        missed = set(re.findall(r"^miss \d+ (\S+)", ran.output, re.M))
        ours = {note.mutex for note in self.notes} | missed
        self.lines = [line for line in holds_of(LINE, ran.output) if line.mutex in ours]


def do(words, wait=True):
    """A line of shell: a task of its own does these words of the plant; wait: until it has ended."""
    return f"echo '{words}' > $P &\n" + ("wait $!\n" if wait else "")


def by_task(holds):
    """Holds of different tasks may be noted in another order than they are recorded in."""
    return sorted(holds, key=lambda hold: hold.pid)


def compare(attempt, told, notes, lines=None, free=False, slack=SLACK):
    """The trace has a line for each of these notes, and no other one. free: nobody had to wait. One in twenty may be
    wrong by more: a task that is put aside between the two looks at the clock."""
    notes, lines = by_task(notes), by_task(told.lines if lines is None else lines)
    shown = "\n".join(map(str, lines[:10]))
    attempt.same("holds: task, mutex, function", [note[:3] for note in notes], [line[:3] for line in lines], shown)
    off = []
    for note, line in zip(notes, lines):
        waited = note.wait - slack <= line.wait <= note.wait
        if free or note.wait <= slack:
            waited = line.wait == 0 or (not free and line.wait <= note.wait)
        if not waited or not note.held <= line.held <= note.held + slack:
            off.append(f"noted {note}, traced {line}")
    attempt.within("holds with other times", 0, len(off), len(notes) // 20, "\n".join(off[:8]))


def rounds(rng, number, mutexes, ways="li"):
    """So many holds of one task, one after the other."""
    chosen = [(rng.choice(ways), rng.choice(mutexes), rng.randrange(20, 400)) for _ in range(number)]
    return " ".join(f"{way}{mutex} w{us} u{mutex}" for way, mutex, us in chosen)


@check("it can be selected, and records nothing before and afterwards", points=10, by_hand="cat available_tracers")
def select(attempt):
    times = attempt.rng.randrange(3, 9)
    mutex = attempt.rng.randrange(ALLOCATED, 64)
    told = Told(
        attempt,
        do(f"l{mutex} w20 u{mutex}")
        + "cat trace current_tracer; echo ======\n"
        + f"for i in $(seq {times}); do echo nop > current_tracer; echo mutex > current_tracer; done\n"
        + do("l1 w20 u1")
        + "cat trace; echo ======; echo nop > current_tracer\n"
        + do("l2 w20 u2"),
    )
    first, again, last = told.output.split("======\n")
    attempt.true("current_tracer: mutex", "\nmutex\n" in first, first[-300:])
    for title, text, number in (
        ("selected", first, 1),
        ("selected again", again, 1),
        ("deselected", last.split("hold ")[0], 0),
    ):
        seen = [line for line in holds_of(LINE, text) if line.function.startswith("lab_")]
        attempt.same(f"{title}: lines of the plant's mutexes", number, len(seen), text[-600:])
    compare(
        attempt, told, told.notes[:1], [line for line in holds_of(LINE, first) if line.mutex == told.notes[0].mutex]
    )


@check(
    "one line for each hold: which task, which mutex, from where, how long",
    points=20,
    by_hand="echo 'l3 w500 u3' > /sys/kernel/debug/lab/mutex; cat trace",
)
def holds(attempt):
    mutexes = attempt.rng.sample(range(64), 9)
    tasks = [rounds(attempt.rng, attempt.rng.randrange(12, 25), mutexes, "lit") for _ in range(3)]
    told = Told(attempt, "".join(map(do, tasks)))
    compare(attempt, told, told.notes, free=True)


@check(
    "how long a task has waited, asleep or spinning",
    points=10,
    by_hand="echo 'l3 g1 s20 u3' > .../lab/mutex & echo 'e1 l3 u3' > .../lab/mutex; cat trace",
)
def waits(attempt):
    def task():
        words = []
        for _ in range(attempt.rng.randrange(6, 10)):
            mutex, us, ms = attempt.rng.choice(mutexes), attempt.rng.randrange(50, 900), attempt.rng.randrange(1, 9)
            words += [f"{attempt.rng.choice('li')}{mutex} w{us} s{ms} u{mutex} s{attempt.rng.randrange(1, 4)}"]
        return " ".join(words)

    mutexes = attempt.rng.sample(range(64), 2)
    told = Told(attempt, "".join(do(task(), wait=False) for _ in range(4)) + "wait\n")
    attempt.true("holds that were waited for", sum(n.wait > 10**6 for n in told.notes) >= 8, told.notes)
    compare(attempt, told, told.notes)
    # Two CPUs: the owner runs, so the waiting task spins. It goes to sleep when a grace period of RCU wants its CPU,
    # which does not happen in each of four rounds.
    mutex, first, second = mutexes[0], "", ""
    for at in range(0, 8, 2):
        first += f"l{mutex} g{at} w{attempt.rng.randrange(15000, 30000)} u{mutex} e{at + 1} "
        second += f"e{at} l{mutex} w9000 u{mutex} g{at + 1} "
    told = Told(
        attempt,
        f"taskset 1 sh -c \"echo '{first}' > $P\" &\ntaskset 2 sh -c \"echo '{second}' > $P\" &\nwait\n",
        smp=2,
    )
    compare(attempt, told, told.notes, slack=SLACK_SMP)


@check(
    "what was not taken has no line: a failed trylock, a wait that a signal ends",
    points=10,
    by_hand="echo 'l3 g1 s20 u3' > .../lab/mutex & echo 'e1 t3' > .../lab/mutex; cat trace",
)
def missed(attempt):
    number = attempt.rng.randrange(3, 6)
    # Its owner has it from before the tracer was selected, so neither the owner nor the failed trylock makes a line.
    mutex = attempt.rng.randrange(64)
    script = "echo nop > current_tracer\n" + do(f"l{mutex} g60 e61 u{mutex}", wait=False)
    script += "echo e60 > $P\necho mutex > current_tracer\n" + do(f"t{mutex}") + "echo g61 > $P\nwait\n"
    for at in range(0, 4 * number, 4):
        one, other = attempt.rng.sample(range(64), 2)
        script += do(f"l{one} g{at} e{at + 1} u{one}", wait=False)
        script += do(f"e{at} t{one} t{other} w{attempt.rng.randrange(20, 90)} u{other}")
        # Killed while it waits: the rest of its words are done before it ends.
        script += do(f"g{at + 2} i{one} l{other} w90 u{other}", wait=False)
        script += f"killed=$!\necho 'e{at + 2} s5' > $P\nkill $killed\nwait $killed\necho g{at + 1} > $P\nwait\n"
    told = Told(attempt, script)
    attempt.same("mutexes that were not taken", 2 * number + 1, told.output.count("miss "), told.output[-600:])
    compare(attempt, told, told.notes[1:], free=True)


@check(
    "a task holds many mutexes at once, and lets go of them in any order",
    points=10,
    level="complete",
    by_hand="echo 'l1 l2 l3 u2 u3 u1' > .../lab/mutex; cat trace",
)
def nested(attempt):
    mutexes = attempt.rng.sample(range(64), 63)
    script = ""
    for mine in (mutexes[:44], mutexes[44:]):
        taken = " ".join(f"l{mutex} w{attempt.rng.randrange(5, 50)}" for mutex in mine)
        attempt.rng.shuffle(mine)
        script += do(f"{taken} s3 " + " ".join(f"u{mutex} w5" for mutex in mine), wait=False)
    told = Told(attempt, script + "wait\n")
    compare(attempt, told, told.notes, free=True)


@check(
    "the option `contended`, and tracing_thresh",
    points=10,
    level="complete",
    by_hand="echo contended > trace_options; echo 300 > tracing_thresh",
)
def options(attempt):
    rng = attempt.rng
    mutexes = rng.sample(range(64), 5)
    busy = mutexes.pop()
    script = "echo contended > trace_options\n" + do(rounds(rng, 7, mutexes))
    for at in range(1, rng.randrange(4, 7)):
        script += do(f"l{busy} g{at} s{rng.randrange(3, 9)} u{busy}", wait=False)
        script += do(f"e{at} l{busy} w{rng.randrange(20, 90)} u{busy}") + "wait\n"
    told = Told(attempt, script)
    waited = [note for note in told.notes if note.wait > 10**6]
    attempt.true("holds that were waited for", len(waited) >= 3, told.notes)
    compare(attempt, told, waited)
    thresh = rng.randrange(200, 400)
    lengths = [rng.choice((thresh // 2, thresh * 3 // 2)) for _ in range(12)] + [thresh // 2, thresh * 3 // 2]
    words = " ".join(f"l{mutex} w{us} u{mutex}" for us in lengths for mutex in [rng.choice(mutexes)])
    told = Told(attempt, f"echo {thresh} > tracing_thresh\n" + do(words))
    compare(attempt, told, [note for note in told.notes if note.held > thresh * 1000], free=True)


@check(
    "a hold is whole whatever happens to the buffer meanwhile",
    points=10,
    level="complete",
    by_hand="echo 'l3 s3000 u3' > .../lab/mutex & echo > trace; sleep 4; cat trace",
)
def cleared(attempt):
    rng = attempt.rng
    one, two, three, four = rng.sample(range(64), 4)
    wait = f"w{rng.randrange(300, 900)} s{rng.randrange(2, 6)}"
    told = Told(
        attempt,
        # Emptied in the middle of it.
        do(f"l{one} {wait} g1 e2 u{one}", wait=False) + "echo e1 > $P\necho > trace\necho g2 > $P\nwait\n"
        # Recording is off in the middle of it.
        + do(f"l{two} {wait} g3 e4 u{two}", wait=False)
        + "echo e3 > $P\necho 0 > tracing_on\necho s4 > $P\necho 1 > tracing_on\necho g4 > $P\nwait\n"
        # Recording is off at its end: no line; nor is it a part of the next one.
        + do(f"l{three} {wait} g5 e6 u{three} g7", wait=False)
        + "echo e5 > $P\necho 0 > tracing_on\necho g6 > $P\necho e7 > $P\necho 1 > tracing_on\nwait\n"
        + do(f"l{three} w{rng.randrange(20, 90)} u{three}")
        # All of it while recording is off.
        + "echo 0 > tracing_on\n" + do(f"l{four} w50 u{four}") + "echo 1 > tracing_on\n",
    )
    attempt.same("holds of the plant", 5, len(told.notes), told.output[-600:])
    compare(attempt, told, [told.notes[0], told.notes[1], told.notes[3]], free=True)


@check(
    "a hold that began before the tracer was selected has no line, and spoils none",
    points=10,
    level="complete",
    by_hand="echo 'l3 s3000 u3' > .../lab/mutex & echo nop > current_tracer; echo mutex > current_tracer; sleep 4; cat trace",
)
def switched(attempt):
    rng = attempt.rng
    mutexes = rng.sample(range(64), rng.randrange(3, 7))
    all_taken, all_given = (" ".join(f"{way}{mutex}" for mutex in mutexes) for way in "lu")
    again = rounds(rng, 1, mutexes[:1]) + " " + rounds(rng, 12, mutexes)
    told = Told(
        attempt,
        # Taken while it is selected; switched off and on; let go.
        do(f"{all_taken} g1 e2 {all_given}", wait=False)
        + "echo e1 > $P\necho nop > current_tracer; echo mutex > current_tracer\necho g2 > $P\nwait\n"
        + "cat trace; echo ======\n"
        # Taken while it is selected, let go while it is not, and taken again.
        + do(f"{all_taken} g3 e4 {all_given}", wait=False)
        + "echo e3 > $P\necho nop > current_tracer\necho g4 > $P\nwait\necho mutex > current_tracer\n"
        + do(again)
        + "cat trace; echo ======\n"
        # Taken while it is not selected.
        + "echo nop > current_tracer\n"
        + do(f"{all_taken} g5 e6 {all_given}", wait=False)
        + "echo e5 > $P\necho mutex > current_tracer\necho g6 > $P\nwait\n",
    )
    parts = [
        [line for line in holds_of(LINE, text) if line.function.startswith("lab_")]
        for text in told.output.split("======\n")
    ]
    count = len(mutexes)
    compare(attempt, told, [], parts[0])
    compare(attempt, told, told.notes[2 * count : 2 * count + 13], parts[1], free=True)
    compare(attempt, told, [], parts[2])


PAIRS = 1000
INSTRUCTIONS, INSTRUCTIONS_OFF = 700, 70


@check(
    f"a mutex that is taken and let go costs less than {INSTRUCTIONS} instructions more, and nothing when it is not traced",
    points=10,
    level="challenge",
    by_hand="echo c1000 > .../lab/mutex; cat .../lab/mutex, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    told = Told(
        attempt,
        f"echo c{PAIRS} > $P\necho > trace\necho c{PAIRS} > $P\necho 0 > tracing_on\n"
        f"grep -c 'mutex=lab_mutexes+0x0/' trace\necho nop > current_tracer\necho 1 > tracing_on\necho c{PAIRS} > $P\n",
    )
    _, on, off = (int(ns) / PAIRS for ns in re.findall(r"^cost (\d+)$", told.output, re.M))
    attempt.same("lines of so many pairs", str(PAIRS), told.output.split("\n", 1)[0])
    attempt.true(f"less than {INSTRUCTIONS_OFF} instructions a pair without the tracer", off < INSTRUCTIONS_OFF, off)
    attempt.true(f"less than {INSTRUCTIONS} more with it", on - off < INSTRUCTIONS, f"{on - off:.0f}")
    attempt.figure("instructions that a traced pair costs more", round(on - off))
