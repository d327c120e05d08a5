"""trace-record's files, read by Debian's trace-cmd: what `trace-cmd report` prints is what the guest's own `trace`
showed."""

import collections
import os
import re
import subprocess

import pytest
from host_trace_cmd import report_words
from test_formats import lines_of
from tohost import Monitor, take_file
from stories import story
from tracetext import PLAIN
from vtrace_files import Vtrace, build, check_bad_files, check_formats, check_progress, folded_sums, importer

VRUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/vrun")
TRACING = "/sys/kernel/tracing"
HELLO = "/sys/kernel/debug/trace_printk/hello"
CPUS = 2
REPORTED = re.compile(
    r" *(?P<comm>\S.*?)-(?P<pid>\d+) +(?:\[(?P<cpu>\d+)\](?: (?P<plain>[^ ]{5}))?|(?P<short>\d+)(?P<flags>[^ ]{5})) "
    r"+(?P<seconds>\d+)\.(?P<fraction>\d{6}): "
    r"(?P<name>\w+): *(?P<rest>.*)"
)
DROPPED = re.compile(r"CPU:(\d+) \[(\d*) ?EVENTS DROPPED\]")
GRAPH = re.compile(r" *(\d+)\) (?P<mark>.) +(?:(?P<us>[\d.]+) us +)?\|  (?P<text>.*)")
REPORTED_GRAPH = re.compile(r"(?P<mark>[+!#*@$]?) *(?:(?P<us>[\d.]+) us +)?\|  (?P<text>.*)")

Line = collections.namedtuple("Line", "cpu us pid comm flags name text")


def trace_cmd(*arguments):
    return said_by("trace-cmd", *arguments)


