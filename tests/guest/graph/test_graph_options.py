"""Options of function_graph and of the function tracer beside it, and function graph in the latency tracers, on both
machines."""

import re
import struct

import pytest
import test_graph
from test_formats import COLUMNS, TRACING, lines_of, read_format
from test_graph import PROC, STATS, calls_of, graph, script, split, stats
from stories import story
from vitrine_guest import PANICKED, GuestError

# ---- display-graph: irqsoff and its like, and wakeup

LATENCY = rf" {{0,8}}\d+ us \|   (?P<cpu>\d)\) (?P<proc>(?=.{{14}} \| ){PROC}) \|  (?P<flags>[.dDb][.nNp][.HhsZz][.1-9a-f][.1-9a-f]) \| "


def parse(line, overhead):
    return test_graph.parse(line, LATENCY, overhead)


def test_these_checks_accept_linux():
    found = [parse(line, False) for line in read_format("lines_graph_latency.txt").splitlines()]
    assert [fields["kind"] for fields in found] == ["leaf"] * 3 + ["open"] + ["leaf"] * 2
    with pytest.raises(AssertionError):
        parse(read_format("lines_graph_latency.txt").splitlines()[2], True)  # long, and without a mark


def records(text, tracer, overhead):
    """(fields of calls, the lines of stack records) below exactly Linux's header."""
    header = read_format("header_graph_latency.txt").replace("{tracer}", tracer)
    if tracer.startswith("wakeup"):
        header = re.sub(r"(?m)^#  => .*\n#  => .*\n#\n", "", header).replace("policy:0 rt_prio:0", "policy:1 rt_prio:5")
    pattern = re.sub(r"\\{(\w+)\\}", r"\\S+", re.escape(header))
    match = re.match(pattern, text)
    assert match, f"header differs from formats/header_graph_latency.txt:\n{text[:1500]}"
    lines = text[match.end() :].splitlines()
    stacks = [line for line in lines if line.startswith(" => ") or line.endswith(": <stack trace>")]
    return [fields for fields in (parse(line, overhead) for line in lines if line not in stacks) if fields], stacks


PLANT = "/sys/kernel/debug/latency"


def plant(tracer, kind, us):
    """Alone on CPU 0: the section that was planted, as calls and as function entries."""
    return (
        f"echo {tracer} > current_tracer; for graph in 1 0 1; do echo $graph > options/display-graph; echo 0 > tracing_on; echo 0 > tracing_max_latency\n"
        f"echo 1 > tracing_on; echo {us} > {PLANT}/{kind}; echo 0 > tracing_on; echo == {tracer} $graph; cat trace; done\n"
        "echo 0 > options/display-graph; echo nop > current_tracer; echo 1 > tracing_on\n"
    )


