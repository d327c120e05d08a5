"""What lab race is graded by. The answers are about the run of labs/13-race/run.sh on the kernel with the driver that was
handed out: it is built, recorded and replayed here a second time, and what was lost is taken from the memory of the
replayed guest and from its registers. The driver that a student has mended is graded by other runs: how many interrupts
were due is known from the clock."""

import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading

from grading import MACHINES, Lost, check
from catalogue import LabError, tomllib

ANSWERS = "labs/13-race/answers.toml"
# Stops at each instruction of rtc_read() that clears `pending`, and until the first update is lost at each interrupt.
REPLAY = r"""
python
import json, re, gdb
from vt import kernel
def text(command):
    return gdb.execute(command, to_string=True)
def value(expression):
    return int(gdb.parse_and_eval(expression))
def stop_at(place):
    text("hbreak *" + place)
    return value("(long)" + place)
stop_at("start_kernel")
text("continue")
text("delete")
offset = value("(long)&rtc_dev.pending - (long)&rtc_dev")
clears = [line for line in text("disassemble rtc_read").splitlines()
          if re.search(r"str\s+xzr, \[x\d+, #%d\]$|movq\s+\$0x0,.*<rtc_dev\+%d>" % (offset, offset), line)]
assert len(clears) == 1, clears
end, clear = stop_at("sys_reboot"), stop_at(re.search("0x[0-9a-f]+", clears[0])[0])
interrupt = stop_at("rtc_interrupt")
lost, came, place = [], 0, None
while True:
    text("continue")
    pc = value("(long)$pc")
    if pc == interrupt:
        regs = kernel.per_cpu("'irqdesc.c'::irq_regs", 0)
        came = int(regs["pc" if "pc" in [field.name for field in regs.type.target().fields()] else "rip"])
    elif pc == clear and value("n") != value("rtc_dev.pending"):
        if not lost:
            name, _, more = text("info symbol %d" % came).partition(" in section")[0].partition(" + ")
            place = [name, int(more or 0)]
            text("clear *rtc_interrupt")
        lost.append([value("n"), value("rtc_dev.pending"), value("rtc_dev.fired")])
    elif pc == end:
        break
print("found " + json.dumps({"lost": lost, "place": place}))
end
"""


class Truth:
    """What happened in the recorded run: due, lost, inside (numbers), first (value read, value overwritten, number of the
    interrupt), place (function, offset), last (number of the interrupt)."""

    known = {}  # by the kernel and the files of the guest, and the seed: rows of `tools/lab check` share it
    making = threading.Lock()  # both machines' kernels are built in one tree

    def __init__(self, top, arch, seed):
        said = self.replayed(top, arch, seed)
        found = json.loads(re.search(r"^found (.*)$", said, re.M)[1])
        due, returned = re.search(r"^race: .* interrupts (\d+) returned (\d+) ", said, re.M).groups()
        self.due, self.lost = int(due), int(due) - int(returned)
        self.inside = sum(1 for line in said.splitlines() if line.rstrip().endswith("|    rtc_interrupt();"))
        if not found["lost"]:
            raise LabError(f"lab race: with seed {seed} no update is lost on {arch}: this student needs another seed")
        self.first, self.place = tuple(found["lost"][0]), tuple(found["place"])
        self.last = found["lost"][-1][2]
        if sum(there - n for n, there, _ in found["lost"]) != self.lost:
            raise LabError(f"the recorded run has lost {self.lost}, the replayed one {found['lost']}")

    @staticmethod
    def replayed(top, arch, seed):
        """What the recording and gdb print."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.gdb")
            with open(script, "w", encoding="utf-8") as file:
                file.write(REPLAY)
            done = subprocess.run(
                ["labs/13-race/replay", arch, str(seed), "--gdb-arg=-batch", "--gdb-arg=-x", f"--gdb-arg={script}"],
                cwd=top,
                env={**os.environ, "GDB_PORT": os.path.join(folder, "stub")},  # several may replay at a time
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
        if "\nfound " not in done.stdout:
            raise LabError(f"lab race: the run cannot be replayed on {arch}:\n{done.stdout[-2000:]}")
        return done.stdout

    @classmethod
    def of(cls, attempt):
        """The one of this attempt."""
        with cls.making:
            return cls._of(attempt)

    @classmethod
    def _of(cls, attempt):
        if "truth" not in attempt.data:
            given = attempt.workshop.as_given(attempt.lab)
            wrong = given.build(MACHINES[attempt.arch].goal)
            if wrong:
                raise LabError(f"lab race: what was handed out does not build:\n{wrong}")
            key = hashlib.sha256(str(attempt.seed).encode())
            for name in (MACHINES[attempt.arch].kernel, "initramfs.cpio"):
                with open(os.path.join(given.top, "build", attempt.arch, name), "rb") as file:
                    key.update(hashlib.sha256(file.read()).digest())
            if key.digest() not in cls.known:
                cls.known[key.digest()] = cls(given.top, attempt.arch, attempt.seed)
            attempt.data["truth"] = cls.known[key.digest()]
        return attempt.data["truth"]


def answer(attempt, question, form):
    """The words of an answer; Lost when it has another form than this example."""
    try:
        with open(os.path.join(attempt.top, ANSWERS), "rb") as file:
            said = str(tomllib.load(file)[attempt.arch][question])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise Lost(f"an answer to `{question}` in {ANSWERS}", f"none ({error})") from error
    if "+" in form and "+" not in said:
        said = said.strip() + "+0"  # as gdb shows a function's first instruction
    words = {"a": r"([a-zA-Z_][\w.]*)", "0": r"(0x[0-9a-f]+|\d+)"}  # gcc names a part of a function copy.part.0
    pattern = re.sub(r"[a-z]\w*|\d+", lambda word: words["0" if word[0].isdigit() else "a"], re.escape(form))
    found = re.fullmatch(rf"\s*{pattern}\s*", said)
    if not found:
        raise Lost(f"an answer to `{question}` of the form '{form}'", f"'{said}'")
    return tuple(int(word, 0) if word[0].isdigit() else word for word in found.groups())


def is_right(attempt, question, form, truth):
    """The right answer is not shown: it is the student's to find. truth: the words, from a Truth."""
    said = answer(attempt, question, form)
    right = said == truth(Truth.of(attempt))
    attempt.true(f"the right answer to `{question}`", right, " ".join(map(str, said)))


