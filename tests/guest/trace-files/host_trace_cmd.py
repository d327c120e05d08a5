"""The host's trace-cmd with its libtraceevent: in which form its version reports. It is asked itself, once."""

import functools
import os
import re
import subprocess
import tempfile

import dat_files

STATES = {0x10: "X", 0x20: "Z", 0x40: "P", 0x80: "I"}  # a task's states: older versions have other letters


@functools.cache
def report_words():
    """The command that reports. Later versions print what each function of a graph has returned unless they are told
    to skip it; the others refuse an option that they do not know."""
    options = subprocess.run(["trace-cmd", "options"], capture_output=True, text=True, check=True).stdout
    skip = ("-O", "fgraph:retval-skip=1") if re.search(r"^ *option:\tretval-skip$", options, re.M) else ()
    return ("trace-cmd", "report", *skip)


@functools.cache
def state_letters():
    """For str.translate(): from its letters for the states of a task to ours, which are those of the kernel since 4.14.
    Earlier versions have a table of older kernels."""
    cpus = [dat_files.page(1000, dat_files.switch(1, 2, state=state)) for state in STATES]
    handle, path = tempfile.mkstemp(suffix=".dat")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(dat_files.version_6("[local]", *cpus))
        text = subprocess.run(["trace-cmd", "report", path], capture_output=True, text=True, check=True).stdout
    finally:
        os.unlink(path)
    theirs = re.findall(r"\[(\d+)\] .* sched_switch: .*(\w) ==> ", text)
    assert [int(cpu) for cpu, _ in theirs] == list(range(len(STATES))), text
    return str.maketrans({letter: ours for (_, letter), ours in zip(theirs, STATES.values())})


def as_ours(text):
    """A report with the letters of our tasks' states, and the flags only where -l asks for them: later versions have
    them always."""
    text = re.sub(r"^(.*?-\d+ +\[\d+\]) [^ ]{5}(?= +\d+\.\d+: )", r"\1", text, flags=re.M)
    return re.sub(
        r"(sched_switch: .*\] )([A-Za-z|]+)( ==> )", lambda m: m[1] + m[2].translate(state_letters()) + m[3], text
    )
