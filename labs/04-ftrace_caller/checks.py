"""What lab ftrace_caller is graded by: sums that this file computes again, registers that planted assembly has loaded and
stores again, return addresses that the compiler gives, and the kernel's file with its symbols and instructions."""

import re

from grading import Lost, check

TRACING = "/sys/kernel/tracing"
FILE = "/sys/kernel/debug/lab/caller"
MASK = (1 << 64) - 1
USERS = 6
SAVE_REGS, IPMODIFY = 1, 8


class Aarch64:
    """Registers as lab_registers.S stores them, and words of struct pt_regs. At the site x0 holds the return address; x16
    and x17 mean nothing."""

    CALL, ARGS = 4, 0
    KEPT = range(19, 29)  # by a call like any other (AAPCS64, 6.1.1)
    ALL = [*range(1, 16), *range(18, 29)]
    FP, SP = 29, 30
    WORD = dict(zip(range(31), range(31)))  # where register n is in pt_regs
    SP_WORD, PC_WORD, RECORD = 31, 32, 36
    REG_LR = 30

    @staticmethod
    def fp_of(sp):
        return sp

    @staticmethod
    def target(at, code):
        """Where the instruction calls, or None."""
        word = int.from_bytes(code, "little")
        return at + 4 * (((word & 0x3FFFFFF) ^ 0x2000000) - 0x2000000) if word >> 26 == 0x25 else None


class X86_64:
    """The same. r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi: at the site all arguments are live."""

    CALL, ARGS = 5, 6
    KEPT = [0, 1, 2, 3, 5, 8, 9, 11, 12, 13, 14]  # System V ABI, 3.2.1, and the arguments
    ALL = [0, 1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14]  # all but rbp, which is a frame's, and r11
    FP, SP = 4, 15
    WORD = {n: n + 2 for n in range(15)}
    SP_WORD, PC_WORD, RECORD = 22, 19, 0
    REG_LR = None

    @staticmethod
    def fp_of(sp):
        return sp + 7 * 8  # behind the return address, a word of padding, and five registers

    @staticmethod
    def target(at, code):
        return at + 5 + int.from_bytes(code[1:], "little", signed=True) if code[0] == 0xE8 else None


def machine(attempt):
    return {"aarch64": Aarch64, "x86_64": X86_64}[attempt.arch]


def numbers(seed, count):
    """As lab_next()."""
    found = []
    for _ in range(count):
        seed = (seed * 6364136223846793005 + 1442695040888963407) & MASK
        found.append(seed)
    return found


def total(words, last):
    """As lab_sum_N."""
    result = words[0]
    for word in words[1:]:
        result = (result * 33 + word) & MASK
    return (result * 33 + last) & MASK


def sums(seed):
    words = numbers(seed, 8 * USERS)
    return [total(words[8 * n : 8 * n + 8], n) for n in range(USERS)]


def pairs(seed, count):
    result = 0
    for word in numbers(seed, count):
        result = ((result * 33 + word * 3 + 1) * 33 + word * 5 + 7) & MASK
    return result


def deep(count):
    result = 0
    for n in range(1, count + 1):
        result = (result * 3 + n) & MASK
    return result


class Said:
    """What lab/caller shows: lists of words, and what each user has seen."""

    def __init__(self, text):
        self.text, self.users, lists = text, {}, {}
        self.lists = lists
        for line in text.splitlines():
            if said := re.match(r"user (\d+): (.*)", line):
                pairs_of = said.group(2).split()
                lists = self.users[int(said.group(1))] = {
                    name: int(value, 10 if name in ("calls", "misaligned", "odd") else 16)
                    for name, value in zip(pairs_of[::2], pairs_of[1::2])
                }
            elif said := re.match(r"(leaves|light|ns): (\d+)$", line):
                lists[said.group(1)] = int(said.group(2))
            elif said := re.match(r"(\w+):((?: [0-9a-f]+)*)$", line):
                lists[said.group(1)] = [int(word, 16) for word in said.group(2).split()]


def parts(ran):
    """The output between the lines `part NAME` that a script has printed."""
    return dict(piece.split("\n", 1) for piece in re.split(r"^part ", ran.output + "\n", flags=re.M)[1:])


def site(attempt, name):
    """The one call site of a function."""
    start = attempt.kernel.symbols[name]
    return next(at for at in attempt.kernel.sites if start <= at < start + attempt.kernel.sizes[name])


def seed_of(attempt):
    return attempt.rng.randrange(1, 1 << 60)


