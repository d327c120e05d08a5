"""What lab ring is graded by: the tree's own unit tests, run on this host with the student's code in them, and in a guest a
writer that keeps its own account. What N random steps must leave in a buffer, this file computes a second time (Ring)."""

from grading import check

TRACING = "/sys/kernel/tracing"
RING = "/sys/kernel/debug/lab/ring"
MASK = (1 << 64) - 1
ROOM = 1020  # words of data in a page
LONGEST = 4072
STEPS = 600


class Page:
    """A page by its number: what was claimed on it, in order."""

    def __init__(self, stamp, first=0):
        self.stamp = self.last = stamp
        self.first = first  # number of its first record
        self.words, self.full = 0, False
        self.events = []  # [id, time, words of its own, delta]; id None: padding
        self.published = 0  # of events

    @property
    def live(self):
        return sum(event[0] is not None for event in self.events)


class Ring:
    """What docs/ring-buffer.md says that a ring does, for one CPU whose writers nest without a race."""

    def __init__(self, pages, overwrite):
        self.nr, self.overwrite = pages, overwrite
        self.pages = [Page(0)]
        self.commit = self.head = self.depth = 0
        self.reader, self.at = None, 0  # the reader's page, and the event there
        self.overrun = self.commit_overrun = self.dropped = self.read = self.lost = self.next = 0

    def reserve(self, number, length, time):
        """(page, event), or None when it is refused."""
        words = (max(length, 1) + 3) // 4 + 1 + (length > 112)
        while True:
            page = self.pages[-1]
            stamp = max(time, page.last)
            delta = stamp - page.last
            more = 2 if delta >> 27 else 0
            if not page.full and page.words + words + more <= ROOM and stamp - page.stamp < 1 << 42:
                page.words += words + more
                page.last = stamp
                page.events.append([number, stamp, words, 0 if more else delta])
                self.depth += 1
                return page, page.events[-1]
            page.full = True
            if not self._next(page, time):
                return None

    def _next(self, page, time):
        seq = len(self.pages)
        if seq - self.commit >= self.nr:
            self.commit_overrun += 1
            return False
        if seq - self.head >= self.nr:
            if not self.overwrite:
                self.dropped += 1
                return False
            self.overrun += self.pages[self.head].live
            self.head += 1
        self.pages.append(Page(max(time, page.last)))
        return True

    def close(self, claim, discard):
        page, event = claim
        if discard and page.events[-1] is event and not page.full:
            page.events.pop()
            page.words -= event[2]
            page.last -= event[3]
        elif discard:
            event[0] = None
        self.depth -= 1
        if self.depth:
            return
        for seq in range(self.commit, len(self.pages)):
            self.pages[seq].published = len(self.pages[seq].events)
            if seq + 1 < len(self.pages):
                self.pages[seq + 1].first = self.pages[seq].first + self.pages[seq].live
        self.commit = len(self.pages) - 1

    def consume(self):
        """(id, time, records lost before it) of the oldest one, or None."""
        while True:
            if self.reader is not None:
                page = self.pages[self.reader]
                while self.at < page.published:
                    event = page.events[self.at]
                    self.at += 1
                    if event[0] is not None:
                        lost, self.lost = self.lost, 0
                        self.read += 1
                        self.next += 1
                        return event[0], event[1], lost
                if self.reader >= self.commit:
                    return None
            if self.head > self.commit:
                return None
            self.reader, self.at = self.head, 0
            self.head += 1
            self.lost += self.pages[self.reader].first - self.next
            self.next = self.pages[self.reader].first

    @property
    def entries(self):
        page = self.pages[self.commit]
        return page.first + page.live - self.overrun - self.read


class Steps:
    """The same steps as plant/samples/lab_ring.c."""

    def __init__(self, seed, pages, overwrite, count):
        self.ring, self.random, self.now, self.sum, self.number = Ring(pages, overwrite), seed, 16, 0, 0
        self.open, self.looks = [], []
        for step in range(1, count + 1):
            self._step()
            if step % 25 == 0:
                self._look()
        while self.open:
            self._close(False)
        while self._read():
            pass
        self._look()

    def _rnd(self, n):
        self.random = (self.random * 6364136223846793005 + 1442695040888963407) & MASK
        return (self.random >> 33) % n

    def _reserve(self, length):
        self.now += 4
        self.number += 1
        return self.ring.reserve(self.number - 1, length, self.now - self._rnd(16))

    def _write(self, length):
        claim = self._reserve(length)
        if claim:
            self.ring.close(claim, False)

    def _close(self, discard):
        if self.open:
            self.ring.close(self.open.pop(), discard)

    def _read(self):
        got = self.ring.consume()
        for word in got or ():
            self.sum = ((self.sum ^ word) * 0x100000001B3) & MASK
        return got is not None

    def _step(self):
        what, n = self._rnd(16), self._rnd(4096)
        if what <= 2:
            claim = len(self.open) < 6 and self._reserve(8 + (n % 100 if what < 2 else n % (LONGEST - 7)))
            self.open += [claim] if claim else []
        elif what <= 5:
            self._close(what == 5)
        elif what == 6:
            self.now += 1 << n % 45
        elif what == 7:
            for _ in range(n % 40):
                if not self._read():
                    break
        elif what == 8:
            self._write(LONGEST)
        else:
            self._write(113 + n % 1000 if what <= 10 else 8 + n % 112)

    def _look(self):
        r = self.ring
        self.looks.append([r.entries, r.overrun, r.commit_overrun, r.dropped, r.read, self.sum])


