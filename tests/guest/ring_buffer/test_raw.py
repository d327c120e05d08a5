"""Records as bytes: what programs are told of them, and what they get."""

import os
import re
import subprocess

from test_formats import lines_of, read_format
from vitrine_guest import ROOT

EVENTS = "/sys/kernel/tracing/events"
COMMON = """\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
"""


def test_formats_of_the_tracers_records(machine):
    """events/ftrace: as Linux has recorded them, and for the rest without contradiction; nothing to switch on."""
    with machine.guest(timeout=60) as guest:
        names = lines_of(guest, f"ls {EVENTS}/ftrace").split()
        text = lines_of(guest, f"cd {EVENTS}/ftrace; cat */format").replace("\r", "")
        ids = lines_of(guest, f"cd {EVENTS}/ftrace; cat */id").split()
        assert (
            guest.run(f"test -e {EVENTS}/ftrace/enable")[0]
            and guest.run(f"grep ftrace: {EVENTS}/../available_events")[0]
        )
        assert "enable" not in lines_of(guest, f"ls {EVENTS}/ftrace/function")
        lines_of(
            guest,
            f"cd {EVENTS}/../instances; mkdir one; cd one/events; cmp ftrace/function/format {EVENTS}/ftrace/function/format; "
            "cd ../..; rmdir one",
        )
    found = {}
    for one in re.split(r"^(?=name: )", text, flags=re.M)[1:]:
        name, number = re.match(r"name: (\w+)\nID: (\d+)\nformat:\n", one).groups()
        assert COMMON in one and one.count("print fmt: ") == 1
        found[name] = (number, one)
    assert sorted(found) == sorted(names) and [found[name][0] for name in sorted(found)] == ids
    assert len(set(ids)) == len(ids)
    for linux in re.split(r"^(?=name: )", read_format("entries.txt"), flags=re.M)[1:]:
        name = linux.split()[1]
        assert found[name][1].strip() == linux.strip()
    for name, (_, one) in found.items():
        end = 8
        for offset, size in re.findall(r"offset:(\d+);\tsize:(\d+)", one.partition("\n\n")[2]):
            assert int(offset) >= end, f"{name}: fields overlap"
            end = int(offset) + int(size)
        fields = re.findall(r"field:[^;]*?(\w+)(?:\[\w*\])?;", one)
        assert set(re.findall(r"REC->(\w+)", one)) <= set(fields), f"{name}: its text is of fields that it has not"


def program_of_the_page():
    """The C program in docs/raw.md: the indented lines from the first #include to the end of main()."""
    with open(os.path.join(ROOT, "docs/raw.md"), encoding="utf-8") as page:
        found = re.search(r"^    #include .*?^    }\n(?!\n    \S)", page.read(), re.M | re.DOTALL)
    return re.sub(r"^    ", "", found.group(0), flags=re.M)


def test_example_of_a_mapped_ring(machine, tmp_path):
    """The page's program finds each record once, in sub-buffers of both sizes, and a ring that is lost in part."""
    compiler = {"aarch64": "aarch64-linux-gnu-gcc", "x86_64": "gcc"}[machine.arch]
    (tmp_path / "ring.c").write_text(program_of_the_page(), encoding="utf-8")
    options = [
        "-static",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-parameter",
        "-idirafter",
        f"{ROOT}/include/uapi",
    ]
    subprocess.run([compiler, *options, "-o", tmp_path / "ring", tmp_path / "ring.c"], check=True)
    files = {"bin/ring": (0o755, (tmp_path / "ring").read_bytes())}
    with machine.guest(timeout=60, files=files) as guest:
        lines_of(guest, f"cd {EVENTS}/..; echo 64 > buffer_size_kb; taskset -p 1 $$")
        for size in "4", "8":
            lines_of(guest, f"echo {size} > buffer_subbuf_size_kb; echo > trace")
            lines_of(guest, "for i in $(seq 500); do echo mark $i > trace_marker; done")
            out = lines_of(guest, "ring per_cpu/cpu0/trace_pipe_raw")
            pages = re.findall(r"^sub-buffer (\d+): (\d+) records in \d+ bytes", out, re.M)
            assert sum(int(records) for _, records in pages) == 500, out
            assert [int(number) for number, _ in pages] == list(range(1, len(pages) + 1)) and len(pages) > 1, out
            assert "500 of 500 read, 0 lost" in out
        lines_of(guest, "for i in $(seq 3000); do echo mark $i > trace_marker; done")
        read, entries, lost = map(
            int,
            re.search(r"(\d+) of (\d+) read, (\d+) lost", lines_of(guest, "ring per_cpu/cpu0/trace_pipe_raw")).groups(),
        )
        assert entries == 3500 and lost > 0 and read + lost == 3500