@check(
    "as many records as there were calls: of a tracer alone, of another array's, and of both",
    points=12,
    by_hand="echo vfs_read > set_ftrace_filter; echo function > current_tracer; cat trace",
)
def calls(attempt):
    counts = [attempt.rng.randrange(40, 300) for _ in range(3)]
    ran = attempt.guest(
        f"""cd {TRACING}; mkdir instances/a; echo lab_leaf | tee set_ftrace_filter > instances/a/set_ftrace_filter
look() {{ for i in . instances/a; do grep -c ': lab_leaf <-lab_loop' $i/trace; echo > $i/trace; done; }}
echo function > current_tracer; echo many {counts[0]} > {FILE}; look
echo nop > current_tracer; echo function > instances/a/current_tracer; echo many {counts[1]} > {FILE}; look
echo function > current_tracer; echo many {counts[2]} > {FILE}; look
echo nop > current_tracer; cat {FILE}"""
    )
    seen = [int(line) for line in ran.lines[:6]]
    attempt.same("records", [counts[0], 0, 0, counts[1], counts[2], counts[2]], seen, ran.output[:1000])
    attempt.same("calls that ran", sum(counts), Said(ran.output).lists["leaves"])


def run_noted(attempt):
    """The run that three checks look at: functions with a user each, and registers around the call of one: a straight
    user, a user alone, and two. Lost when the kernel did not survive it."""
    seed, probe = seed_of(attempt), seed_of(attempt)
    all_on = "\n".join(f"echo on {n} 0 lab_sum_{n} > {FILE}" for n in range(USERS))
    try:
        ran = attempt.guest(
            f"""{all_on}
echo sum {seed} > {FILE}; echo part sums; cat {FILE}
for i in 0 1 2 3 4 5; do echo off $i > {FILE}; done
on() {{ echo on $1 0 lab_probe > {FILE}; }}
look() {{ echo probe {probe} > {FILE}; echo part $1; cat {FILE}; }}
on 0; look straight; echo off 0 > {FILE}
on 1; look alone; on 2; look several"""
        )
    except Lost as lost:
        return lost
    return seed, probe, {name: Said(text) for name, text in parts(ran).items()}


def noted(attempt):
    """It is run once: (seed of the sums, seed of the registers, what was said)."""
    if "noted" not in attempt.data:
        attempt.data["noted"] = run_noted(attempt)
    if isinstance(attempt.data["noted"], Lost):
        raise attempt.data["noted"]
    return attempt.data["noted"]


PROBES = {"straight": 0, "alone": 1, "several": 2}


@check(
    "ip, parent_ip, user and fregs are what the callee is promised, by each way",
    points=18,
    by_hand=f"echo on 1 0 lab_sum_1 > {FILE}; echo sum 5 > {FILE}; cat {FILE}",
)
def handed(attempt):
    this = machine(attempt)
    seed, _, said = noted(attempt)
    words, returns = numbers(seed, 8 * USERS), said["sums"].lists["returns"]
    for n in range(USERS):
        seen = said["sums"].users.get(n, {"calls": 0})
        attempt.same(f"calls that user {n} was told of", 1, seen["calls"], said["sums"].text[:1000])
        at = site(attempt, f"lab_sum_{n}")
        for what, expected in (("ip", at), ("parent", returns[n]), ("pc", at + this.CALL), ("slot", returns[n])):
            attempt.same(f"{what} of lab_sum_{n}", hex(expected), hex(seen[what]))
        attempt.same(f"arguments in fregs of lab_sum_{n}", words[8 * n : 8 * n + this.ARGS], seen["args"])
    for way, n in PROBES.items():
        seen, after = said[way].users.get(n, {"calls": 0}), said[way].lists["after"]
        attempt.same(f"calls that user {n} was told of ({way})", 1, seen["calls"], said[way].text[:1000])
        attempt.same("ip of lab_probe", hex(site(attempt, "lab_probe")), hex(seen["ip"]))
        attempt.same("stack pointer of lab_probe", hex(after[this.SP]), hex(seen["sp"]))


@check(
    "nothing that a traced function has in registers is lost, and the callee's stack is aligned",
    points=20,
    by_hand=f"echo on 1 0 lab_sum_1 > {FILE}; echo sum 5 > {FILE}; cat {FILE}, and the same without a user",
)
def unharmed(attempt):
    this = machine(attempt)
    seed, probe, said = noted(attempt)
    attempt.same("users that were called", USERS, len(said["sums"].users), said["sums"].text[:1000])
    attempt.same("sums of arguments", sums(seed), said["sums"].lists["sums"])
    wanted = numbers(probe, 32)
    for way, n in PROBES.items():
        attempt.true(f"a call ({way})", n in said[way].users, "none", said[way].text[:1000])
        after = said[way].lists["after"]
        kept = {n: hex(wanted[n]) for n in this.KEPT}
        attempt.same(f"registers behind the call ({way})", kept, {n: hex(after[n]) for n in this.KEPT})
        attempt.same(f"frame pointer ({way})", hex(this.fp_of(after[this.SP])), hex(after[this.FP]))
    for one in said.values():
        for n, seen in one.users.items():
            attempt.same(f"bytes by which the frame of user {n} is not aligned", 0, seen["misaligned"])


