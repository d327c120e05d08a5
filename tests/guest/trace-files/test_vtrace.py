"""vtrace and files that contradict themselves, made by hand: no guest runs here."""

import json
import os
import re
import stat
import struct
import subprocess

import dat_files as dat
import pytest
from vtrace_files import Vtrace, build, chrome_slices, perfetto_counters, perfetto_slices

CALLS = (
    dat.switch(0, 7),
    dat.entry(7, 0x1000, 0),
    dat.entry(7, 0x2000, 1),
    dat.leave(7, 0x2000, 1, 1010, 1020),
    dat.leave(7, 0x1000, 0, 1000, 1040),
    dat.switch(7, 0),
)
SYMBOLS = b"1000 T outer\n2000 T inner\n"
FORMS = ("chrome", "perfetto", "speedscope", "folded")


@pytest.fixture(scope="module")
def vtrace(tmp_path_factory):
    return Vtrace(build(tmp_path_factory.mktemp("vtrace")))


@pytest.fixture
def put(tmp_path):
    """Writes a file, and says where."""

    def work(data, name="t.dat"):
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return work


def whole(**replaced):
    return dat.version_7([("", "local", {0: dat.page(1000, *CALLS), 1: dat.page(1000)})], symbols=SYMBOLS, **replaced)


def test_good_files(vtrace, put):
    """What the others break is in order; so are files of version 6."""
    for data, cpus in ((whole(), 2), (dat.version_6(None, dat.page(1000, *CALLS)), 1)):
        assert vtrace.good("check", put(data)) == f"in order: 6 records of {cpus} CPUs\n".encode()
    assert vtrace.good("folded", put(whole())) == b"task-7;outer 30\ntask-7;outer;inner 10\n"


def test_numbers_of_cpus(vtrace, put):
    """They index tables. Each is in a buffer once, and each page is of one CPU, or a small file would make endless
    work."""
    for cpu in (1 << 16, 50_000_000, 10**9, 0x7FFFFFFF, 0xFFFFFFFF):
        assert f"claims to have a CPU {cpu}\n" in vtrace.refused(
            "check", put(dat.version_7([("", "local", {cpu: dat.page(1000, *CALLS)})]))
        )
    assert vtrace.good("check", put(dat.version_7([("", "local", {65535: dat.page(1000, *CALLS)})])))
    twice = [(3, dat.page(1000, *CALLS)), (3, dat.page(2000))]
    assert "CPU 3 is twice in one buffer" in vtrace.refused("check", put(dat.version_7([("", "local", twice)])))
    shared = [(0, bytes(100 * dat.PAGE))] + [(cpu, (dat.PAGE, 100 * dat.PAGE)) for cpu in range(1, 1000)]
    assert "are another's as well" in vtrace.refused("check", put(dat.version_7([("", "local", shared)])))


def test_places_of_fields(vtrace, put):
    """libtraceevent reads where a format says that a field is."""
    for offset, size in ((10**9, 4), (600_000, 4), (524_285, 4), (0, 10**9)):
        sched = {
            "sched": (
                dat.event_format("sched_switch", dat.SWITCH, ("pid_t prev_pid", offset, size), *dat.SWITCH_FIELDS),
            )
        }
        assert "sched_switch has a field prev_pid beyond its end" in vtrace.refused("folded", put(whole(events=sched)))
    common = (("unsigned short common_type", 10**9, 2), *dat.COMMON[1:])
    ftrace = (
        dat.event_format(
            "funcgraph_entry", dat.ENTRY, ("unsigned long func", 8, 8), ("int depth", 16, 4), common=common
        ),
    )
    assert "funcgraph_entry has a field common_type beyond its end" in vtrace.refused(
        "check", put(whole(ftrace=ftrace))
    )
    broken = {"sched": (dat.SYSTEMS["sched"][0].replace(b"offset:8;", b"offset:-8;"),)}
    status, said, _ = vtrace.run("check", put(whole(events=broken)))
    assert status == 1 and said.startswith(b"1 formats of events are not understood\n")


