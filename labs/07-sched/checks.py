"""What lab sched is graded by: who ran when, as sched_switch recorded it. The weights are the grader's own."""

import collections
import re

from grading import check

TRACING = "/sys/kernel/tracing"
MS = 1000  # records are in microseconds
LATENCY, GRANULE = 6 * MS, 750
# 1.25 to the power of -nice, times 1024, as Linux rounds them: sched_prio_to_weight from nice -10 to 10.
WEIGHTS = [
    9548,
    7620,
    6100,
    4904,
    3906,
    3121,
    2501,
    1991,
    1586,
    1277,
    1024,
    820,
    655,
    526,
    423,
    335,
    272,
    215,
    172,
    137,
    110,
]


def weight(nice):
    return WEIGHTS[nice + 10]


class Record:
    """What the trace says of a run of lab_sched: for each task the times (us) at which it ran and at which it was woken."""

    def __init__(self, lines):
        self.runs, self.woken = collections.defaultdict(list), collections.defaultdict(list)
        self.order = []  # names, in the order in which they got the CPU
        since = {}
        for line in lines:
            found = re.search(r"\[(\d+)\] .{5} +(\d+)\.(\d+): (sched_\w+): (.*)", line)
            if not found:
                continue
            cpu, at = found[1], int(found[2]) * 1000000 + int(found[3])
            if found[4] == "sched_switch":
                before, after = re.findall(r"(?:prev|next)_comm=(.*?) (?:prev|next)_pid", found[5])
                if since.get(cpu, ("", 0))[0] == before:
                    self.runs[before].append((since[cpu][1], at))
                since[cpu] = (after, at)
                self.order.append((after, at))
            else:
                self.woken[re.match(r"comm=(.*?) pid", found[5])[1]].append(at)
        self.begin = min((runs[0][0] for runs in self.runs.values()), default=0)

    def ran(self, name, begin=0, end=1 << 62):
        """Microseconds that the task ran between two times."""
        return sum(max(0, min(stop, end) - max(start, begin)) for start, stop in self.runs[name])

    def shares(self, names, begin=0, end=1 << 62):
        """Per cent that each had of what they all had."""
        every = sum(self.ran(name, begin, end) for name in names) or 1
        return {name: round(100 * self.ran(name, begin, end) / every, 2) for name in names}

    def waits(self, name):
        """For each time that it was woken: how long it was until it ran."""
        starts = [start for start, _ in self.runs[name]]
        return [min((start - at for start in starts if start >= at), default=None) for at in self.woken[name]]


def run(attempt, ms, *tasks, smp=1):
    """Run tasks for so many ms; Record."""
    ran = attempt.guest(
        f"""cd {TRACING}
echo 4096 > buffer_size_kb
echo 1 > events/sched/sched_switch/enable
echo 1 > events/sched/sched_waking/enable
lab_sched {ms} {' '.join(tasks)}
echo 0 > tracing_on
grep -E 'lab-' trace
""",
        smp=smp,
    )
    return Record(ran.lines)


def names(attempt, count):
    return [f"lab-{''.join(attempt.rng.sample('bcdfghjklmnpqrstvwxz', 4))}" for _ in range(count)]


def near(attempt, what, expected, seen, tolerance):
    """Lost unless each share is as expected, within so many points."""
    wrong = {name: share for name, share in seen.items() if abs(share - expected[name]) > tolerance}
    attempt.true(
        f"{what}: {({name: round(share, 2) for name, share in expected.items()})}, within {tolerance}", not wrong, seen
    )


@check("equal: tasks of one nice value have equal shares", points=10, by_hand="stress; sched_switch")
def equal(attempt):
    who = names(attempt, attempt.rng.randrange(3, 6))
    seen = run(attempt, 600, *(f"hog:{name}:0" for name in who)).shares(who)
    near(attempt, "shares of equals", {name: 100 / len(who) for name in who}, seen, 1.5)


@check("weights: shares follow the weights of the nice values", points=20, by_hand="nice -n 5 ...; sched_switch")
def weights(attempt):
    nices = attempt.rng.sample(range(-6, 6), 4)
    who = names(attempt, 4)
    record = run(attempt, 800, *(f"hog:{name}:{nice}" for name, nice in zip(who, nices)))
    total = sum(map(weight, nices))
    expected = {name: 100 * weight(nice) / total for name, nice in zip(who, nices)}
    near(attempt, f"shares of nice {nices}", expected, record.shares(who), 2)
    attempt.data["fair"] = True


@check("wakes: a task that sleeps much runs soon after it wakes up", points=20, by_hand="wakeup; sched_waking")
def wakes(attempt):
    who = names(attempt, 4)
    nap = f"nap:{who[0]}:0:{attempt.rng.randrange(7, 14)}:{attempt.rng.randrange(300, 700)}"
    record = run(attempt, 400, nap, *(f"hog:{name}:0" for name in who[1:]))
    waits = [wait for wait in record.waits(who[0])[2:] if wait is not None]
    attempt.true("more than 15 wake-ups", len(waits) > 15, len(waits))
    attempt.true("each wait less than 1000 us", max(waits) < 1000, sorted(waits)[-5:])