def test_display_graph(machine):
    """The same section, the same places and functions in it, as a tree."""
    parts = script(
        machine,
        "echo 1 > tracing_cpumask\n"
        + plant("irqsoff", "irqs_off", 3000)
        + plant("preemptoff", "preempt_off", 3000)
        + plant("preemptirqsoff", "irqs_preempt_off", 3000)
        + "echo 0 > options/function-trace\n"
        + plant("irqsoff", "irqs_off", 2000).replace("== irqsoff", "== places")
        + "echo 1 > options/function-trace; echo 1 > options/display-graph; echo wakeup_rt > current_tracer; echo 1 > tracing_on\n"
        + f"chrt -f 5 sleep 0.01; echo 0 > tracing_on; echo '== wakeup'; cat trace; echo nop > current_tracer; echo '== stats'; cat {STATS}\n",
    )
    for tracer in ("irqsoff", "preemptoff", "preemptirqsoff"):
        found, stacks = records(parts[f"{tracer} 1"], tracer, False)
        spins = [call.ns for call in calls_of(found) if call.name == "plant_spin"]
        whole = 3_000_000 if tracer != "preemptirqsoff" else 1_000_000
        assert spins and all(abs(whole - ns) < whole // 25 for ns in spins), (tracer, spins)
        first, last = found[0], found[-1]
        assert first["kind"] == last["kind"] == "leaf" and first["ns"] == last["ns"] == 0 and "plant" in "".join(stacks)
        assert re.fullmatch("trace_(hardirqs|preempt)_off", first["name"]) and re.fullmatch(
            "tracer_(hardirqs|preempt)_on", last["name"]
        )
        if tracer == "irqsoff":  # the others have interrupts in them, whose handlers are not shown
            entries = re.findall(r"us.: ([A-Za-z_]\w*) <-", parts[f"{tracer} 0"])
            assert entries == [fields["name"] for fields in found if fields["kind"] in ("leaf", "open")]
        assert (
            "<-" not in parts[f"{tracer} 1"] and "() {" not in parts[f"{tracer} 0"] and ");" not in parts[f"{tracer} 0"]
        )
    places, _ = records(parts["places 1"], "irqsoff", False)
    assert [fields["name"] for fields in places] == ["trace_hardirqs_off", "trace_hardirqs_on", "tracer_hardirqs_on"]
    found, stacks = records(parts["wakeup"], "wakeup_rt", True)
    assert [fields["kind"] for fields in found][:2] == ["comment", "leaf"] and found[-1]["kind"] == "comment"
    assert " + [000]" in found[0]["name"] and " ==> [000]" in found[-1]["name"]
    assert found[1]["name"] == "try_to_wake_up" and found[-2]["name"] == "__schedule"
    after = stats(parts["stats"])
    assert after["mismatches"] == 0 and after["users"] == 0


# ---- The function tracer's own options


REPEATS = re.compile(r"(\w+) <-(\w+) \(repeats: (\d+), last_ts: {1,5}(\d+)\.(\d{6})\)")


def rests(text):
    return [match["rest"] for match in map(COLUMNS.fullmatch, text.splitlines()) if match]


def test_function_options(machine):
    recurse = "echo {} > /sys/kernel/debug/fgraph/recurse\n"
    parts = script(
        machine,
        "echo plant_recurse > set_ftrace_filter; echo function > current_tracer; echo 1 > options/func-no-repeats; echo 1 > tracing_on\n"
        + recurse.format(20)
        + recurse.format(3)
        + "echo '== repeats'; cat trace; echo raw > trace_options; echo '== raw'; cat trace\n"
        + "echo noraw > trace_options; echo hex > trace_options; echo '== hex'; cat trace; echo nohex > trace_options; echo > trace\n"
        + recurse.format(1)
        + "echo '== emptied'; cat trace; echo 1 > snapshot; echo > trace\n"
        + recurse.format(0)
        + "echo 1 > snapshot\n"
        + recurse.format(0)
        + "echo '== behind a snapshot'; cat trace; echo 0 > snapshot; echo 1 > options/func_stack_trace; echo > trace\n"
        + recurse.format(20)
        + "echo '== both'; cat trace; echo 0 > options/func-no-repeats; echo > trace\n"
        + recurse.format(2)
        + "echo '== stacks'; cat trace; echo 0 > options/func_stack_trace; echo > trace\n"
        + recurse.format(20)
        + "echo '== neither'; cat trace; echo nop > current_tracer; echo 1 > options/func_stack_trace; echo function > current_tracer\n"
        + recurse.format(1)
        + "echo '== set before'; cat trace",
    )
    first, again = "plant_recurse <-recurse_store", "plant_recurse <-plant_recurse"
    found = rests(parts["repeats"])
    assert [found[0], found[1], found[3], found[4]] == [first, again, first, again] and len(found) == 5
    match = REPEATS.fullmatch(found[2])
    assert match and match.groups()[:3] == ("plant_recurse", "plant_recurse", "19"), found[2]
    # The last one was called after the first, and before the line's own time.
    stamps = [
        int(line["seconds"]) * 10**6 + int(line["fraction"])
        for line in map(COLUMNS.fullmatch, parts["repeats"].splitlines())
        if line
    ]
    assert stamps[1] <= int(match[4]) * 10**6 + int(match[5]) <= stamps[2]
    raw = [line for line in parts["raw"].splitlines() if line and line[0] != "#"]
    numbers = re.fullmatch(r"\d+ 0 (\d+) (\d+) (\d+) 19 (\d+)", raw[2])
    entry = re.fullmatch(r"\d+ 0 \d+ ([0-9a-f]+) ([0-9a-f]+)", raw[1])
    assert (int(numbers[2]), int(numbers[3])) == (int(entry[1], 16), int(entry[2], 16)) and 0 < int(numbers[4]) < int(
        numbers[1]
    )
    assert re.search(r"(?m)^[0-9a-f]{8} 0{8} [0-9a-f]{16} type: 19$", parts["hex"])
    # An empty buffer holds nothing that could be repeated.
    assert rests(parts["emptied"]) == [first, again]
    assert rests(parts["behind a snapshot"]) == [first]
    assert rests(parts["both"]) == [first, "<stack trace>", again, "<stack trace>"]
    assert rests(parts["stacks"]) == [first, "<stack trace>", again, "<stack trace>", again, "<stack trace>"]
    frames = re.findall(r"(?m)^ => (\w+)$", parts["stacks"])
    assert frames[:2] == ["plant_recurse", "recurse_store"] and frames.count("plant_recurse") == 1 + 2 + 3
    assert rests(parts["neither"]) == [first] + [again] * 20
    assert rests(parts["set before"]) == [first, "<stack trace>", again, "<stack trace>"]


# ---- From the command line; who owns memory


def test_forms_for_programs(machine):
    """The options raw, hex and bin show the same numbers of each record: of an entry (function, depth), of an exit
    (function, result, depth, overrun, both times)."""
    show = "".join(
        f"echo '== {form}'; echo {form} > trace_options; {read}; echo no{form} > trace_options\n"
        for form, read in (("raw", "cat trace"), ("hex", "cat trace"), ("bin", "hexdump -C trace"))
    )
    parts = script(
        machine,
        "echo plant_recurse > set_ftrace_filter; echo function_graph > current_tracer; echo 1 > tracing_on\n"
        + "echo 2 > /sys/kernel/debug/fgraph/recurse; echo 0 > tracing_on\n"
        + show,
    )
    lines = {form: [line.split() for line in parts[form].splitlines() if line[:1] != "#"] for form in ("raw", "hex")}
    raw = [
        tuple(int(word, 16 if column in ((3, 4) if len(row) > 5 else (3,)) else 10) for column, word in enumerate(row))
        for row in lines["raw"]
    ]
    assert [len(row) for row in raw] == [5] * 3 + [9] * 3
    assert [row[4] for row in raw[:3]] == [0, 1, 2] and [row[5] for row in raw[3:]] == [2, 1, 0]
    assert [tuple(int(word, 16) for word in row) for row in lines["hex"]] == raw
    shown = re.findall(r"(?m)^[0-9a-f]{8}  ((?:[0-9a-f]{2} {1,2})+)", parts["bin"])
    data = b"".join(map(bytes.fromhex, shown)).split(b"\n", 4)[4]  # behind a head of four lines
    expected = b"".join(struct.pack("<IIQQI" if len(row) == 5 else "<IIQQQIIQQ", *row) for row in raw)
    assert data == expected


def test_from_boot_and_the_owner_of_memory(machine):
    append = (
        "ftrace=function_graph ftrace_graph_filter=vfs_*,nosuch_function ftrace_graph_notrace=vfs_read ftrace_graph_max_depth=2 "
        "trace_options=funcgraph-proc,nofuncgraph-overhead slab_debug"
    )
    with machine.guest(append=append, timeout=300) as guest:
        lines_of(guest, f"cd {TRACING}; echo 0 > tracing_on")
        assert {"funcgraph-proc", "nofuncgraph-overhead"} <= set(lines_of(guest, "cat trace_options").split())
        assert "ignored" not in re.sub(
            "'nosuch_function' ignored: nothing matches 'nosuch_function'; available_filter_functions has the names",
            "",
            lines_of(guest, "dmesg"),
        )
        lines_of(guest, "echo 0 > options/funcgraph-proc; echo 1 > options/funcgraph-overhead")
        names = lines_of(guest, "cat set_graph_function").split()
        assert "vfs_open" in names and all(name.startswith("vfs_") for name in names)
        assert (
            lines_of(guest, "cat set_graph_notrace max_graph_depth current_tracer") == "vfs_read\n2\nfunction_graph\n"
        )
        assert "nosuch_function" in lines_of(guest, "dmesg").replace(append, "")
        calls = [fields for fields in graph(lines_of(guest, "cat trace")) if fields["kind"] in ("leaf", "open")]
        assert {call["depth"] for call in calls} == {0, 1}
        assert {call["name"] for call in calls if not call["depth"]} <= set(names) - {"vfs_read"}
        # Under function_graph everywhere, the owners that slab_debug names are the callers.
        lines_of(
            guest, "echo > set_graph_function; echo > set_graph_notrace; echo 0 > max_graph_depth; echo 1 > tracing_on"
        )
        lines_of(guest, "echo SLAB_FREE_DOUBLE > /sys/kernel/debug/provoke-crash/DIRECT")
        said = lines_of(guest, "echo 0 > tracing_on; dmesg")
        owners = re.findall(r"(?:Allocated|Freed) in (\w+)", said)
        assert owners and set(owners) == {"lkdtm_SLAB_FREE_DOUBLE"}, said[-2000:]


def test_a_panic_dumps_the_calls_that_led_to_it(machine):
    """And a depth that is no number is none."""
    append = "ftrace=function_graph ftrace_graph_filter=direct_entry ftrace_graph_max_depth=x ftrace_dump_on_oops"
    with machine.guest(append=append, timeout=120) as guest:
        assert lines_of(guest, f"cat {TRACING}/max_graph_depth") == "0\n"
        with pytest.raises(GuestError) as caught:
            guest.run("echo PANIC > /sys/kernel/debug/provoke-crash/DIRECT")
        assert caught.value.status == PANICKED
        dumped = guest.console[guest.console.rindex("Dumping ftrace buffer") :]
        calls = re.findall(r"\] +\d\) +(?:\d+\.\d+ us +)?\|  ( *)(\w+)\(\) \{", dumped)
        assert (
            calls[:1] == [("", "direct_entry")] and ("  ", "lkdtm_PANIC") in calls and ("    ", "panic") in calls
        ), dumped[:3000]


# ---- Values that functions return; pids; interrupts


def test_values_pids_and_interrupts(machine):
    """An errno is shown as one, or all values in hexadecimal; only the tasks asked for; interrupts when they are asked
    for."""
    parts = script(
        machine,
        story("graph_options"),
    )
    decimal, hexadecimal = (re.findall(r"(?m)(\w+)\(\); /\* = (\S+) \*/$", parts[name]) for name in ("decimal", "hex"))
    assert len(decimal) == len(hexadecimal) > 5 and "-2" in [value for _, value in decimal]
    for (name, value), (same, shown) in zip(decimal, hexadecimal):
        number = int(shown, 16)
        assert name == same and (int(value, 0) == number or number in (int(value) % 2**64, int(value) % 2**32)), (
            name,
            value,
            shown,
        )
    pid = next(name for name in parts if name.startswith("pid ")).split()[1]
    if machine.arguments:  # how many the function takes nobody knows: all registers that there may be
        assert re.findall(r"plant_recurse\((\S+)(?:, 0x[0-9a-f]+){5}\)", parts["args"]) == ["0x3", "0x2", "0x1", "0x0"]
    else:
        assert len(re.findall(r"plant_recurse\(\)", parts["args"])) == 4
    # With funcgraph-irqs off, what an interrupt runs is passed over, but for functions that are asked for.
    assert {call.name for call in calls_of(graph(parts["interrupts hrtimer_interrupt"])) if not call.parent} == {
        "hrtimer_interrupt"
    }
    assert "hrtimer_interrupt" not in parts["interrupts "] and "hrtimer_nanosleep" in parts["interrupts "]
    procs = set(re.findall(r"(?m)^ \d\) +\S+?-(\d+) +\| ", parts["decimal"]))
    assert procs == {pid}
