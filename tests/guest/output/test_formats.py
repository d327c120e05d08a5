"""What the trace files show, byte for byte: formats/ holds headers and lines as Linux prints them."""

import os
import re

import pytest
from tracetext import read_format

OPTIONS = ["", "sym-offset", "sym-addr", "noprint-parent", "noirq-info", "nocontext-info"]
TRACING = "/sys/kernel/tracing"
COUNTER = {"aarch64": "cntvct", "x86_64": "x86-tsc"}  # the last of the clocks
README = os.path.join(os.path.dirname(__file__), "../../../README.md")
SYMBOL = {
    "": r"[A-Za-z_][\w.]*",
    "sym-offset": r"[A-Za-z_][\w.]*\+0x[0-9a-f]+/0x[0-9a-f]+",
    "sym-addr": r"[A-Za-z_][\w.]* <[0-9a-f]{16}>",
}
COLUMNS = re.compile(
    r" *(?P<comm>\S.*?)-(?P<pid>\d+) *\[(?P<cpu>\d{3})\] (?P<flags>[.dDb][.nNp][.HhsZz][.1-9a-f][.1-9a-f])?"
    r" *(?P<seconds>\d+)\.(?P<fraction>\d{6}): (?P<rest>.*)"
)


def tracers():
    """Those that README's session shows."""
    with open(README, encoding="utf-8") as file:
        return re.search(r"# cat available_tracers\n +(.*)\n", file.read())[1].split()


def parse(line, option=""):
    """The fields of one line of the function tracer; fails when a single byte is out of its place."""
    fields, rest = {}, line
    if option != "nocontext-info":
        match = COLUMNS.fullmatch(line)
        assert match, line
        fields, rest = match.groupdict(), match["rest"]
        assert bool(fields["flags"]) == (option != "noirq-info"), line
        columns = "{comm:>16}-{pid:<7} [{cpu}] ".format(**fields) + (fields["flags"] or "")
        assert line == f"{columns} {fields['seconds']:>5}.{fields['fraction']}: {rest}"
    symbol = SYMBOL.get(option, SYMBOL[""])
    match = re.fullmatch(
        f"({symbol})" if option == "noprint-parent" else f"({symbol}) <-({symbol}|0x[0-9a-f]+|0)", rest
    )
    assert match, line
    return {**fields, "function": match[1], "parent": match[2] if option != "noprint-parent" else None}


def split_trace(text, option, tracer="function"):
    """(entries, written, cpus) from the header, and the lines below it; the header must be exactly Linux's."""
    name = f"header_{option}.txt" if option in ("noirq-info", "nocontext-info", "record-tgid") else "header.txt"
    pattern = re.escape(read_format(name)).replace("function", tracer, 1)
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d+)", pattern)
    match = re.match(pattern, text)
    assert match, f"header differs from formats/{name}:\n{text[:1200]}"
    return {key: int(value) for key, value in match.groupdict().items()}, text[match.end() :].splitlines()


@pytest.mark.parametrize("option", OPTIONS)
def test_these_checks_accept_linux(option):
    for line in read_format(f"lines{'_' if option else ''}{option}.txt").splitlines():
        assert parse(line, option)


def test_these_checks_refuse_other_columns():
    good = read_format("lines.txt").splitlines()[0]
    for bad in (
        good.replace("-1  ", "-1 "),
        good[1:],
        good.replace(" <-", "<-"),
        good.replace(".....", "...."),
        good + " ",
    ):
        with pytest.raises(AssertionError):
            parse(bad)


def lines_of(guest, command):
    status, output = guest.run(command)
    assert status == 0, f"{command}: status {status}: {output}"
    return output


def record(guest, filters="schedule vfs_read vfs_write sys_getppid ksys_read ksys_write"):
    """A trace of a second's life on two CPUs."""
    lines_of(
        guest,
        f"cd {TRACING}; echo 0 > tracing_on; echo nop > current_tracer; echo {filters} > set_ftrace_filter 2>/dev/null; "
        "echo > trace; echo function > current_tracer; echo 1 > tracing_on; "
        "for cpu in 0 1 0 1; do taskset $((1 << cpu)) sh -c 'for i in 1 2 3; do echo $i; done' >/dev/null; done; "
        "sleep 0.1; echo 0 > tracing_on",
    )


def test_function_tracer_lines_and_options(machine):
    with machine.guest(smp=2, timeout=120) as guest:
        known = set(lines_of(guest, f"cat {TRACING}/available_filter_functions").split())
        assert len(known) > 300 and "schedule" in known
        record(guest, "schedule vfs_read vfs_write")
        usual = None
        for option in OPTIONS:
            back = re.sub("^no", "", option) if option.startswith("no") else f"no{option}"
            text = lines_of(guest, f"echo {option or 'print-parent'} > trace_options; cat trace")
            if option:
                lines_of(guest, f"echo {back} > trace_options")
            header, lines = split_trace(text, option)
            lines = [line for line in lines if not line.startswith("##### CPU")]
            parsed = [parse(line, option) for line in lines]
            assert len(parsed) > 20
            names = [re.split(r"[+ ]", fields["function"])[0] for fields in parsed]
            assert set(names) <= known, set(names) - known
            usual = usual or names
            assert names == usual, f"option {option} changed what was recorded"
            if option != "nocontext-info":
                assert header["entries"] == len(parsed) and header["written"] >= len(parsed) and header["cpus"] == 2
                check_time(parsed)
        assert lines_of(guest, "cat trace_options").splitlines()[0] == "print-parent"