def called_before(attempt, caller, end):
    """Functions with sites that `caller` calls before it calls `end`, in order, as its instructions say."""
    kernel, this = attempt.kernel, machine(attempt)
    names = {kernel.symbols[name]: name for name in kernel.symbols if kernel.sizes[name]}
    sites, found = kernel.sites, []
    start = kernel.symbols[caller]
    for at in range(start, start + kernel.sizes[caller] - this.CALL, 4 if this is Aarch64 else 1):
        name = names.get(this.target(at, kernel.read(at, this.CALL)))
        if name == end:
            break
        if name and any(kernel.symbols[name] <= one < kernel.symbols[name] + kernel.sizes[name] for one in sites):
            found.append(name)
    return found


@check(
    "calls from the time before the tracer are noted by the hook as it was compiled",
    points=10,
    by_hand="make qemu-arm64 APPEND='ftrace=function'; dmesg | grep 'before the tracer'",
)
def early(attempt):
    # printk is called later as well, and then it is ftrace_caller's.
    names = [name for name in called_before(attempt, "start_kernel", "ftrace_init") if name != "printk"]
    append = f"ftrace=function ftrace_filter={','.join(dict.fromkeys(names))}"
    ran = attempt.guest(f"cat {TRACING}/trace", append=append)
    seen = re.findall(r": (\w+) <-start_kernel$", ran.output, re.M)
    attempt.same("calls by start_kernel before ftrace_init", names, seen[: len(names)], ran.output[-1000:])


@check(
    "a backtrace from the callee goes through ftrace_caller, the traced function and all of its callers",
    points=10,
    level="complete",
    by_hand=f"echo on 1 0 lab_sum_1 > {FILE}; echo sum 5 > {FILE}; cat {FILE}: walk and truth",
)
def backtrace(attempt):
    said = noted(attempt)[2]["sums"]
    for n in range(USERS):
        attempt.true(f"a call of user {n}", n in said.users, "none")
        back = site(attempt, f"lab_sum_{n}") + machine(attempt).CALL
        walk = said.users[n]["walk"]
        attempt.true(f"{back:#x}, in lab_sum_{n}", back in walk[2:6], [hex(address) for address in walk])
        wanted = [said.lists["returns"][n], *said.lists["truth"][1:]]
        seen = walk[walk.index(back) + 1 :]
        attempt.same(f"callers of lab_sum_{n}", [hex(one) for one in wanted], [hex(one) for one in seen])


@check(
    "returns are hooked and come back, with both words that a function may return",
    points=10,
    level="complete",
    by_hand=f"echo lab_pair > set_ftrace_filter; echo function_graph > current_tracer; echo pair 5 9 > {FILE}; cat trace {FILE}",
)
def returns(attempt):
    seeds = [seed_of(attempt) for _ in range(3)]
    many, levels = [attempt.rng.randrange(20, 90) for _ in range(2)], [attempt.rng.randrange(5, 30) for _ in range(2)]
    ran = attempt.guest(
        f"""cd {TRACING}; echo lab_pair lab_deep > set_ftrace_filter; echo function_graph > current_tracer
look() {{ echo part $1; cat {FILE}; for i in 'pair();' 'deep();' 'deep() {{' '}}'; do grep -c "| .*$i" trace; done; echo > trace; }}
echo pair {seeds[0]} {many[0]} > {FILE}; look pair
echo deep {levels[0]} > {FILE}; look deep
echo on 0 0 lab_pair > {FILE}
echo pair {seeds[1]} {many[1]} > {FILE}; look both
echo off 0 > {FILE}; echo on 0 0 lab_sum_? > {FILE}
echo sum {seeds[2]} > {FILE}; echo deep {levels[1]} > {FILE}; look beside"""
    )
    found = parts(ran)
    shown = {name: [int(word) for word in text.split()[-4:]] for name, text in found.items()}
    said = {name: Said(text) for name, text in found.items()}
    for name, value, lines in (
        ("pair", pairs(seeds[0], many[0]), [many[0], 0, 0, 0]),
        ("deep", deep(levels[0]), [0, 1, levels[0] - 1, levels[0] - 1]),
        ("both", pairs(seeds[1], many[1]), [many[1], 0, 0, 0]),
        ("beside", deep(levels[1]), [0, 1, levels[1] - 1, levels[1] - 1]),
    ):
        attempt.same(f"what the functions return ({name})", [value], said[name].lists["result"])
        attempt.same(
            f"lines of the trace ({name}): lab_pair, lab_deep, begins, ends", lines, shown[name], ran.output[-1500:]
        )
    attempt.same("sums", sums(seeds[2]), said["beside"].lists["sums"])
    for name, count in (("both", many[1]), ("beside", USERS)):
        attempt.same(f"entries ({name})", count, said[name].users.get(0, {"calls": 0})["calls"])


