"""What lab cow is graded by: sums of memory that this file computes again, and pages and faults that a part of the
kernel counts which is not the student's. Each line of numbers ends with a sum of the memory, so that a kernel that
prints such a line, and ends the program before its own, gets no points for it."""

from grading import check


def numbers(ran):
    """The numbers of each line that lab_cow has printed."""
    return [
        [int(word) for word in line.split()[1:] if word.lstrip("-").isdigit()]
        for line in ran.lines
        if line.startswith("lab: ")
    ]


def value(seed, page, writer):
    return (seed * 1000003 + page * 31 + writer) & 0xFFFFFFFFFFFFFFFF


def total(words):
    """As lab_cow's sum()."""
    result = 0
    for word in words:
        result = (result * 33 + word) & 0xFFFFFFFFFFFFFFFF
    return result & 0xFFFFFFFF


def memory(seed, pages, *written):
    """The sum of the area after (page, writer) have been `written`, in this order."""
    words = [value(seed, page, 0) for page in range(pages)]
    for page, writer in written:
        words[page] = value(seed, page, writer)
    return total(words)


def generations(seed, pages, shared):
    """The sum that each generation must print: {generation: sum}. A generation writes after its fork, so its child does
    not see it, unless the memory is shared; the oldest prints last."""
    return {
        me: memory(
            seed,
            pages,
            *((page, writer + 1) for writer in (range(4) if shared else [me]) for page in range(writer, pages, 4)),
        )
        for me in range(4)
    }


def run(attempt, what, pages, most=None, k=(), wrote=lambda pages, k: ()):
    """lab_cow WHAT with a number of pages of this range and, with k, a number of that: (pages, k, numbers, output). The
    numbers are those of the one line that it prints, before the sum. What a kernel adds to that is not the program's.
    wrote: what the process that prints has written."""
    seed, pages = attempt.rng.randrange(1, 1 << 20), attempt.rng.randrange(pages, most) if most else pages
    k = attempt.rng.randrange(*k) if k else 0
    ran = attempt.guest(f"lab_cow {what} {seed} {pages} {k}")
    said = numbers(ran)
    attempt.same("lines that begin with `lab: `", 1, len(said), ran.output)
    attempt.same("sum of the memory at the end", memory(seed, pages, *wrote(pages, k)), said[0][-1], ran.output)
    return pages, k, said[0][:-1], ran.output


def some(writer):
    """The pages that `writes` and `last` write."""
    return lambda pages, k: [(n * pages // k, writer) for n in range(k)]


def sums(attempt, ran):
    """{generation: sum}, each printed once."""
    said = numbers(ran)
    attempt.same("lines that begin with `lab: `", 4, len(said), ran.output)
    return dict(map(tuple, said))


@check(
    "parents and children do not see each other's writes, over four generations",
    points=10,
    by_hand="lab_cow isolation 5 40",
)
def isolation(attempt):
    seed, pages = attempt.rng.randrange(1, 1 << 20), attempt.rng.randrange(30, 90)
    ran = attempt.guest(f"lab_cow isolation {seed} {pages}")
    attempt.same("sum of each generation", generations(seed, pages, False), sums(attempt, ran), ran.output)


@check("a shared mapping is still shared", points=10, by_hand="lab_cow shared 5 40")
def shared(attempt):
    seed, pages = attempt.rng.randrange(1, 1 << 20), attempt.rng.randrange(30, 90)
    ran = attempt.guest(f"lab_cow shared {seed} {pages}")
    attempt.same("sum of the oldest", generations(seed, pages, True)[0], sums(attempt, ran)[0], ran.output)


@check("the kernel's own writes for a process copy the page as well", points=10, by_hand="lab_cow by_kernel 5 40")
def by_kernel(attempt):
    seed, pages = attempt.rng.randrange(1, 1 << 20), attempt.rng.randrange(20, 60)
    ran = attempt.guest(f"lab_cow by_kernel {seed} {pages}")
    wanted = [[total([0x0707070707070707] * pages)], [memory(seed, pages)]]
    attempt.same("sums of child and parent", wanted, numbers(ran), ran.output)


@check("a fork copies no page", points=20, by_hand="lab_cow lazy 5 3000: the pages that it took")
def lazy(attempt):
    pages, _, (taken,), output = run(attempt, "lazy", 2000, 5000)
    # Tables of the child, its stacks, its task: some forty pages, and one for each 512 that are mapped.
    attempt.within(f"pages that a fork with {pages} pages takes", 1, taken, 120, output)


@check("a write copies one page, and only the page that is written", points=10, by_hand="lab_cow writes 5 300 20")
def writes(attempt):
    pages, count, (faults, gone, private, common), output = run(attempt, "writes", 200, 600, (20, 90), some(2))
    attempt.same(f"faults of {count} writes", count, faults, output)
    attempt.within("pages that they took", count, gone, count + 16, output)
    attempt.same(
        "kB of the area that are private and shared", (4 * count, 4 * (pages - count)), (private, common), output
    )


@check("nothing is copied when the other one is gone", points=20, level="complete", by_hand="lab_cow last 5 300 20")
def last(attempt):
    _, count, (faults, gone, moved), output = run(attempt, "last", 200, 600, (20, 90), some(3))
    attempt.same(f"of {count} pages that were written, how many lie in another frame", 0, moved, output)
    attempt.within("pages that are gone", -16, gone, 16, output)
    attempt.same(f"faults of {count} writes", count, faults, output)


def rounds(pages, count):
    """What the parent writes in the rounds of `leak`: five, and then `count`."""
    return [(n % pages, n + 5) for of in (5, count) for n in range(of)]


@check("no page is lost", points=10, level="complete", by_hand="lab_cow leak 5 60 100")
def leak(attempt):
    _, _, (gone,), output = run(attempt, "leak", 40, 80, (200, 300), rounds)
    attempt.within("pages that are gone afterwards", -60, gone, 60, output)


INSTRUCTIONS = 250000


@check(
    f"a fork with 1,000 pages costs less than {INSTRUCTIONS} instructions",
    points=10,
    level="challenge",
    by_hand="lab_cow cost 5 1000, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    _, _, (took,), output = run(attempt, "cost", 1000, wrote=lambda pages, k: [(n, n + 5) for n in range(3)])
    attempt.within("instructions", 1000, took, INSTRUCTIONS, output)
    attempt.figure("instructions of fork, exit and wait with 1,000 pages", took)
