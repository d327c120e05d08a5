"""uprobes: counts that are exact, in threads, children and new programs; returns; what is refused; and programs that
notice nothing, wherever the probes stand."""

import os
import random
import re
import struct
import subprocess

import pytest
from module_guest import guest, samples  # noqa: F401
from stories import story
from vitrine_guest import ROOT

TOOLS = {"aarch64": "aarch64-linux-gnu-", "x86_64": "x86_64-linux-gnu-"}
RESULT = re.compile(r"(\d+) hits, argument ([0-9a-f]+), (\d+) returns of ([0-9a-f]+), sum (-?\d+), (\d+) missed$", re.M)
WALKED = re.compile(r"(done|walking): (\d+) probed, (\d+) refused, (\d+) hits, (\d+) returns")


def tool(arch, name, *words):
    return subprocess.run([TOOLS[arch] + name, *words], stdout=subprocess.PIPE, text=True, check=True).stdout


class Program:
    """A program of the guest tests, or another one that has its symbols: where its functions and instructions stand in
    the file that the guest has."""

    def __init__(self, arch, path, debug):
        self.arch, self.path, self.debug = arch, path, debug
        self.segments = [
            tuple(int(word, 16) for word in line.split()[1:6])
            for line in tool(arch, "readelf", "-lW", path).splitlines()
            if line.split()[:1] == ["LOAD"]
        ]
        self.symbols = {
            words[2]: int(words[0], 16)
            for words in map(str.split, tool(arch, "nm", debug).splitlines())
            if len(words) == 3
        }

    def offset(self, addr):
        for offset, start, _, size, _ in self.segments:
            if start <= addr < start + size:
                return offset + addr - start
        raise KeyError(addr)

    def of(self, symbol):
        return self.offset(self.symbols[symbol])

    def instructions(self):
        """Offsets of all of them, by objdump."""
        said = tool(self.arch, "objdump", "-d", "-w", "--no-show-raw-insn", self.debug)
        lines = re.findall(r"^\s*([0-9a-f]+):\t(\S+)", said, re.M)
        return [self.offset(int(addr, 16)) for addr, name in lines if name not in (".word", ".inst", "(bad)", "udf")]


@pytest.fixture(name="uprobed")
def fixture_uprobed(guest):
    folder = f"{ROOT}/build/{guest.arch}/guest-tests"
    return Program(guest.arch, f"{folder}/uprobed", f"{folder}/debug/uprobed")


@pytest.fixture(name="run")
def fixture_run(guest, uprobed, tmp_path):
    """run(script, offsets=): in a guest with the program, both modules, and this list of offsets at /offsets."""

    def run(script, offsets=(), more=(), timeout=300):
        (tmp_path / "offsets").write_bytes(b"".join(struct.pack("<I", at) for at in offsets))
        files = [f"{uprobed.path}:/bin/uprobed", f"{tmp_path}/offsets:/offsets", *more]
        options = [word for file in files for word in ("--file", file)]
        return guest(f"cd /\n{script}", "uprobe_sample", "uprobe_walk", options=options, timeout=timeout)

    return run


def sample(uprobed, symbol, words=""):
    return f"insmod /uprobe_sample.ko path=/bin/uprobed offset={uprobed.of(symbol)} {words}\n"


SHOW = "cat /proc/uprobe_sample; rmmod uprobe_sample\n"


def test_the_page(guest, run):
    """What docs/uprobes.md types, at the offset that this build has: the answers are those of the page."""
    with open(f"{ROOT}/docs/uprobes.md", encoding="utf-8") as file:
        page = file.read()
    lines = re.search(r"(    cd /sys.*?)\n\n(    .*?)\n\n", page, re.S)
    shell = Program(guest.arch, f"{ROOT}/build/{guest.arch}/root/bin/sh", f"{ROOT}/build/{guest.arch}/userland/debug/sh")
    script = lines[1].replace("0xbc4", hex(shell.of("builtin_false")))
    if guest.arch == "x86_64":
        script = script.replace("%x0", "%di").replace("%x1", "%si")
    said = run(script)
    found = re.findall(r": (\w+: .*)", said.replace(hex(shell.symbols["builtin_false"]), "0x400bc4"))
    expected = re.findall(r": (\w+: .*)", lines[2].replace("0x40245c", "0x"))
    assert [re.sub("0x[0-9a-f]+ <-", "0x <-", line) for line in found] == expected, said


