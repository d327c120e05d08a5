"""What lab driver is graded by: QEMU gives the device the bytes of a file that this module makes, so it knows which
bytes a reader must get, in which order, and that none comes twice."""

import os
import re
import tempfile

from grading import check

DEVICE = {
    "aarch64": ["-global", "virtio-mmio.force-legacy=false", "-device", "virtio-rng-device,rng=lab"],
    "x86_64": ["-device", "virtio-rng-pci,rng=lab"],
}
BYTES = 1 << 18
# More than a driver may ask for before the first reader comes, and throw away as a seed.
MOST_SEED = 8192


def source(attempt):
    """The bytes that the device gives, another file for each seed. No four of them come twice in it: a place follows from
    four bytes."""
    if "source" not in attempt.data:
        given, there = bytearray(3), set()
        while len(given) < BYTES:
            four = bytes(given[-3:]) + attempt.rng.randbytes(1)
            if four not in there:
                there.add(four)
                given.append(four[-1])
        attempt.data["source"] = bytes(given)
    return attempt.data["source"]


def run(attempt, script, feed=True, **setup):
    """The script in a guest whose device has those bytes; feed=False: a device that never answers."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "bytes")
        if feed:
            with open(path, "wb") as file:
                file.write(source(attempt))
        else:
            os.mkfifo(path)
        backend = ["-object", f"rng-random,id=lab,filename={path}", *DEVICE[attempt.arch]]
        keep = None if feed else os.open(path, os.O_RDWR)  # a pipe with a writer that writes nothing
        try:
            return attempt.guest(script, qemu_args=backend, **setup)
        finally:
            if keep is not None:
                os.close(keep)


def reads(ran):
    """What lab_driver has printed: [(number or error, bytes)]."""
    found = [line.split() for line in ran.lines if line.startswith("lab: ")]
    return [(int(words[1]), bytes.fromhex(words[2]) if len(words) > 2 else b"") for words in found]


def receipt(seed):
    """What lab_driver prints when it has come to its end."""
    return ((seed * 6364136223846793005 + 1442695040888963407) % 2**64 >> 33).to_bytes(4, "big")


def place(attempt, data, ran):
    """Where these bytes are in the device's."""
    at = source(attempt).find(data)
    attempt.true("bytes that the device has given, in its order", at >= 0, data[:16].hex() + "...", ran.output[:500])
    return at


@check("/dev/hwrng is there, and a read is filled", points=10, by_hand="dd if=/dev/hwrng bs=16 count=1 | hexdump")
def file(attempt):
    ran = run(attempt, "stat -c '%t %T' /dev/hwrng; lab_driver read 16")
    attempt.same("the device's numbers", "a b7", ran.lines[0])
    attempt.same("what a read of 16 bytes returns", 16, reads(ran)[0][0], ran.output)
    place(attempt, reads(ran)[0][1], ran)


@check(
    "reads of any size give the device's bytes in order, none left out, none twice",
    points=20,
    by_hand="lab_driver read 1 7 256 3000",
)
def order(attempt):
    sizes = [1, 7, 255, 256, 257, 3000, *[attempt.rng.randrange(1, 2000) for _ in range(6)]]
    attempt.rng.shuffle(sizes)
    ran = run(attempt, f"lab_driver read {' '.join(map(str, sizes))}")
    attempt.same("what the reads return", sizes, [number for number, _ in reads(ran)], ran.output[:500])
    place(attempt, b"".join(data for _, data in reads(ran)), ran)


@check("the bytes that have seeded the kernel are shown to nobody", points=10, by_hand="docs/virtio.md")
def seed(attempt):
    ran = run(attempt, "lab_driver read 64")
    at = place(attempt, reads(ran)[0][1], ran)
    attempt.within("bytes that came before those of the first reader", 16, at, MOST_SEED)


