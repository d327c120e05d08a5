"""Every form of `trace` beside the usual one: the latency format, verbose, raw, hex, bin, thread groups. All must tell
the same of a trace."""

import re

import pytest
import tracetext
from test_formats import TRACING, lines_of, split_trace

LATENCY_TRACERS = ["irqsoff", "preemptoff", "preemptirqsoff"]


# ---- The patterns take what Linux printed (formats/ holds recorded pieces), and nothing that is a byte off


@pytest.mark.parametrize("name", ["function", "nop", "irqsoff", "irqsoff_nofunction", "preemptirqsoff", "wakeup_rt"])
def test_patterns_accept_linux_latency(name):
    header, found = tracetext.split_latency(tracetext.read_format(f"latency_{name}.txt"))
    if header["shown"] != len(found):  # the piece was cut off: the last line's mark tells of a line that is not there
        found[-1]["mark"] = " "
    tracetext.check_latency(header, found)
    assert (header["started"] is None) == (name in ("function", "nop", "wakeup_rt"))


@pytest.mark.parametrize("name", ["function", "irqsoff"])
def test_patterns_accept_linux_verbose(name):
    header, found = tracetext.split_latency(tracetext.read_format(f"verbose_{name}.txt"))
    found[-1]["delay"] = 0
    tracetext.check_latency(header, found)


@pytest.mark.parametrize("name", ["function", "nop"])
def test_patterns_accept_linux_numbers(name):
    _, raw = split_trace(tracetext.read_format(f"raw_{name}.txt"), "", tracer=name)
    _, hexa = split_trace(tracetext.read_format(f"hex_{name}.txt"), "", tracer=name)
    raw, hexa = [tracetext.parse_raw(line) for line in raw], list(tracetext.parse_hex(hexa))
    # Two recordings of one buffer, cut off at different lines.
    assert len(raw) > 5 and len(hexa) > 5 and all(one == other for one, other in zip(raw, hexa))


def test_patterns_accept_linux_columns():
    _, lines = split_trace(tracetext.read_format("plain_record-tgid.txt"), "record-tgid")
    assert {tracetext.parse_plain(line)["tgid"] for line in lines} == {"-" * 7}
    text = tracetext.read_format("plain_verbose.txt")
    assert text.startswith("# tracer: function\n#\n ")
    assert all(tracetext.parse_plain(line)["flags"] for line in text.splitlines()[2:])


def test_patterns_refuse_other_columns():
    text = tracetext.read_format("latency_irqsoff.txt")
    line = next(line for line in text.splitlines() if "us*" in line)
    for bad in (
        line.replace("us*", "us!"),
        line.replace("4us", "1us"),
        line.replace("us*", "us"),
        line[1:],
        line.replace("0d", " 0d"),
    ):
        with pytest.raises(AssertionError):
            tracetext.check_latency(*tracetext.split_latency(text.replace(line, bad)))
    for old, new in (
        ("#7/7", "# 7/7"),
        ("CPU#            \n", "CPU#\n"),
        ("#  => ended at:   ", "#  => ended at: "),
        ("v1.1.5", "v1.1.4"),
    ):
        assert old in text
        with pytest.raises(AssertionError):
            tracetext.split_latency(text.replace(old, new, 1))


# ---- Ours


def shown(guest, *options, file="trace"):
    """The file's text while these options are set."""
    back = [option[2:] if option.startswith("no") else f"no{option}" for option in options]
    text = lines_of(guest, "".join(f"echo {option} > trace_options; " for option in options) + f"cat {file}")
    lines_of(guest, "".join(f"echo {option} > trace_options; " for option in back) + "true")
    return text


def bytes_of(guest, *options):
    """The same, of a file that is not text."""
    dump, data = shown(guest, *options, file="trace | hexdump -C"), b""
    for line in dump.splitlines():
        if line == "*":
            continue
        offset, _, rest = line.partition(" ")
        while len(data) < int(offset, 16):  # what the star stands for
            data += data[-16:]
        data += bytes.fromhex(rest.split("|")[0])
    return data


def record(guest, tracer):
    lines_of(
        guest,
        f"cd {TRACING}; echo 0 > tracing_on; echo 'vfs_write schedule' > set_ftrace_filter; echo {tracer} > current_tracer; "
        "echo > trace; echo record-tgid > trace_options; echo 1 > tracing_on; "
        "for i in 1 2 3 4 5 6 7 8 9; do echo $i > /dev/null; done; echo a marker > trace_marker; sleep 0.02; sleep 0.02; "
        "taskset 2 sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; done' > /dev/null; echo 0 > tracing_on",
    )


