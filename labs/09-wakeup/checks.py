"""What lab wakeup is graded by. given/samples/lab_wakeup.c has threads that do what this file tells them. How long a
task waited for its CPU follows from sched_waking and sched_switch, which another trace array records and whose code is
not the student's. How long one waits for a mutex is worked out here, by a scheduler with priority inheritance."""

import re

from grading import check

TRACING, LAB = "/sys/kernel/tracing", "/sys/kernel/debug/lab"
SLACK = 6  # us between the records of an event and the tracer's look at the clock
NOISE = 80  # us that what else is woken in a guest may wait
END = "======\n"


def order(threads):
    """Shell: {letter: (cpu, prio, program)} as what these threads do from now on."""
    return "".join(
        f"echo '{who} {cpu} {prio} {program}' > {LAB}/thread\n" for who, (cpu, prio, program) in threads.items()
    )


# ---- Wake-up latency


class Round:
    """What one go has left: what the tracer shows, and the events and notes of the same time."""

    def __init__(self, told, shown, events, log):
        self.threads, _, self.first = told

        def number(pattern):
            found = re.search(pattern, shown, re.M)
            return int(found.group(1)) if found else 0

        self.shown, self.most = shown, number(r"^most: (\d+)$")
        self.latency, self.pid = number(r"^# latency: (\d+) us"), number(r"\| task: .*-(\d+) \(uid")
        self.records = re.findall(r": +\d+: *-?\d+:\w +(\+|==>) \[\d+\] +(\d+): *-?\d+:\w ", shown)
        self.functions = re.findall(r"us[ +!#*@$]*: (\w+) <-", shown)
        self.events, self.pids = [], {}
        for cpu, time, name, rest in re.findall(r"\[(\d+)\] +\S+ +([\d.]+): (sched_waking|sched_switch): (.*)", events):
            self.events.append((round(float(time) * 1e6), name, int(cpu), dict(re.findall(r"(\w+)=(\S+)", rest))))
            self.pids.update(
                {who: int(pid) for who, pid in re.findall(r"(?:next_)?comm=lab_(\w) (?:next_)?pid=(\d+)", rest)}
            )
        for who, begin in re.findall(r"^lab: \w p(\w) \S+ (\d+) ", log, re.M):
            self.events.append((int(begin) // 1000, "less", 0, {"who": who}))
        self.events.sort(key=lambda event: event[0])

    @property
    def evidence(self):
        """What the threads were told, the events of theirs with times in us, and the tracer's records, no stacks."""
        lines = [f"lab_{who}: CPU {cpu}, priority {prio}, {words}" for who, (cpu, prio, words) in self.threads.items()]
        lines += [f"before it: {line}" for line in self.first.splitlines() if line + "\n" != AGAIN]
        mine = []
        for time, name, cpu, said in self.events:
            if name == "sched_waking" and said["comm"][:4] == "lab_":
                mine.append((time, f"[{cpu:03}] {said['comm']} ({said['prio']}) is woken"))
            elif name == "sched_switch" and said["next_comm"][:4] == "lab_":
                mine.append((time, f"[{cpu:03}] switch to {said['next_comm']} ({said['next_prio']})"))
            elif name == "less":
                mine.append((time, f"lab_{said['who']} is made less important"))
        lines += [f"{time - mine[0][0]:8} us: {what}" for time, what in mine[:12]]
        heads = ("# tracer:", "# latency:", "#    | task:")
        shown = [line for line in self.shown.splitlines() if line.startswith(heads) or line[:1] not in ("#", "m")]
        return "\n".join(lines + [line for line in shown if not re.match(r" =>|.*<stack trace>", line)])

    def wait(self, limit=140, strangers=True):
        """The longest wait that counts: (us, pid). strangers: those count as well that are not the lab's threads."""
        prio, running, now, best = {}, {}, None, (0, 0)
        for time, name, cpu, said in self.events:
            if name == "less":  # nothing but that is done by p here
                prio[self.pids.get(said["who"])] = 140
            elif name == "sched_waking":
                pid, p = int(said["pid"]), int(said["prio"])
                prio[pid] = p
                waits = pid not in running.values() and (p < 100 or p < prio.get(running.get(cpu), 120))
                beats = not now or prio[now[0]] > now[1] or p < now[1]
                if p < limit and waits and beats and (strangers or said["comm"].startswith("lab_")):
                    now = (pid, p, time)
            else:
                pid = running[cpu] = int(said["next_pid"])
                if now and pid == now[0]:
                    if prio[pid] <= now[1]:
                        best = max(best, (time - now[2], pid))
                    now = None
                prio[pid], prio[int(said["prev_pid"])] = int(said["next_prio"]), int(said["prev_prio"])
        return best


AGAIN = "echo 0 > tracing_max_latency\n"


def measure(attempt, rounds, before="", **setup):
    """[Round] of rounds, in one guest: (threads, what to write to go or its lines, the lines before them)."""
    script = f"""cd {TRACING}
mkdir instances/lab
echo 1 > instances/lab/events/sched/sched_waking/enable
echo 1 > instances/lab/events/sched/sched_switch/enable
echo nofunction-trace > trace_options
echo wakeup > current_tracer
{before}
"""
    for threads, go, first in rounds:
        script += order(threads) + f"echo > instances/lab/trace\necho 1 > tracing_on\n{first}"
        script += go if "\n" in go else f"echo {go} > {LAB}/go\n"
        script += "echo 0 > tracing_on\nread most < tracing_max_latency\necho most: $most\ncat trace\n"
        script += f"echo {END}cat instances/lab/trace\necho {END}cat {LAB}/log\necho {END}"
    ran = attempt.guest(script, **setup)
    texts = ran.output.split(END)
    found = [Round(told, *texts[3 * at : 3 * at + 3]) for at, told in enumerate(rounds)]
    missing = ", ".join(dict.fromkeys(re.findall(r"lab (\w+: [^\n]*?) is yours to write", ran.console)))
    for one in found:
        attempt.true(
            "events sched_waking and sched_switch of the lab's threads, in another array than the tracer's",
            one.pids,
            f"none; not written: {missing}" if missing else "none: does the kernel switch tracepoints on?",
            one.evidence,
        )
    return found


def is_shown(attempt, one, us, pid):
    """The tracer shows this wait of this task, or none when it is not of our making."""
    evidence = one.evidence
    if us < NOISE:
        attempt.within("tracing_max_latency, when none of the lab's waits counts", 0, one.most, NOISE, evidence)
        return
    attempt.within("tracing_max_latency in us", us - SLACK, one.most, us + SLACK, evidence)
    attempt.within("latency in the trace's head", one.most - 1, one.latency, one.most + 1, evidence)
    attempt.same("pid of the task in the trace's head", pid, one.pid, evidence)
    attempt.same("wake-ups and switches in the trace", [("+", str(pid)), ("==>", str(pid))], one.records, evidence)


WAKER = 5


@check(
    "the longest wait is kept, with its task, from its wake-up to the switch",
    points=14,
    by_hand="echo wakeup > current_tracer; echo h > /sys/kernel/debug/lab/go; cat trace",
)
def longest(attempt):
    rng, rounds, best = attempt.rng, [], (0, 0)
    calls = rng.randrange(2, 6)
    delays = [rng.randrange(100, 200) + 150 * n for n in rng.sample(range(5), 5)]
    for delay in delays:
        who = rng.choice("abcd")
        threads = {"h": (0, WAKER, f"w{who} {delay}"), who: (0, rng.randrange(20, 90), "40")}
        rounds.append((threads, "h", "" if rounds else AGAIN))
    # Function entries while it waits, and no others.
    threads = {"h": (0, WAKER, "70 wa " + "60 " * calls), "a": (0, rng.randrange(20, 90), "50 50")}
    rounds.append((threads, "h", "echo function-trace > trace_options\n" + AGAIN))
    *begins, one = measure(attempt, rounds)
    for begin in begins:
        is_shown(attempt, begin, *(best := max(best, begin.wait())))
    is_shown(attempt, one, *one.wait())
    attempt.same("calls of lab_run while the task waits", calls, one.functions.count("lab_run"), one.evidence)


@check(
    "of several that wait the most important is followed; an equal or a less important one changes nothing",
    points=14,
    by_hand="echo 'h 0 5 wa 100 wb 200' > /sys/kernel/debug/lab/thread",
)
def overlap(attempt):
    rng, rounds = attempt.rng, []
    for prios in ((50, 50), (50, 70), (50, 30), (60, 60, 40, 40), None, None, None):
        prios = prios or [rng.choice((20, 30, 40, 50)) for _ in range(rng.randrange(3, 7))]
        shift = rng.randrange(10)
        names = rng.sample("abcdefg", len(prios))
        threads = {who: (0, prio + shift, str(rng.randrange(40, 90))) for who, prio in zip(names, prios)}
        # The first and longest gap tells a follower of the last from one of the first.
        gaps = [rng.randrange(200, 400)] + [rng.randrange(60, 150) for _ in prios[1:]]
        program = " ".join(f"w{who} {gap}" for who, gap in zip(names, gaps))
        rounds.append(({**threads, "h": (0, WAKER, program)}, "h", AGAIN))
    for one in measure(attempt, rounds):
        is_shown(attempt, one, *one.wait())


@check(
    "a fair task counts only if it is more important than its waker; wakeup_rt takes none, wakeup_dl no FIFO task either",
    points=8,
    by_hand="echo 'h 0 120 ( wa 400 )' > /sys/kernel/debug/lab/thread; the same with a of 125 and of 115",
)
def fair(attempt):
    rng = attempt.rng
    pairs = [
        (120, rng.randrange(121, 128)),
        (120, 120),
        (120, rng.randrange(106, 116)),
        (40, 120),
        (124, 121),
        (130, 50),
    ]
    rng.shuffle(pairs)
    rounds, limits = [], []
    for tracer, limit in (("wakeup", 140), ("wakeup_rt", 100), ("wakeup_dl", 0)):
        for waker, prio in pairs:
            threads = {"a": (0, prio, "50"), "h": (0, waker, f"( wa {rng.randrange(300, 500)} )")}
            rounds.append((threads, "h", f"echo {tracer} > current_tracer\n{AGAIN}"))
            limits.append(limit)
    for one, limit in zip(measure(attempt, rounds), limits):
        # A kernel thread that is woken just then says nothing about fair tasks, and is not there each time.
        if one.wait(limit) == one.wait(limit, strangers=False):
            is_shown(attempt, one, *one.wait(limit))


@check(
    "a wait begins with the decision to wake (sched_waking), not when the task is on its queue",
    points=8,
    by_hand="echo 300 > /sys/kernel/debug/lab/late",
)
def moment(attempt):
    rng = attempt.rng
    rounds = []
    for _ in range(3):
        threads = {"h": (0, WAKER, f"wa {rng.randrange(100, 300)}"), "a": (0, rng.randrange(20, 90), "50")}
        rounds.append((threads, "h", AGAIN))
    late = rng.randrange(150, 400)
    for one in measure(attempt, rounds, before=f"echo {late} > {LAB}/late"):
        us, pid = one.wait()
        attempt.true("a wake-up that was late", us > late, us, one.evidence)
        is_shown(attempt, one, us, pid)


@check(
    "what was made less important, was not recorded all the time, or lies on another CPU does not count",
    points=6,
    by_hand="echo 'h 0 5 wa 300 pa90 100' > /sys/kernel/debug/lab/thread",
)
def whole(attempt):
    rng = attempt.rng
    gap, last = rng.randrange(200, 400), rng.randrange(100, 180)
    less = {"a": (0, 40, "50"), "b": (0, 60, "50"), "h": (0, WAKER, f"wa {gap} pa90 {last}")}
    taken = {**less, "h": (0, WAKER, f"wa {gap} pa90 20 wb {last}")}
    long = rng.randrange(30, 40) * 1000
    other = {"d": (1, 40, "50"), "g": (1, WAKER, f"wd {long}")}
    wait = f"echo g > {LAB}/go &\nsleep 0.01\n"
    rounds = [
        (less, "h", AGAIN),
        (taken, "h", AGAIN),
        (other, wait + "echo 0 > tracing_on\necho 1 > tracing_on\nwait\n", AGAIN),
        (other, wait + "wait\n", "echo 1 > tracing_cpumask\n" + AGAIN),
        (other, wait + "wait\n", "echo 2 > tracing_cpumask\n" + AGAIN),
    ]
    *first, gone, without, there = measure(attempt, rounds, smp=2)
    for one in first:
        is_shown(attempt, one, *one.wait())
    for one, what in ((gone, "tracing_on was 0 for a moment"), (without, "CPU 1 is not traced")):
        attempt.within(f"tracing_max_latency in us, when {what}", 0, one.most, long // 2, one.evidence)
    attempt.within("the same when CPU 1 is traced", long, there.most, 3 * long, there.evidence)
    attempt.same("pid in the trace's head", there.pids["d"], there.pid)


# ---- Priority inheritance


class Thread:
    """One of the threads, in the scheduler below."""

    def __init__(self, who, prio, program):
        self.who, self.prio, self.words, self.at, self.left = who, prio, program.split(), 0, None
        self.state, self.wakes, self.runs, self.since = "idle", 0, 0, 0
        self.mutex, self.begin, self.signal, self.overtaken, self.until = None, None, False, False, 0


class Mutex:
    """Its owner, and who waits, in the order in which they came."""

    def __init__(self):
        self.owner, self.waiters, self.handoff = None, [], False


class Scheduler:
    """One CPU, FIFO threads, and mutexes whose owners inherit from those who wait (or not: inherit=False). run() gives
    the notes that the threads must make: [(thread, word, result, begin, end)], times in us."""

    def __init__(self, threads, inherit=True):
        self.threads = {who: Thread(who, prio, program) for who, (_, prio, program) in threads.items()}
        self.mutexes = [Mutex() for _ in range(8)]
        self.inherit, self.time, self.notes, self.turn = inherit, 0, [], 0

    def prio(self, thread):
        """The priority that it runs with."""
        waiters = [w for m in self.mutexes if m.owner is thread for w in m.waiters if w is not thread]
        inherited = [self.prio(w) for w in waiters] if self.inherit else []
        return min([thread.prio] + [prio for prio in inherited if prio < 100])

    def ready(self, thread):
        self.turn += 1
        thread.state, thread.since = "ready", self.turn

    def first(self, mutex):
        return min(mutex.waiters, key=lambda w: min(self.prio(w), 100)) if mutex.waiters else None

    def note(self, thread, word, result):
        begin = self.time if thread.begin is None else thread.begin
        self.notes.append((thread.who, word, result, begin, self.time))
        thread.begin = None

    def lock(self, thread, word, mutex):
        """False: it must wait."""
        if mutex.owner in (None, thread):
            mutex.owner, result = thread, 0
        elif word[0] == "t":
            result = 1
        elif word[0] == "i" and thread.signal:
            result, thread.signal = -4, False
        else:
            if thread.begin is None:
                thread.begin, thread.mutex, thread.overtaken = self.time, mutex, False
                mutex.waiters.append(thread)
            elif self.first(mutex) is thread:
                mutex.handoff = True
            thread.state = "blocked"
            return False
        if thread in mutex.waiters:
            if self.first(mutex) is thread:
                mutex.handoff = False
            mutex.waiters.remove(thread)
        thread.mutex = None
        self.note(thread, word, result)
        return True

    def unlock(self, mutex):
        first = self.first(mutex)
        mutex.owner = first if mutex.handoff else None
        if first and first.state == "blocked":
            self.ready(first)

    def word(self, thread, word):
        """Do it; False: it is not over yet."""
        what, arg = word[0], word[1:]
        other = self.threads.get(arg[:1])
        if what in "lit":
            return self.lock(thread, word, self.mutexes[int(arg)])
        if what == "u":
            self.unlock(self.mutexes[int(arg)])
        elif what == "w":
            other.wakes += 1
            if other.state == "idle":
                self.ready(other)
        elif what == "k":
            other.signal = True
            if other.state == "blocked" and other.words[other.at][0] == "i":
                self.ready(other)
        elif what == "p":
            other.prio = int(arg[1:])
        elif what == "?":
            self.note(thread, word, self.prio(other))
        elif what == "z":
            thread.state, thread.until = "asleep", self.time + int(arg)
        return True

    def step(self, thread, until):
        """What this thread does next, at most until this time."""
        if thread.at == len(thread.words):
            self.note(thread, "e0", self.prio(thread))
            thread.at, thread.signal, thread.runs = 0, False, thread.runs + 1
            if thread.runs == thread.wakes:
                thread.state = "idle"
            return
        word = thread.words[thread.at]
        if not word.isdigit():
            thread.at += self.word(thread, word)
            return
        thread.left = int(word) if thread.left is None else thread.left
        ran = min(thread.left, until - self.time)
        self.time, thread.left = self.time + ran, thread.left - ran
        if not thread.left:
            thread.at, thread.left = thread.at + 1, None

    def run(self, go):
        now = None
        for who in go.split():
            self.word(None, "w" + who)
        while True:
            sleepers = [t for t in self.threads.values() if t.state == "asleep"]
            for thread in sleepers:
                if thread.until <= self.time:
                    self.ready(thread)
            sleepers = [t.until for t in sleepers if t.state == "asleep"]
            ready = [t for t in self.threads.values() if t.state == "ready"]
            if ready:
                now = min(ready, key=lambda t: (self.prio(t), t is not now, t.since))
                self.step(now, min(sleepers, default=1 << 60))
            elif sleepers:
                self.time = min(sleepers)
            else:
                return self.notes


KINDS = "lit?e"  # whose notes are compared


def logged(text):
    """The notes of a go in the form of Scheduler.run(), times from the first one on."""
    notes = re.findall(r"^lab: (\w) (\S\S) (-?\d+) (\d+) (\d+)$", text, re.M)
    first = min((int(note[3]) for note in notes), default=0)
    return [(w, word, int(r), (int(b) - first) / 1000, (int(e) - first) / 1000) for w, word, r, b, e in notes]


def play(attempt, scenes, after=""):
    """[notes] of scenes (threads, go), one after the other in one guest."""
    script = "".join(
        order(threads) + f"echo {go} > {LAB}/go || echo not over\ncat {LAB}/log\necho {END}" for threads, go in scenes
    )
    return [logged(text) for text in attempt.guest(script + after).output.split(END)[: len(scenes)]]


def told(threads, seen):
    """What the threads were told, and what they noted: thread, word, result, begin and end."""
    lines = [f"lab_{who}: priority {prio}, {program}" for who, (_, prio, program) in threads.items()]
    return "\n".join(lines + ["%s %-3s %4d %9.1f %9.1f" % note for note in seen])


def is_played(attempt, scenes):
    """Each scene went as the scheduler of this file says."""
    for (threads, go), seen in zip(scenes, play(attempt, scenes)):
        expected = Scheduler(threads).run(go)
        evidence = told(threads, seen)
        for who in threads:
            mine = [note for note in expected if note[0] == who and note[1][0] in KINDS]
            its = [note for note in seen if note[0] == who and note[1][0] in KINDS]
            attempt.same(f"words and results of lab_{who}", [n[1:3] for n in mine], [n[1:3] for n in its], evidence)
            for one, other in zip(mine, its):
                for what, right, is_so in (
                    (f"us that lab_{who} takes for {one[1]}", one[4] - one[3], other[4] - other[3]),
                    (f"us at which lab_{who} has done {one[1]}", one[4], other[4]),
                ):
                    if what.startswith("us at") or one[1][0] in "lit":
                        slack = 120 + right // 30
                        attempt.within(what, right - slack, round(is_so), right + slack, evidence)


def inversion(rng, low=None):
    """Low has the mutex, high waits, middle runs."""
    prios = sorted(rng.sample(range(10, 95), 3))
    long, section = rng.randrange(3000, 6000), rng.randrange(300, 700)
    return {
        "a": (0, low or prios[2], f"l0 {rng.randrange(50, 200)} wc {section} wb {section} ?a u0 ?a 60"),
        "b": (0, prios[1], str(long)),
        "c": (0, prios[0], f"l0 {rng.randrange(50, 200)} ?a u0"),
    }


@check(
    "the owner runs with the priority of the most important task that waits, and not after its unlock",
    points=10,
    level="complete",
    by_hand="the three threads of the handout; cat /sys/kernel/debug/lab/log",
)
def inherits(attempt):
    is_played(attempt, [(inversion(attempt.rng, low), "a") for low in (None, None, 120 + attempt.rng.randrange(5))])


@check(
    "a chain of owners is followed to its end", points=10, level="complete", by_hand="docs/locking.md; the log's ?a, ?b"
)
def chain(attempt):
    rng, scenes = attempt.rng, []
    for depth in (2, 3, 3):
        prios = sorted(rng.sample(range(10, 95), depth + 3))
        names, runs = "abcd"[: depth + 1], [rng.randrange(80, 300) for _ in range(12)]
        # a has mutex 0, b has 1 and waits for 0, c has 2 and waits for 1, ...; the last is the most important, lab_g
        # the second one, and its long run comes when all wait.
        threads = {"g": (0, prios[1], f"{rng.randrange(3000, 6000)}")}
        looks = " ".join(f"?{who}" for who in names)
        for n, who in enumerate(names):
            takes = f"l{n} {runs[n]} l{n - 1} {runs[n + 4]} {looks} u{n - 1} u{n} ?{who}"
            if n == 0:
                wakes = " ".join(f"w{other} {runs[at + 8]}" for at, other in enumerate(names[1:]))
                takes = f"l0 {runs[0]} {wakes} wg 200 {looks} u0 ?a"
            elif n == depth:
                takes = f"l{n - 1} {runs[n]} {looks} u{n - 1}"
            threads[who] = (0, prios[0] if n == depth else prios[-1 - n], takes)
        scenes.append((threads, "a"))
    is_played(attempt, scenes)


@check(
    "several that wait, for one mutex and for two: none is forgotten, and the most important is the next owner",
    points=6,
    level="complete",
    by_hand="the log's ?a after each u",
)
def several(attempt):
    rng, scenes = attempt.rng, []
    for first, second in ((0, 1), (1, 0)):
        prios = sorted(rng.sample(range(10, 95), 4))
        high = {"d": (0, prios[0], "l1 90 u1"), "c": (0, prios[1], "l0 80 u0"), "b": (0, prios[2], "4000")}
        owner = f"l0 l1 {rng.randrange(50, 200)} wc 50 wd 50 wb 300 ?a u{first} ?a 400 u{second} ?a 30"
        scenes.append(({**high, "a": (0, prios[3], owner)}, "a"))
    prios = sorted(rng.sample(range(10, 95), 5))
    threads = {who: (0, prio, f"l0 {rng.randrange(100, 300)} u0 150") for who, prio in zip("edc", prios)}
    threads["b"] = (0, prios[3], "3000")
    threads["a"] = (0, prios[4], f"l0 {rng.randrange(50, 200)} wc 60 wd 60 we 60 wb 200 ?a u0 ?a")
    scenes.append((threads, "a"))
    is_played(attempt, scenes)


@check(
    "one that gives up waiting takes what was inherited from it along, from each owner of the chain",
    points=6,
    level="complete",
    by_hand="an i in place of the l, and a k from a third thread",
)
def gives_up(attempt):
    rng, scenes = attempt.rng, []
    for deep in (False, True):
        prios = sorted(rng.sample(range(10, 95), 5))
        early, late = rng.randrange(300, 500), rng.randrange(1200, 1800)
        threads = {
            "a": (0, prios[4], f"l0 {rng.randrange(50, 200)} {'we ' if deep else ''}wc wd z{late} ?a ?e 200 u0 ?a"),
            "b": (0, prios[2], f"{rng.randrange(4000, 6000)}"),
            "c": (0, prios[1], f"i{int(deep)} wb ?a ?e i7 u7"),
            "d": (0, prios[0], f"z{early} ?a ?e kc"),
            "e": (0, prios[3], "l1 30 l0 40 u0 u1 ?e" if deep else "10"),
        }
        scenes.append((threads, "a"))
    is_played(attempt, scenes)


@check(
    "a priority that is set meanwhile, of who has the mutex or of who waits, is right at once and afterwards",
    points=8,
    level="complete",
    by_hand="words p, of a thread that is more important than both",
)
def own(attempt):
    rng, scenes = attempt.rng, []
    for new_owner, new_waiter in (
        (rng.randrange(60, 75), rng.randrange(32, 45)),
        (rng.randrange(85, 95), rng.randrange(12, 20)),
        (rng.randrange(22, 27), rng.randrange(32, 45)),
    ):
        threads = {
            "a": (0, 80, f"l0 {rng.randrange(50, 200)} wc wd {rng.randrange(200, 500)} ?a u0 ?a 300"),
            "b": (0, 50, f"{rng.randrange(3000, 5000)}"),
            "c": (0, 30, "l0 80 u0 ?c"),
            "d": (0, 8, f"?a pa{new_owner} ?a pc{new_waiter} ?a ?c wb pa{new_owner + 1} ?a"),
        }
        scenes.append((threads, "a"))
    is_played(attempt, scenes)


def storm(rng):
    """Three that take mutexes, two that only run, and lab_h, the most important. Returns the threads, and the longest
    that lab_h may wait: until each of the others has ended one section."""
    while True:
        threads, most = {}, 0
        for who, prio in zip("abc", rng.sample(range(70, 95), 3)):
            words, longest_one = [], 0
            for _ in range(8):
                one, two = rng.randrange(80, 300), rng.randrange(80, 300)
                low, high = rng.choice(((0, 1), (1, 2), (0, 2)))
                words.append(f"z{rng.randrange(100, 1500)} l{low} {one} l{high} {two} u{high} {one} u{low}")
                longest_one = max(longest_one, 2 * one + two)
            threads[who], most = (0, prio, " ".join(words)), most + longest_one
        for who, prio in zip("de", rng.sample(range(40, 60), 2)):
            threads[who] = (
                0,
                prio,
                " ".join(f"z{rng.randrange(500, 2500)} {rng.randrange(4000, 7000)}" for _ in range(3)),
            )
        tries = (f"z{rng.randrange(700, 1800)} l{rng.randrange(3)} 20 u9" for _ in range(12))
        threads["h"] = (0, 10, " ".join(re.sub(r"l(\d) 20 u9", r"l\1 20 u\1", one) for one in tries))
        waits = [n[4] - n[3] for n in Scheduler(threads, inherit=False).run("a b c d e h") if n[0] + n[1][0] == "hl"]
        if sum(wait > most + 1000 for wait in waits) > 2:
            return threads, most


PAIR = {"aarch64": 46, "x86_64": 27}  # instructions, with the loop around it
INHERITED = 10  # us


@check(
    "a lock and unlock that nobody waits for costs no more than before, and in a storm no wait is longer than its owners",
    points=10,
    level="challenge",
    by_hand="a thread with c1000, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    many = 1000
    scene, (wild, most) = (inversion(attempt.rng), "a"), storm(attempt.rng)
    pair, wait, seen = play(attempt, [({"h": (0, WAKER, f"c{many}")}, "h"), scene, (wild, "a b c d e h")])
    right = next(n for n in Scheduler(scene[0]).run("a") if n[:2] == ("c", "l0"))
    its = next(n for n in wait if n[:2] == ("c", "l0"))
    more = its[4] - its[3] - (right[4] - right[3])
    waits = [note[4] - note[3] for note in seen if note[0] + note[1][0] == "hl"]
    attempt.same("locks that lab_h has taken", 12, len(waits))
    attempt.within("its longest wait in us", 0, max(waits), most + 100)
    one = next(n[4] - n[3] for n in pair if n[1][0] == "c") * 1000 / many
    attempt.true(
        f"instructions of a lock and unlock: at most {PAIR[attempt.arch]}", one <= PAIR[attempt.arch], f"{one:.1f}"
    )
    attempt.true(
        f"us that a wait is longer than its owner's run: at most {INHERITED}", more <= INHERITED, f"{more:.1f}"
    )
    attempt.figure("instructions that a wait is longer than its owner's run", round(more * 1000))
