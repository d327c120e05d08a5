"""Modules that come and go while they are used, the memory that they leave, and the headers that they include."""

import os
import re
import subprocess

import pytest
from module_guest import CRASH, INCLUDE, SAMPLES, guest, samples  # noqa: F401
from stories import story
from test_modules import make
from vitrine_guest import ROOT

SOAK_MINUTES = int(os.environ.get("SOAK_MINUTES", "0"))
ROUNDS = max(1000, 300 * SOAK_MINUTES) if SOAK_MINUTES else 6
LOADS = 25 * SOAK_MINUTES or 8

STORMS = [
    ("procfs_4", "/proc/procfs_4", "procfs_4"),
    ("chardev2", "/dev/chardev2", "chardev2"),
    ("misc_counter", "/proc/misc", "misc_counter"),
    ("debugfs_values", "/sys/kernel/debug/values/sum", "debugfs_values"),
    ("sysfs_value", "/sys/kernel/sysfs_value/value", "sysfs_value"),
    ("procfs_3", "/proc/procfs_3/buffer", "procfs_3"),
]


@pytest.mark.soak
@pytest.mark.parametrize("name, path, module", STORMS, ids=[row[0] for row in STORMS])
def test_opens_while_modules_come_and_go(guest, name, path, module):
    """On four CPUs: three open, read and close, one loads and unloads. Each ends well, and the module can go at last."""
    out = guest(
        f"FILE={path} LOADS={LOADS} NAME={name} MODULE={module} CRASH='{CRASH}'\n" + story("module_storms", "opens"),
        name,
        options=("--smp", "4"),
        timeout=300 + 10 * LOADS,
    )
    lines = out.splitlines()
    counts = [re.fullmatch(r"opened (\d+) gone (\d+) busy (\d+) eio (\d+)", line) for line in lines[:3]]
    assert all(counts) and lines[3:] == [f"loaded {LOADS} unloaded {LOADS}", "0"], out
    opened, gone, *_ = (sum(int(m[n]) for m in counts) for n in range(1, 5))
    assert opened > 4 * LOADS and (gone > 4 * LOADS or path == "/proc/misc"), out


def test_timers_and_works_while_modules_come_and_go(guest):
    """On four CPUs: timers of a jiffy, works that queue themselves again, threads; no code of theirs runs afterwards."""
    names = ["print_timer", "print_work", "kthread_queue", "completions", "print_tasklet", "ftrace_calls"]
    loops = "".join(
        f"(for i in $(seq 1 12); do insmod /{name}.ko {'period_ms=1' if name == 'print_timer' else ''} || echo bad; rmmod {name} || echo bad; done) &\n"
        for name in names
    )
    out = guest(f"{loops}wait; cat /proc/modules; dmesg | grep -cE '{CRASH}'; true", *names, options=("--smp", "4"))
    assert out == "0\n", out


def test_memory_comes_back(guest):
    """After rounds that warm caches up, further rounds of all samples leave slabs, pages and vmalloc as they were."""
    names = sorted(
        path[:-2]
        for path in os.listdir(SAMPLES)
        if path.endswith(".c") and path not in ("oops.c", "irq_shared.c", "preemptirq_delay_test.c", "uprobe_walk.c")
    )
    names.sort(key=lambda name: name == "tracepoint_probe_sample")  # it uses tracepoint_sample
    one_round = (
        "".join(f"insmod /{name}.ko; " for name in names)
        + (
            "cat /proc/procfs_1 /proc/procfs_4 /proc/procfs_3/buffer /dev/chardev /sys/kernel/debug/values/* > /dev/null; echo 3 > /proc/kthread_queue; cat /proc/kthread_queue >/dev/null\n"
            "exec 3</proc/procfs_4; head -n 1 <&3 > /dev/null\n"
        )
        + "".join(f"rmmod {name.replace('-', '_')}; " for name in reversed(names))
        + "exec 3<&-\n"
    )
    out = guest(
        f". /run/prelude\nround() {{ {one_round}}}\n" + story("module_storms", "memory"),
        *names,
    )
    assert out == "\n", out  # an object a round would be 40


@pytest.mark.soak
def test_nothing_is_left(guest):
    """Rounds of modules with events, probes and a /proc file, on four CPUs under the tracers and readers: as many objects
    and pages as before, no site and no name left."""
    out = guest(
        f"set -- {ROUNDS}\n" + story("module_rounds"),
        "trace_events_sample",
        "tracepoint_sample",
        "tracepoint_probe_sample",
        options=("--smp", "4"),
        timeout=300 + ROUNDS,
    )
    assert "checks failed" not in out and re.fullmatch(r"slabs .*\n", out), out


def test_every_header_stands_alone(tmp_path):
    """Each header of include/linux, included first and alone, and all of them together."""
    headers = sorted(
        os.path.relpath(os.path.join(folder, name), INCLUDE)
        for top in ("linux", "asm-generic")
        for folder, _, names in os.walk(os.path.join(INCLUDE, top))
        for name in names
    )
    for number, header in enumerate(headers):
        (tmp_path / f"h{number}.c").write_text(f"#include <{header}>\n")
    (tmp_path / "last.c").write_text(
        "".join(f"#include <{header}>\n" for header in headers) + 'MODULE_LICENSE("GPL");\n'
    )
    parts = " ".join(f"h{number}.o" for number in range(len(headers)))
    status, said = make(tmp_path, "arm64", "W=1", objects=f"all.o\nall-objs := {parts} last.o")
    assert status == 0 and "warning" not in said, said
    assert len(headers) > 70


def test_the_headers_stay_thin():
    done = subprocess.run(
        [
            "/usr/bin/python3",
            "-c",
            "import sys; sys.path.insert(0, 'tools'); import rooms\n"
            "print(sum(rooms.code_lines(p, open(p, encoding='utf-8').read()) for p in sys.argv[1:]))",
            *(
                os.path.join(folder, name)
                for folder, _, names in os.walk(os.path.join(INCLUDE, "linux"))
                for name in names
            ),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert 500 < int(done.stdout) <= 1200