def test_sections_once(vtrace, put):
    """Each is read once, however many options name it. No text goes on behind a byte that ends it."""
    for section in (16, 19, 21):
        assert f"section {section} a second time" in vtrace.refused("check", put(whole(again=(section,))))
    assert "says nothing that can be understood" in vtrace.refused(
        "check", put(whole(header=b"\tfield\0: u64 timestamp;\toffset:0;\tsize:8;\n"))
    )


def test_depth(vtrace, put):
    """A graph that is deeper than any tracer's neither ends the stack nor writes a line of all its callers for each
    call."""
    calls = [dat.entry(7, 0x1000 + depth % 100, depth) for depth in range(20_000)]
    path = put(dat.version_7([("", "local", {0: dat.pages(calls)})]))
    for form in FORMS:
        assert len(vtrace.good(form, path)) < 8 << 20, form
    status, said, _ = vtrace.run("check", path)
    assert status == 1 and b"is called at depth 256\n" in said
    irqs = [dat.irq(0, 3)] * 5000
    assert (
        vtrace.good("check", put(dat.version_7([("", "local", {0: dat.pages(irqs)})])))
        == b"in order: 5000 records of 1 CPUs\n"
    )
    assert vtrace.good("chrome", put(dat.version_7([("", "local", {0: dat.pages(irqs)})]))).count(b'"ph":"B"') == 256


