"""function_graph: nesting, times, and every byte of its lines, on both machines."""

import re

import pytest
from stories import story
from test_formats import COLUMNS, TRACING, lines_of, read_format

NAME = r"[A-Za-z_][\w.]*"
MARKS = ((10**9, "$"), (10**8, "@"), (10**7, "*"), (10**6, "#"), (10**5, "!"), (10**4, "+"))
STATS = "/sys/kernel/debug/fgraph/stats"


# ---- One line, to the column


def duration(microseconds, nanoseconds, overhead=True):
    """The column of a time as Linux prints it."""
    total = int(microseconds) * 1000 + int(nanoseconds)
    mark = next((mark for above, mark in MARKS if total > above), " ") if overhead else " "
    digits = microseconds + ("." + nanoseconds[: 7 - len(microseconds)] if len(microseconds) < 7 else "")
    return f"{mark} {digits} us ".ljust(14) + "|  "


BODY = re.compile(rf"(?P<mark>[ +!#*@$]) (?P<us>\d+)\.(?P<ns>\d+) us +\|  (?P<call>.*)|              \|  (?P<plain>.*)")
CALL = re.compile(
    rf"(?P<indent> *)(?:(?P<leaf>{NAME})\(\);(?P<value> /\* = \S+ \*/)?|(?P<open>{NAME})\(\) {{|"
    rf"}}(?: /\* (?P<close>{NAME})(?: = \S+)? \*/)?|/\* (?P<comment>.*) \*/)"
)
ARROW = re.compile(r"  (==========>|<==========) \|")
RULE = " ------------------------------------------"
PROC = r" *\S+-\d+ *"


def parse(line, prefix=r" (?P<cpu>\d)\) ", overhead=True):
    """The fields of one line below the header; None for task switches. Fails when a byte is out of place."""
    if not line or line == RULE or re.fullmatch(rf" \d\) {PROC} => {PROC}", line):
        return None
    match = re.match(prefix, line)
    assert match, line
    fields, rest = match.groupdict(), line[match.end() :]
    if ARROW.fullmatch(rest):
        return {**fields, "kind": "arrow"}
    body = BODY.fullmatch(rest)
    assert body, line
    if body["us"] is not None:
        nanoseconds = body["ns"].ljust(3, "0")
        assert rest.startswith(duration(body["us"], nanoseconds, overhead)[:14] + "|  "), line
        fields["ns"] = int(body["us"]) * 1000 + int(nanoseconds)
    call = CALL.fullmatch(body["call"] if body["us"] is not None else body["plain"])
    assert call, line
    fields["depth"] = len(call["indent"]) // 2
    for kind in ("leaf", "open", "comment"):
        if call[kind]:
            assert (kind == "leaf") == ("ns" in fields), line
            return {**fields, "kind": kind, "name": call[kind]}
    assert "ns" in fields, line
    return {**fields, "kind": "close", "name": call["close"]}


PREFIXES = {
    "": r" (?P<cpu>\d)\) ",
    "funcgraph-retval": r" (?P<cpu>\d)\) ",
    "funcgraph-tail": r" (?P<cpu>\d)\) ",
    "latency-format": r" (?P<cpu>\d)\)  (?P<flags>[.dDb][.nNp][.HhsZz][.1-9a-f][.1-9a-f]) \| ",
    "proc_abstime": rf" {{0,4}}\d+\.\d{{6}} \|   (?P<cpu>\d)\) (?P<proc>(?=.{{14}} \| ){PROC}) \| ",
}


@pytest.mark.parametrize("option", PREFIXES)
def test_these_checks_accept_linux(option):
    kinds = {
        fields["kind"]
        for fields in map(
            lambda line: parse(line, PREFIXES[option]),
            read_format(f"lines_graph{'_' if option else ''}{option}.txt").splitlines(),
        )
        if fields
    }
    assert {"leaf", "open", "close"} <= kinds


@pytest.mark.parametrize(
    "bad",
    [
        " 0)   7.216 us   |  f();",
        " 0)   7.216 us    | f();",
        " 0) + 7.216 us    |  f();",
        " 0)   f();",
        " 0)   7.216 us    |  f() {",
        " 0)               |  f();",
    ],
)
def test_these_checks_refuse_other_columns(bad):
    with pytest.raises(AssertionError):
        parse(bad)


