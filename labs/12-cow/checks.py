"""What lab cow is graded by: sums of memory that this file computes again, and pages and faults that a part of the kernel
counts which is not the student's."""

from grading import check


def numbers(ran):
    """The numbers of each line that lab_cow has printed."""
    return [
        [int(word) for word in line.split()[1:] if word.lstrip("-").isdigit()]
        for line in ran.lines
        if line.startswith("lab: ")
    ]


def only_line(attempt, ran):
    """The numbers of the one line that it prints. What a kernel adds to that is not the program's."""
    said = numbers(ran)
    attempt.same("lines that begin with `lab: `", 1, len(said), ran.output)
    return said[0]


def value(seed, page, writer):
    return (seed * 1000003 + page * 31 + writer) & 0xFFFFFFFFFFFFFFFF


def total(words):
    """As lab_cow's sum()."""
    result = 0
    for word in words:
        result = (result * 33 + word) & 0xFFFFFFFFFFFFFFFF
    return result & 0xFFFFFFFF


def generations(seed, pages, shared):
    """The sum that each generation must print: {generation: sum}. A generation writes after its fork, so its child does not
    see it, unless the memory is shared; the oldest prints last."""
    result = {}
    for me in range(4):
        words = [value(seed, page, 0) for page in range(pages)]
        for writer in range(4) if shared else [me]:
            for page in range(writer, pages, 4):
                words[page] = value(seed, page, writer + 1)
        result[me] = total(words)
    return result


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
    wanted = [[total([0x0707070707070707] * pages)], [total([value(seed, page, 0) for page in range(pages)])]]
    attempt.same("sums of child and parent", wanted, numbers(ran), ran.output)


@check("a fork copies no page", points=20, by_hand="lab_cow lazy 3000: the pages that it took")
def lazy(attempt):
    pages = attempt.rng.randrange(2000, 5000)
    ran = attempt.guest(f"lab_cow lazy {pages}")
    # Tables of the child, its stacks, its task: some forty pages, and one for each 512 that are mapped.
    attempt.within(f"pages that a fork with {pages} pages takes", 1, only_line(attempt, ran)[0], 120, ran.output)


@check("a write copies one page, and only the page that is written", points=10, by_hand="lab_cow writes 300 20")
def writes(attempt):
    pages = attempt.rng.randrange(200, 600)
    count = attempt.rng.randrange(20, 90)
    ran = attempt.guest(f"lab_cow writes {pages} {count}")
    faults, gone, private, common = only_line(attempt, ran)
    attempt.same(f"faults of {count} writes", count, faults, ran.output)
    attempt.within("pages that they took", count, gone, count + 16, ran.output)
    attempt.same(
        "kB of the area that are private and shared", (4 * count, 4 * (pages - count)), (private, common), ran.output
    )


@check("nothing is copied when the other one is gone", points=20, level="complete", by_hand="lab_cow last 300 20")
def last(attempt):
    pages = attempt.rng.randrange(200, 600)
    count = attempt.rng.randrange(20, 90)
    ran = attempt.guest(f"lab_cow last {pages} {count}")
    faults, gone, moved = only_line(attempt, ran)
    attempt.same(f"of {count} pages that were written, how many lie in another frame", 0, moved, ran.output)
    attempt.within("pages that are gone", -16, gone, 16, ran.output)
    attempt.same(f"faults of {count} writes", count, faults, ran.output)


@check("no page is lost", points=10, level="complete", by_hand="lab_cow leak 100 60")
def leak(attempt):
    ran = attempt.guest(f"lab_cow leak {attempt.rng.randrange(200, 300)} {attempt.rng.randrange(40, 80)}")
    attempt.within("pages that are gone afterwards", -60, only_line(attempt, ran)[0], 60, ran.output)


INSTRUCTIONS = 250000


@check(
    f"a fork with 1,000 pages costs less than {INSTRUCTIONS} instructions",
    points=10,
    level="challenge",
    by_hand="lab_cow cost 1000, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    ran = attempt.guest("lab_cow cost 1000")
    took = only_line(attempt, ran)[0]
    attempt.within("instructions", 1000, took, INSTRUCTIONS, ran.output)
    attempt.figure("instructions of fork, exit and wait with 1,000 pages", took)