@check(
    "all registers: as they are at the site, as the user changed them, and those of another function",
    points=10,
    level="complete",
    by_hand=f"echo on 1 {SAVE_REGS} lab_probe > {FILE}; echo probe 5 > {FILE}; cat {FILE}",
)
def registers(attempt):
    this = machine(attempt)
    probe, seed, delta = seed_of(attempt), seed_of(attempt), attempt.rng.randrange(1, 1 << 40)
    changed = attempt.rng.sample(this.ALL, 3)
    changes = "\n".join(
        f"echo change {this.WORD[n]} {delta} > {FILE}; echo probe {probe} > {FILE}; echo part change{n}; cat {FILE}"
        for n in changed
    )
    ran = attempt.guest(
        f"""echo on 1 {SAVE_REGS} lab_probe > {FILE}
echo probe {probe} > {FILE}; echo part probe; cat {FILE}
{changes}
echo change 0 0 > {FILE}; echo off 1 > {FILE}
echo on 1 {SAVE_REGS} lab_sum_? > {FILE}
echo sum {seed} > {FILE}; echo part sums; cat {FILE}
echo off 1 > {FILE}; echo replace > {FILE}
echo on 1 {SAVE_REGS + IPMODIFY} lab_sum_2 > {FILE}
echo sum {seed} > {FILE}; echo part replaced; cat {FILE}"""
    )
    said, wanted = {name: Said(text) for name, text in parts(ran).items()}, numbers(probe, 32)
    seen, after = said["probe"].users.get(1, {}), said["probe"].lists["after"]
    attempt.true("struct pt_regs", "regs" in seen, "none", said["probe"].text[:1000])
    regs, at = seen["regs"], site(attempt, "lab_probe") + this.CALL
    attempt.same(
        "registers in regs",
        {n: hex(wanted[n]) for n in this.ALL},
        {n: hex(regs[this.WORD[n]]) for n in this.ALL},
    )
    frame = this.fp_of(after[this.SP])
    for what, expected, word in (
        ("pc", at, this.PC_WORD),
        ("stack pointer", after[this.SP], this.SP_WORD),
        ("frame pointer", frame, this.WORD[this.FP]),
        ("frame pointer in stackframe", frame, this.RECORD),
        ("pc in stackframe", at, this.RECORD + 1),
    ):
        attempt.same(f"{what} in regs", hex(expected), hex(regs[word]))
    if this.REG_LR:
        attempt.same("x30 in regs", hex(seen["slot"]), hex(regs[this.REG_LR]))
    attempt.same("signs of a wrong mode", 0, seen["odd"])
    for name in ("probe", *(f"change{n}" for n in changed)):
        number = int(name[6:]) if name != "probe" else None
        kept = {n: hex((wanted[n] + (delta if n == number else 0)) & MASK) for n in this.ALL}
        after = said[name].lists["after"]
        attempt.same(f"registers behind the call ({name})", kept, {n: hex(after[n]) for n in this.ALL})
        attempt.same(f"frame pointer ({name})", hex(this.fp_of(after[this.SP])), hex(after[this.FP]))
    attempt.same("sums of arguments", sums(seed), said["sums"].lists["sums"])
    replaced = sums(seed)
    replaced[2] = total(numbers(seed, 24)[16:], 17)
    attempt.same("sums, lab_other in place of lab_sum_2", replaced, said["replaced"].lists["sums"])


INSTRUCTIONS = {"aarch64": 20, "x86_64": 36}


@check(
    f"a traced call costs less than {INSTRUCTIONS['aarch64']} instructions more on aarch64, {INSTRUCTIONS['x86_64']} on x86_64",
    points=10,
    level="challenge",
    by_hand=f"echo many 1000 > {FILE}; grep ns {FILE}; echo light 0 0 lab_leaf > {FILE}; and again, with make qemu-arm64 ICOUNT=1",
)
def cost(attempt):
    number = attempt.rng.randrange(2000, 3000)
    ran = attempt.guest(
        f"""echo many {number} > {FILE}; echo part plain; cat {FILE}
echo light 0 0 lab_leaf > {FILE}
echo many {number} > {FILE}; echo part traced; cat {FILE}"""
    )
    plain, traced = (Said(text).lists for text in parts(ran).values())
    attempt.same("calls of the tracer", number, traced["light"] - plain["light"])
    took = (traced["ns"] - plain["ns"]) / number
    attempt.within("instructions", 5, took, INSTRUCTIONS[attempt.arch])
    attempt.figure("instructions for a traced call", round(took, 1))