def split(text, header):
    """The lines below exactly this header."""
    pattern = re.sub(r"\\{(\w+)\\}", r"\\S+", re.escape(read_format(header)))
    match = re.match(pattern, text)
    assert match, f"header differs from formats/{header}:\n{text[:1500]}"
    return text[match.end() :].splitlines()


# ---- Trees


class Call:
    def __init__(self, name, parent=None):
        self.name, self.parent, self.children, self.ns = name, parent, [], None


def calls_of(parsed, pid=None):
    """Calls in the order of their entry, of one task's lines: each knows whom it is in, by braces."""
    calls, open_calls = [], []
    for fields in parsed:
        if fields["kind"] in ("leaf", "open"):
            assert fields["depth"] == len(open_calls), (fields, [call.name for call in open_calls])
            call = Call(fields["name"], open_calls[-1] if open_calls else None)
            if call.parent:
                call.parent.children.append(call)
            calls.append(call)
            if fields["kind"] == "leaf":
                call.ns = fields["ns"]
            else:
                open_calls.append(call)
        elif fields["kind"] == "close":
            call = open_calls.pop()
            assert fields["name"] in (None, call.name), (fields, call.name)
            assert fields["depth"] == len(open_calls)
            call.ns = fields["ns"]
    return calls


def script(machine, text, **settings):
    """What a script prints, in a guest alone on one CPU that counts instructions: {heading: text below a line `==
    heading`}."""
    run = machine.script(f"cd {TRACING}; echo 0 > tracing_on\n{text}\n".encode(), icount=True, timeout=400, **settings)
    try:
        run.wait_start()
        status = run.wait_exit()
    finally:
        run.guest.close()
    assert status == 0, run.output
    parts = re.split(r"^== (.*)\n", run.output, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def graph(text, header="header_graph.txt"):
    """The lines' fields, task switches left out."""
    return [fields for fields in map(parse, split(text, header)) if fields]


COMMANDS = {
    "read a file of /proc": "read x < /proc/version",
    "write a file": "echo hello > /tmp/graph",
    "look for what is not there": "test -e /nowhere/at/all",
    "change folders": "cd /proc; cd /sys/kernel/tracing",
}


def entries_of(text):
    found = []
    for line in text.splitlines():
        match = COLUMNS.fullmatch(line)
        if match and " <-" in match["rest"]:
            found.append(tuple(match["rest"].split(" <-")))
    return found


def interrupted(text):
    return re.search(r"handle_irq|_interrupt\b|==========>", text)


@pytest.mark.parametrize("what", COMMANDS)
def test_the_tree_is_the_one_that_parents_tell(machine, what):
    """
    A function entry names the caller: the same call of function_graph is inside of it. A call by a jump is inside of
    the jumper, whose caller is the one named, and nothing comes after it there. What the shell itself calls, recorded
    until no interrupt came into it.
    """
    parts = script(
        machine,
        f"work() {{ {COMMANDS[what]}; }}\n" + story("graph", "tree"),
    )
    known = set(parts["known"].split())
    entries, text = (
        next(parts[f"{tracer}.{i}"] for i in range(2, 6) if not interrupted(parts[f"{tracer}.{i}"]))
        for tracer in ("function", "function_graph")
    )
    entries, calls = entries_of(entries), calls_of(graph(text))
    assert [name for name, _ in entries] == [call.name for call in calls]
    assert len(calls) > 8
    nested = 0
    for (name, parent), call in zip(entries, calls):
        if parent not in known:
            continue  # it has no site itself: who called it is not told
        child, inside = call, call.parent
        while inside and inside.name != parent:
            assert inside.children[-1] is child, f"{name} <-{parent} is not the last call of {inside.name}"
            child, inside = inside, inside.parent
        nested += bool(inside)
        assert inside or not call.parent, f"{name} <-{parent} is inside of {call.parent.name}"
    assert nested > len(calls) // 2


def test_a_call_takes_at_least_what_its_calls_take(machine):
    with machine.guest(smp=2, timeout=240) as guest:
        text = lines_of(
            guest,
            f"cd {TRACING}; echo 0 > tracing_on; echo 4096 > buffer_size_kb; echo 0 > options/funcgraph-irqs; echo $$ > "
            "set_ftrace_pid; echo function_graph > current_tracer; echo 1 > tracing_on; for i in 1 2 3 4 5; do ls -l / > /dev/null; "
            "read x < /proc/version; done; echo 0 > tracing_on; cat trace",
        )
        calls = calls_of([fields for fields in map(parse, split(text, "header_graph.txt")) if fields])
        sums = [
            (call.ns, sum(child.ns for child in call.children))
            for call in calls
            if call.ns is not None and call.children and all(child.ns is not None for child in call.children)
        ]
        assert len(sums) > 200
        assert all(whole >= parts for whole, parts in sums), [pair for pair in sums if pair[0] < pair[1]]


def test_a_leaf_takes_the_same_time_each_time(machine):
    """Under icount a time is a number of instructions: the same from boot to boot, and from call to call."""

    def leaves():
        parts = script(
            machine,
            "echo sys_getpid > set_ftrace_filter; echo function_graph > current_tracer; echo 1 > tracing_on\n"
            "bench getpid 100 > /dev/null; echo 0 > tracing_on; echo '== trace'; cat trace",
        )
        return [
            fields["ns"]
            for fields in graph(parts["trace"])
            if fields["kind"] == "leaf" and fields["name"] == "sys_getpid"
        ]

    first = leaves()
    assert len(first) > 100
    assert first == leaves()
    # The counter of one machine counts 16 instructions at a time. A record that begins a page of the buffer costs more.
    usual = [ns for ns in first if ns <= min(first) + 16]
    assert len(usual) > 0.95 * len(first), sorted(set(first))


# ---- Deeper than the stack of returns


def stats(text):
    return {key: int(value) for key, value in (line.split(": ") for line in text.splitlines())}


def test_recursion_deeper_than_the_shadow_stack_and_interrupts_upon_the_hook(machine):
    parts = script(
        machine,
        story("graph", "recursion"),
    )
    # An interrupt comes upon the hook, too. Its last function returns in the context of that hook: it has an end all
    # the same.
    ends = [parts["interrupts"].count(line) for line in ("irq_exit();", "irq_exit() {", "} /* irq_exit */")]
    assert sum(ends) >= 20 and ends[1] == ends[2], ends
    lines = split(parts["trace"], "header_graph.txt")
    assert all(
        line.startswith(" 0)") and "}" in line for line, after in zip(lines, lines[1:]) if "Overruns" in after
    )  # of no leaf
    overruns = [int(match[1]) for match in (re.fullmatch(r" \(Overruns: (\d+)\)", line) for line in lines) if match]
    calls = calls_of([fields for fields in map(parse, [line for line in lines if "Overruns" not in line]) if fields])
    assert 60 < len(calls) < 100 and {call.name for call in calls} == {"plant_recurse"}
    assert all(call.ns is not None for call in calls)
    # 141 calls, of which those beyond the limit were counted, and all of them before the first return.
    assert overruns == [141 - len(calls)] * (len(calls) - 1)  # the innermost is a leaf
    # Another array, which wants none of those calls, has missed none.
    lines = split(parts["outer"], "header_graph.txt")
    assert {line for line in lines if "Overruns" in line} == {" (Overruns: 0)"}
    outer = calls_of([fields for fields in map(parse, [line for line in lines if "Overruns" not in line]) if fields])
    assert [call.parent.name for call in outer if call.name == "recurse_store" and call.ns] == ["text_file_write"]
    after = stats(parts["stats"])
    assert after["overruns"] == 141 - len(calls) and after["mismatches"] == 0
    # As the only user, which has a way of its own: the other array's two calls leave their room to it.
    assert parts["alone"].count("plant_recurse()") == len(calls) + 2
    assert stats(parts["stats_alone"])["overruns"] == after["overruns"] + 141 - (len(calls) + 2)


def test_as_many_arrays_as_there_are_places(machine):
    """Each has its trees; one more is refused, and has its place when another one goes, while it traces."""
    graph_on = "echo function_graph > {}/current_tracer"
    parts = script(
        machine,
        story("graph", "arrays"),
    )
    assert parts["refused"].splitlines()[-1] == "nop" and "No space left on device" in parts["refused"]
    assert (
        stats(parts["users"])["users"] == 16
        and stats(parts["after"])["users"] == stats(parts["after"])["mismatches"] == 0
    )
    arrays = {
        name: [call.name for call in calls_of(graph(text))]
        for name, text in parts.items()
        if name == "." or "/" in name
    }
    assert arrays.pop("instances/15") == ["plant_recurse"] * 2
    assert len(arrays) == 14 and all(calls == ["plant_recurse"] * 5 for calls in arrays.values()), arrays


# ---- What options show


HEADERS = {
    "funcgraph-cpu=0": "header_graph_funcgraph-cpu=0.txt",
    "funcgraph-duration=0": "header_graph_funcgraph-duration=0.txt",
    "funcgraph-abstime=1": "header_graph_funcgraph-abstime=1.txt",
    "funcgraph-proc=1": "header_graph_funcgraph-proc=1.txt",
    "latency-format=1": "header_graph_latency-format=1.txt",
    "funcgraph-tail=1": "header_graph.txt",
    "funcgraph-retval=1": "header_graph.txt",
    "funcgraph-overhead=0": "header_graph.txt",
}


def unnamed(lines):
    """Without names behind closing braces, and without the arrows of interrupts, which have no column of a duration of
    their own."""
    return [re.sub(rf"}} /\* {NAME} \*/$", "}", line) for line in lines if "=====" not in line]


BACK = {
    "funcgraph-cpu": lambda line: " 0) " + line,
    "funcgraph-abstime": lambda line: re.sub(r"^ *\d+\.\d{6} \|  (?= )", "", line),
    "funcgraph-proc": lambda line: re.sub(rf"^( 0\) )(?=.{{14}} \| ){PROC} \| ", r"\1", line),
    "latency-format": lambda line: re.sub(r"^( 0\) ) [^ ]{5} \| ", r"\1", line),
    "funcgraph-retval": lambda line: re.sub(rf"}} /\* {NAME} = \S+ \*/$", "}", re.sub(r"; /\* = \S+ \*/$", ";", line)),
}
AWAY = {
    "funcgraph-duration": lambda line: re.sub(r"^( 0\) ).{14}\|  ", r"\1", line),
    "funcgraph-overhead": lambda line: re.sub(r"^( 0\) )[+!#*@$]", r"\1 ", line),
}


def test_options_change_columns_and_nothing_else(machine):
    """Each option's text is the usual one with one column more, less or other."""
    shows = "".join(
        f"echo '== {option}'; echo {option[-1]} > options/{option[:-2]}; cat trace; echo {1 - int(option[-1])} > "
        f"options/{option[:-2]}\n"
        for option in HEADERS
    )
    parts = script(
        machine,
        "echo vfs_open > set_graph_function; echo $$ > set_ftrace_pid; echo function_graph > current_tracer; echo 1 > tracing_on\n"
        "read x < /proc/version; echo a marker > trace_marker; read x < /proc/version; echo 0 > tracing_on; echo '== usual'; cat trace\n"
        + shows,
    )
    usual = split(parts["usual"], "header_graph.txt")
    assert {fields["kind"] for fields in map(parse, usual) if fields} >= {"leaf", "open", "close", "comment"}
    for option, header in HEADERS.items():
        lines, name = split(parts[option], header), option[:-2]
        assert unnamed(map(BACK.get(name, str), lines)) == unnamed(map(AWAY.get(name, str), usual)), option
    assert "} /* vfs_open */" in parts["funcgraph-tail=1"] and "} /* vfs_open = 0x0 */" in parts["funcgraph-retval=1"]


def test_every_line_of_a_busy_trace_has_its_form(machine):
    """Two CPUs, interrupts, task switches, markers, records lost: `trace` and trace_pipe."""
    with machine.guest(smp=2, timeout=300) as guest:
        lines_of(
            guest,
            f"cd {TRACING}; echo 300 > buffer_size_kb; echo function_graph > current_tracer; for i in 1 2 3; do ls / | cat > /dev/null; "
            "echo $i > trace_marker; sleep 0.01; done; echo 0 > tracing_on",
        )
        lines = split(lines_of(guest, "cat trace"), "header_graph.txt")
        seen = [fields for fields in map(parse, lines) if fields]
        kinds = {fields["kind"] for fields in seen}
        assert {"leaf", "open", "close", "arrow"} <= kinds, kinds
        assert RULE in lines and {fields["cpu"] for fields in seen} == {"0", "1"}
        piped = lines_of(guest, "cat trace_pipe").splitlines()
        assert [line for line in piped if not line.startswith("CPU:")] == lines


# ---- Others see through hooked returns


def test_backtraces_show_the_callers(machine):
    def names(text):
        trace = text[text.index("Call trace:") : text.index("---[ end trace")]
        return re.findall(r"\] +([A-Za-z_]\w*)\+0x", trace)

    with machine.guest(timeout=240) as guest:
        command = "echo WARNING > /sys/kernel/debug/provoke-crash/DIRECT; dmesg"
        plain = names(lines_of(guest, command))
        assert {"lkdtm_WARNING", "direct_entry", "ksys_write"} <= set(plain)
        lines_of(guest, f"cd {TRACING}; echo function_graph > current_tracer")
        text = lines_of(guest, command)
        assert names(text[text.rindex("Call trace:") :]) == plain
        status, _ = guest.run("(echo ACCESS_NULL > /sys/kernel/debug/provoke-crash/DIRECT)")
        assert status
        oops = lines_of(guest, "dmesg")
        oops = names(oops[oops.rindex("Call trace:") :])
        assert oops[0] == "lkdtm_ACCESS_NULL" and oops[1:] == plain[plain.index("direct_entry") :]
        # Stack records, too; and a task that sleeps in hooked calls wakes up without the tracer.
        lines_of(
            guest,
            "echo schedule > set_ftrace_filter; sleep 0.1 & echo sched_switch > current_tracer; echo 1 > options/stacktrace; sleep 0.2",
        )
        text = lines_of(guest, "echo 0 > tracing_on; cat trace")
        assert " => schedule\n" in text and "return_to_handler" not in text
        assert stats(lines_of(guest, f"cat {STATS}"))["mismatches"] == 0


# ---- Where it begins and ends


def test_filters(machine):
    def step(name, setup, undo):
        return f"{setup}; echo > trace; echo 1 > tracing_on; read x < /proc/version; echo 0 > tracing_on; echo '== {name}'; cat trace; {undo}\n"

    functions = "read x < /proc/version; echo $$ > set_ftrace_pid; echo function_graph > current_tracer\n"
    below = "text_file_open"
    parts = script(
        machine,
        functions
        + step("inside", "echo vfs_open > set_graph_function", ":")
        + step("shallow", "echo 2 > max_graph_depth", "echo 0 > max_graph_depth")
        + step("without", f"echo {below} > set_graph_notrace", "echo > set_graph_notrace")
        + step("outside", "echo path_openat > set_graph_notrace", "echo > set_graph_notrace")
        + step(
            "alone",
            "echo vfs_open > set_ftrace_filter",
            "echo > set_ftrace_filter; echo > set_graph_function; echo > set_ftrace_pid",
        )
        + step("slow", "echo 5 > tracing_thresh", "echo 0 > tracing_thresh"),
    )
    calls = {name: calls_of(graph(parts[name])) for name in ("inside", "shallow", "without", "alone")}
    roots = [call.name for call in calls["inside"] if not call.parent]
    assert set(roots) == {"vfs_open"} and len(calls["inside"]) > 2 * len(roots)
    assert {call.name for call in calls["shallow"]} < {call.name for call in calls["inside"]}
    assert all(not call.parent or not call.parent.parent for call in calls["shallow"]) and any(
        call.parent for call in calls["shallow"]
    )
    assert below in {call.name for call in calls["inside"]}
    assert [call.name for call in calls["without"]] == [
        call.name for call in calls["inside"] if not within(call, below)
    ]
    # The caller of vfs_open is left out, and with it all that it calls.
    assert not [line for line in parts["outside"].splitlines() if line.strip() and not line.startswith("#")]
    assert {call.name for call in calls["alone"]} == {"vfs_open"} and not any(call.children for call in calls["alone"])
    found = [fields for fields in graph(parts["slow"]) if fields["kind"] != "arrow"]
    assert found and all(fields["kind"] == "close" and fields["name"] and fields["ns"] >= 5000 for fields in found)


def within(call, name):
    while call:
        if call.name == name:
            return True
        call = call.parent
    return False


def test_time_asleep(machine):
    def sleep(name, command):
        return (
            f"{command}; echo > trace; echo 1 > tracing_on; sleep 0.05; echo 0 > tracing_on; echo '== {name}'; "
            "cat trace\n"
        )

    parts = script(
        machine,
        "echo do_nanosleep hrtimer_nanosleep sys_nanosleep sys_clock_nanosleep > set_ftrace_filter 2>/dev/null\n"
        "cat set_ftrace_filter; echo function_graph > current_tracer\n"
        + sleep("with", "echo 1 > options/sleep-time")
        + sleep("without", "echo 0 > options/sleep-time")
        # Another array begins and ends with the tracer: this one's times are corrected as before.
        + sleep(
            "alone again",
            "mkdir instances/i; for t in function_graph nop; do echo $t > instances/i/current_tracer; done",
        ),
    )
    longest = {name: max(fields["ns"] for fields in graph(parts[name]) if "ns" in fields) for name in parts}
    assert longest["with"] >= 50_000_000 and longest["without"] < 1_000_000 and longest["alone again"] < 1_000_000


def test_bad_input(machine):
    with machine.guest(timeout=240) as guest:
        lines_of(guest, f"cd {TRACING}; echo vfs_open > set_graph_function; echo 7 > max_graph_depth")
        for command, says in (
            ("echo nosuch_function > set_graph_function", "Invalid argument"),
            ("echo nosuch_function > set_graph_notrace", "Invalid argument"),
            # As in Linux: only what is in the set can leave it, and numbers are for set_ftrace_filter.
            ("echo '!schedule' > set_graph_function", "Invalid argument"),
            ("echo '!schedule' >> set_graph_function", "Invalid argument"),
            ("echo '!schedule' > set_graph_notrace", "Invalid argument"),
            ("echo 5 > set_graph_function", "Invalid argument"),
            ("echo 5 > set_graph_notrace", "Invalid argument"),
            ("echo x > max_graph_depth", "Invalid argument"),
            ("echo > max_graph_depth", "Invalid argument"),
            ("echo -1 > max_graph_depth", "Invalid argument"),
            ("echo 4294967296 > max_graph_depth", "out of range"),
            ("echo 2 > options/funcgraph-cpu", "Invalid argument"),
            ("echo 1000 > /sys/kernel/debug/fgraph/recurse", "Invalid argument"),
        ):
            status, output = guest.run(command)
            assert status and says in output, (command, output)
        lines_of(guest, "echo 'vfs_open vfs_read' > set_graph_function; echo '!vfs_open' >> set_graph_function")
        assert lines_of(guest, "cat set_graph_function") == "vfs_read\n"
        # A name that is still open when the file is closed is no error, as in Linux; the set is empty then.
        lines_of(guest, "echo -n nosuch_function > set_graph_function")
        assert lines_of(guest, "cat set_graph_function max_graph_depth set_graph_notrace").splitlines() == [
            "#### all functions enabled ####",
            "7",
            "#### no functions disabled ####",
        ]
        status, output = guest.run("echo 1 > options/funcgraph-args")
        assert bool(status) == (not machine.arguments) and (not status or "not supported" in output)
        # What else these files are: not for others to read, as Linux has them. And the function of the tutorials is
        # there.
        assert [
            line.split()[0] for line in lines_of(guest, "ls -l set_graph_function set_graph_notrace").splitlines()
        ] == ["-rw-r-----"] * 2
        text = lines_of(
            guest,
            "echo 0 > options/funcgraph-args; echo 0 > max_graph_depth; echo __do_fault > set_graph_function; echo function_graph > current_tracer; "
            "cat /proc/version > /dev/null; echo 0 > tracing_on; cat trace",
        )
        assert {
            fields["name"] for fields in graph(text) if fields["kind"] in ("leaf", "open") and not fields["depth"]
        } == {"__do_fault"}
