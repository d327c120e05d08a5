"""What lab backtrace is graded by: return addresses that the compiler gives itself in planted chains of calls, a walk
of the stack that this file makes in the guest's memory, and the symbols of the kernel as it was built."""

import bisect
import os
import struct
import sys

from grading import check

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import ksyms  # noqa: E402
from elfimage import Image  # noqa: E402

FILE = "/sys/kernel/debug/lab/backtrace"
DECOY = 0xDEC0DE
MASK = (1 << 64) - 1
# Words of lab_backtrace for links that no walk may follow. `zero` also loses the return address beside it.
KINDS = ["none", "self", "back", "near", "odd", "low", "edge", "end", "elsewhere", "irq", "user", "hole"]


class Symbols:
    """The table that tools/ksyms.py makes of the kernel, and what is to be said of an address."""

    def __init__(self, attempt):
        image = Image(attempt.kernel.path)
        self.table = ksyms.entries(image)
        self.text, self.size = image.symbol("_text"), image.symbol("_end") - image.symbol("_text")
        self.offsets = [entry.offset for entry in self.table]

    def find(self, address):
        """(name, offset, size), or None outside of the kernel."""
        offset = address - self.text
        if not 0 <= offset < self.size:
            return None
        begin = self.offsets[bisect.bisect_right(self.offsets, offset) - 1]
        after = bisect.bisect_right(self.offsets, begin)
        end = self.offsets[after] if after < len(self.offsets) else self.size
        return self.table[bisect.bisect_left(self.offsets, begin)].name, offset - begin, end - begin

    def say(self, address, back=0):
        """As %pS prints it; with back 1 as %pB."""
        found = self.find(address - back)
        return f"{found[0]}+{found[1] + back:#x}/{found[2]:#x}" if found else f"{address:#x}"

    def name(self, address):
        found = self.find(address - 1)
        return found[0] if found else hex(address)


def symbols(attempt):
    if "symbols" not in attempt.data:
        attempt.data["symbols"] = Symbols(attempt)
    return attempt.data["symbols"]


def lists(text):
    """What lab/backtrace has shown, for each time that it was read: {what: numbers}."""
    shown = []
    for line in text.splitlines():
        what, _, rest = line.partition(":")
        if what == "got":
            shown.append({})
        if shown and what in ("got", "regs", "truth", "parked", "ns"):
            shown[-1][what] = [int(number, 10 if what == "ns" else 16) for number in rest.split()]
    return shown


def traces(text):
    """The lines of each backtrace in the log, as it was printed by planted code. What came on the console meanwhile
    does not count."""
    found = []
    for line in text.split("\nlog:\n")[-1].splitlines():
        said = line.split("] ", 1)[-1].strip()
        if said == "lab: begin":
            found.append([])
        elif said == "lab: end":
            found.append(None)
        elif found and found[-1] is not None:
            found[-1].append(said)
    return [lines for lines in found if lines is not None]


def links(seed, depth):
    """The names of a chain's functions, innermost first."""
    names, state = [f"lab_link_{seed & 7}"], seed
    for _ in range(depth):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        names.append(f"lab_link_{state >> 33 & 7}")
    return names[::-1]


def chosen(attempt, least=5, most=36):
    return attempt.rng.randrange(1, 1 << 60), attempt.rng.randrange(least, most)


def whole(attempt, names, numbers, evidence=""):
    """The last addresses of a walk: the chain's, and then the way of a write from the system call."""
    seen = [symbols(attempt).name(number) for number in numbers]
    attempt.same("functions of the chain", names, seen[: len(names)], evidence)
    way = seen[len(names) :]
    attempt.true(
        "ksys_write, and the entry of system calls at the end", "ksys_write" in way and "64" in way[-1], way, evidence
    )


@check(
    "an address is found in the symbol that covers it, with offset and size",
    points=20,
    by_hand=f"echo look 0xADDRESS > {FILE}; cat {FILE}; nm -n vmlinux",
)
def lookup(attempt):
    known, rng = symbols(attempt), attempt.rng
    starts = [known.text + offset for offset in known.offsets]
    doubled = [a for a, b in zip(starts, starts[1:]) if a == b]
    asked = [known.text + rng.randrange(known.size) for _ in range(100)] + rng.sample(starts, 30)
    asked += [address - 1 for address in rng.sample(starts[1:], 20)] + rng.sample(doubled, min(20, len(doubled)))
    asked += [known.text, starts[-1], known.text + known.size - 1, known.text + known.size, known.text - 1, 0]
    asked += [MASK, (known.text + (1 << 32) + 0x1000) & MASK]
    rng.shuffle(asked)
    pieces = [asked[at : at + 40] for at in range(0, len(asked), 40)]
    ran = attempt.guest(
        "\n".join(f"echo look {' '.join(map(hex, piece))} > {FILE}; grep symbol {FILE}" for piece in pieces)
    )
    said = [line.partition("symbol: ")[2].partition(" ") for line in ran.lines]
    attempt.same("answers", len(asked), len(said))
    for address, (number, _, text) in zip(asked, said):
        attempt.same(f"{address:#x}", known.say(address), text if number == f"{address:x}" else number)