def test_output(vtrace, put, tmp_path):
    """It is never what is read; what is removed, when not all could be written, is a file of ours."""
    path, link = put(whole()), tmp_path / "link"
    link.symlink_to(path)
    os.link(path, tmp_path / "hard")
    for output in (path, str(link), str(tmp_path / "hard")):
        assert "it is the output as well" in vtrace.refused("chrome", path, "-o", output)
        assert (tmp_path / "t.dat").read_bytes() == whole()
    with open(path, "ab") as same:
        done = subprocess.run([vtrace.program, "chrome", path], stdout=same, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and (tmp_path / "t.dat").read_bytes() == whole()
    full = tmp_path / "full"
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    full.symlink_to("/dev/full")
    assert "No space left" in vtrace.refused("chrome", path, "-o", str(full)) and full.is_symlink()
    limit = 'ulimit -f 0; trap \'\' XFSZ; exec "$0" "$@"'
    done = subprocess.run(
        ["bash", "-c", limit, vtrace.program, "chrome", path, "-o", tmp_path / "half"], capture_output=True, check=False
    )
    assert done.returncode == 1 and b"File too large" in done.stderr and not (tmp_path / "half").exists()
    for command in ("info", "check", *FORMS):
        with open("/dev/full", "wb") as nowhere:
            done = subprocess.run([vtrace.program, command, path], stdout=nowhere, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1 and done.stderr == b"vtrace: standard output: No space left on device\n", command


def test_fifo(vtrace, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert "no regular file" in vtrace.refused("check", str(tmp_path / "fifo"))


BROKEN = struct.pack("<QQ", 2000, 0x7FFFFFF) + bytes(dat.PAGE - 16)
OPEN = CALLS[:3]
FAULT = "CPU 0, the page at {}: it claims to hold more than a page"


def test_check_looks_at_all_buffers(vtrace, put):
    """And says which one it speaks of, but of the only one."""
    good, bad = {0: dat.page(1000, *CALLS)}, {0: dat.page(1000, *OPEN) + BROKEN}
    names = ("", "one", "two")
    for worst in range(3):
        path = put(
            dat.version_7([(name, "local", bad if number == worst else good) for number, name in enumerate(names)])
        )
        status, said, _ = vtrace.run("check", path)
        lines = said.decode().splitlines()
        places = [("buffer: ", "instance one: ", "instance two: ")[number] for number in (0, 1, 2)]
        assert status == 1 and len(lines) == 4
        assert re.fullmatch(
            places[worst] + "CPU 0, 0.000002000: the page at \\d+: it claims to hold more than a page", lines.pop(worst)
        )
        assert [line.split("in order: ")[0] for line in lines] == [
            place + "not " * (number == worst) for number, place in enumerate(places)
        ]
        for number, name in enumerate(names[1:], 1):
            assert vtrace.run("check", "-B", name, path)[0] == (number == worst)


@pytest.mark.parametrize("after", (True, False))
def test_broken_pages_are_gaps(vtrace, put, after):
    """What was open on that CPU, and only there, ends before; the rest is written. One line says it, and the status."""
    pages = {
        0: dat.page(1000, *OPEN) + BROKEN + BROKEN + dat.page(3000, *CALLS) * after,
        1: dat.page(1000, dat.switch(0, 8), dat.entry(8, 0x1000, 0)) + dat.page(4000, dat.switch(8, 0)),
    }
    path = put(dat.version_7([("", "local", pages)], symbols=SYMBOLS), "broken.dat")
    at = (dat.version_7([("", "local", pages)], symbols=SYMBOLS)).index(BROKEN)
    line = f"vtrace: {path}: broken: {FAULT.format(at)}, and 1 more\n"
    for form in ("info", *FORMS):
        status, output, said = vtrace.run(form, path)
        assert (status, said) == (1, line) and output, form
        if form in FORMS:
            assert vtrace.run(form, path, "-o", path + ".out")[0] == 1
            with open(path + ".out", "rb") as file:
                assert file.read() == output
    slices, marks = chrome_slices(vtrace.run("chrome", path)[1])
    assert marks["task-7"] == ["records lost: inner", "records lost: outer"] and marks["task-8"] == [
        "unfinished: outer"
    ]
    assert slices["task-7"] == ["inner", "outer"] * (1 + after) and ("records lost" in slices["CPU 0"]) == after
    ends = [
        event
        for event in json.loads(vtrace.run("chrome", path)[1])["traceEvents"]
        if event["ph"] == "E" and event["name"] == "inner"
    ]
    assert ends[0]["ts"] == 1.03


def test_broken_records_are_gaps(vtrace, put):
    """A record of no possible size, too, takes what was open with it."""
    path = put(dat.version_7([("", "local", {0: dat.page(1000, *OPEN, b"abcd", *CALLS[3:])})], symbols=SYMBOLS))
    status, output, said = vtrace.run("chrome", path)
    assert status == 1 and said.count("\n") == 1 and "a record of a size that none has" in said
    slices, marks = chrome_slices(output)
    assert marks["task-7"] == ["records lost: inner", "records lost: outer"] and "records lost" in slices["CPU 0"]


def test_pages_of_times(vtrace, put):
    """Time stamps come with records; a page that ones fill is broken. Of a record that was taken back, a gap in the
    page is left."""
    ones = struct.pack("<QQ", 5, 4000) + b"\xff" * (dat.PAGE - 16)
    status, said, _ = vtrace.run(
        "check", put(dat.version_7([("", "local", {0: dat.page(1000, *CALLS)}), ("one", "local", {0: ones})]))
    )
    assert (
        status == 1
        and b"instance one: CPU 0, 0.000000005: the page at " in said
        and b": it holds times and no record\n" in said
    )
    taken_back = struct.pack("<QQIII", 5, 12, 10 << 5 | 29, 8, 0).ljust(dat.PAGE, b"\0")
    assert (
        vtrace.good("check", put(dat.version_7([("", "local", {0: taken_back})]))) == b"in order: 0 records of 1 CPUs\n"
    )


@pytest.mark.parametrize("clock", ("", "local", "global", "perf", "mono", "mono_raw", "boot", "tai"))
def test_clocks_in_ns(vtrace, put, clock):
    path = put(dat.version_7([("", clock, {0: dat.page(1000, *CALLS)})]))
    assert b" 0.000001010 s to 0.000001060 s, " in vtrace.good("info", path)
    assert b'"unit":"nanoseconds"' in vtrace.good("speedscope", path)


@pytest.mark.parametrize("clock", ("counter", "uptime", "x86-tsc", "cntvct"))
@pytest.mark.parametrize("version", (6, 7))
def test_clocks_that_count(vtrace, put, clock, version):
    """info and check tell such times as they are; conversions say so in a line, and are good."""
    good, bad = dat.page(1000, *CALLS), dat.page(1000, *CALLS, dat.switch(5, 7))
    paths = [
        put(
            dat.version_6(f"local [{clock}] mono\n", data) if version == 6 else dat.version_7([("", clock, {0: data})]),
            name,
        )
        for name, data in (("good.dat", good), ("bad.dat", bad))
    ]
    assert (
        f" 1010 to 1060 of the clock {clock}, which does not count nanoseconds, "
        in vtrace.good("info", paths[0]).decode()
    )
    assert b"CPU 0, 1070: 5 goes, but it was 0 that ran\n" in vtrace.run("check", paths[1])[1]
    for form in FORMS:
        status, output, said = vtrace.run(form, paths[0])
        assert (status, said) == (
            0,
            f"vtrace: {paths[0]}: the clock {clock} does not count nanoseconds: times are its counts\n",
        ) and output
    assert b'"unit":"none"' in vtrace.run("speedscope", paths[0])[1]


def test_options_of_the_clock(vtrace, put):
    """Of a file without one, or whose option says nothing, times are nanoseconds; a buffer's own clock is nearer than
    the file's."""
    for text in (None, "", "[local] counter mono\n", "[counter"):
        assert b" 0.000001010 s to " in vtrace.good("info", put(dat.version_6(text, dat.page(1000, *CALLS))))
    path = put(
        dat.version_7([("", "local", {0: dat.page(1000, *CALLS)}), ("one", "counter", {0: dat.page(1000, *CALLS)})])
    )
    assert b" 0.000001010 s to " in vtrace.good("info", path) and b" of the clock counter, " in vtrace.good(
        "info", "-B", "one", path
    )


NAMES = (
    (b"plain", "plain"),
    ("gr\u00fc\u00df \u20ac \U0001f600".encode(), "gr\u00fc\u00df \u20ac \U0001f600"),
    (b'"\\\x01\x7f', '"\\\x01\x7f'),
    (b"\xff\xfe", "\ufffd" * 2),
    (b"cut \xe2\x82", "cut " + "\ufffd" * 2),
    (b"\xc0\xaf", "\ufffd" * 2),
    (b"\xed\xa0\x80", "\ufffd" * 3),
    (b"\xf4\x90\x80\x80", "\ufffd" * 4),
    (b"\xe0\x9f\xbf", "\ufffd" * 3),
    ("\ud7ff\ue000\U0010ffff".encode(), "\ud7ff\ue000\U0010ffff"),
)


@pytest.mark.parametrize("name, shown", NAMES)
def test_names_are_utf8(vtrace, put, name, shown):
    """What is UTF-8 stays as it is; each byte that is not becomes U+FFFD."""
    calls = dat.switch(0, 7, b"", name), *CALLS[1:-1], dat.switch(7, 0, name, b"")
    path, name = put(dat.version_7([("", "local", {0: dat.page(1000, *calls)})])), shown + "-7"
    slices, _ = chrome_slices(vtrace.good("chrome", path))
    assert name in slices and slices["CPU 0"] == [name]
    profiles = json.loads(vtrace.good("speedscope", path))["profiles"]
    assert [profile["name"] for profile in profiles] == ["CPU 0", name]
    found = vtrace.good("perfetto", path)
    assert b"\x12" + bytes([len(name.encode())]) + name.encode() in found  # a descriptor's name
    assert perfetto_slices(found)[0]["CPU 0"] == 1


def test_long_texts(vtrace, put):
    """Perfetto's are cut behind a whole character."""
    record = struct.pack("<HBBi", 70, 0, 0, 7) + b"a" + b"\xff" * 3999
    said = dat.event_format("long", 70, ("char text[4000]", 8, 4000)).replace(b'"text"', b'"%s", REC->text')
    path = put(dat.version_7([("", "local", {0: dat.page(1000, record)})], events={"test": (said,)}))
    assert vtrace.good("chrome", path).count("\ufffd".encode()) == 3999
    found = vtrace.good("perfetto", path)
    assert found.count("\ufffd".encode()) == 2666 and found.endswith(b"a" + "\ufffd".encode() * 2666)
    perfetto_slices(found)


@pytest.mark.parametrize(
    "quoted, shown",
    (
        (b'"longer"', "longer"),
        (b'"ab"', "ab"),
        (b'"a"', "a"),
        (b'""', ""),
        (b'"', ""),
        (b'"ab', "ab"),
        (b'"a\\n"', "a"),
    ),
)
def test_short_texts_of_the_kernel(vtrace, put, quoted, shown):
    """libtraceevent looks for what may be at their end before their beginning."""
    bputs = dat.event_format("bputs", 71, ("unsigned long ip", 8, 8), ("const char * str", 16, 8)).replace(
        b'"text"', b'"%s", REC->str'
    )
    record = struct.pack("<HBBiQQ", 71, 0, 0, 7, 0x1000, 0xFFFF1000)
    path = put(
        dat.version_7(
            [("", "local", {0: dat.page(1000, record)})], ftrace=(bputs,), printk=b"0xffff1000 : " + quoted + b"\n"
        )
    )
    found = [event for event in json.loads(vtrace.good("chrome", path))["traceEvents"] if event["ph"] == "i"]
    assert [event["args"]["text"] for event in found] == [shown]


PRINT = 5
PRINT_FORMAT = dat.event_format("print", PRINT, ("unsigned long ip", 8, 8), ("char buf[]", 16, 0))


def marked(pid, text):
    data = text + bytes(4 - len(text) % 4)  # at least the zero that ends it
    return struct.pack("<HBBiQ", PRINT, 0, 0, pid, 0x1000) + data


def chrome_events(vtrace, path):
    """Of the tracks of marks: phase, group, track or counter, and what it says."""
    events = json.loads(vtrace.good("chrome", path))["traceEvents"]
    names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M"}
    return [
        (e["ph"], names[e["pid"], None], names.get((e["pid"], e.get("tid"))), e["name"], e.get("args"))
        for e in events
        if e["ph"] in "BECi"
    ]


def test_marks(vtrace, put):
    """Programs' marks are sections on a track beside that of their task, counters and moments; what has none of these
    forms, or ends what has not begun, is a moment with its text."""
    good = (b"B|7|load\n", b"C|7|queue|-3\n", b"B|7|in it", b"E|7", b"E", b"S|7|io|4|9", b"I|7|now", b"F|8|io|4|9")
    bad = (b"E|7", b"F|7|io|5", b"B", b"B|7|", b"B|x|load", b"C|7|queue", b"C|7|queue|3x", b"X|7|load", b"E7", b"")
    bad += (b"B|7|" + b"x" * 300,)
    path = put(
        dat.version_7(
            [("", "local", {0: dat.page(1000, *(marked(7, text) for text in (*good, *bad)))})],
            ftrace=(*dat.FTRACE, PRINT_FORMAT),
        )
    )
    task, marks, span = "<...>-7", ("Marks", "<...>-7 marks"), ("Marks across tasks", "io|4|9")
    found = chrome_events(vtrace, path)
    assert found[: -len(bad)] == [
        ("B", *marks, "load", None),
        ("C", "Marks", "Marks", "queue", {"value": -3}),
        ("B", *marks, "in it", None),
        ("E", *marks, "in it", None),
        ("E", *marks, "load", None),
        ("B", *span, "io|4", None),
        ("i", "Tasks", task, "now", None),
        ("E", *span, "io|4", None),
    ]
    assert {(phase, track, name) for phase, _, track, name, _ in found[-len(bad) :]} == {("i", task, "print")}
    slices, _ = perfetto_slices(vtrace.good("perfetto", path))
    assert slices == {"<...>-7 marks": 2, "io|4|9": 1}
    assert perfetto_counters(vtrace.good("perfetto", path)) == {"queue": [-3]}
    wrong_first = dat.page(1000, marked(7, b"C|7|wrong|x"), marked(7, b"C|7|right|1"))
    right = put(dat.version_7([("", "local", {0: wrong_first})], ftrace=(*dat.FTRACE, PRINT_FORMAT)), "right.dat")
    assert perfetto_counters(vtrace.good("perfetto", right)) == {"right": [1]}
    speedscope = json.loads(vtrace.good("speedscope", path))
    assert [profile["name"] for profile in speedscope["profiles"]] == ["<...>-7 marks", "io|4|9"]
    assert vtrace.good("check", path) == f"in order: {len(good + bad)} records of 1 CPUs\n".encode()


SPECIAL = 7
SPECIAL_FORMAT = dat.event_format("special", SPECIAL, *((f"unsigned long arg{n}", 8 * n, 8) for n in (1, 2, 3)))


def special(pid, *numbers):
    return struct.pack("<HBBiqqq", SPECIAL, 0, 0, pid, *numbers)


def sampled(pid, kernel, user):
    """The records of one sample, innermost addresses first."""
    frames = [(1, address, 0) for address in kernel] + [(2, address, 0x7000) for address in user]
    return [special(pid, *numbers) for numbers in ((0, 0, pid), *frames, (3, pid, len(frames)))]


def samples_of(*cpus):
    buffers = {cpu: dat.page(1000 + cpu, *records) for cpu, records in enumerate(cpus)}
    return dat.version_7([("", "local", buffers)], symbols=SYMBOLS, ftrace=(*dat.FTRACE, SPECIAL_FORMAT))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """An ELF file of the name of the records' tasks, with first() at 0, of some bytes, and second() behind it."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "task.c").write_text("int first(int a) { return a * 3; }\nint second(int a) { return a + first(a); }\n")
    subprocess.run(["gcc", "-O0", "-c", "-o", folder / "task", folder / "task.c"], check=True)
    lines = subprocess.run(["nm", folder / "task"], capture_output=True, text=True, check=True).stdout.splitlines()
    addresses = {name: int(value, 16) for value, _, name in map(str.split, lines)}
    assert addresses["first"] == 0 < addresses["second"]
    return str(folder / "task"), addresses["second"]


def test_samples(vtrace, put, program):
    """Each whole sample counts for its stack, on whichever CPU; a return address belongs to the function that it stands
    behind, and the innermost address to its own."""
    path, second = program
    name = dat.switch(0, 7)  # which tells the task's name
    trace = samples_of(
        [name, *sampled(7, [0x2000, 0x2000], [second, second, second + 4]), *sampled(7, [], [second])],
        [name, *sampled(7, [], [second]), dat.switch(7, 8), *sampled(8, [0x1000], [])],
    )
    lines = vtrace.good("folded", "-e", path, put(trace)).decode().splitlines()
    assert sorted(lines) == [
        "task-7;second 2",
        "task-7;second;first;second;outer;inner 1",
        "task-8;outer 1",
    ]
    plain = vtrace.good("folded", put(trace)).decode()
    assert f"task-7;{second:#x} 2\n" in plain and "first" not in plain
    assert vtrace.good("check", put(trace)) == b"in order: 19 records of 2 CPUs\n"


def test_parts_of_samples(vtrace, put):
    """What has no beginning or no end is not counted, and records of the same type that the option sched-tree makes are
    neither."""
    whole_one = sampled(7, [0x1000], [])
    tree = [special(7, 12, 3000, 4000), special(7, 3, 3000, 4000), special(7, 1, 0x1000, 0)]
    for broken in (whole_one[1:], whole_one[:-1], tree, [special(7, 0, 0, 8), *whole_one[1:]]):
        lines = vtrace.good("folded", put(samples_of([*broken, *whole_one]))).decode()
        assert lines == "<...>-7;outer 1\n"
    assert vtrace.good("folded", put(samples_of([*tree, *whole_one[1:]]))) == b""


def test_programs_that_are_none(vtrace, put, program, tmp_path):
    """-e takes what has symbols; everything else is said in one line, and no table leads out of the file."""
    path, _ = program
    trace = put(samples_of(sampled(7, [], [4])))
    whole_file = open(path, "rb").read()
    for data, said in (
        (b"", "no ELF file"),
        (b"#!/bin/sh\n" * 20, "no ELF file"),
        (whole_file[:64], "broken ELF file"),
        (whole_file[:-8], "broken ELF file"),
    ):
        assert said in vtrace.refused("folded", "-e", put(data, "broken"), trace)
    assert "cannot be read" in vtrace.refused("folded", "-e", str(tmp_path / "missing"), trace)
    for place in range(0, len(whole_file), 16):
        changed = whole_file[:place] + b"\xff\xff\xff" + whole_file[place + 3 :]
        assert vtrace.run("folded", "-e", put(changed, "task"), trace)[0] in (0, 1), place
