"""What vtrace writes, taken apart: is each file whole, and do all of them say the same?"""

import collections
import json
import os
import random
import re
import subprocess

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/vtrace-src")


def build(folder):
    """vtrace under the address and undefined-behaviour sanitizers."""
    program = folder / "vtrace"
    sources = sorted(os.path.join(FOLDER, name) for name in os.listdir(FOLDER) if name.endswith(".c"))
    subprocess.run(["gcc", "-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", program, *sources,
                    "-ltraceevent"], check=True)
    return program


class Vtrace:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        """(status, bytes of output, what it complains of); sanitizers end with another status than 1."""
        done = subprocess.run([self.program, *arguments], capture_output=True, check=False, timeout=60,
                              env={**os.environ, "ASAN_OPTIONS": "exitcode=99:detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99"})
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
    """{track: (name, begin, end, ns, why it was closed) of each slice}; all are nested, and times rise."""
    names, stacks, slices, last = {}, collections.defaultdict(list), collections.defaultdict(list), {}
    for event in json.loads(data)["traceEvents"]:
        track = (event["pid"], event.get("tid"))
        if event["ph"] == "M":
            names[track] = event["args"]["name"]
            continue
        assert event["ts"] >= last.get(track, 0), event
        last[track] = event["ts"]
        if event["ph"] == "B":
            stacks[track].append(event)
        elif event["ph"] == "E":
            begun = stacks[track].pop()
            slices[names[track]].append((begun["name"], begun["ts"], event["ts"], event["args"]["ns"], event["args"].get("closed")))
        else:
            assert event["ph"] == "i" and event["s"] == "t"
    assert not any(stacks.values())
    return slices


def folded_sums(text):
    """Time of each task, all its functions together."""
    sums = collections.Counter()
    for line in text.decode().splitlines():
        stack, ns = line.rsplit(" ", 1)
        sums[stack.split(";")[0]] += int(ns)
    return sums


def speedscope_counts(data):
    """How many slices each profile has; what is opened last is closed first."""
    file, counts = json.loads(data), {}
    for profile in file["profiles"]:
        stack, at = [], profile["startValue"]
        for event in profile["events"]:
            assert at <= event["at"] <= profile["endValue"] and event["frame"] < len(file["shared"]["frames"])
            at = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack
        counts[profile["name"]] = len(profile["events"]) // 2
    return counts


def perfetto_counts(data):
    """Slices of each track, from what protoc makes of the file without knowing the schema: numbers of fields."""
    text = subprocess.run(["protoc", "--decode_raw"], input=data, capture_output=True, check=True).stdout.decode()
    names, counts, last = {}, collections.Counter(), 0
    for packet in re.split(r"^1 \{\n", text, flags=re.M)[1:]:
        if described := re.search(r'^  60 \{\n    1: (\d+)\n    2: "(.*)"', packet, re.M):
            names[described[1]] = described[2]
            continue
        assert re.search(r"^  10: 1$", packet, re.M)
        stamp = int(re.search(r"^  8: (\d+)$", packet, re.M)[1])
        kind, track = re.search(r"^  11 \{\n    9: (\d)\n    11: (\d+)$", packet, re.M).groups()
        assert stamp >= 0 and track in names
        counts[names[track]] += kind == "1"
        last = max(last, stamp)
    return {name: number for name, number in counts.items() if number}


def check_formats(vtrace, dat):
    """All four files of a trace agree; returns Chrome's slices."""
    slices = chrome_slices(vtrace.good("chrome", dat))
    counts = {name: len(found) for name, found in slices.items()}
    assert speedscope_counts(vtrace.good("speedscope", dat)) == counts
    assert perfetto_counts(vtrace.good("perfetto", dat)) == counts
    folded = vtrace.good("folded", dat)
    graph = any(name for name in slices if not re.match(r"CPU \d+", name))
    for name, ns in folded_sums(folded).items():
        outermost, until = 0, -1
        for _, begin, end, took, _ in sorted(slices[name], key=lambda one: (one[1], -one[2])):
            if begin >= until:  # what is called within is counted with its caller
                outermost, until = outermost + took, end
        assert not graph or abs(outermost - ns) <= outermost // 100, (name, outermost, ns)
    return slices


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
    for data, said in ((b"", "empty"), (b"PERFILE2" * 9, "no trace.dat"), (whole[:10] + b"8" + whole[11:], "version 8"),
                       (whole[:12] + b"\1" + whole[13:], "highest byte first"), (whole.replace(b"none\0\0", b"zstd\0\0", 1), "zstd")):
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