@check(
    "credit: a task that has slept long does not keep the CPU afterwards",
    points=10,
    by_hand="sched_switch after a long sleep",
)
def credit(attempt):
    who = names(attempt, 2)
    asleep, nice = attempt.rng.randrange(150, 250), attempt.rng.choice([-4, -3, 3, 4])
    record = run(attempt, 500, f"late:{who[0]}:{nice}:{asleep}", f"hog:{who[1]}:0")
    expected = 100 * weight(nice) / (weight(nice) + weight(0))
    begin = next((at for at in record.woken[who[0]] if at > record.begin + (asleep - 20) * MS), record.begin)
    share = record.shares(who, begin, begin + 60 * MS)[who[0]]
    # Half a latency of credit is 5 per cent of 60 ms; a slice that has just begun or just ended is as much again.
    attempt.within(f"per cent of the 60 ms after a sleep of {asleep} ms", expected - 9, share, expected + 13)
    later = record.shares(who, begin + 60 * MS, begin + 240 * MS)[who[0]]
    attempt.within("per cent of the time after that", expected - 3, later, expected + 3)


@check(
    "slices: the latency is shared out by weight, and no slice is less than a granule",
    points=10,
    level="complete",
    by_hand="lab_sched 100 slice:a:0 slice:b:-5",
)
def slices(attempt):
    few = [attempt.rng.choice([-5, -4]), 0, attempt.rng.choice([2, 3]), 1]
    many = [0] * 10 + [attempt.rng.choice([4, 5]), -3]
    for nices in (few, many):
        who, load = names(attempt, len(nices)), sum(map(weight, nices))
        tasks = [f"slice:{name}:{nice}" for name, nice in zip(who, nices)]
        ran = attempt.guest(f"lab_sched 240 {' '.join(tasks)}", smp=1)
        seen = dict(re.findall(r"^slice (\S+) (\d+)$", ran.output, re.M))
        period = max(LATENCY, GRANULE * len(who)) * 1000
        for name, nice in zip(who, nices):
            expected = max(period * weight(nice) // load, GRANULE * 1000)
            attempt.same(f"ns of nice {nice} among {nices}", expected, int(seen.get(name, 0)), ran.output)


@check(
    "children: having many children one after the other gains nothing",
    points=10,
    level="complete",
    by_hand="lab_sched 500 fork:a:0:800 hog:b:0",
)
def children(attempt):
    who = names(attempt, 2)
    nice = attempt.rng.choice([-3, -2])
    record = run(attempt, 500, f"fork:{who[0]}:0:{attempt.rng.randrange(500, 900)}", f"hog:{who[1]}:{nice}")
    share = record.shares(who)
    least = 100 * weight(nice) / (weight(nice) + weight(0))
    attempt.true(f"per cent of the task of nice {nice} beside it: more than {least:.1f}", share[who[1]] > least, share)


@check(
    "moves: a task that comes from another CPU is neither ahead nor behind",
    points=10,
    level="complete",
    by_hand="lab_sched 600 move:a:0:300 hog:b:0 hog:c:0",
)
def moves(attempt):
    who = names(attempt, 3)
    there, nices = attempt.rng.randrange(200, 300), [0, attempt.rng.choice([-2, 2]), 0]
    tasks = [f"move:{who[0]}:0:{there}", f"hog:{who[1]}:{nices[1]}", f"hog:{who[2]}:0"]
    record = run(attempt, 700, *tasks, smp=2)
    begin = record.begin + (there + 30) * MS
    share = record.shares(who, begin, begin + 300 * MS)
    expected = {name: 100 * weight(nice) / sum(map(weight, nices)) for name, nice in zip(who, nices)}
    near(attempt, "shares after the move", expected, share, 4)


INSTRUCTIONS = 3000


@check(
    f"cost: a yield to another task costs less than {INSTRUCTIONS} instructions",
    points=10,
    level="challenge",
    by_hand="lab_sched 100 yield:a:0 yield:b:0, with ICOUNT=1: how many switches?",
)
def cost(attempt):
    attempt.true("a class that is fair (check `weights`)", attempt.data.get("fair"), "one that is not")
    who = names(attempt, 2)
    record = run(attempt, 5, *(f"yield:{name}:0" for name in who))
    turns = [after for after, _ in record.order if after in who]
    lengths = [stop - start for name in who for start, stop in record.runs[name]]
    attempt.true("more than 250 switches", len(turns) > 250, len(turns))
    each = 1000 * sum(lengths) / max(1, len(lengths))
    attempt.within("instructions between two switches", 100, each, INSTRUCTIONS)
    attempt.figure("instructions of a yield and a switch", round(each))
