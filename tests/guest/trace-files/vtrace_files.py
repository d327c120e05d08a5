"""What vtrace writes, taken apart: is each file whole, and do all of them say the same?"""

import array
import collections
import fcntl
import glob
import json
import os
import pty
import random
import re
import subprocess
import tempfile
import termios
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
FOLDER = os.path.join(ROOT, "tools/vtrace-src")
SPEEDSCOPE = os.path.join(ROOT, "build/host/npm/node_modules/speedscope/dist/release")
IMPORTER = os.path.join(ROOT, "tests/host/trace-files/speedscope_import.js")


def build(folder):
    """vtrace under the address and undefined-behaviour sanitizers."""
    program = folder / "vtrace"
    sources = sorted(os.path.join(FOLDER, name) for name in os.listdir(FOLDER) if name.endswith(".c"))
    subprocess.run(
        [
            "gcc",
            "-std=gnu11",
            "-g",
            "-O1",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-o",
            program,
            *sources,
            "-ltraceevent",
        ],
        check=True,
    )
    return program


class Vtrace:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        """(status, bytes of output, what it complains of); sanitizers end with another status than 1."""
        done = subprocess.run(
            [self.program, *arguments],
            capture_output=True,
            check=False,
            timeout=600,
            env={
                **os.environ,
                "ASAN_OPTIONS": "exitcode=99:detect_leaks=0",
                "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99",
            },
        )
        return done.returncode, done.stdout, done.stderr.decode()

    def good(self, *arguments):
        status, output, said = self.run(*arguments)
        assert (status, said) == (0, ""), (arguments, output[-600:], said)
        return output

    def refused(self, *arguments):
        status, _, said = self.run(*arguments)
        assert status == 1 and said.count("\n") == 1 and said.startswith("vtrace: "), (arguments, status, said)
        return said


def chrome_slices(data):
    """{track: name of each slice}, and {track: the marks of those that were closed}; all are nested, and times rise."""
    names, stacks, slices, marks, last = (
        {},
        collections.defaultdict(list),
        collections.defaultdict(list),
        collections.defaultdict(list),
        {},
    )
    for event in json.loads(data)["traceEvents"]:
        track = (event["pid"], event.get("tid"))
        if event["ph"] == "M":
            names[track] = event["args"]["name"]
            continue
        assert event["ts"] >= last.get(track, 0), event
        last[track] = event["ts"]
        if event["ph"] == "B":
            stacks[track].append(event["name"])
        elif event["ph"] == "E":
            assert stacks[track].pop() == event["name"]
            slices[names[track]].append(event["name"])
        else:
            assert event["ph"] == "i" and event["s"] == "t"
            if re.match("(unfinished|records lost|no return|no end): |.*records lost$", event["name"]):
                marks[names[track]].append(event["name"])
    assert not any(stacks.values())
    return slices, marks


def folded_sums(text, function=""):
    """Time of each task, all its functions together, or of one that is no caller of itself with what it calls."""
    sums = collections.Counter()
    for line in text.decode().splitlines():
        stack, ns = line.rsplit(" ", 1)
        if not function or function in stack.split(";"):
            sums[stack.split(";")[0]] += int(ns)
    return sums


def speedscope_counts(data):
    """How many slices each profile has, and how many of these took time; what is opened last is closed first."""
    file, counts, long_counts = json.loads(data), {}, {}
    for profile in file["profiles"]:
        stack, at, long_ones = [], profile["startValue"], 0
        for event in profile["events"]:
            assert at <= event["at"] <= profile["endValue"] and event["frame"] < len(file["shared"]["frames"])
            at = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], at))
            else:
                frame, began = stack.pop()
                assert frame == event["frame"]
                long_ones += at > began
        assert not stack
        counts[profile["name"]], long_counts[profile["name"]] = len(profile["events"]) // 2, long_ones
    return counts, long_counts


# Of Perfetto's published schema (protos/perfetto/trace), the fields that we write.
SCHEMA = """syntax = "proto2";
message Counter {}
message Descriptor {
  optional uint64 uuid = 1;
  optional string name = 2;
  optional uint64 parent_uuid = 5;
  optional Counter counter = 8;
}
message Annotation { optional string name = 10; optional uint64 uint_value = 3; optional string string_value = 6; }
message Event {
  repeated Annotation debug_annotations = 4;
  optional int32 type = 9;
  optional uint64 track_uuid = 11;
  optional string name = 23;
  optional int64 counter_value = 30;
}
message Packet {
  optional uint64 timestamp = 8;
  optional uint32 sequence = 10;
  optional Event event = 11;
  optional Descriptor track_descriptor = 60;
}
message Trace { repeated Packet packet = 1; }
"""


def perfetto_packets(data):
    """The packets of the file, as protoc reads and prints them, and the names of tracks."""
    with tempfile.NamedTemporaryFile("w", suffix=".proto") as schema:
        schema.write(SCHEMA)
        schema.flush()
        command = ["protoc", f"-I{os.path.dirname(schema.name)}", "--decode=Trace", os.path.basename(schema.name)]
        text = subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
    assert not re.search(r"^ *\d+[:{ ]", text, re.M), "a field that is none"
    packets, names = [], {}
    for packet in re.split(r"^packet \{\n", text, flags=re.M)[1:]:
        if described := re.search(r'  track_descriptor \{\n    uuid: (\d+)\n    name: "(.*)"', packet):
            names[described[1]] = described[2]
        else:
            packets.append(packet)
    return packets, names


