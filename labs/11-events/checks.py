"""What lab events is graded by: a planted program moves bytes through pipes, and this file knows which pieces that makes;
a planted event has values that follow from a seed, and this file evaluates each filter for them itself."""

import re

from grading import check

TRACING = "/sys/kernel/tracing"
FIELDS = "/sys/kernel/debug/lab/fields"
FILTER = f"{TRACING}/events/lab_fields/lab_fields/filter"
MASK = (1 << 64) - 1
PIPE_SIZE, PIPE_BUF = 65536, 4096


class Lcg:
    """The random numbers of the planted programs."""

    def __init__(self, seed):
        self.number = seed

    def next(self):
        self.number = (self.number * 6364136223846793005 + 1442695040888963407) & MASK
        return self.number >> 33


# ---- Pipes

RECORD = re.compile(r": pipe_(read|write): ino=(\d+) bytes=(\d+) depth=(\d+)$", re.M)


def records(ran, ino):
    """Of the pipe `ino`: [(read or write, bytes, depth)]."""
    return [(what, int(n), int(depth)) for what, i, n, depth in RECORD.findall(ran.output) if int(i) == ino]


def pipes(attempt, command, events="pipe_read pipe_write", **setup):
    """lab_pipe with these events on: (the run, the pipe's inode, the bytes that went in)."""
    ran = attempt.guest(
        f"cd {TRACING}; echo 1000 > buffer_size_kb\n"
        f"for event in {events}; do echo 1 > events/pipe/$event/enable; done\n"
        f"lab_pipe {command}; echo 0 > tracing_on; cat trace",
        **setup,
    )
    ino, bytes_in = re.search(r"^lab: (\d+) (\d+)$", ran.output, re.M).groups()
    return ran, int(ino), int(bytes_in)


def model(seed, count):
    """What `lab_pipe steps` moves."""
    numbers, used, moved = Lcg(seed), 0, []
    for _ in range(count):
        what = numbers.next() % 16
        size = numbers.next() % 3000 if numbers.next() % 4 else numbers.next() % 100000
        room = PIPE_SIZE - used
        if what < 2:
            continue
        if what < 9:
            take = min(size, room) if size > PIPE_BUF or size <= room else 0
            used += take
        else:
            take = min(size, used)
            used -= take
        if take:
            moved.append(("write" if what < 9 else "read", take, used))
    return moved


WANTED_FIELDS = [
    ("unsigned long ino", 8, 8, 0),
    ("unsigned int bytes", 16, 4, 0),
    ("unsigned int depth", 20, 4, 0),
]


@check("the two events are there, with the fields of the handout", points=10, by_hand="cat events/pipe/*/format")
def layout(attempt):
    ran = attempt.guest(f"cd {TRACING}/events/pipe; cat pipe_read/format; echo ----; cat pipe_write/format")
    for text in ran.output.split("----"):
        found = re.findall(r"field:([^;]+);\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d);", text)
        mine = [(name, int(at), int(size), int(signed)) for name, at, size, signed in found if "common_" not in name]
        attempt.same("fields: declaration, offset, size, signed", WANTED_FIELDS, mine, text)


@check(
    "each piece that a read or a write moves is one record, with its bytes and what the pipe holds then",
    points=20,
    by_hand="lab_pipe steps 1 100, with events/pipe/enable",
)
def pieces(attempt):
    seed, count = attempt.rng.randrange(1, 1 << 30), attempt.rng.randrange(200, 400)
    ran, ino, bytes_in = pipes(attempt, f"steps {seed} {count}")
    wanted, seen = model(seed, count), records(ran, ino)
    attempt.same("bytes that went in", sum(n for what, n, _ in wanted if what == "write"), bytes_in)
    for number, (want, got) in enumerate(zip(wanted, seen), 1):
        attempt.same(f"record {number} of `lab_pipe steps {seed} {count}`", want, got)
    attempt.same("records", len(wanted), len(seen), ran.output[-600:])
    ran, ino, _ = pipes(attempt, f"steps {seed} {count}", events="pipe_read")
    attempt.same("with pipe_read alone", [one for one in wanted if one[0] == "read"], records(ran, ino))


@check(
    "two processes on two CPUs: the records are in the order in which the pipe changed",
    points=10,
    by_hand="lab_pipe stream 1 50, with events/pipe/enable",
)
def order(attempt):
    seed, count = attempt.rng.randrange(1, 1 << 30), attempt.rng.randrange(60, 120)
    ran, ino, bytes_in = pipes(attempt, f"stream {seed} {count}", smp=2)
    depth = 0
    seen = records(ran, ino)
    for number, (what, n, after) in enumerate(seen, 1):
        depth += n if what == "write" else -n
        attempt.same(f"depth of record {number}, a {what} of {n}", depth, after, f"{seen[max(0, number - 4):number]}")
    for what in ("write", "read"):
        attempt.same(f"bytes of all {what}s", bytes_in, sum(n for kind, n, _ in seen if kind == what))


