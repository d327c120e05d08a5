"""Records as bytes: what programs are told of them, and what they get."""

import re

from test_formats import lines_of, read_format

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
