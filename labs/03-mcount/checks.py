"""What lab mcount is graded by: the bytes of kernel text, read by QEMU, against what this file knows of both machines'
instructions. Nothing that the kernel prints of itself counts, but for the errors that it returns."""

from grading import Lost, check
from monitor import Text

DEBUG = "/sys/kernel/debug"
TRACING = "/sys/kernel/tracing"
SLOT = 16
# What a branch reaches, in bytes from the site: the least and the greatest distance, and what it is a multiple of.
# Arm ARM C6.2.35 (BL: a signed 26-bit number of words); Intel SDM vol. 2, CALL (rel32, from the end of the 5 bytes).
REACH = {"aarch64": (-(1 << 27), (1 << 27) - 4, 4), "x86_64": (-(1 << 31) + 5, (1 << 31) + 4, 1)}
ERANGE = -34
INSTRUCTIONS_A_SITE = {"aarch64": 100, "x86_64": 80}
LOOKED_AT = 200  # sites, when ftrace_init() has just returned


def text(attempt, guest):
    """The text of a running kernel: (sites that call a tracer, static branches that are on), all else as built."""
    try:
        return Text(guest, attempt.kernel).calls()
    except AssertionError as error:
        raise Lost(
            "kernel text as it was built, but for right nops, calls and jumps at call sites and static branches", error
        ) from error


@check(
    "after boot each call site is a nop, and no other instruction has changed",
    points=20,
    by_hand="make gdb-arm64 or gdb-x86_64; disassemble FUNCTION, or vt-ftrace FUNCTION. Bytes are in the order of memory",
)
def sites(attempt):
    def look(guest):
        calling, _ = text(attempt, guest)
        attempt.same("sites that call something", 0, len(calling))

    attempt.monitored(look)


@check(
    "a tracer is called from the sites that it was given, and from no other",
    points=20,
    by_hand="echo vfs_read > set_ftrace_filter; echo function > current_tracer; cat trace",
)
def calls(attempt):
    kernel, sizes = attempt.kernel, attempt.kernel.sizes
    sites_of = {}
    starts = sorted((address, name) for name, address in kernel.symbols.items() if sizes[name])
    site_list, at = sorted(kernel.sites), 0
    for address, name in starts:
        while at < len(site_list) and site_list[at] < address:
            at += 1
        if at < len(site_list) and site_list[at] < address + min(sizes[name], 64):
            sites_of[name] = site_list[at]

    def look(guest):
        _, listed = guest.run(f"cat {TRACING}/available_filter_functions")
        names = sorted({name for name in listed.split() if name in sites_of and listed.split().count(name) == 1})
        attempt.true(
            "hundreds of functions in available_filter_functions: records whose bit in ftrace_present_map is set",
            len(names) > 100,
            f"{len(names)} that are there once",
        )
        chosen = attempt.rng.sample(names, 7)
        guest.run(f"echo {' '.join(chosen)} > {TRACING}/set_ftrace_filter; echo function > {TRACING}/current_tracer")
        calling, _ = text(attempt, guest)
        attempt.same(
            "functions that call the tracer", sorted(chosen), sorted(n for n in names if sites_of[n] in calling)
        )
        attempt.same("sites that call it", 7, len(calling))
        guest.run(f"echo nop > {TRACING}/current_tracer")
        attempt.same("sites that call it afterwards", 0, len(text(attempt, guest)[0]))

    attempt.monitored(look)


@check(
    "calls arrive: as many records as there were calls",
    points=10,
    by_hand="echo plant_spin > set_ftrace_filter; echo function > current_tracer; echo 1 > /sys/kernel/debug/latency/irqs_off",
)
def arrive(attempt):
    times = attempt.rng.randrange(3, 30)
    ran = attempt.guest(
        f"""cd {TRACING}
echo plant_spin > set_ftrace_filter
echo function > current_tracer
for i in $(seq {times}); do echo 1 > {DEBUG}/latency/irqs_off; done
echo nop > current_tracer; echo function > current_tracer
cat trace > /dev/null
for i in $(seq {times}); do echo 1 > {DEBUG}/latency/irqs_off; done
echo 0 > tracing_on
grep -c ': plant_spin <-plant_irqs_off' trace
"""
    )
    attempt.same("records of plant_spin", str(times), ran.lines[-1] if ran.lines else "", ran.output)


@check(
    "a static branch that is on is a jump to where the compiler said",
    points=10,
    by_hand="echo 1 > events/sched/enable; x/i at an entry of the jump table",
)
def jumps(attempt):
    def look(guest):
        before = text(attempt, guest)[1]
        guest.run(f"echo 1 > {TRACING}/events/sched/enable")
        after = text(attempt, guest)[1]
        attempt.true(
            "more static branches that are on with events than without", after > before, f"{before}, then {after}"
        )

    attempt.monitored(look)