# ---- Filters

KINDS = {name: (8 << (at // 2), at % 2 == 0) for at, name in enumerate("abcdefgh")}  # bits, signed
OPS = ("==", "!=", "<", "<=", ">", ">=", "&")
RECORDS, EXPRESSIONS = 48, 40


def number(value, name):
    """It as the field holds it."""
    bits, signed = KINDS[name]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def values(seed):
    """The records of `go SEED`: [{field: value}]."""
    numbers, result = Lcg(seed), []
    for _ in range(RECORDS):
        record = {}
        for name, (bits, _) in KINDS.items():
            small, kind = numbers.next() % 5, numbers.next() % 4
            value = (small, (1 << (bits - 1)) + small - 2, -small, None)[kind]
            if value is None:
                value = (numbers.next() << 32) ^ numbers.next()
            record[name] = number(value, name)
        result.append(record)
    return result


class Term:
    """A comparison. Its value may not fit the field: then its low bits count."""

    binds = 3

    def __init__(self, rng, some):
        self.name, self.op = rng.choice(list(KINDS)), rng.choice(OPS)
        bits, signed = KINDS[self.name]
        near = rng.choice(some)[self.name] + rng.choice((-1, 0, 0, 1))
        self.value = near if rng.random() < 0.8 else rng.randrange(1 << rng.randrange(1, 63))
        self.value = max(self.value, -(1 << (bits - 1)) if signed else 0)
        self.value = min(self.value, (1 << 63) - 1 if signed else MASK)
        self.base = rng.choice(("{}", "{}", "{:#x}")) if self.value >= 0 else "{}"
        self.blank = rng.choice(("", " "))

    def holds(self, record):
        left, right = record[self.name], number(self.value, self.name)
        if self.op == "&":
            return left & right != 0
        return {
            "==": left == right,
            "!=": left != right,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[self.op]

    def __str__(self):
        return f"{self.name}{self.blank}{self.op}{self.blank}{self.base.format(self.value)}"


class Tree:
    """&&, || or ! of others, written with no more parentheses than are needed, or some more."""

    def __init__(self, rng, some, depth):
        self.kind = rng.choice(("&&", "||", "&&", "||", "!"))
        self.parts = [tree(rng, some, depth - 1) for _ in range(1 if self.kind == "!" else rng.choice((2, 2, 3)))]
        self.binds = {"||": 0, "&&": 1, "!": 2}[self.kind]
        self.more = [rng.random() < 0.1 for _ in self.parts]

    def holds(self, record):
        results = [part.holds(record) for part in self.parts]
        return not results[0] if self.kind == "!" else all(results) if self.kind == "&&" else any(results)

    def __str__(self):
        texts = [
            f"({part})"
            if more or part.binds < self.binds or (part.binds == self.binds and self.kind != "!")
            else str(part)
            for part, more in zip(self.parts, self.more)
        ]
        return "!" + texts[0] if self.kind == "!" else f" {self.kind} ".join(texts)


def tree(rng, some, depth):
    return Tree(rng, some, depth) if depth and rng.random() < 0.85 else Term(rng, some)


def filters(attempt, make):
    """Each of EXPRESSIONS filters that make(records) makes lets pass what this file says."""
    seed = attempt.rng.randrange(1, 1 << 30)
    all_values = values(seed)
    expressions = [make(all_values) for _ in range(EXPRESSIONS)]
    script = [f"cd {TRACING}; echo 64 > buffer_size_kb; echo 1 > events/lab_fields/enable"]
    for one in expressions:
        script.append(
            f"echo > trace; echo '{one}' > {FILTER} || echo refused: '{one}'; echo go {seed} {RECORDS} > {FIELDS}\n"
            "echo ids: $(grep -o ' id=[0-9]*' trace | cut -d= -f2)"
        )
    ran = attempt.guest("\n".join(script))
    said = [line.split()[1:] for line in ran.lines if line.startswith("ids:")]
    attempt.same("answers", len(expressions), len(said), ran.output[-600:])
    for one, got in zip(expressions, said):
        want = [at for at, record in enumerate(all_values) if one.holds(record)]
        got = list(map(int, got))
        wrong = sorted(set(want) ^ set(got))
        shown = f"{wrong[0]}: {all_values[wrong[0]]}" if wrong else ""
        attempt.same(f"records that pass `{one}`", want, got, f"the first that differs is {shown}")


@check(
    "a filter of one term: each operator, each width, signed and not", points=20, by_hand=f"echo 'c < -1' > {FILTER}"
)
def compare(attempt):
    filters(attempt, lambda some: Term(attempt.rng, some))


@check(
    "filters of many terms: !, &&, || and parentheses bind as they should",
    points=20,
    level="complete",
    by_hand=f"echo '!(a == 1 || b == 2) && c > 3 || d == 4' > {FILTER}; cat events/lab_fields/lab_fields/filter",
)
def precedence(attempt):
    filters(attempt, lambda some: Tree(attempt.rng, some, 4))


# ---- Triggers


class Switches:
    """Triggers with counts on lab_enter and lab_leave, and what becomes of lab_step, which comes before them."""

    def __init__(self, rng):
        self.counts = {"disable": rng.randrange(2, 8), "enable": rng.randrange(1, 6)}
        self.counts |= {"traceoff": rng.randrange(1, 5), "stacktrace": rng.randrange(2, 9)}
        self.begun = dict(self.counts)
        # Before which steps the person at the prompt switches recording on.
        self.steps = [(step, rng.random() < 0.4) for step in range(1, rng.randrange(25, 40))]
        self.recorded, self.stacks = [], 0
        on = tracing = True
        for step, switched in self.steps:
            tracing |= switched
            if on and tracing:
                self.recorded.append(step)
            on = not self._changes("disable", on) and on
            tracing = not self._changes("traceoff", tracing) and tracing
            on = self._changes("enable", not on) or on
            if self._changes("stacktrace", True):
                self.stacks += tracing

    def _changes(self, name, would):
        """One of the count is used when it changes something."""
        if not would or not self.counts[name]:
            return False
        self.counts[name] -= 1
        return True

    def script(self):
        enter, leave = (f"{TRACING}/events/lab/lab_{name}/trigger" for name in ("enter", "leave"))
        lines = [
            f"cd {TRACING}; echo 200 > buffer_size_kb; echo 1 > events/lab/lab_step/enable",
            f"echo disable_event:lab:lab_step:{self.begun['disable']} > {enter}",
            f"echo traceoff:{self.begun['traceoff']} > {enter}",
            f"echo enable_event:lab:lab_step:{self.begun['enable']} > {leave}",
            f"echo stacktrace:{self.begun['stacktrace']} > {leave}",
        ]
        for step, switched in self.steps:
            lines.append(("echo 1 > tracing_on; " if switched else "") + f"echo {step} > /sys/kernel/debug/lab/step")
        return "\n".join([*lines, f"cat trace {enter} {leave}"])


@check(
    "a trigger's count: one is used when, and only when, the trigger changes something",
    points=10,
    level="complete",
    by_hand="echo traceoff:2 > events/lab/lab_step/trigger; cat events/lab/lab_step/trigger",
)
def counts(attempt):
    for _ in range(2):
        wanted = Switches(attempt.rng)
        ran = attempt.guest(wanted.script())
        seen = [int(step) for step in re.findall(r": lab_step: step=(\d+) ", ran.output)]
        attempt.same(f"steps recorded with {wanted.begun}", wanted.recorded, seen, ran.output[-800:])
        attempt.same("stacks", wanted.stacks, ran.output.count("<stack trace>"), ran.output[-800:])
        left = re.findall(r"^(disable|enable|traceoff|stacktrace)\S*:count=(\d+)$", ran.output, re.M)
        attempt.same("what is left", wanted.counts, {name: int(n) for name, n in left}, ran.output[-400:])


INSTRUCTIONS = 300


@check(
    f"a filter of 61 terms that the first one decides costs less than {INSTRUCTIONS} instructions a hit",
    points=10,
    level="challenge",
    by_hand=f"echo cost 5000 > {FIELDS}; cat {FIELDS}, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    hits = attempt.rng.randrange(5000, 9000)
    terms = [f"{attempt.rng.choice('efgh')} {attempt.rng.choice(('==', '>'))} {n + 1}" for n in range(60)]
    expression = f"a == {attempt.rng.randrange(1, 100)} && ({' || '.join(terms)}) && b == 0"
    ran = attempt.guest(
        f"cd {TRACING}; echo '{expression}' > {FILTER} && echo 1 > events/lab_fields/enable\n"
        f"echo cost {hits} > {FIELDS}; cat {FIELDS}; cat trace | grep -c 'lab_fields:'\n"
        f"echo '!({expression})' > {FILTER}; echo cost 3 > {FIELDS}; cat trace | grep -c 'lab_fields:'",
    )
    took, kept, inverted = map(int, ran.lines[-3:])
    attempt.same("records that pass, and that pass the inverted filter", (0, 3), (kept, inverted), ran.output)
    attempt.within("instructions", 20, took // hits, INSTRUCTIONS, ran.output)
    attempt.figure("instructions of a hit that a filter's first term decides", took // hits)
