"""The latency tracers as tutorials use them: their sessions typed line by line, and those of our own chapters."""

import pathlib
import re
import subprocess
import sys

import pytest
from test_session import Terminal

TOP = pathlib.Path(__file__).resolve().parents[3]
RECORD = re.compile(
    r" *(?P<comm>\S.{0,7})-(?P<pid>\d+) +(?P<cpu>\d+)(?P<flags>[.dDb][.nNp][.HhsZz][.1-9a-f][.1-9a-f]) +"
    r"(?P<us>\d+)us(?P<mark>[ +!#*@$]): (?P<what>.*)"
)
# What 2.6's tutorials type between the choice of a tracer and `cat trace`.
WORK = {
    "irqsoff": "ls -ltr",
    "preemptoff": "ls -ltr",
    "preemptirqsoff": "ls -ltr",
    "wakeup": "chrt -f 5 sleep 1",
    "wakeup_rt": "chrt -f 5 sleep 1",
}


def parts(trace):
    """(header as {name: text}, records, closing stack) of a page of `trace`."""
    header = dict(re.findall(r"^# +(?:\| |=> )?(\w[\w ]*): +(.*)$", trace, re.M))
    records, stack = [], []
    for line in trace.splitlines():
        if line.startswith(" => "):
            stack.append(line[4:])
        elif not line.startswith("#"):
            match = RECORD.fullmatch(line)
            assert match, f"no record: {line!r}"
            records.append(match)
            stack = []
    return header, records, stack


@pytest.mark.parametrize("tracer", WORK)
def test_the_tutorials_session(machine, tracer):
    with machine.guest(smp=2, timeout=240) as guest:
        shell = Terminal(guest)
        shell.type("cd /sys/kernel/debug/tracing")
        assert tracer in shell.type("cat available_tracers").split()
        for line in (
            "sysctl kernel.ftrace_enabled=0",
            f"echo {tracer} > current_tracer",
            "echo latency-format > trace_options",
            "echo 0 > tracing_max_latency",
            "echo 1 > tracing_enabled",
        ):
            output = shell.type(line)
            assert output == ("kernel.ftrace_enabled = 0\n" if line.startswith("sysctl") else ""), output
        shell.type(WORK[tracer])
        assert shell.type("echo 0 > tracing_enabled") == ""
        trace = shell.type("cat trace")
        longest = int(shell.type("cat tracing_max_latency"))
        header, records, stack = parts(trace)
        assert trace.startswith(f"# tracer: {tracer}\n#\n# {tracer} latency trace v1.1.5 on ")
        assert re.fullmatch(
            rf"{longest} us, #(\d+)/\1, CPU#[01] \| \(M:preempt VP:0, KP:0, SP:0 HP:0 #P:2\)", header["latency"]
        )
        times = [int(record["us"]) for record in records]
        assert times == sorted(times), times
        # A wake-up counts from sched_waking, its records begin a little later: the host may have come in between.
        assert tracer.startswith("wakeup") or longest - 2 <= times[-1], (longest, times)
        assert stack, "no closing stack"
        if tracer.startswith("wakeup"):
            # Of all that wait at that moment a kernel thread may be more important than our sleep.
            assert re.search(r"policy:[126] rt_prio:\d+\)" if tracer == "wakeup_rt" else r"policy:\d", header["task"])
            assert any("   + [" in record["what"] for record in records) and any(
                "==>" in record["what"] for record in records
            )
        else:
            assert len({record["cpu"] for record in records}) == 1
            assert header["started at"] and header["ended at"]
            assert not any(
                re.match(r"\.\.\.\.", record["flags"]) for record in records
            ), "neither off: outside the section"


@pytest.mark.parametrize("page", sorted(path.name for path in TOP.glob("docs/tracer-*.md")))
def test_the_chapters_session(page):
    """Every command that a chapter types succeeds on this kernel."""
    done = subprocess.run(
        [sys.executable, str(TOP / "tools" / "doc-sessions"), "--check", str(TOP / "docs" / page)],
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
