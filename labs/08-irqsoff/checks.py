"""What lab irqsoff is graded by. plant/samples/lab_irqsoff.c switches interrupts and preemption as this file tells it,
and notes when; which section was the longest is computed here from these notes. How long the rest of the kernel keeps
interrupts off is seen by a timer of the plant, not by the tracer."""

import re

from grading import Lost, check

TRACING = "/sys/kernel/tracing"
LAB = "/sys/kernel/debug/lab"
IRQS, PREEMPT, EITHER = "irqsoff", "preemptoff", "preemptirqsoff"
PLACES = {
    **dict(zip("abyz", ("lab_off_a", "lab_off_b", "lab_on_y", "lab_on_z"))),
    **dict(zip("pP", ("lab_preempt_off", "lab_preempt_on"))),
}
SLACK = 12000  # instructions between a note and the tracer's look: two hooks, and records of what is called there


class Section:
    """What a section is known by: its length in ns, the letters that began and ended it, and the letters within."""

    def __init__(self, begin, start):
        self.begin, self.start, self.end, self.length, self.inside = begin, start, None, 0, ""


def sections(tracer, notes):
    """All sections of this kind, from the plant's notes: [(letter, time)]."""
    irqs, preempt, found, now = False, 0, [], None
    for letter, time in notes:
        if letter in "ab":
            irqs = True
        elif letter in "yz":
            irqs = False
        elif letter in "pP":
            preempt += 1 if letter == "p" else -1
        is_off = {IRQS: irqs, PREEMPT: preempt > 0, EITHER: irqs or preempt > 0}[tracer]
        if is_off and not now:
            now = Section(letter, time)
        elif now:
            now.inside += letter
            if not is_off:
                now.end, now.length = letter, time - now.start
                found.append(now)
                now = None
    return found


class Shown:
    """The head and the records of a latency tracer's trace, and tracing_max_latency, in text between two marks."""

    def __init__(self, text):
        def find(pattern, default=None):
            match = re.search(pattern, text, re.M)
            return match.group(1) if match else default

        self.text = text
        self.latency = int(find(r"^# latency: (\d+) us", 0))
        self.most = int(find(r"^most: (\d+)$", -1))
        self.cpu = find(r"^# latency: .*CPU#(\d+) ")
        self.pid = find(r"\| task: .*-(\d+) \(uid")
        self.places = (find(r"^#  => started at: (\w+)$"), find(r"^#  => ended at:   (\w+)$"))
        self.functions = re.findall(r"^ *\S.*?: (\w+) <-\w+$", text, re.M)

    @property
    def head(self):
        return "\n".join(line for line in self.text.splitlines() if line.startswith("#") and ":" in line)[:900]


def do(letters):
    """A line of shell: a task of its own does these letters, and its pid and the notes are shown."""
    return f"echo {letters} > {LAB}/section &\necho pid: $!\nwait $!\ncat {LAB}/section\n"


MOST_OF_ALL = "echo most: $(cat tracing_max_latency)\n"
SHOW = MOST_OF_ALL + "cat trace\necho ======\n"
# Where other records are not looked at: in a wrong kernel there may be very many.
HEAD = MOST_OF_ALL + "head -n 20 trace\necho ======\n"
MARKS = MOST_OF_ALL + "grep -E '^#|: lab_mark' trace\necho ======\n"


def select(tracer):
    """Lines of shell: this tracer is selected, and the longest section forgotten."""
    return f"echo {tracer} > current_tracer\necho 0 > tracing_max_latency\n"


def run(attempt, tracer, script, **setup):
    """The output of a script that begins with this tracer selected, and the longest being forgotten."""
    return attempt.guest(f"cd {TRACING}\n{select(tracer)}{script}", **setup).output


def notes_of(text):
    return [(letter, int(time)) for letter, time in re.findall(r"^(\w) (\d+)$", text, re.M)]


def is_shown(attempt, shown, section, pid, slack=SLACK):
    """The trace shows this section of this task."""
    low, high = section.length // 1000, (section.length + slack) // 1000 + 1
    attempt.within("tracing_max_latency in us", low, shown.most, high, shown.head)
    attempt.within("latency in us", low, shown.latency, high, shown.head)
    attempt.same("from where to where", (PLACES[section.begin], PLACES[section.end]), shown.places, shown.head)
    attempt.same("whose", pid, shown.pid, shown.head)