def order(guest, words):
    """A command for plant/samples/lab_mcount.c, and the number that came of it."""
    guest.run(f"echo '{words}' > {DEBUG}/lab/patch")
    return int(guest.run(f"cat {DEBUG}/lab/patch")[1])


def bytes_at(attempt, guest, slot):
    address = attempt.kernel.symbols["lab_ground"] + SLOT * slot
    guest.qmp("stop")
    found = guest.memory(attempt.kernel.physical(address), attempt.kernel.code.SIZE)
    guest.qmp("cont")
    return address, found


@check(
    "calls and jumps of all distances are encoded right, forwards and backwards",
    points=10,
    level="complete",
    by_hand="the Arm ARM, C6.2.35 BL; the Intel SDM, CALL",
)
def encoding(attempt):
    least, most, step = REACH[attempt.arch]
    distances = [attempt.rng.randrange(least // step, most // step) * step for _ in range(8)]

    def look(guest):
        for slot, distance in enumerate(distances):
            for word, form in (("call", attempt.kernel.code.call), ("jump", attempt.kernel.code.jump)):
                result = order(guest, f"{word} {slot} {distance}")
                address, found = bytes_at(attempt, guest, slot)
                attempt.same(f"{word} over {distance} bytes: result", 0, result)
                attempt.same(
                    f"{word} over {distance} bytes, its bytes in the order of memory",
                    form(address, address + distance).hex(" "),
                    found.hex(" "),
                )
            order(guest, f"nop {slot}")
            attempt.same("a nop", attempt.kernel.code.NOP.hex(" "), bytes_at(attempt, guest, slot)[1].hex(" "))

    attempt.monitored(look)


@check(
    "what is out of reach is refused, to the byte, and nothing is written",
    points=10,
    level="complete",
    by_hand="the range of the branch in the manual: which is the first distance that does not fit?",
)
def reach(attempt):
    least, most, step = REACH[attempt.arch]
    wrong = [most + step, least - step, most + 4096, -(1 << 40), 1 << 40] + ([2, -6] if step == 4 else [])

    def look(guest):
        for slot, distance in enumerate((least, most)):
            attempt.same(f"a call over {distance} bytes: result", 0, order(guest, f"call {slot} {distance}"))
            address, found = bytes_at(attempt, guest, slot)
            attempt.same(
                f"a call over {distance} bytes, its bytes in the order of memory",
                attempt.kernel.code.call(address, address + distance).hex(" "),
                found.hex(" "),
            )
        for slot, distance in enumerate(wrong, 8):
            before = bytes_at(attempt, guest, slot)[1]
            attempt.same(f"a call over {distance} bytes: result", ERANGE, order(guest, f"call {slot} {distance}"))
            attempt.same(
                f"the bytes after a call over {distance} bytes was refused",
                before.hex(" "),
                bytes_at(attempt, guest, slot)[1].hex(" "),
            )

    attempt.monitored(look)


@check(
    "a site that holds something else is found before anything is written",
    points=10,
    level="complete",
    by_hand="change a site by gdb; echo function > current_tracer; dmesg",
)
def foreign(attempt):
    number = attempt.rng.randrange(20, 60)
    places = [0, number - 1, *attempt.rng.sample(range(1, number - 1), 3)]

    def look(guest):
        for place in places:
            attempt.same(f"of {number} sites, the first foreign one", place, order(guest, f"verify {number} {place}"))
        attempt.same(f"of {number} sites, good ones", number, order(guest, f"verify {number} 99"))

    attempt.monitored(look)


@check(
    "ftrace_init() takes less than 100 instructions a site on aarch64, less than 80 on x86_64",
    points=10,
    level="challenge",
    by_hand="dmesg | grep nops, with make qemu-arm64 ICOUNT=1: an instruction is a nanosecond. This is most of it",
)
def cost(attempt):
    kernel, nop = attempt.kernel, attempt.kernel.code.NOP
    sites = sorted(kernel.sites)
    some = {sites[0], sites[-1], *attempt.rng.sample(sites, min(LOOKED_AT, len(sites)))}
    spent, held = attempt.spent_in("ftrace_init", sorted(some))
    attempt.same(
        f"of {len(some)} sites, those that are no nops when ftrace_init() returns",
        "",
        " ".join(f"{address:#x}" for address in sorted(some) if held.get(address) != nop),
    )

    def look(guest):
        attempt.same("sites that still call", 0, len(text(attempt, guest)[0]))

    attempt.monitored(look)
    limit = INSTRUCTIONS_A_SITE[attempt.arch]
    attempt.true(f"less than {limit} instructions a site", spent < limit * len(sites), f"{spent / len(sites):.1f}")
    attempt.figure("instructions for a site at boot", round(spent / len(sites), 1))