def check_time(parsed):
    """On each CPU, and in the whole (it is sorted), time does not go back."""
    stamps = [(int(fields["seconds"]), int(fields["fraction"])) for fields in parsed]
    assert stamps == sorted(stamps)
    assert {fields["cpu"] for fields in parsed} == {"000", "001"}


def test_sched_switch_tracer_lines(machine):
    with machine.guest(smp=2, timeout=120) as guest:
        lines_of(
            guest,
            f"cd {TRACING}; echo 0 > tracing_on; echo sched_switch > current_tracer; echo 1 > tracing_on; "
            "ls / | grep s | wc -l; sleep 0.05; echo 0 > tracing_on",
        )
        header, lines = split_trace(lines_of(guest, "cat trace"), "", tracer="sched_switch")
        lines = [line for line in lines if not line.startswith("##### CPU")]
        assert header["entries"] == len(lines)
        kinds, names = {"==>": 0, "  +": 0}, set()
        for line in lines:
            match = COLUMNS.fullmatch(line)
            assert match, line
            # A line's rest begins with the blank of " %7d:%3d:%c".
            rest = re.fullmatch(
                r" ( *\d+):( *\d+):([RSDTtZXIW]) (==>|  \+) \[(\d{3})\] ( *\d+):( *\d+):([RSDTtZXIW]) (\S+)",
                match["rest"],
            )
            assert rest, line
            assert [len(rest[i]) for i in (1, 2, 6, 7)] == [7, 3, 7, 3], line
            if rest[4] == "==>":
                # The one that ran is the one whose line it is, and both are on the line's CPU.
                assert rest[1].strip() == match["pid"] and rest[5] == match["cpu"], line
            kinds[rest[4]] += 1
            names.add(rest[9])
        assert kinds["==>"] > 10 and kinds["  +"] > 2
        assert {"ls", "grep", "wc"} <= names


def test_statistics_and_marker(machine):
    with machine.guest(smp=2, timeout=120) as guest:
        lines_of(guest, f"cd {TRACING}; echo hello from userspace > trace_marker; echo -n 'no newline' > trace_marker")
        header, lines = split_trace(lines_of(guest, "cat trace"), "", tracer="nop")
        assert header["entries"] == header["written"] == 2
        for line, text in zip(lines, ("hello from userspace", "no newline")):
            match = COLUMNS.fullmatch(line)
            assert match and match["rest"] == f"tracing_mark_write: {text}", line
        total = 0
        for cpu in range(2):
            text = lines_of(guest, f"cat per_cpu/cpu{cpu}/stats")
            match = re.fullmatch(
                r"entries: (\d+)\noverrun: 0\ncommit overrun: 0\nbytes: (\d+)\noldest event ts: +\d+\.\d{6}\n"
                r"now ts: +\d+\.\d{6}\ndropped events: 0\nread events: 0\n",
                text,
            )
            assert match, text
            total += int(match[1])
        assert total == 2


def test_fresh_boot(machine):
    """What the files say before anybody has written to one."""
    with machine.guest(smp=2, timeout=60) as guest:
        lines_of(guest, f"cd {TRACING}")
        files = {
            "buffer_size_kb": "7 (expanded: 1408)\n",
            "buffer_total_size_kb": "14 (expanded: 2816)\n",
            "per_cpu/cpu0/buffer_size_kb": "7\n",
            "current_tracer": "nop\n",
            "tracing_on": "1\n",
            "tracing_enabled": "1\n",
            "set_ftrace_filter": "#### all functions enabled ####\n",
            "set_ftrace_notrace": "#### no functions disabled ####\n",
            "set_ftrace_pid": "no pid\n",
            "set_ftrace_notrace_pid": "no pid\n",
            "tracing_cpumask": "3\n",
            "enabled_functions": "",
            "touched_functions": "",
            "trace_clock": f"[local] global counter uptime perf mono mono_raw boot tai {COUNTER[machine.arch]}\n",
            "trace": read_format("header.txt").replace("function", "nop", 1).format(entries=0, written=0, cpus=2),
            "/proc/sys/kernel/ftrace_enabled": "1\n",
        }
        for name, wanted in files.items():
            assert lines_of(guest, f"cat {name}") == wanted, name
        assert sorted(lines_of(guest, "cat available_tracers").split()) == sorted(tracers())
        sites = lines_of(guest, "wc -l < available_filter_functions").strip()
        assert re.fullmatch(rf"{sites} pages:\d+ groups: \d+\n", lines_of(guest, "cat dyn_ftrace_total_info"))
        # The size is that of the first use from here on: 1,408 KiB in whole pages of 4,080 bytes of records.
        lines_of(guest, "echo function > current_tracer; echo nop > current_tracer")
        assert (
            lines_of(guest, "cat buffer_size_kb buffer_total_size_kb per_cpu/cpu1/buffer_size_kb")
            == "1410\n2820\n1410\n"
        )
        assert re.search(rf"ftrace: allocating {sites} entries in \d+ pages", lines_of(guest, "dmesg"))