@check(
    "a walk gives the return addresses of a chain of calls, as many as are asked for",
    points=20,
    by_hand=f"echo chain 12345 6 64 0 > {FILE}; cat {FILE}",
)
def chain(attempt):
    seed, depth = chosen(attempt)
    cuts = [(attempt.rng.randrange(1, depth), attempt.rng.randrange(0, depth)) for _ in range(4)] + [(0, 0), (64, 60)]
    ran = attempt.guest(
        "\n".join(f"echo chain {seed} {depth} {size} {skip} > {FILE}; cat {FILE}" for size, skip in [(64, 0), *cuts])
    )
    first, *others = lists(ran.output)
    known = symbols(attempt)
    attempt.same("the function that asked", "lab_bottom", known.name(first["got"][0]))
    attempt.same("return addresses of the chain", first["truth"], first["got"][1 : len(first["truth"]) + 1])
    whole(attempt, [*links(seed, depth), "lab_chain"], first["got"][1:], ran.output)
    for (size, skip), other in zip(cuts, others):
        wanted = first["got"][skip : skip + size]
        attempt.same(f"size {size}, skip {skip}", wanted, other["got"])


@check(
    "show_stack() prints it with the names of the calls",
    points=10,
    by_hand=f"echo print 12345 6 > {FILE}; dmesg | tail -30",
)
def printed(attempt):
    seed, depth = chosen(attempt)
    known = symbols(attempt)
    # A call at the very end of a function returns to what is the next one's first byte.
    starts = [known.text + entry.offset for entry in known.table if entry.type in "tT"]
    ends = attempt.rng.sample(starts[1:], 5)
    ran = attempt.guest(
        f"""echo chain {seed} {depth} 64 0 > {FILE}; cat {FILE}
echo print {seed} {depth} > {FILE}
echo damage none {' '.join(map(hex, ends))} > {FILE}
echo log:; dmesg | grep -A60 'lab: begin'"""
    )
    chained = lists(ran.output)[0]
    log = traces(ran.output)
    attempt.same("backtraces in the log", 2, len(log), ran.output[-1500:])
    attempt.same("the first line", "Call trace:", log[0][0])
    wanted = [known.say(number, 1) for number in chained["got"][1:]]
    attempt.same("lines from the chain's bottom on", wanted, log[0][-len(wanted) :])
    attempt.same("lines of another", [known.say(number, 1) for number in ends], log[1][-5:])


@check(
    "of a task that sleeps, the pc and all of its callers, as they stand in its memory",
    points=10,
    by_hand=f"echo sleep 12345 6 > {FILE}; cat /proc/$(pidof lab_sleeper)/stack",
)
def sleeper(attempt):
    seed, depth = chosen(attempt)

    def look(guest):
        guest.run(f"echo sleep {seed} {depth} > {FILE}")
        shown = lists(guest.run(f"cat {FILE}")[1])[0]
        pc, fp, end = shown["parked"]
        path = os.path.join(guest.scratch, "stack")
        guest.qmp("stop")
        guest.qmp("memsave", val=fp - (1 << 64), size=end - fp, filename=path)
        with open(path, "rb") as file:
            stack = file.read()
        wanted, at = [pc], fp
        while fp <= at <= end - 16:
            at, ret = struct.unpack_from("<QQ", stack, at - fp)
            if not ret:
                break
            wanted.append(ret)
        attempt.same("the stack as QEMU sees it", wanted, shown["got"])
        attempt.same("five, after two", wanted[2:7], shown["regs"])
        names = [symbols(attempt).name(number) for number in wanted]
        found = names.index("lab_bottom") + 1
        attempt.same("the chain in it", links(seed, depth), names[found : found + depth + 1])
        guest.qmp("cont")

    attempt.monitored(look)


