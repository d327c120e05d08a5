"""Takes apart what `trace` shows, in each of its forms. Whatever is not in its place to the byte is refused
(AssertionError)."""

import glob
import os
import re
import struct

FORMATS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "formats")
MARKS = [(1_000_000, "$"), (100_000, "@"), (10_000, "*"), (1_000, "#"), (100, "!"), (10, "+")]  # above so many us

FLAGS = r"(?P<flags>[.dDb][.nNp][.HhsZz][.1-9a-f][.1-9a-f])"
PLAIN = re.compile(
    r" *(?P<comm>\S.*?)-(?P<pid>\d+) *(?:\((?P<tgid>-{7}|[ \d]{7})\) )?\[(?P<cpu>\d{3})\] " + FLAGS + "?"
    r" *(?P<seconds>\d+)\.(?P<fraction>\d{6}): (?P<rest>.*)"
)
SHORT = re.compile(
    r" *(?P<comm>\S.*?)-(?P<pid>\d+) *(?P<cpu>\d+)" + FLAGS + r" +(?P<us>\d+)us(?P<mark>.): (?P<rest>.*)"
)
VERBOSE = re.compile(
    r" *(?P<comm>\S.*?) +(?P<pid>\d+) +(?P<cpu>\d+) (?P<bits>\d+) (?P<depth>[0-9a-f]{8}) (?P<index>[0-9a-f]{8})"
    r" \[(?P<stamp>[0-9a-f]{8,})\] (?P<ms>\d+)\.(?P<us>\d{3})ms \(\+(?P<delay_ms>\d+)\.(?P<delay_us>\d{3})ms\): (?P<rest>.*)"
)
LATENCY = re.compile(
    r"# tracer: (?P<tracer>\w+)\n#\n"
    r"# (?P=tracer) latency trace v1\.1\.5 on (?P<release>\S+)\n# -{68}\n"
    r"# latency: (?P<latency>\d+) us, #(?P<shown>\d+)/(?P<total>\d+), CPU#(?P<cpu>\d+) \| "
    r"\(M:preempt VP:0, KP:0, SP:0 HP:0 #P:(?P<cpus>\d+)\)\n"
    r"#    -{17}\n"
    r"#    \| task: (?P<comm>.{0,16})-(?P<pid>\d+) \(uid:(?P<uid>\d+) nice:(?P<nice>-?\d+) policy:(?P<policy>\d+)"
    r" rt_prio:(?P<rt_prio>\d+)\)\n"
    r"#    -{17}\n"
    r"(?:#  => started at: (?P<started>\S.*)\n#  => ended at:   (?P<ended>\S.*)\n#\n)?"
    r"#\n"
)
NUMBERS = (
    "latency",
    "shown",
    "total",
    "cpu",
    "cpus",
    "pid",
    "uid",
    "nice",
    "policy",
    "rt_prio",
    "us",
    "tgid",
    "depth",
    "index",
    "stamp",
)
HEX = ("depth", "index", "stamp")


def read_format(name):
    """The text of tests/guest/formats/KIND/NAME."""
    (path,) = glob.glob(os.path.join(FORMATS, "*", name))
    with open(path, encoding="ascii") as file:
        return file.read()


def numbers(fields):
    """The fields that are numbers, as such."""
    return {
        key: int(value, 16 if key in HEX else 10) if key in NUMBERS and value and value.strip("-") else value
        for key, value in fields.items()
    }


def parse_plain(line):
    """ "            bash-1408    [000] d.h1.  1234.567890: ...", with or without flags and thread group."""
    match = PLAIN.fullmatch(line)
    assert match, line
    f = match.groupdict()
    group = f"({f['tgid']}) " if f["tgid"] else ""
    assert (
        line
        == f"{f['comm']:>16}-{f['pid']:<7} {group}[{f['cpu']}] {f['flags'] or ''} {f['seconds']:>5}.{f['fraction']}: {f['rest']}"
    )
    assert not f["tgid"] or f["tgid"] == "-" * 7 or f["tgid"] == f"{int(f['tgid']):7}", line
    return numbers(f) | {"stamp": int(f["seconds"]) * 1_000_000 + int(f["fraction"])}


def parse_short(line):
    """ "    bash-1408      0d.h1.  567us+: ..."."""
    match = SHORT.fullmatch(line)
    assert match, line
    f = match.groupdict()
    assert len(f["comm"]) <= 8 and f["mark"] in " $@*#!+", line
    assert line == f"{f['comm']:>8}-{f['pid']:<7} {f['cpu']:>3}{f['flags']} {f['us']:>4}us{f['mark']}: {f['rest']}"
    return numbers(f)