def said_by(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "unknown" not in done.stderr and "rror" not in done.stderr, done.stderr
    return done.stdout


def report(dat, *options):
    """(records of each CPU, how many were lost on each), as trace-cmd prints them."""
    found, lost, last = collections.defaultdict(list), {}, None
    for line in said_by(*report_words(), *options, dat).splitlines()[1:]:
        if match := DROPPED.fullmatch(line):
            lost[int(match[1])] = int(match[2]) if match[2] else None  # there was no room for the number
        elif match := REPORTED.fullmatch(line):
            last = int(match["cpu"] or match["short"])
            us = int(match["seconds"] + match["fraction"])
            found[last].append(
                Line(
                    last,
                    us,
                    int(match["pid"]),
                    match["comm"],
                    match["flags"] or match["plain"],  # without -l only later versions have them
                    match["name"],
                    match["rest"],
                )
            )
        else:
            found[last][-1] = found[last][-1]._replace(text=found[last][-1].text + "\n" + line)
    return found, lost


def has_switches(found):
    """On some CPU: a command of a moment may have none on the other one."""
    return any(line.name == "sched_switch" for lines in found.values() for line in lines)


def shown(text):
    """The same of `trace`: the event's name stays in the text."""
    found, last = collections.defaultdict(list), None
    for line in text.splitlines():
        if match := PLAIN.fullmatch(line):
            last = int(match["cpu"])
            us = int(match["seconds"] + match["fraction"])
            found[last].append(Line(last, us, int(match["pid"]), match["comm"], match["flags"], None, match["rest"]))
        elif not line.startswith("#"):
            found[last][-1] = found[last][-1]._replace(text=found[last][-1].text + "\n" + line)
    return found


def as_shown(plain, plugged):
    """A record's text as `trace` has it, from what trace-cmd prints without its plugins and with them."""
    if plain.name == "function":
        return plain.text.replace(" <-- ", " <-")
    if plain.name == "kernel_stack":
        head, *callers = plugged.text.split("\n")
        assert head == "<stack trace >"
        return "\n".join(
            [
                "<stack trace>",
                *(re.fullmatch(r"=> (\S+) \([0-9a-f]+\)", line)[1].join((" => ", "")) for line in callers),
            ]
        )
    return plain.text if plain.name in ("print", "bprint", "bputs") else f"{plain.name}: {plain.text}"


def compare(text, dat):
    """Every line of every CPU: task, CPU, flags, microsecond and text. Returns how many of each kind there were."""
    counts = collections.Counter()
    wanted, (plain, _), (plugged, _), (short, _) = shown(text), report(dat, "-N"), report(dat), report(dat, "-N", "-l")
    for cpu in range(CPUS):
        rows = list(zip(wanted[cpu], plain[cpu], plugged[cpu], short[cpu]))
        assert len(rows) == len(wanted[cpu]) == len(plain[cpu])
        for want, one, two, three in rows:
            got = one._replace(flags=three.flags, name=None, text=as_shown(one, two))
            assert got == want and three.comm == want.comm[:8], (got, want)
            assert {one.flags, two.flags} <= {None, want.flags}, (one, two, want)
            counts[one.name] += 1
    return counts


def graph_shown(text):
    """(mark, duration, text) of each line of a graph, by CPU; neither its marks of interrupts nor who runs. trace-cmd
    knows no marks between 1 ms and 1 s."""
    found = collections.defaultdict(list)
    for line in text.splitlines():
        match = GRAPH.fullmatch(line)
        if match and not re.match(r".*(=+>|<=+) \|", line):
            found[int(match[1])].append(
                (
                    re.sub("[*@]", "#", match["mark"].strip()),
                    match["us"],
                    re.sub(r"^ */\* (.*) \*/$", r"\1", match["text"]),
                )
            )
    return found


def joined(lines):
    """A call without calls as one line, which trace-cmd makes of it only when both records lie in one page; `}` without
    a name."""
    found = []
    for mark, us, text in lines:
        text = re.sub(r"\} /\* .* \*/$", "}", text)
        if (
            found
            and text.endswith("}")
            and found[-1][2] == text[:-1] + found[-1][2].strip()
            and found[-1][2].endswith("() {")
        ):
            text = found.pop()[2].replace("() {", "();")
        found.append((mark, us, text))
    return found


def compare_graph(text, dat):
    """Durations of `trace` have at most seven digits, trace-cmd's all."""
    wanted, (plain, _), (plugged, _) = graph_shown(text), report(dat, "-N"), report(dat)
    for cpu in range(CPUS):
        events = iter([line for line in plain[cpu] if not line.name.startswith("funcgraph_")])
        lines, shown_lines = joined(graph_line(line, events) for line in plugged[cpu]), joined(wanted[cpu])
        assert len(lines) == len(shown_lines)
        for (mark, us, said), want in zip(lines, shown_lines):
            assert (mark, said) == (want[0], want[2]) and (us or "").startswith(want[1] or "-" * (us is not None)), (
                mark,
                us,
                said,
                want,
            )
    return sum(map(len, wanted.values()))


def graph_line(line, events):
    """A leaf's two records are one line of both; what is no call has its text from the records without plugins."""
    if line.name.startswith("funcgraph_"):
        match = REPORTED_GRAPH.fullmatch(line.text)
        assert match, line
        return match["mark"], match["us"], match["text"]
    line = next(events)
    return "", None, line.text.partition(": ")[2] if line.name == "print" else f"{line.name}: {line.text}"


class Session:
    def __init__(self, guest, monitor, folder):
        self.guest, self.monitor, self.folder = guest, monitor, str(folder)

    def run(self, command):
        return lines_of(self.guest, command).replace("\r", "")

    def fetch(self, path):
        output = os.path.join(self.folder, os.path.basename(path))
        self.guest.send(f"tohost -m {path}\n")
        take_file(self.guest, self.monitor, output)
        self.guest.expect(self.guest.PROMPT)
        return output

    def take(self, *commands, options=""):
        """Records; what `trace` shows then, and the file of the same buffer."""
        self.run(f"cd {TRACING}; echo > trace; {'; '.join(commands)}")
        self.run(f"echo 0 > tracing_on; cat trace > /tmp/t.txt; trace-record -x {options} -o /tmp/t.dat 2> /dev/null")
        with open(self.fetch("/tmp/t.txt"), encoding="ascii") as file:
            return file.read(), self.fetch("/tmp/t.dat")


@pytest.fixture(scope="module")
def vtrace(tmp_path_factory):
    return Vtrace(build(tmp_path_factory.mktemp("vtrace")))


@pytest.fixture
def session(machine, tmp_path):
    monitor = Monitor()
    try:
        with machine.guest(smp=CPUS, timeout=240, append="loglevel=5", qemu_args=monitor.arguments()) as guest:
            session = Session(guest, monitor, tmp_path)
            session.run("test -e /sys/kernel/debug/trace_printk || mount -t debugfs debugfs /sys/kernel/debug")
            session.run(f"cd {TRACING}; echo 0 > tracing_on; echo 4000 > buffer_size_kb")
            yield session
    finally:
        monitor.close()


def check_plain(session, options):
    """Functions with stacks, events, markers and the kernel's own messages; -F and --cpu show a part of the same."""
    text, dat = session.take(
        "echo 'vfs_read vfs_write' > set_ftrace_filter",
        "echo 1 > options/func_stack_trace",
        "echo 'sched:* irq:*' > set_event",
        "echo function > current_tracer",
        "echo 1 > tracing_on",
        "ls /proc > /dev/null; echo hello world > trace_marker; ls /sys | grep -c k",
        f"for c in kept puts; do echo $c > {HELLO}; done",
        "cd .",
        options=options,
    )
    counts = compare(text, dat)
    assert all(
        counts[name] for name in ("function", "kernel_stack", "sched_switch", "print", "bprint", "bputs")
    ), counts
    only, _ = report(dat, "--cpu", "1")
    assert list(only) == [1] and len(only[1]) == len(shown(text)[1])
    filtered, _ = report(dat, "-F", "sched_switch: prev_pid == 0")
    switches = [
        line for lines in filtered.values() for line in lines if line.name != "kernel_stack"
    ]  # trace-cmd shows what stacks come next
    assert len(switches) == len(re.findall(r": sched_switch: .* prev_pid=0 ", text))
    shares = re.findall(r"^ +%[\d.]+ .* bputs #(\d+)$", trace_cmd("hist", dat), re.M)
    assert sum(map(int, shares)) == counts["bputs"]
    session.run(
        "echo 0 > options/func_stack_trace; echo > set_event; echo > set_ftrace_filter; echo nop > current_tracer"
    )
    return sum(counts.values())


def test_report_is_trace(session, vtrace, tmp_path):
    for version in ("", "-6"):
        records = check_plain(session, version)
        assert (
            vtrace.good("check", session.folder + "/t.dat") == f"in order: {records} records of {CPUS} CPUs\n".encode()
        )
    # A graph, with events and a marker in it.
    text, dat = session.take(
        "echo 'vfs_read' > set_graph_function",
        "echo sched_switch > set_event",
        "echo function_graph > current_tracer",
        "echo 1 > tracing_on; echo 1 > function_profile_enabled",
        "cat /proc/meminfo > /dev/null; echo hello > trace_marker",
        "echo 0 > function_profile_enabled",
    )
    assert compare_graph(text, dat) > 50
    assert vtrace.good("check", dat).startswith(b"in order: ")
    slices, marks = check_formats(vtrace, dat)
    reads = [name for found in slices.values() for name in found if name == "vfs_read"]
    assert len(reads) == text.count("|  vfs_read() {") and any(name.startswith("CPU ") for name in slices)
    assert all(mark.startswith("unfinished: ") for found in marks.values() for mark in found)
    check_bad_files(vtrace, dat, tmp_path)
    check_progress(vtrace, dat)
    counted = re.findall(
        r"^  seq_printf +\d+ +([\d.]+) us", session.run("cat trace_stat/function0 trace_stat/function1"), re.M
    )
    folded, counted = sum(folded_sums(vtrace.good("folded", dat), "seq_printf").values()), 1000 * sum(
        map(float, counted)
    )
    assert counted and abs(folded - counted) <= counted / 1000 + 2, (folded, counted)
    session.run("echo > set_event; echo > set_graph_function; echo nop > current_tracer")
    # What was overwritten is said where it is missing, with its number.
    text, dat = session.take(
        "echo 8 > buffer_size_kb",
        "echo 'sched:*' > set_event",
        "echo 1 > tracing_on",
        "i=0; while [ $i -lt 30 ]; do sleep 0.001; i=$((i + 1)); done",
        "echo 0 > tracing_on",
        "cat per_cpu/cpu0/stats per_cpu/cpu1/stats > /tmp/stats",
    )
    overrun = [int(number) for number in re.findall(r"^overrun: (\d+)", session.run("cat /tmp/stats"), re.M)]
    _, lost = report(dat)
    assert sum(overrun)
    for cpu in range(CPUS):
        assert cpu in lost if overrun[cpu] else cpu not in lost
        assert lost.get(cpu, 0) in (None, overrun[cpu])
    assert compare(text, dat)["sched_switch"]
    assert (
        f"{sum(number or 0 for number in lost.values())} lost in {len(lost)} gaps" in vtrace.good("check", dat).decode()
    )
    gaps = [
        name
        for part in check_formats(vtrace, dat)
        for found in part.values()
        for name in found
        if name.endswith("records lost")
    ]
    assert len(gaps) == len(lost)
    check_streamed(session)


def check_streamed(session):
    """Recorded while it ran, more than the buffers hold; settings come back; instances; a latency tracer's text;
    errors."""
    state = "cat tracing_on current_tracer set_event buffer_size_kb trace_clock set_ftrace_filter options/stacktrace; ls instances"
    session.run(
        "echo 1 > tracing_on; echo '*:*' > set_event; echo schedule > set_ftrace_filter; echo counter > trace_clock"
    )
    before = session.run(state)
    said = session.run(
        "cd /tmp; trace-record -C local -b 64 -p function -e sched -O record-tgid -B one -e irq:* -O stacktrace -o s.dat -- "
        f"sh -c 'cat /proc/meminfo; i=0; while [ $i -lt 100 ]; do sleep 0.001; i=$((i + 1)); done; exit 0'; cd {TRACING}"
    )
    assert "s.dat: " in said and session.run(state) == before
    dat = session.fetch("/tmp/s.dat")
    found, _ = report(dat, "-N")
    stats = trace_cmd("report", "--stat", dat)
    read = sum(int(number) for number in re.findall(r"^read events: (\d+)", stats, re.M))
    assert sum(map(len, found.values())) == read > 1000
    names = trace_cmd("report", "-N", dat)
    assert re.search(r"^one: .*softirq_raise", names, re.M) and "softirq_raise" not in re.sub(
        r"^one: .*", "", names, flags=re.M
    )
    assert "Vitrine" in trace_cmd("report", "--uname", dat)
    assert trace_cmd("dump", "--validate", "-i", dat).endswith("is a valid trace-cmd file\n")
    text = session.run("trace-record -C local -p irqsoff -o /tmp/l.dat -- true > /dev/null 2>&1; echo $?")
    assert text.split() == ["0"]
    assert "# tracer: irqsoff\n" in trace_cmd("report", session.fetch("/tmp/l.dat"))
    check_pipes_and_state(session)
    for wrong, message in (
        ("-p nonsense -- true", "no tracer 'nonsense'"),
        ("-e no:such -- true", "no event 'no:such'"),
        ("-p function -l nonsense -- true", "no function 'nonsense'"),
        ("-e sched -O nonsense -- true", "no option 'nonsense'"),
        ("-e sched -- /nonsense", "/nonsense: No such file or directory"),
        ("true", "nothing to record"),
        ("-e sched -o /none/x -- true", "/none/x: No such file or directory"),
        ("-x -e sched", "-x takes what is there"),
        ("-e sched -C x -- true", "no clock 'x'"),
        ("-e sched -b 0 -- true", "0"),
        ("-F -e sched", "-F wants a command"),
    ):
        status, said = session.guest.run(f"cd /tmp; trace-record {wrong}")
        assert (status, said.count("\n")) == (1, 1) and message in said and said.startswith("trace-record: "), (
            wrong,
            said,
        )
    assert session.run(f"cd {TRACING}; {state}") == before and "trace.dat" not in session.run("ls /tmp")
    check_full_disk(session)


def check_pipes_and_state(session):
    """An output that cannot seek gets the same bytes; one that fails, a message that says where they are. What
    trace-show and trace-stat say."""
    session.run("cd /tmp; trace-record -C local -qe sched -o /dev/stdout -- sleep 0.01 | cat > p.dat")
    assert has_switches(report(session.fetch("/tmp/p.dat"), "-N")[0])
    status, said = session.guest.run("trace-record -C local -qe sched -o /dev/full -- sleep 0.01")
    saved = re.fullmatch(r"trace-record: /dev/full: No space left on device: the trace is in (\S+)\n", said)
    assert status == 1 and trace_cmd("dump", "--validate", "-i", session.fetch(saved[1])).endswith(
        "is a valid trace-cmd file\n"
    )
    shown_now = session.run(
        f"cd {TRACING}; mkdir instances/two; echo shown > instances/two/trace_marker; trace-show -B two; trace-stat -B two; trace-stat; "
        "rmdir instances/two; trace-show -c 7 || trace-show -B two || trace-stat -B two || true"
    )
    assert "tracing_mark_write: shown" in shown_now and re.search(
        r"CPU [01]: 1 records in \d+ bytes, 0 overwritten, 0 dropped", shown_now
    )
    assert "Functions: schedule\n" in shown_now and "Instance two\n" in shown_now
    assert "trace-show: no CPU 7\n" in shown_now and "trace-stat: no instance 'two'\n" in shown_now


def check_full_disk(session):
    """What came until then is a whole file; the rest waits in the buffers, for another place. Where not even a file's
    frame fits, nothing changes."""
    calls = "i=0; while [ $i -lt 400 ]; do read line < /proc/version; i=$((i + 1)); done"
    session.run("mkdir /tmp/full; mount -t tmpfs -o size=1600k none /tmp/full")
    status, said = session.guest.run(
        f"cd /tmp/full; trace-record -C local -b 2000 -p function -l '*' -o f.dat -- sh -c '{calls}'"
    )
    assert (
        status == 1
        and said.count("\n") == 3
        and "trace-record: f.dat: No space left on device: recording ends here\n" in said
    ), said
    assert "the rest is in the buffers" in said and "trace-record -x" in said
    first = sum(map(len, report(session.fetch("/tmp/full/f.dat"), "-N")[0].values()))
    session.run("trace-record -qx -o /tmp/rest.dat")
    rest = sum(map(len, report(session.fetch("/tmp/rest.dat"), "-N")[0].values()))
    assert first > 1000 and rest > 0, (first, rest)  # what came between the last page that found room and the stop
    session.run("rm -r /tmp/full/*; dd if=/dev/zero of=/tmp/full/fill bs=1k count=1500 2> /dev/null")
    status, said = session.guest.run("cd /tmp/full; trace-record -e sched -o f.dat -- true; ls")
    assert (status, said) == (
        0,
        "trace-record: f.dat: No space left on device: nothing was recorded, the buffers are as they were\nfill\n",
    ), said
    # Room that others take while the pieces are joined (here: whoever has those open): they stay, and make one file.
    session.run("cd /; rm -r /tmp/full/*; umount /tmp/full; mount -t tmpfs -o size=2m none /tmp/full")
    calls = (
        "until test $(cat f.dat.*.cpu* | wc -c) -gt 800000; do read line < /proc/version; done; echo 0 > /sys/kernel/tracing/tracing_on; sleep 0.1; "
        "n=0; for f in f.dat.*.cpu*; do sleep 1000 < $f & n=$((n + 1)); done; until test $(pidof sleep | wc -w) = $n; do :; done; "
        "cat /dev/zero > fill 2> /dev/null"
    )
    status, said = session.guest.run(
        f"cd /tmp/full; trace-record -C local -b 1000 -p function -l '*' -o f.dat -- sh -c '{calls}'"
    )
    assert (
        re.search(
            r"^trace-record: f.dat: No space left on device: what was recorded is in pieces, /?\S*f.dat.\d+\*$",
            said,
            re.M,
        )
        and status == 1
    ), said
    session.run("kill $(pidof sleep); cat f.dat.* > /tmp/joined.dat; rm *")
    assert sum(map(len, report(session.fetch("/tmp/joined.dat"), "-N")[0].values())) > 1000
    # No room for a latency tracer's text: it stays where it is.
    status, said = session.guest.run(
        "cd /tmp/full; trace-record -C local -p irqsoff -o f.dat -- sh -c 'cat /dev/zero > fill 2> /dev/null'; ls"
    )
    assert (
        said
        == "trace-record: f.dat: No space left on device: the trace is in the buffers: trace-record -x takes it\nfill\n"
    ), said
    session.run("trace-record -qx -o /tmp/l2.dat; cd /; rm /tmp/full/fill")
    assert "# tracer: irqsoff\n" in trace_cmd("report", session.fetch("/tmp/l2.dat"))


def test_vrun_brings_the_trace(machine, tmp_path):
    """The script's output and status are its own; a trace that cannot be made is a line and status 1."""
    (tmp_path / "script").write_text("echo said $1; exit 3\n")
    for arguments, status, said in (
        (["-e sched"], 3, "said it\n"),
        (["-p nonsense"], 1, "trace-record: no tracer 'nonsense'\n"),
    ):
        done = subprocess.run(
            [
                VRUN,
                "--arch",
                machine.arch,
                "--smp",
                "2",
                "--trace",
                tmp_path / "t.dat",
                "--trace-args",
                *arguments,
                tmp_path / "script",
                "it",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        # The kernel's own line says why, too.
        own = [line for line in done.stdout.splitlines(keepends=True) if "] current_tracer: no tracer" not in line]
        assert (done.returncode, "".join(own)) == (status, said), done
        assert done.stderr == (f"vrun: {tmp_path}/t.dat: no trace was made\n" if status == 1 else "")
    found, _ = report(tmp_path / "t.dat", "-N")
    assert has_switches(found)


def test_tasks_that_end(machine, vtrace, tmp_path):
    """The calls that a task never returns from end with it, and each task has the name that switches give it."""
    (tmp_path / "script").write_text("for i in 1 2 3 4 5; do ls / > /dev/null; done; sleep 1; usleep 50000\n")
    subprocess.run(
        [
            VRUN,
            "--arch",
            machine.arch,
            "--trace",
            tmp_path / "t.dat",
            "--trace-args",
            "-p function_graph -g do_exit -e sched -b 8000",
            tmp_path / "script",
        ],
        check=True,
    )
    lines = vtrace.good("folded", tmp_path / "t.dat").decode().splitlines()
    dead = [line for line in lines if ";do_task_dead" in line]
    assert len(dead) > 5 and sum(int(line.rsplit(" ", 1)[1]) for line in dead) < 500_000_000, dead
    assert {line.split("-")[0] for line in dead} >= {"ls", "sleep"} and not any(
        line.startswith("<...>") for line in lines
    ), dead


def test_speedscope_is_there():
    """What vtrace_files.check_importer hands to speedscope's own importer is handed to nobody without it."""
    if not importer():
        pytest.skip("speedscope could not be fetched from npm: make speedscope")


def test_to_a_port(machine, tmp_path):
    """The file comes out while the machine runs, and nothing of it over the console."""
    (tmp_path / "script").write_text(
        "trace-record -qe sched -P out -- sleep 0.01; trace-record -e sched -P in -- true\n"
    )
    done = subprocess.run(
        [VRUN, "--arch", machine.arch, "--smp", "2", "--port", f"out={tmp_path}/t.dat", tmp_path / "script"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (
        1,
        "trace-record: no port 'in': vrun --port in=FILE gives the machine one\n",
    ), done
    found, _ = report(tmp_path / "t.dat", "-N")
    assert has_switches(found)


def test_to_a_port_that_nobody_reads(machine, tmp_path):
    """A signal ends the wait, in a write as in the close; the file is elsewhere, and settings are back before."""
    (tmp_path / "script").write_text(story("trace_dat_port"))
    done = subprocess.run(
        [VRUN, "--arch", machine.arch, "--smp", "2", "--port", f"live=socket:{tmp_path}/s", tmp_path / "script"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.fullmatch(
        r"trace-record: /dev/virtio-ports/live: Interrupted system call: the trace is in (/tmp/trace-record.\d+.dat)\n1 trace-record.N.dat\n",
        done.stdout,
    ), done