@pytest.mark.parametrize("tracer", ["function", "sched_switch"])
def test_all_forms_tell_the_same(machine, tracer):
    with machine.guest(smp=2, timeout=120) as guest:
        record(guest, tracer)
        header, lines = split_trace(shown(guest), "record-tgid", tracer)
        plain = [tracetext.parse_plain(line) for line in lines]
        assert header["entries"] == len(plain) > 20
        assert {line["tgid"] == line["pid"] for line in plain if line["pid"]} == {True}, "programs here have one thread"
        _, lines = split_trace(shown(guest, "norecord-tgid", "noirq-info"), "noirq-info", tracer)
        assert [line["rest"] for line in map(tracetext.parse_plain, lines)] == [line["rest"] for line in plain]

        raw = [tracetext.parse_raw(line) for line in split_trace(shown(guest, "raw"), "record-tgid", tracer)[1]]
        check_numbers(guest, tracer, raw)
        for line, (pid, cpu, stamp, _) in zip(plain, raw, strict=True):
            assert (line["pid"], int(line["cpu"]), line["stamp"]) == (pid, cpu, (stamp + 500) // 1000)
        check_times(guest, tracer, plain, [stamp for _, _, stamp, _ in raw])
        # What is behind the columns is the same with none; raw without them too.
        assert shown(guest, "nocontext-info").splitlines()[2:] == [line["rest"] for line in plain]
        assert len(shown(guest, "raw", "nocontext-info").splitlines()) == 2 + len(raw)
        # bin goes before hex, hex before raw.
        assert shown(guest, "raw", "hex") == shown(guest, "hex") and bytes_of(guest, "raw", "hex", "bin") == bytes_of(
            guest, "bin"
        )


def check_numbers(guest, tracer, raw):
    """raw, hex and bin hold the same numbers, and these are the addresses of the names."""
    hexa = list(tracetext.parse_hex(split_trace(shown(guest, "hex"), "record-tgid", tracer)[1]))
    head = shown(guest).index("|         |\n") + len("|         |\n")
    binary = list(tracetext.parse_bin(bytes_of(guest, "bin")[head:], [record[3][0] for record in hexa]))
    states = {}
    for one, two, three in zip(raw, hexa, binary, strict=True):
        assert one[:3] == two[:3] == three[:3]
        if one[3][0] == "text":
            assert two[3] == three[3] == ("type", 5) and one[3][2] == "a marker"
        elif one[3][0] == "function":
            assert one[3] == two[3] == three[3]
        else:
            assert one[3] == two[3]
            was, now = one[3][1:], three[3][1:]
            assert [was[i] for i in (0, 1, 3, 4, 5)] == [now[i] for i in (0, 1, 3, 4, 5)]
            assert states.setdefault(now[6], was[6]) == was[6], "one number, two letters"
    assert {record[3][0] for record in raw} == {"text", "function" if tracer == "function" else "pair"}
    if tracer == "function":
        named = re.findall(r": (\w+) <([0-9a-f]{16})> <-(\w+) <([0-9a-f]{16})>\n", shown(guest, "sym-addr"))
        assert [(int(name[1], 16), int(name[3], 16)) for name in named] == [
            record[3][1:] for record in raw if record[3][0] == "function"
        ]


def check_times(guest, tracer, plain, stamps):
    """The latency format, short and verbose, tells the same times, from one beginning."""
    header, short = tracetext.split_latency(shown(guest, "latency-format"))
    assert (
        shown(guest, file="latency_trace")
        == shown(guest, "latency-format")
        == shown(guest, "latency-format", "noirq-info")
    )
    tracetext.check_latency(header, short)
    assert (header["tracer"], header["latency"], header["shown"], header["comm"], header["pid"], header["cpus"]) == (
        tracer,
        0,
        len(plain),
        "",
        0,
        2,
    )
    assert header["release"] == lines_of(guest, "uname -r").strip()
    verbose_header, verbose = tracetext.split_latency(shown(guest, "latency-format", "verbose"))
    tracetext.check_latency(verbose_header, verbose)
    assert verbose_header == header and verbose[0]["index"] == 0
    # With verbose alone there is no header, and the usual lines.
    assert shown(guest, "verbose").splitlines()[2:] == [
        line for line in shown(guest).splitlines() if not line.startswith("#")
    ]
    starts = set()
    for line, one, two, stamp, following in zip(plain, short, verbose, stamps, stamps[1:] + stamps[-1:], strict=True):
        assert line["comm"][:8] == one["comm"] and line["comm"] == two["comm"] and line["flags"] == one["flags"]
        assert line["pid"] == one["pid"] == two["pid"] and int(line["cpu"]) == one["cpu"] == two["cpu"]
        assert line["rest"] == one["rest"] == two["rest"] and two["stamp"] == line["stamp"] and one["us"] == two["us"]
        assert (
            one["mark"] == tracetext.mark_of((following - stamp + 500) // 1000)
            and two["delay"] == (following - stamp + 500) // 1000
        )
        starts.add(stamp // 1000 - one["us"])
    assert max(starts) - min(starts) <= 1, starts


@pytest.mark.parametrize("form", ["irq-info", "latency-format", "raw", "hex"])
def test_trace_pipe_has_the_same_lines(machine, form):
    with machine.guest(smp=2, timeout=120) as guest:
        record(guest, "function")
        lines_of(guest, f"echo {form} > trace_options")
        lines = [line for line in lines_of(guest, "cat trace").splitlines() if not line.startswith("#")]
        if form == "latency-format":  # nobody knows yet what comes behind the last line that there is
            lines = [re.sub(r"(\d+us).: ", r"\1 : ", line) for line in lines]
        assert lines_of(guest, "cat trace_pipe").splitlines() == lines and len(lines) > 20


@pytest.mark.parametrize("tracer", ["wakeup", "wakeup_rt"])
def test_wakeup_tracers(machine, tracer):
    with machine.guest(smp=2, timeout=120) as guest:
        lines_of(
            guest,
            f"cd {TRACING}; echo 'vfs_* hrtimer_*' > set_ftrace_filter; echo {tracer} > current_tracer; "
            "taskset 2 chrt -f 5 sleep 0.05; echo 0 > tracing_on",
        )
        header, short = tracetext.split_latency(lines_of(guest, "cat trace"))
        tracetext.check_latency(header, short)
        assert header["tracer"] == tracer and header["started"] is None and header["shown"] == len(short)
        pairs = [line["rest"] for line in short if re.search(r"   \+ | ==> ", line["rest"])]
        assert len(pairs) == 2, pairs
        for pair, delim in zip(pairs, ("  +", "==>")):  # who wakes, and who goes, for the task of the header
            match = re.fullmatch(r" ( *\d+):( *\d+):(\S) (  \+|==>) \[(\d{3})\] ( *\d+):( *\d+):R (\S.*)", pair)
            assert match and match[4] == delim and int(match[6]) == header["pid"], pair
            assert [len(match[i]) for i in (1, 2, 6, 7)] == [7, 3, 7, 3], pair
        # A stopper thread (99) may have waited longest.
        assert (header["policy"], header["rt_prio"]) in ((1, 5), (1, 99)) or tracer == "wakeup"
        # The same records in the form for programs.
        numbers = [tracetext.parse_raw(line) for line in shown(guest, "raw").splitlines() if re.match(r"\d", line)]
        assert [one[3][0] for one in numbers if one[3][0] == "pair"] == ["pair"] * 2 and len(numbers) == len(short)


@pytest.mark.parametrize("tracer", LATENCY_TRACERS)
def test_latency_tracers(machine, tracer):
    with machine.guest(smp=2, timeout=120) as guest:
        lines_of(
            guest,
            f"cd {TRACING}; echo 'vfs_* try_to_wake_up hrtimer_*' > set_ftrace_filter; "
            f"echo {tracer} > current_tracer; ls / > /dev/null; sleep 0.05; echo 0 > tracing_on",
        )
        header, short = tracetext.split_latency(lines_of(guest, "cat trace"))
        tracetext.check_latency(header, short)
        assert header["tracer"] == tracer and header["started"] and header["ended"] and header["shown"] == len(short)
        assert {line["cpu"] for line in short} == {header["cpu"]}
        _, verbose = tracetext.split_latency(shown(guest, "verbose"))
        _, lines = split_trace(shown(guest, "nolatency-format"), "", tracer)
        plain = tracetext.records(lines, tracetext.parse_plain)
        _, lines = split_trace(shown(guest, "nolatency-format", "noirq-info"), "noirq-info", tracer)
        bare = tracetext.records(lines, tracetext.parse_plain)
        for found in (verbose, plain, bare):
            assert [(line["rest"], line.get("stack")) for line in found] == [
                (line["rest"], line.get("stack")) for line in short
            ]
        assert len(shown(guest, "nolatency-format", "raw").splitlines()) >= len(short)