def ring(attempt, command):
    """What lab_ring says after a command: (lines of looks, the numbers of its account, its first error, output)."""
    ran = attempt.guest(f"echo {command} > {RING} && cat {RING}")
    looks = [list(map(int, line.split()[1:])) for line in ran.lines if line.startswith("look: ")]
    account = next(list(map(int, line.split()[1:])) for line in ran.lines if line.startswith("lab: "))
    return looks, account, ran.lines[-1], ran.output


NAMES = ("entries", "overrun", "commit overrun", "dropped", "read", "sum of what was read")


def steps(attempt, overwrite):
    """Three buffers of two to six pages: after each 25 steps all counts, and all that was read, are as Ring has them."""
    for pages in (2, 3, 6):
        seed = attempt.rng.randrange(1, 1 << 31)
        command = f"steps {seed} {pages} {overwrite} {STEPS}"
        looks, _, _, output = ring(attempt, command)
        wanted = Steps(seed, pages, bool(overwrite), STEPS).looks
        attempt.same(f"looks of `{command}`", len(wanted), len(looks), output)
        for number, (want, got) in enumerate(zip(wanted, looks), 1):
            for name, one, other in zip(NAMES, want, got):
                attempt.same(f"{name} after {min(number * 25, STEPS)} steps of `{command}`", one, other)


@check("the bytes of a page, lengths, times, counts (ASan, UBSan)", points=10, host=True, by_hand="make unit")
def layout(attempt):
    attempt.unit("ring_buffer_layout")


@check(
    "a writer is interrupted between any two steps, and no record is lost, torn or late (ASan, UBSan)",
    points=20,
    host=True,
    by_hand="make build/host/unit/ring_buffer_nest.asan, and run it",
)
def nest(attempt):
    attempt.unit("ring_buffer_nest")


@check("lines of trace_marker come out of trace_pipe, each once, in order", points=10, by_hand="cat trace_pipe")
def markers(attempt):
    lines = [f"{n}:" + "x" * attempt.rng.randrange(1, 800) for n in range(attempt.rng.randrange(60, 120))]
    ran = attempt.guest(
        f"cd {TRACING}; echo 400 > buffer_size_kb; while read -r line; do echo $line > trace_marker; done < /lines; echo 0 > tracing_on\n"
        "cat per_cpu/cpu0/stats; timeout -s KILL 1 cat trace_pipe",
        files={"lines": (0o644, ("\n".join(lines) + "\n").encode())},
        smp=1,
        status=None,
    )
    seen = [line.split("tracing_mark_write: ", 1)[1] for line in ran.lines if "tracing_mark_write: " in line]
    attempt.same("lines", len(lines), len(seen), ran.output[:600])
    attempt.true("each as it was written", lines == seen, next((b for a, b in zip(lines, seen) if a != b), ""))


@check(
    "random steps, writes within writes among them: all counts, when new records are dropped",
    points=10,
    by_hand=f"echo steps 1 3 0 600 > {RING}",
)
def keep(attempt):
    steps(attempt, 0)


@check("the same when the oldest records are overwritten", points=10, by_hand=f"echo steps 1 3 1 600 > {RING}")
def overwrite(attempt):
    steps(attempt, 1)


ROUNDS = 4000


@check(
    "the timer interrupts writes at any instruction: no record is lost, torn or late",
    points=10,
    level="complete",
    by_hand=f"echo irq 1 0 {ROUNDS} > {RING}",
)
def interrupts(attempt):
    for mode in (0, 1):
        command = f"irq {attempt.rng.randrange(1, 1 << 31)} {mode} {ROUNDS}"
        looks, (rounds, hits, written, refused, read, errors, _), error, output = ring(attempt, command)
        attempt.same(f"first error of `{command}`", "error: none", error, output)
        attempt.same("rounds and errors", (ROUNDS, 0), (rounds, errors), output)
        attempt.within("interrupts that came inside of a write", ROUNDS // 10, hits, ROUNDS, output)
        attempt.within("records written", 2 * ROUNDS, written, 20 * ROUNDS, output)
        entries, overrun, commit_overrun, dropped, _, _ = looks[-1]
        attempt.same("written = read + overrun, and entries", (written, 0), (read + overrun, entries), output)
        attempt.same("refused = commit overrun + dropped", refused, commit_overrun + dropped, output)
        if not mode:
            attempt.same("of a buffer with room for all: refused and overrun", (0, 0), (refused, overrun), output)


@check(
    "two CPUs, interrupts, readers of each kind: no data race (TSan)",
    points=10,
    level="complete",
    host=True,
    by_hand="setarch -R build/host/unit/ring_buffer_smp.tsan",
)
def threads(attempt):
    attempt.unit("ring_buffer_smp", "tsan")


@check(
    "two rings are exchanged under the writers (ASan, UBSan)",
    points=10,
    level="complete",
    host=True,
    by_hand="make build/host/unit/ring_buffer_swap.asan, and run it",
)
def exchange(attempt):
    attempt.unit("ring_buffer_swap")


INSTRUCTIONS = 1000


@check(
    f"a write around a long one, and reading both, cost less than {INSTRUCTIONS} instructions",
    points=10,
    level="challenge",
    by_hand=f"echo cost 5000 > {RING}, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    rounds = attempt.rng.randrange(5000, 9000)
    _, account, _, output = ring(attempt, f"cost {rounds}")
    attempt.same("records that were read", 2 * rounds, account[4], output)
    took = account[-1] // rounds
    attempt.within("instructions", 50, took, INSTRUCTIONS, output)
    attempt.figure("instructions of a write around a long one, and reading both", took)