@check(
    "a walk goes from the interrupt's stack through the interrupt to what was interrupted",
    points=10,
    level="complete",
    by_hand=f"echo irq 12345 6 > {FILE}; cat {FILE}; dmesg | tail -30",
)
def interrupt(attempt):
    seed, depth = chosen(attempt, most=24)
    known = symbols(attempt)
    ran = attempt.guest(f"echo irq {seed} {depth} > {FILE}; cat {FILE}; echo log:; dmesg | grep -A60 'lab: begin'")
    shown = lists(ran.output)[0]
    got, regs, (bottom, wait, *truth) = shown["got"], shown["regs"], shown["truth"]
    seen = [(known.find(number) or ["?"])[0] for number in got]
    attempt.same("the innermost function", "lab_tick", seen[0], ran.output)
    attempt.true("the function that was interrupted: lab_wait", "lab_wait" in seen, seen)
    at = seen.index("lab_wait")
    attempt.within("addresses of the interrupt's own functions", 4, at, 20)
    attempt.same("what is behind it", [wait, bottom, *truth], got[at + 1 : at + 3 + len(truth)], ran.output)
    whole(attempt, ["lab_bottom", *links(seed, depth), "lab_chain"], got[at + 1 :], ran.output)
    attempt.same("the same from the registers", got[at:], regs, ran.output)
    wanted = [known.say(regs[0])] + [known.say(number, 1) for number in regs[1:]]
    attempt.same("the same in the log", ["Call trace:", *wanted], traces(ran.output)[0])


@check(
    "a walk ends where the chain of frames is damaged, whatever the damage is",
    points=10,
    level="complete",
    by_hand=f"echo damage self 0x1111 0x2222 > {FILE}; cat {FILE}",
)
def damage(attempt):
    orders = []
    for kind in [*KINDS, "zero"]:
        rets = [attempt.rng.randrange(1, 1 << 63) for _ in range(attempt.rng.randrange(2, 12))]
        orders.append((kind, rets))
    attempt.rng.shuffle(orders)
    ran = attempt.guest(
        "\n".join(f"echo damage {kind} {' '.join(map(hex, rets))} > {FILE}; cat {FILE}" for kind, rets in orders)
    )
    for (kind, rets), shown in zip(orders, lists(ran.output)):
        wanted = shown["truth"] + (rets[:-1] if kind == "zero" else rets)
        attempt.same(f"damage '{kind}'", list(map(hex, wanted)), list(map(hex, shown["got"][1:])))
    attempt.same("walks", len(orders), len(lists(ran.output)), ran.output[-1000:])


@check(
    "return addresses that function_graph has replaced come out as they were",
    points=10,
    level="complete",
    by_hand=f"echo 'lab_link_*' > set_ftrace_filter; echo function_graph > current_tracer; echo chain 1 6 64 0 > {FILE}",
)
def hooked(attempt):
    seed, depth = chosen(attempt)
    order = f"echo chain {seed} {depth} 64 0 > {FILE}; cat {FILE}"
    ran = attempt.guest(
        f"""{order}
cd /sys/kernel/tracing
echo 'lab_link_*' lab_chain ksys_write > set_ftrace_filter
echo function_graph > current_tracer
{order}
grep -c 'lab_link_' trace
"""
    )
    before, traced = lists(ran.output)
    attempt.same("a walk without the tracer", before["truth"], before["got"][1 : len(before["truth"]) + 1])
    attempt.same("links in the trace", str(depth + 1), ran.lines[-1])
    attempt.same("the same walk", before["got"], traced["got"], ran.output)


FRAME, SYMBOL = 32, 800


@check(
    f"less than {FRAME} instructions for a frame, and {SYMBOL} for a symbol",
    points=10,
    level="challenge",
    by_hand=f"echo time > {FILE}; grep ns {FILE}, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    seed, depth = chosen(attempt)
    known, address = symbols(attempt), attempt.kernel.symbols["lab_chain"]
    ran = attempt.guest(
        f"""echo chain {seed} {depth} 64 0 > {FILE}; cat {FILE}
echo time > {FILE}; cat {FILE}
echo look {address:#x} > {FILE}; grep symbol {FILE}"""
    )
    walked, timed = lists(ran.output)
    attempt.same("return addresses of a chain", walked["truth"], walked["got"][1 : len(walked["truth"]) + 1])
    attempt.same("a symbol", known.say(address), ran.lines[-1].split()[-1])
    lookups, short, long = timed["ns"]
    attempt.within("instructions for a frame", 1, (long - short) / 3000, FRAME)
    attempt.within("instructions for a symbol", 1, lookups / 1000, SYMBOL)
    attempt.figure("instructions for a frame", round((long - short) / 3000, 1))
    attempt.figure("instructions for a symbol", round(lookups / 1000, 1))