def perfetto_counters(data):
    """{counter: its values}"""
    packets, names = perfetto_packets(data)
    values = collections.defaultdict(list)
    for packet in packets:
        found = re.search(r"^    type: 4\n    track_uuid: (\d+)\n    counter_value: (-?\d+)$", packet, re.M)
        if found:
            values[names[found[1]]].append(int(found[2]))
    return values


def perfetto_slices(data):
    """{track: slices}, {track: ns of the outermost}"""
    packets, names = perfetto_packets(data)
    counts, sums, depth = collections.Counter(), collections.Counter(), collections.Counter()
    for packet in packets:
        if "    counter_value: " in packet:
            continue
        assert re.match(r"  timestamp: \d+\n  sequence: 1\n  event \{\n", packet), packet
        kind, track = re.search(r"^    type: (\d)\n    track_uuid: (\d+)$", packet, re.M).groups()
        name = names[track]
        depth[name] += {"1": 1, "2": -1, "3": 0}[kind]
        counts[name] += kind == "1"
        if kind == "2" and not depth[name]:
            sums[name] += int(re.search(r'^      uint_value: (\d+)\n      name: "ns"$', packet, re.M)[1])
        assert depth[name] >= 0 and (kind == "2" or re.search(r'^    name: "', packet, re.M)), packet
    assert not any(depth.values())
    return {name: number for name, number in counts.items() if number}, sums


def check_formats(vtrace, dat):
    """All four files of a trace agree; returns Chrome's slices, and the marks of those that were closed."""
    slices, marks = chrome_slices(vtrace.good("chrome", dat))
    counts = {name: len(found) for name, found in slices.items()}
    speedscope, perfetto = vtrace.good("speedscope", dat), perfetto_slices(vtrace.good("perfetto", dat))
    speedscope, long_ones = speedscope_counts(speedscope)
    assert speedscope == counts == perfetto[0]
    folded = folded_sums(vtrace.good("folded", dat))
    assert folded and all(folded[name] == perfetto[1][name] for name in folded)
    check_importer(vtrace, dat, long_ones)
    return slices, marks


def importer():
    """speedscope's program in one file, in a list; empty where `make test` could not fetch it."""
    return glob.glob(os.path.join(SPEEDSCOPE, "speedscope-*.js"))


def check_importer(vtrace, dat, counts):
    """speedscope's own importer finds the slices of its own form and of Chrome's, without complaints; it
    leaves out what begins and ends in the same nanosecond, as a slice does that begins with the last record."""
    release = importer()
    if not release:
        return
    files = [dat + ".speedscope.json", dat + ".json"]
    for form, path in zip(("speedscope", "chrome"), files):
        vtrace.good(form, dat, "-o", path)
    done = subprocess.run(["node", IMPORTER, release[0], *files], capture_output=True, text=True, check=True)
    assert not re.search("Tried to end|still open|rror", done.stdout + done.stderr), done.stdout[-2000:]
    for line in re.findall(r"^\{.*\}$", done.stdout, re.M):
        found = {
            re.sub(r"^\w+ \(pid \d+\), (.*) \(tid \d+\)$", r"\1", one["name"]): one["slices"]
            for one in json.loads(line)["profiles"]
        }
        assert found == {name: number for name, number in counts.items() if number}, (found, counts)


def check_progress(vtrace, dat):
    """Held up for more than two seconds by who reads its output, it says on a terminal how far it is, and wipes that
    out at the end."""
    ours, its = pty.openpty()
    with subprocess.Popen([vtrace.program, "chrome", dat], stdout=subprocess.PIPE, stderr=its) as process:
        os.close(its)
        waiting = array.array("i", [0])
        while waiting[0] < 60000:  # its output is more than a pipe holds: then it is held up
            time.sleep(0.05)
            fcntl.ioctl(process.stdout, termios.FIONREAD, waiting)
        time.sleep(2.5)
        assert len(process.stdout.read()) > 65536 and process.wait() == 0
    said = b""
    try:
        while part := os.read(ours, 1000):
            said += part
    except OSError:  # how a terminal says that all is read
        os.close(ours)
    assert re.fullmatch(rb"((\rvtrace: [ \d]{3} %)+\r {30}\r)+", said), said


def check_bad_files(vtrace, dat, folder):
    """Cut, empty, foreign, newer and broken files: a line and status 1; of broken ones, no more than that either."""
    with open(dat, "rb") as file:
        whole = file.read()
    bad = str(folder / "bad.dat")

    def put(data):
        with open(bad, "wb") as file:
            file.write(data)

    for part in (1, 9, 14, 30, 60, 500, 5000, len(whole) // 3, len(whole) - 1):
        put(whole[:part])
        vtrace.refused("check", bad)
    for data, said in (
        (b"", "empty"),
        (b"PERFILE2" * 9, "no trace.dat"),
        (whole[:10] + b"8" + whole[11:], "version 8"),
        (whole[:12] + b"\1" + whole[13:], "highest byte first"),
        (whole.replace(b"none\0\0", b"zstd\0\0", 1), "zstd"),
    ):
        put(data)
        assert said in vtrace.refused("chrome", bad)
    assert "No such file" in vtrace.refused("check", str(folder / "none"))
    assert "no instance" in vtrace.refused("check", "-B", "none", dat)
    dice = random.Random(1)
    pages = len(whole) - 3 * 4096  # the last pages have records
    for i in range(12):
        data = bytearray(whole)
        for _ in range(4):
            data[dice.randrange(18, len(whole)) if i < 6 else dice.randrange(pages, len(whole))] = dice.randrange(256)
        put(bytes(data))
        status, _, said = vtrace.run("check", bad)
        assert status in (0, 1) and said.count("\n") <= 1, (status, said)