@check(
    "lost: how many interrupts were due, and how many of them no read has returned",
    points=10,
    by_hand="labs/13-race/replay aarch64 SEED",
)
def lost(attempt):
    is_right(attempt, "lost", "345 12", lambda truth: (truth.due, truth.lost))


@check("inside: how many interrupts came within rtc_read()", points=10, by_hand="the trace of the recorded run")
def inside(attempt):
    is_right(attempt, "inside", "12", lambda truth: (truth.inside,))


@check(
    "values: what the first lost update has read and overwritten, and in which interrupt",
    points=10,
    by_hand="hbreak at the line that clears it, if rtc_dev.pending != n",
)
def values(attempt):
    is_right(attempt, "values", "1 2 34", lambda truth: truth.first)


@check("where: the instruction at which that interrupt came", points=10, by_hand="hbreak rtc_interrupt if ...")
def where(attempt):
    is_right(attempt, "where", "rtc_read+12", lambda truth: truth.place)


RUNS = 3


def receipt(seed):
    """What lab_race prints when it comes to its end. A driver that prints lines for it, and ends it, has to know this."""
    state = seed * 1000003 + 13
    for _ in range(6):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return str(state >> 33)


def load(attempt, what, before="", after="", **setup):
    """lab_race several times in one guest: as many interrupts were returned as were due, and reads are counted rightly."""
    seeds = [attempt.rng.randrange(1, 1 << 30) for _ in range(RUNS)]
    work = "".join(f"lab_race {what} {seed} || exit\ncat /proc/driver/rtc\n" for seed in seeds)
    ran = attempt.guest(f"{before}\n{work}{after}", **setup)
    said = re.findall(r"^race: rate \d+ reads (\d+) interrupts (\d+) returned (\d+) ", ran.output, re.M)
    counted = re.findall(r"^reads: (\d+)$", ran.output, re.M)
    ended = re.findall(r"^race: receipt (\d+)$", ran.output, re.M)[-RUNS:]
    attempt.same(
        "runs of lab_race to their end", (RUNS, list(map(receipt, seeds))), (len(said), ended), ran.output[-900:]
    )
    attempt.same(
        "interrupts that were due", [due for _, due, _ in said], [got for _, _, got in said], ran.output[-900:]
    )
    attempt.same("reads in /proc/driver/rtc", [reads for reads, _, _ in said], counted, ran.output[-900:])
    return ran


@check("no interrupt is lost, with one process that reads", points=20, by_hand="lab_race one SEED")
def one(attempt):
    load(attempt, "one")


@check(
    "last: in which interrupt the last update was lost",
    points=8,
    level="complete",
    by_hand="watch rtc_dev.pending; reverse-continue",
)
def last(attempt):
    is_right(attempt, "last", "345", lambda truth: (truth.last,))


TURN = 20  # us that a CPU runs before the other one does


@check(
    "two processes on two CPUs: each interrupt is returned to one of them",
    points=8,
    level="complete",
    by_hand="lab_race two SEED, with SMP=2",
)
def two(attempt):
    load(attempt, "one", smp=2, turn=TURN)
    load(attempt, "two", smp=2, turn=TURN)


@check("a read that fails takes nothing away", points=6, level="complete", by_hand="lab_race bad SEED")
def bad(attempt):
    load(attempt, "bad")


MOST = 30  # us


@check(
    f"interrupts are off for less than {MOST} us, whatever page a read is to",
    points=8,
    level="complete",
    by_hand="echo irqsoff > current_tracer; lab_race fresh SEED; cat tracing_max_latency",
)
def fresh(attempt):
    tracing = "/sys/kernel/tracing"
    begin = f"echo irqsoff > {tracing}/current_tracer\necho 0 > {tracing}/tracing_max_latency"
    end = f"read longest < {tracing}/tracing_max_latency; echo longest: $longest; cat {tracing}/trace"
    ran = load(attempt, "fresh", begin, end)
    longest = int(re.search(r"^longest: (\d+)$", ran.output, re.M)[1])
    attempt.within("longest section with interrupts off, in us", 0, longest, MOST, ran.output[-900:])


INSTRUCTIONS = 90


@check(
    f"a read costs less than {INSTRUCTIONS} instructions over one of /dev/null",
    points=10,
    level="challenge",
    by_hand="lab_race cost SEED, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    seed = attempt.rng.randrange(1 << 20)
    ran = load(attempt, "one", f"lab_race cost {seed}")
    with_rtc, null, ended = re.search(r"^race: read (\d+) null (\d+)\nrace: receipt (\d+)$", ran.output, re.M).groups()
    with_rtc, null = int(with_rtc), int(null)
    attempt.same("the end of lab_race cost", receipt(seed), ended, ran.output[-900:])
    attempt.true(f"less than {INSTRUCTIONS}", 0 < with_rtc - null < INSTRUCTIONS, with_rtc - null)
    attempt.figure("instructions of a read of /dev/rtc", with_rtc - null)