def walk(rng, tracer, steps, known):
    """Letters that switch at random, one section of this kind among them that is longer than the others by 100 us, by
    as much longer or shorter than the `known` longest ones, and longer than anything that the kernel does itself."""
    while True:
        letters, irqs, depth = "", False, 0
        for _ in range(steps):
            choice = rng.choice("ipPm")
            if choice == "i":
                letters += rng.choice("yz" if irqs else "ab")
                irqs = not irqs
            elif choice == "p" and depth < 3:
                letters, depth = letters + "p", depth + 1
            elif choice == "P" and depth:
                letters, depth = letters + "P", depth - 1
            elif choice == "m":
                letters += "m" * rng.randrange(1, 4)
            letters += str(rng.randrange(1, 9)) if rng.random() < 0.7 else ""
        letters += rng.choice("yz") * irqs + "P" * depth
        time, notes = 0, []
        for letter in letters:
            time += 100 * int(letter) if letter.isdigit() else 1
            notes += [] if letter.isdigit() else [(letter, time)]
        *others, most = sorted(section.length // 100 for section in sections(tracer, notes)) or [0]
        if len(others) > 1 and most > others[-1] and 4 <= most < 60 and most not in known:
            known.add(most)
            return letters


def longest(attempt, tracer, walks):
    """Several tasks switch at random; after each of them the longest of all until then is shown."""
    known = set()
    script = "".join(do(walk(attempt.rng, tracer, attempt.rng.randrange(9, 16), known)) + HEAD for _ in range(walks))
    output = run(attempt, tracer, script)
    best, whose = None, None
    for text in output.split("======\n")[:walks]:
        pid = re.search(r"^pid: (\d+)$", text, re.M).group(1)
        for section in sections(tracer, notes_of(text)):
            if not best or section.length > best.length:
                best, whose = section, pid
        is_shown(attempt, Shown(text), best, whose)


@check(
    "irqsoff: the longest section with interrupts off", points=10, by_hand="irqhog 500; cat tracing_max_latency trace"
)
def irqs(attempt):
    longest(attempt, IRQS, 4)


@check("preemptoff: the same of preemption", points=10, by_hand="preempthog 500; cat tracing_max_latency trace")
def preempt(attempt):
    longest(attempt, PREEMPT, 4)


@check(
    "the longest one is kept with all its records, and no other's, whatever comes afterwards, on each CPU",
    points=10,
    by_hand="irqhog 500; irqhog 100; cat trace: what is between the first line and the last",
)
def kept(attempt):
    rng = attempt.rng
    marks = rng.sample(range(3, 25), 4)
    length = rng.randrange(6, 9)
    short = [f"a{rng.randrange(1, 5)}{'m' * n}{rng.randrange(1, 9) % 2}y" for n in marks]
    long = f"b{'m' * marks[2]}{length}{'m' * marks[3]}1z"
    output = run(
        attempt,
        IRQS,
        do(short[0])
        + do("m2am" + short[1])
        + do(f"mm{long}mm")
        + do(short[2])
        + "ls -l / /bin > /dev/null\n"
        + do(short[0])
        + SHOW,
    )
    shown = Shown(output)
    attempt.same("records of lab_mark", marks[2] + marks[3], shown.functions.count("lab_mark"), shown.text[-900:])
    ends = ("trace_hardirqs_off", ["trace_hardirqs_on", "tracer_hardirqs_on"])
    attempt.same("first and last records", ends, (shown.functions[0], shown.functions[-2:]), shown.text[-900:])
    # Two CPUs at once, the longer section now on the one, now on the other. A turn of the other CPU is a millisecond.
    script = ""
    for cpu in (0, 1):
        script += select(IRQS) + "".join(
            f'taskset {1 << one} sh -c "echo {"a" + "9" * (n // 9) + "m" * marks[one] + "y"} > {LAB}/section" &\n'
            for one, n in ((cpu, 180), (1 - cpu, 45))
        )
        script += "wait\n" + SHOW
    *texts, _ = run(attempt, IRQS, script, smp=2).split("======\n")
    attempt.same("traces", 2, len(texts))
    for cpu, text in enumerate(texts):
        shown = Shown(text)
        attempt.same("on which CPU", str(cpu), shown.cpu, shown.head)
        attempt.within("latency in us", 18000, shown.latency, 45000, shown.head)
        attempt.same("records of lab_mark", marks[cpu], shown.functions.count("lab_mark"), shown.text[-900:])


MOST = 150000  # instructions, and a period of the timer is not seen


def late(attempt, words, after="true"):
    """The lines of lab_irqsoff, and the longest time with interrupts off that was seen. Without messages on the
    console: a serial port may have to wait for the host, which is not the kernel's doing. A complaint of the kernel is
    shown afterwards, so that Attempt.guest() sees it."""
    seed = attempt.rng.randrange(1 << 30)
    show = r"dmesg | grep -E '^\[[^]]*\] (BUG|WARNING)'"
    ran = attempt.guest(f"lab_irqsoff {words} {seed} || exit; {show}; {after}", mem="1G", append="loglevel=0")
    lines = [line.split()[1:] for line in ran.lines if line.startswith("lab: ")]
    receipt, most, looked = map(int, lines[-1])
    ends = (seed * 6364136223846793005 + 1442695040888963407) % 2**64 >> 33
    attempt.same("number that the program ends with", ends, receipt, ran.output[-300:])
    attempt.true("a timer that went off", looked > 1, lines[-1], ran.output[-300:])
    return ran, lines, most


@check("a signal to many processes does not hold up interrupts", points=10, by_hand="lab_irqsoff group 800")
def group(attempt):
    number = attempt.rng.randrange(700, 900)
    _, lines, most = late(attempt, f"group {number}")
    attempt.same("processes that got the signal", [str(number)], lines[0])
    attempt.within("instructions with interrupts off", 0, most, MOST)


@check("nor does a large allocation", points=10, by_hand="lab_irqsoff shared 200000")
def shared(attempt):
    _, lines, most = late(attempt, f"shared {attempt.rng.randrange(180000, 230000)}")
    attempt.same("sum of new memory", ["0"], lines[0])
    attempt.within("instructions with interrupts off", 0, most, MOST)


@check("nor do messages", points=10, by_hand="lab_irqsoff tasks 30")
def tasks(attempt):
    ran, lines, most = late(attempt, f"tasks {attempt.rng.randrange(25, 40)}", "dmesg | grep task:lab")
    told = re.findall(r"task:lab_irqsoff +state:. pid:(\d+) ", ran.output)
    shown = sorted(pid for pid in told if pid in lines[0])  # their parent has the same name
    attempt.same("children that were shown, each once", sorted(lines[0]), shown)
    attempt.within("instructions with interrupts off", 0, most, MOST)


@check(
    "preemptirqsoff: what begins with the one and ends with the other is one section",
    points=10,
    level="complete",
    by_hand="irqhog -p 600; irqhog -q 600; cat trace",
)
def nesting(attempt):
    longest(attempt, EITHER, 5)
    kinds = [
        (tracer, part, kind, attempt.rng.randrange(300, 600) * 3)
        for tracer, part in ((IRQS, 2), (PREEMPT, 2), (EITHER, 3))
        for kind in ("irqs_preempt_off", "preempt_irqs_off")
    ]
    script = "".join(
        f"{select(tracer)}echo {us} > /sys/kernel/debug/latency/{kind}\n{HEAD}" for tracer, _, kind, us in kinds
    )
    *texts, _ = run(attempt, EITHER, script).split("======\n")
    attempt.same("traces", len(kinds), len(texts))
    for (tracer, part, kind, us), text in zip(kinds, texts):
        shown = Shown(text)
        attempt.within(f"{tracer} of {kind}, {us} us", us // 3 * part, shown.most, us // 3 * part + 30, shown.head)


@check(
    "tracing_thresh, and a number that is written to tracing_max_latency",
    points=10,
    level="complete",
    by_hand="echo 300 > tracing_thresh; irqhog 600; irqhog 400; cat trace",
)
def thresh(attempt):
    rng = attempt.rng
    # Beyond the threshold each one is taken, also a shorter one; below it none, also a longer one than before.
    lengths = [8, *rng.sample([5, 6, 7], 3)]
    script = "echo 450 > tracing_thresh\n" + "".join(
        do(f"{rng.choice('ab')}{n}{rng.choice('yz')}") + SHOW + do(f"a{rng.randrange(1, 4)}y") + SHOW for n in lengths
    )
    texts = run(attempt, IRQS, script).split("======\n")
    for first, second in zip(texts[0:8:2], texts[1:8:2]):
        section = sections(IRQS, notes_of(first))[0]
        pid = re.search(r"^pid: (\d+)$", first, re.M).group(1)
        is_shown(attempt, Shown(first), section, pid)
        is_shown(attempt, Shown(second), section, pid)
    # A number that is to be beaten. What was kept before it was written stays: a tick may have come.
    script = (
        "echo 500 > tracing_max_latency\n"
        + SHOW
        + do("a4y")
        + SHOW
        + do("b7z")
        + SHOW
        + "echo 0 > tracing_max_latency\n"
        + do("b3z")
    )
    texts = run(attempt, IRQS, script + SHOW).split("======\n")
    before, after = Shown(texts[0]), Shown(texts[1])
    attempt.within("latency in us before anything was switched", 0, before.latency, 100, before.head)
    attempt.same("latency that is less than was written", (500, before.latency), (after.most, after.latency), after.head)
    for text in texts[2:4]:
        section = sections(IRQS, notes_of(text))[0]
        is_shown(attempt, Shown(text), section, re.search(r"^pid: (\d+)$", text, re.M).group(1))


@check(
    "only a section that was recorded as a whole is taken, and a reader goes on reading the one that it has begun",
    points=10,
    level="complete",
    by_hand="exec 3< trace; read line <&3; irqhog 900; cat <&3",
)
def whole(attempt):
    rng = attempt.rng
    off = [
        f"a{rng.randrange(3, 9)}tT{rng.randrange(3, 9)}y",
        f"b3t{rng.randrange(4, 9)}z",
        f"t4aT{rng.randrange(5, 9)}y",
        "ta9yT",
    ]
    rng.shuffle(off)
    # More than a page of text, so that the reader comes back for the rest.
    marks = rng.randrange(100, 130)
    good, longer = f"a{rng.choice('23')}{'m' * marks}{'1' * rng.randrange(3)}y", "b9mm5z"
    script = "".join(do(letters) + "echo 1 > tracing_on\n" for letters in off[:2]) + do(good)
    script += "".join(do(letters) + "echo 1 > tracing_on\n" for letters in off[2:]) + SHOW
    # A reader that has begun, and a longer section, twice: what it reads is not written to.
    script += (
        "exec 3< trace\nread line <&3\n"
        + 2 * do(longer)
        + do(longer.replace("5", "8"))
        + "cat <&3\necho ======\n"
        + SHOW
    )
    texts = run(attempt, IRQS, script).split("======\n")
    wanted = [section for section in sections(IRQS, notes_of(texts[0])) if section.inside.startswith("m")][0]
    shown = Shown(texts[0])
    attempt.within(
        "tracing_max_latency in us", wanted.length // 1000, shown.most, wanted.length // 1000 + 13, shown.head
    )
    attempt.same(
        "latency, and records of lab_mark", (shown.latency, marks), (shown.most, shown.functions.count("lab_mark"))
    )
    reader = Shown(texts[1])
    attempt.same("latency that the reader is shown", shown.latency, reader.latency, reader.head)
    attempt.same("records of lab_mark that it reads", marks, reader.functions.count("lab_mark"), reader.text[-900:])
    last = Shown(texts[2])
    attempt.within("latency of the last", 1700, last.latency, 1713, last.head)
    attempt.same("records of lab_mark", 2, last.functions.count("lab_mark"), last.text[-900:])


INSTRUCTIONS = 300


@check(
    f"a section that is not the longest costs less than {INSTRUCTIONS} instructions",
    points=10,
    level="challenge",
    by_hand="cat /sys/kernel/debug/latency/hook_cost, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    show = "cat /sys/kernel/debug/latency/hook_cost\n"
    output = run(attempt, IRQS, do("a7mmmy") + show + MARKS + do("b9mz") + MARKS + f"echo nop > current_tracer\n{show}")
    on, off = map(int, re.findall(r"^interrupts off and on (\d+) ns$", output, re.M))
    for text, marks in zip(output.split("======\n"), (3, 1)):
        attempt.within("latency", 700, Shown(text).latency, 920, Shown(text).head)
        attempt.same("records of lab_mark", marks, Shown(text).functions.count("lab_mark"), text[-900:])
    if off >= on:
        raise Lost("a pair that costs more with the tracer", f"{on}, and {off} without it")
    attempt.true(f"less than {INSTRUCTIONS}", on - off < INSTRUCTIONS, on - off)
    attempt.figure("instructions that a pair of off and on costs more", on - off)