def parse_verbose(line):
    match = VERBOSE.fullmatch(line)
    assert match, line
    f = match.groupdict()
    assert line == (
        f"{f['comm']:>16} {f['pid']:>7} {f['cpu']:>3} {f['bits']} {f['depth']} {f['index']} [{f['stamp']}] "
        f"{f['ms']}.{f['us']}ms (+{f['delay_ms']}.{f['delay_us']}ms): {f['rest']}"
    )
    assert f["stamp"] == f"{int(f['stamp'], 16):08x}", line
    return numbers(f) | {
        "us": int(f["ms"]) * 1000 + int(f["us"]),
        "delay": int(f["delay_ms"]) * 1000 + int(f["delay_us"]),
    }


def records(lines, parse):
    """Lines with what belongs to each below it: a record's "stack" is the list of its "=>" lines."""
    found = []
    for line in lines:
        if line.startswith(" => "):
            assert found and found[-1]["rest"] in ("<stack trace>", "<user stack trace>"), line
            found[-1].setdefault("stack", []).append(line[4:])
        elif not line.startswith("##### CPU "):
            found.append(parse(line))
    for record in found:
        assert ("stack" in record) == (record["rest"] in ("<stack trace>", "<user stack trace>")), record
    return found


def split_latency(text):
    """(fields of the header, records) of the latency format, short or verbose."""
    match = LATENCY.match(text)
    assert match, f"not a latency header:\n{text[:900]}"
    body, columns = text[match.end() :], read_format("columns_latency.txt")
    short = body.startswith(columns)
    assert short or not body.startswith("#"), body[:600]
    return numbers(match.groupdict()), records(
        (body[len(columns) :] if short else body).splitlines(), parse_short if short else parse_verbose
    )


def mark_of(us):
    return next((mark for above, mark in MARKS if us > above), " ")


def check_latency(header, found):
    """What holds for every latency trace: times rise, marks and delays are those to the next line, the header counts
    the lines."""
    assert header["shown"] <= header["total"]
    for this, following in zip(found, found[1:]):
        delay = following["us"] - this["us"]
        assert delay >= 0, (this, following)
        if "mark" in this:  # both times are rounded
            assert this["mark"] in {mark_of(delay + slack) for slack in (-1, 0, 1)}, (this, following)
        else:
            assert abs(this["delay"] - delay) <= 1 and following["index"] == this["index"] + 1, (this, following)
    assert found[-1].get("mark", " ") == " " and found[-1].get("delay", 0) == 0


# ---- raw, hex, bin: each gives (pid, cpu, ns, the numbers behind)


def pair_of(words):
    """prev_pid prev_prio state next_cpu next_pid next_prio state"""
    return ("pair", *(word if word in "+RSDTtXZPI" else int(word) for word in words))


def parse_raw(line):
    match = re.fullmatch(r"(\d+) (\d+) (\d+) (.*)", line)
    assert match, line
    pid, cpu, stamp, rest = *(int(match[i]) for i in (1, 2, 3)), match[4]
    if match := re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+)", rest):
        return pid, cpu, stamp, ("function", int(match[1], 16), int(match[2], 16))
    if match := re.fullmatch(r"# ([0-9a-f]+) (.*)", rest):
        return pid, cpu, stamp, ("text", int(match[1], 16), match[2])
    if match := re.fullmatch(r"type: (\d+)", rest):
        return pid, cpu, stamp, ("type", int(match[1]))
    match = re.fullmatch(r"(\d+) (-?\d+) (\S) (\d+) (\d+) (-?\d+) (\S)", rest)
    assert match, line
    return pid, cpu, stamp, pair_of(match.groups())


def parse_hex(lines):
    """A generator, as a record without a function for this form takes two lines."""
    lines = iter(lines)
    for line in lines:
        match = re.fullmatch(r"([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{16}) (.*)", line)
        assert match, line
        head, rest = tuple(int(match[i], 16) for i in (1, 2, 3)), match[4]
        if match := re.fullmatch(r"([0-9a-f]{16}) ([0-9a-f]{16}) ", rest):
            yield *head, ("function", int(match[1], 16), int(match[2], 16))
        elif match := re.fullmatch(r"type: (\d+)", rest):
            assert next(lines) == ""
            yield *head, ("type", int(match[1]))
        else:
            match = re.fullmatch(
                r"([0-9a-f]{8}) ([0-9a-f]{2}) ([0-9a-f]{2}) ([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{2}) 000000([0-9a-f]{2}) ",
                rest,
            )
            assert match, line
            values = [int(word, 16) for word in match.groups()]
            values[2], values[6] = chr(values[2]), chr(values[6])
            yield *head, ("pair", *values)


def parse_bin(data, kinds):
    """kinds: of each record what parse_hex says of it, as the bytes do not."""
    for kind in kinds:
        head = struct.unpack_from("<iiQ", data)
        data = data[16:]
        if kind == "type":
            match = re.match(rb"type: (\d+)\n", data)
            assert match, data[:40]
            yield *head, ("type", int(match[1]))
            data = data[match.end() :]
        elif kind == "function":
            yield *head, ("function", *struct.unpack_from("<QQ", data))
            data = data[16:]
        else:
            yield *head, ("pair", *struct.unpack_from("<IBBIIBB", data))
            data = data[16:]
    assert not data, f"{len(data)} bytes too many"