@check("an interrupt fills the buffer", points=10, by_hand="grep virtio /proc/interrupts")
def interrupt(attempt):
    look = "grep -i virtio /proc/interrupts"
    ran = run(attempt, f"{look}; lab_driver read 6000; {look}")
    lines = [line for line in ran.lines if not line.startswith("lab: ")]
    numbers = [sum(map(int, re.findall(r"\b\d+\b(?!:)", line.split(":", 1)[1])[:1])) for line in lines]
    half = len(numbers) // 2
    attempt.true(
        "more interrupts after 6,000 bytes than before",
        sum(numbers[half:]) > sum(numbers[:half]),
        numbers,
        ran.output[-600:],
    )


@check(
    "several readers at once: each byte goes to one of them",
    points=10,
    level="complete",
    by_hand="lab_driver many 4 100",
)
def many(attempt):
    size = attempt.rng.randrange(40, 300)
    ran = run(attempt, f"lab_driver many 4 {size}", smp=2)
    pieces = [data for _, data in reads(ran)]
    attempt.same("reads that were filled", [size] * 80, [len(data) for data in pieces])
    # A read may be put together of pieces, with another reader's between them: so bytes are looked for in fours.
    given, taken = source(attempt), []
    for data in pieces:
        taken += [given.find(data[at : at + 4]) for at in range(len(data) - 3)]
    firsts = [at for at in taken if at >= 0]
    attempt.same("groups of four bytes that two readers have had", 0, len(firsts) - len(set(firsts)))
    attempt.within(
        "groups of four that the device has given in this order", len(taken) * 9 // 10, len(firsts), len(taken)
    )


@check(
    "a reader that has nothing to read sleeps, and can be killed",
    points=10,
    level="complete",
    by_hand="lab_driver wait 5",
)
def wait(attempt):
    seed = attempt.rng.randrange(1 << 30)
    ran = run(attempt, f"lab_driver wait {seed}", feed=False)
    used, gone = reads(ran)[0]
    attempt.same("a reader that still waits after a second", (b"\0" + receipt(seed)).hex(), gone.hex(), ran.output)
    attempt.within("microseconds of CPU time that it has used", 0, used, 20000, ran.output)


@check("O_NONBLOCK: EAGAIN when there is nothing", points=10, level="complete", by_hand="lab_driver nonblock 16")
def nonblock(attempt):
    ran = run(attempt, "lab_driver nonblock 16", feed=False)
    attempt.same(
        "two reads without an answer of the device", [-11, -11], [number for number, _ in reads(ran)], ran.output
    )
    ran = run(attempt, "lab_driver nonblock 16")
    attempt.same("a read after the device has answered", 16, reads(ran)[1][0], ran.output)
    place(attempt, reads(ran)[1][1], ran)


@check("a bad address is EFAULT, and no byte is lost by it", points=10, level="complete", by_hand="lab_driver bad 16")
def bad(attempt):
    ran = run(attempt, "lab_driver read 16; lab_driver bad 40")
    (_, first), (error, _), (number, then) = reads(ran)
    attempt.same("the errors", (-14, 40), (error, number), ran.output)
    attempt.same("where the good read goes on", place(attempt, first, ran) + 16, place(attempt, then, ran), ran.output)


INSTRUCTIONS = 40


@check(
    f"a byte costs less than {INSTRUCTIONS} instructions",
    points=10,
    level="challenge",
    by_hand="lab_driver cost 8000, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    seed = attempt.rng.randrange(1 << 30)
    ran = run(attempt, f"lab_driver cost 8000 {seed}; lab_driver read 500")
    took = reads(ran)[0][0] / 80000
    attempt.same("the end of lab_driver cost", receipt(seed).hex(), reads(ran)[0][1].hex(), ran.output[:200])
    attempt.same("bytes of ten reads", 80000, reads(ran)[1][0], ran.output[:200])
    place(attempt, reads(ran)[2][1], ran)
    attempt.true(f"less than {INSTRUCTIONS}", took < INSTRUCTIONS, f"{took:.1f}", ran.output[:200])
    attempt.figure("instructions for a byte", round(took, 1))
