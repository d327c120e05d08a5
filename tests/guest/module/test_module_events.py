"""Events and tracepoints of modules: recorded, filtered, in instances; gone with the module, whoever holds what."""

import re
import shutil

from module_guest import CRASH, guest, one_module, samples  # noqa: F401
from stories import story

CD = "cd /sys/kernel/tracing\n"
SAY = "/sys/module/trace_events_sample/parameters/say"


def records(text):
    """[what stands behind the time] of a trace."""
    return [re.sub(r"^.*?\d: ", "", line) for line in text.splitlines() if re.match(r" *\S+-\d+ ", line)]


def test_events_are_recorded_and_filtered(guest):
    """As those of the kernel: format, enable of a system, a filter, an instance, a snapshot of what init says."""
    out = guest(
        CD + story("module_events", "recorded"),
        "trace_events_sample",
    )
    parts = dict(re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", out, re.M | re.S))
    assert parts["ls"].split() == ["enable", "filter", "foo_bar", "foo_bar_with_cond", "sample_any"]
    assert "\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n" in parts["format"]
    assert "\tfield:char first[4];\toffset:16;\tsize:4;\tsigned:0;\n" in parts["format"]
    # Names of values are replaced where they stand alone: not in a text, not as a member.
    assert parts["format"].splitlines()[-1] == (
        'print fmt: "text=%s length=%d first=%s kind=%s", __get_str(text), (int)(REC->length * 2 / 2), '
        'REC->first, __print_symbolic(REC->length & 1, {0, "even"}, {1, "odd"})'
    )
    kernel = [
        line for line in parts["map"].splitlines() if line.endswith((" (irq)", " (osnoise)", " (skb)", " (preemptirq)"))
    ]
    softirqs = [line for line in kernel if line.endswith(" (irq)")]
    assert softirqs[-1] == "HI_SOFTIRQ 0 (irq)" and len(softirqs) == 9 and parts["later"].splitlines() == kernel
    assert set(parts["map"].splitlines()) - set(kernel) == {
        "SAMPLE_EVEN 0 (sample)",
        "SAMPLE_ODD 1 (sample)",
        "sizeof(unsigned short) 2 (sample)",
    }
    assert records(parts["trace"]) == [
        "foo_bar: text=abc length=3 first=abc kind=odd",
        "foo_bar: text=abcde length=5 first=abc kind=odd",
        "foo_bar_with_cond: length=5",
        "sample_any: length=5",
    ]
    assert records(parts["x"]) == ["sample_any: length=3", "sample_any: length=5"]
    assert sorted(parts["set"].split()) == ["sample:foo_bar", "sample:foo_bar_with_cond", "sample:sample_any"]


def test_a_module_that_goes_takes_its_events_along(guest):
    """Buffers with its records are emptied, open files say so, names are gone; what another event switches stays."""
    out = guest(
        CD + f"CRASH='{CRASH}'\n" + story("module_events", "gone"),
        "trace_events_sample",
    )
    text = re.sub(r"^#.*\n", "", out, flags=re.M).splitlines()
    assert text == [
        "rmmod: Module trace_events_sample is in use (1 references; dmesg may say whose)",
        "busy 1",
        "rmmod: Module trace_events_sample is in use (1 references; dmesg may say whose)",
        "busy 1",
        "gone 0",
        "cat: -: No such device",
        "sh: echo: write error: No such device",
        "sh: echo: write error: No such device",
        "sh: echo: write error: No such device",
        "ls: events/sample: No such file or directory",
        "enable: '1': No such device",
        "sh: echo: write error: Invalid argument",
        "0",
        "some",
        "0",
        "0",
        "ls: instances/y/events/sample: No such file or directory",
        "1",  # records of a later load, whose events have other places
        "0",
        "0",
    ]


def test_the_life_of_modules_is_recorded(guest):
    """module:*: loading, references with who took them, freeing; an oops says which modules there are."""
    out = guest(
        CD + story("module_events", "life"),
        "tracepoint_sample",
        "tracepoint_probe_sample",
        "oops",
    )
    parts = dict(re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", out, re.M | re.S))
    assert records(parts["trace"]) == [
        "module_get: tracepoint_sample call_site=module_resolve refcnt=2",
        "module_load: tracepoint_probe_sample ",
        "module_free: tracepoint_probe_sample",
        "module_put: tracepoint_sample call_site=module_unuse refcnt=1",
    ]
    assert parts["format"].splitlines() == [
        'print fmt: "%s", __get_str(name)',
        'print fmt: "%s call_site=%ps refcnt=%d", __get_str(name), (void *)REC->ip, REC->refcnt',
        'print fmt: "%s %s", __get_str(name), __print_flags(REC->taints, "", { 1, "P" })',
        'print fmt: "%s call_site=%ps refcnt=%d", __get_str(name), (void *)REC->ip, REC->refcnt',
        'print fmt: "%s wait=%d call_site=%ps", __get_str(name), (int)REC->wait, (void *)REC->ip',
    ]
    assert (
        parts["oops"].replace("Segmentation fault\n", "")
        == "Modules linked in: oops tracepoint_sample [last unloaded: tracepoint_probe_sample]\n"
    )


NO_INIT = """
#include <linux/module.h>
MODULE_LICENSE("GPL");
static int number;
module_param(number, int, 0);
static int __init fails(void)
{
	return -ENODEV;
}
module_init(fails);
"""


def test_only_what_was_loaded_is_freed(guest, tmp_path):
    """module_free follows module_load: a file that is refused has neither, for a symbol, a name that is taken, or a
    parameter; a module whose init fails has both."""
    folder = one_module(guest.arch, tmp_path, "no_init", NO_INIT)
    shutil.copy(guest.samples / "tracepoint_probe_sample.ko", folder)
    shutil.copy(guest.samples / "hello_1.ko", folder)
    out = guest(
        CD + "insmod /hello_1.ko; echo 1 > events/module/enable\n"
        "for words in tracepoint_probe_sample.ko hello_1.ko 'no_init.ko number=x' 'no_init.ko number=1'; do\n"
        "insmod /$words 2> /dev/null && echo $words is loaded; done; cat trace",
        "tracepoint_probe_sample",
        "hello_1",
        "no_init",
        folder=folder,
    )
    assert "is loaded" not in out and records(out) == ["module_load: no_init ", "module_free: no_init"], out


def test_probes_on_tracepoints_of_modules_and_of_the_kernel(guest):
    """The module with the probe asks for the one with the tracepoint; without a probe the tracepoint does nothing."""
    out = guest(
        story("module_events", "probes"),
        "tracepoint_sample",
        "tracepoint_probe_sample",
    )
    assert out.splitlines() == [
        "1",
        "cat: /proc/tracepoint-sample: Operation not permitted",
        "cat: /proc/tracepoint-sample: Operation not permitted",
        "rmmod: Module tracepoint_sample is in use by: trac",
        "cat: /proc/tracepoint-sample: Operation not permitted",
        "Unknown symbol __tracepoint_subsys_eventname",
        "probe: firstarg 0, task cat",
        "probe: firstarg 1, task cat",
        "probe: firstarg 2, task cat",
        "probe: there were some switches",
    ]