def results(out):
    """(hits, last argument, returns, function, sum, missed) of each line of /proc/uprobe_sample."""
    return [(int(h), int(a, 16), int(r), int(f, 16), int(s), int(m)) for h, a, r, f, s, m in RESULT.findall(out)]


def test_counts(run, uprobed):
    """100,000 calls by four threads, a call deeper than returns are told, calls that jump on, and calls that never
    return: each hit and each return is counted, or counted as missed."""
    out = run(
        sample(uprobed, "uprobed_plain", "returns=1")
        + "uprobed threads\n"
        + SHOW
        + sample(uprobed, "uprobed_depth", "returns=1")
        + "uprobed depth\n"
        + SHOW
        + sample(uprobed, "uprobed_tail", "returns=1")
        + "uprobed tail\n"
        + SHOW
        + sample(uprobed, "uprobed_jumps", "returns=1")
        + "uprobed jumps\n"
        + SHOW
    )
    threads, depth, tail, jumps = results(out)
    n = 25000
    assert threads == (100000, n - 1, 100000, uprobed.symbols["uprobed_plain"], 4 * (3 * n * (n - 1) // 2 + n), 0)
    # ten calls, then a hundred, of which the innermost 36 are too deep
    assert depth[:2] == (110, 0) and depth[2:4] == (74, uprobed.symbols["uprobed_depth"]) and depth[5] == 36
    assert depth[4] == sum(k * (k + 1) // 2 for k in range(10)) + sum(k * (k + 1) // 2 for k in range(36, 100))
    assert tail == (10, 9, 10, uprobed.symbols["uprobed_tail"], sum((i + 10) * 3 + 1 for i in range(10)), 0)
    # six calls each time, and once seventy, of which the innermost six are too deep
    assert jumps[0] == 676 and jumps[2] == 0 and jumps[5] == 6
    assert out.count("1 of 1 cases passed") == 4


def test_processes(run, uprobed):
    """A child returns from the function that made it, as its parent does; a program that is replaced in the middle of a
    function; a process that runs already when the probe comes."""
    out = run(
        sample(uprobed, "uprobed_forks", "returns=1")
        + "uprobed forks\n"
        + SHOW
        + sample(uprobed, "uprobed_plain", "returns=1")
        + "uprobed forks\n"
        + SHOW
        + sample(uprobed, "uprobed_execs", "returns=1")
        + "uprobed execs\n"
        + SHOW
        + "uprobed busy & until ls -l /proc/$!/exe | grep -q /bin/uprobed; do usleep 1000; done\n"
        + sample(uprobed, "uprobed_tail", "returns=1")
        + "until grep -q '[0-9][0-9][0-9] hits' /proc/uprobe_sample; do usleep 1000; done; >/stop; wait\n"
        + SHOW
    )
    forks, child, execs, busy = results(out)
    assert forks == (1, 41, 2, uprobed.symbols["uprobed_forks"], 84, 0)
    assert child == (2, 2, 2, uprobed.symbols["uprobed_plain"], 14, 0)
    assert execs == (1, 1, 0, 0, 0, 0)
    assert busy[0] >= 100 and busy[0] == busy[2] and busy[5] == 0
    assert out.count("1 of 1 cases passed") == 4


def test_several(run, uprobed):
    """Two consumers at one place, one of them for returns; each is told of all."""
    out = run(
        "insmod /uprobe_walk.ko path=/bin/uprobed ms=0 returns=1\n"
        + sample(uprobed, "uprobed_plain")
        + "uprobed mix; uprobed tail; cat /proc/uprobe_walk\n"
        + SHOW
        + "uprobed tail; cat /proc/uprobe_walk; rmmod uprobe_walk; uprobed tail",
        offsets=[uprobed.of(name) for name in ("uprobed_plain", "uprobed_tail")],
    )
    walked = [tuple(map(int, line[1:])) for line in WALKED.findall(out)]
    assert results(out) == [(15, 19, 0, 0, 0, 0)]
    assert walked == [(2, 0, 25, 25), (2, 0, 45, 45)]
    assert out.count("1 of 1 cases passed") == 4


def test_refused(run, uprobed):
    """What may not be probed gets Linux's errno."""
    call = {"aarch64": "svc", "x86_64": "syscall"}[uprobed.arch]
    said = tool(uprobed.arch, "objdump", "-d", "--no-show-raw-insn", uprobed.debug)
    place = uprobed.offset(int(re.search(rf"^\s*([0-9a-f]+):\t{call}", said, re.M)[1], 16))
    out = run(f"SYSCALL={place} PLAIN={uprobed.of('uprobed_plain')}\n" + story("uprobes", "refused")).splitlines()
    assert len(out) == 6, out
    invalid, io = "Invalid argument; dmesg says what is wrong", "Input/output error"
    assert [line.rsplit(": ", 1)[-1] for line in out[:2]] == [
        invalid,
        invalid if uprobed.arch == "aarch64" else "Unknown error 524",
    ]
    assert out[4].endswith(invalid), out
    assert out[2].endswith(io) and out[5].endswith(io), out


def test_counter(run, uprobed):
    """The word in the program's data is 1 larger while the place is watched in it: in a new process and in one that
    runs already."""
    words = f"counter={uprobed.of('uprobed_counter')}"
    out = run(
        "uprobed counter\n" + sample(uprobed, "uprobed_plain", words) + "uprobed counter\n" + SHOW + "uprobed counter\n"
    )
    assert re.findall(r"counter is (\d+)", out) == ["0", "1", "0"]


def test_moved(run, uprobed):
    """A probed text that mremap(2) moves is watched where it is then: hit once, and counted once for each mapping."""
    words = f"counter={uprobed.of('uprobed_counter')}"
    out = run(sample(uprobed, "uprobed_plain", words) + "uprobed moved\n" + SHOW)
    assert re.findall(r"counter is (\d+)", out) == ["2", "2"]
    assert results(out)[0][:2] == (1, 5) and out.count("1 of 1 cases passed") == 1


@pytest.mark.parametrize("case", ["mix", "signals", "faults", "altstack", "steps", "jumps", "forks"])
def test_nothing_is_noticed(run, uprobed, case):
    """Each instruction of the functions is probed at the same time, and what is called returns by the trampoline."""
    first, last = uprobed.of("uprobed_load"), uprobed.of("uprobed_end")
    inside = [at for at in uprobed.instructions() if first <= at < last]
    functions = [uprobed.of(name) for name in uprobed.symbols if re.match("uprobed_(?!fault|end|counter|word)", name)]
    out = run(
        f"insmod /uprobe_walk.ko path=/bin/uprobed ms=0\nuprobed {case}; cat /proc/uprobe_walk; rmmod uprobe_walk\n"
        f"uprobed {case}",
        offsets=sorted({*inside, *functions}),
    )
    assert out.count("1 of 1 cases passed") == 2, out
    probed, refused, hits, _ = map(int, WALKED.search(out).groups()[1:])
    assert probed + refused == len({*inside, *functions}) and hits > 0, out
    # BRK and UD2
    assert refused <= 8, out


@pytest.mark.parametrize("case", ["signals", "altstack", "jumps", "forks", "threads", "tail", "depth", "nowhere"])
def test_returns_are_not_noticed(run, uprobed, case):
    functions = [uprobed.of(name) for name in uprobed.symbols if re.match("uprobed_(?!fault|end|counter|word)", name)]
    out = run(
        "insmod /uprobe_walk.ko path=/bin/uprobed ms=0 returns=1\n"
        f"uprobed {case}; cat /proc/uprobe_walk; rmmod uprobe_walk; uprobed {case}",
        offsets=functions,
    )
    assert out.count("1 of 1 cases passed") == 2, out
    probed, refused, hits, returned = map(int, WALKED.search(out).groups()[1:])
    assert (probed, refused) == (len(set(functions)), 0) and 0 < returned <= hits + 10, out


EVENTS = "cd /sys/kernel/tracing\n"


def test_events(run, uprobed):
    """The files: a definition and how it is shown, records with arguments that are exact, both profiles, filters, and
    the end of an event."""
    plain, depth = uprobed.of("uprobed_plain"), uprobed.of("uprobed_depth")
    argument = {"aarch64": "%x0", "x86_64": "%di"}[uprobed.arch]
    # @+OFFS counts from where the file would begin in memory, going by the probed place
    word = uprobed.symbols["uprobed_word"] - (uprobed.symbols["uprobed_plain"] - plain)
    out = run(
        EVENTS + f"PLAIN={plain:x} DEPTH={depth:x} WORD={word:x} ARGUMENT={argument}\n" + story("uprobes", "events")
    )
    shown, plains, depths, profile, rest = out.split("---\n")
    assert shown.splitlines() == [
        "twice",
        f"p:uprobes/plain /bin/uprobed:0x{plain:016x} n={argument}:u64 name=+0(@+0x{word:x}):ustring",
        f"r:uprobes/p_uprobed_0x{depth:x} /bin/uprobed:0x{depth:016x} ret=$retval:s32",
    ]
    at = uprobed.symbols["uprobed_plain"]
    found = re.findall(r'plain: \((0x[0-9a-f]+)\) n=(\d+) name="([^"]*)"$', plains, re.M)
    assert found == [(f"0x{at:x}", str(i + 10), "a word of the program") for i in range(10)], plains
    lines = depths.splitlines()
    assert lines[0] == "74"
    returns = [re.search(r"\((0x[0-9a-f]+) <- (0x[0-9a-f]+)\) ret=(-?\d+)$", line).groups() for line in lines[1:]]
    assert [int(ret) for _, _, ret in returns] == [n * (n + 1) // 2 for n in range(10)]
    assert {int(to, 16) for _, to, _ in returns} == {uprobed.symbols["uprobed_depth"]}
    assert [line.split() for line in profile.splitlines()] == [
        ["/bin/uprobed", "plain", "10"],
        ["/bin/uprobed", f"p_uprobed_0x{depth:x}", "74"],
    ]
    # the two last calls have n above 17; an event that is on stays
    assert rest.splitlines()[:5] == ["bytes={0x7f,0x45,0x4c,0x46}", "2", "1", "1", "0"], rest


def test_definitions_that_are_refused(run, uprobed):
    """Each gets Linux's words in error_log, with the caret under the place."""
    rows = [
        ("p ^/non_exist_file:100", "Failed to find the given file"),
        ("p ^/sys:100", "Not a regular file"),
        ("p /bin/sh:^10a", "Invalid uprobe offset"),
        ("p /bin/sh:10(^1a)", "Invalid reference counter offset"),
        ("p /bin/sh:10(10^", "Reference counter brace is not closed"),
        ("p /bin/sh:10(10)^a", "Reference counter has wrong suffix"),
        ("p /bin/sh:10^%wrong", "Invalid probed address suffix"),
        ("p /bin/sh:10 ^@+ab", "Invalid file offset value"),
        ("p /bin/sh:10 ^@symbol", "Symbol is not available with uprobe"),
    ]
    script = "".join(
        f"echo > error_log; echo '{line.replace('^', '')}' > uprobe_events 2>/dev/null && echo taken; tail -n 3 error_log | sed 's/^.*] //'\n"
        for line, _ in rows
    )
    out = run(EVENTS + script + "cat uprobe_events | wc -l").splitlines()
    assert len(out) == 3 * len(rows) + 1 and out[-1] == "0", out
    for i, (line, words) in enumerate(rows):
        said, command, caret = out[3 * i : 3 * i + 3]
        assert said.endswith(f"trace_uprobe: error: {words}"), (line, said)
        assert command.strip() == "Command: " + line.replace("^", "")
        assert caret.index("^") - command.index("Command: ") - len("Command: ") == line.index("^"), (command, caret)
    # What is no place in a file, or no word for a probe, is no uprobe at all.
    lines = ("p /bin/sh", "p sh:10", "p /bin/sh:main", "px /bin/sh:10", "x /bin/sh:10")
    out = run(EVENTS + "".join(f"echo '{line}' > uprobe_events; echo $?\n" for line in lines)).splitlines()
    assert out[1::2] == ["1"] * len(lines) and all("Invalid argument" in line for line in out[::2]), out


def test_event_of_what_cannot_be_probed(run, uprobed):
    """It can be defined, and not be enabled: with Linux's errno, and nothing is half on."""
    plain = uprobed.of("uprobed_plain")
    out = run(
        EVENTS
        + f"echo 'p:ours/both /bin/uprobed:{plain}' > uprobe_events; echo 'p:ours/both /bin/uprobed:99999999' >> uprobe_events\n"
        "echo 1 > events/ours/both/enable; echo $?; cat events/ours/both/enable; uprobed tail; grep -c both: trace; cat uprobe_profile"
    )
    assert "Invalid argument" in out and re.search(r"^1\n0$", out, re.M), out
    assert re.findall(r"both +(\d+)", out) == ["0", "0"], out


def test_storm(run, uprobed):
    """Probes come and go while four processes are in the probed functions, and others begin, fork and end."""
    functions = [uprobed.of(name) for name in ("uprobed_plain", "uprobed_tail", "uprobed_depth")]
    out = run(
        story("uprobes", "storm"),
        offsets=functions,
    )
    assert "3 of 3 cases passed" in out and out.count("busy ok") == 4, out
    assert not re.search(r"[0-2] of 3 cases|failed|killed", out), out
    assert int(WALKED.search(out)[2]) == 1200


SCRIPT = (
    "i=0; while [ $i -lt 20 ]; do i=$((i + 1)); x=$(echo a b c | sed s/b/$i/); case $x in *7*) echo seven $x;; esac; done"
    "; for f in /etc/p*; do wc -c <$f; done; (exit 3); echo $?; seq 30 | sort -r | head -n 3"
)


@pytest.mark.parametrize("machine_share", [os.environ.get("SOAK_MINUTES", "0") != "0"])
def test_any_instruction_of_sh(run, uprobed, machine_share):
    """The shell's instructions are probed, a random few hundred of them, or in the long form each, while it runs a
    script: what that prints stays the same."""
    folder = f"{ROOT}/build/{uprobed.arch}/userland"
    sh = Program(uprobed.arch, f"{ROOT}/build/{uprobed.arch}/root/bin/sh", f"{folder}/debug/sh")
    places, seed = sh.instructions(), random.randrange(1 << 30)
    if not machine_share:
        places = random.Random(seed).sample(places, 600)
    out = run(
        f"cat >/script <<'EOF'\n{SCRIPT}\nEOF\n" + story("uprobes", "sh"),
        offsets=places,
        timeout=3000 if machine_share else 300,
    ).splitlines()
    assert out[:3] == ["seven a 7 c", "seven a 17 c", out[2]] and out[-1] == "0", (seed, out)
    state, probed, refused, hits, _ = WALKED.search(out[-2]).groups()
    assert state == "done" and int(probed) + int(refused) == len(places), (seed, out)
    assert int(refused) < len(places) // 10 and int(hits) > 100, (seed, out)
