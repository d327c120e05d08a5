"""Stack records: kernel stacks of every context, user stacks right and hostile, and what the options do with them."""

import re

import pytest
from machines import product
from test_storm import Storm

TRACING = "/sys/kernel/tracing"
LINE = re.compile(
    r" *(?P<comm>.*?)-(?P<pid>\d+) +(?:\((?P<tgid>[ \d-]{7})\) )?\[(?P<cpu>\d+)\] (?P<flags>\S{5}) +(?P<time>[\d.]+): (?P<text>.*)"
)
# Where a whole walk ends: what the machines enter the kernel by, and where threads and CPUs begin.
# exit_from_fork: interrupted before it had a frame, so its caller is not seen.
NEVER_RETURN = ("do_exit", "do_group_exit", "do_task_dead")
ENDS = {
    "ret_from_fork",
    "exit_from_fork",
    "primary_switched",
    "secondary_switched",
    "el0t_64_sync",
    "el0t_64_irq",
    "entry_SYSCALL_64",
    "interrupt_entry",
    "exception_entry",
    "nmi_entry",
}


class Session:
    """A guest's shell in the tracing folder."""

    def __init__(self, guest):
        self.guest = guest
        self.ok(f"cd {TRACING}; echo 0 > tracing_on; echo 1408 > buffer_size_kb; echo 0 > options/pause-on-trace")

    def ok(self, command):
        status, output = self.guest.run(command)
        assert status == 0, f"{command}: status {status}\n{output}"
        return output

    def record(self, options, tracer, work, functions="", show="cat trace"):
        """Let the tracer record the work with these options; the records, where this command shows them."""
        self.ok(
            f"for o in {options}; do echo $o > trace_options; done; echo > set_ftrace_filter; "
            + (f"echo {functions} > set_ftrace_filter; " if functions else "")
            + f"echo {tracer} > current_tracer; echo > trace; echo 1 > tracing_on; {work}; echo 0 > tracing_on"
        )
        return self.records(show)

    def records(self, show="cat trace"):
        return records(self.ok(show))

    def calm(self):
        """The options as they were; nothing in the log."""
        self.ok(
            "echo 0 > tracing_on; echo nop > current_tracer; echo > set_ftrace_filter; for o in stacktrace userstacktrace "
            "sym-userobj sym-addr sym-offset; do echo no$o > trace_options; done"
        )
        assert not re.search("Oops|BUG|WARNING|Unable", self.ok("dmesg")), self.ok("dmesg")


def records(text):
    """[(text behind the time stamp, its fields, [what stands behind "=> "])]"""
    found = []
    for line in text.splitlines():
        if line.startswith(" => "):
            found[-1][2].append(line[4:].strip())
        elif not line.startswith("#"):
            match = LINE.fullmatch(line)
            assert match, repr(line)
            found.append((match["text"], match.groupdict(), []))
    return found


def pairs(found, mark="<stack trace>"):
    """Each record with the stack that follows it on its CPU: (text, fields, stack)."""
    last = {}
    for text, fields, stack in found:
        if text == mark:
            before = last.pop(fields["cpu"], None)
            if before:
                yield (*before, stack)
        elif text not in ("<stack trace>", "<user stack trace>"):
            last[fields["cpu"]] = (text, fields)


def test_kernel_stack_of_every_function_entry(machine, tmp_path):
    """The first two are the function and its caller, as the entry says; the last is where the kernel was entered."""
    with machine.guest(smp=2, timeout=180, ports={"out": str(tmp_path / "out")}) as guest:
        session = Session(guest)
        # Megabytes: by a port, as the console is slow.
        session.record(
            "stacktrace", "function", "ls / > /dev/null; sleep 0.02", show="cat trace > /dev/virtio-ports/out"
        )
        found = records((tmp_path / "out").read_text())
        checked, contexts = 0, set()
        for text, fields, stack in pairs(found):
            function, parent = text.split(" <-")
            # The call of a function that never returns may be its caller's end, and the address behind it the next one's.
            assert stack[:2] == [function, parent] or function in NEVER_RETURN, f"{text}: {stack}"
            assert stack[-1] in ENDS, f"{text}: {stack}"
            checked += 1
            contexts.add(fields["flags"][2])
        assert checked > 500 and {".", "h"} <= contexts, (checked, contexts)
        session.calm()


def test_kernel_stacks_of_events(machine):
    with machine.guest(smp=2, timeout=120) as guest:
        session = Session(guest)
        # With other users of ftrace_caller and none: both walk from the tracepoint on.
        found = session.record("stacktrace", "sched_switch", "for i in 1 2 3 4 5; do sleep 0.01 & done; wait")
        switches = [stack for text, _, stack in pairs(found) if "==>" in text]
        wakes = [stack for text, _, stack in pairs(found) if "  + " in text]
        assert len(switches) > 10 and len(wakes) > 10
        for stack in switches:
            assert stack[0] == "__schedule" and stack[-1] in ENDS, stack
        for stack in wakes:
            assert stack[0] in ("try_to_wake_up", "wake_up_new_task") and stack[-1] in ENDS, stack
        timer = next(stack for stack in wakes if "hrtimer_interrupt" in stack)
        assert timer.index("hrtimer_interrupt") < timer.index("call_on_irq_stack"), timer
        # Each event has its record behind it, and only with the option. The last one of a CPU may be cut off from its
        # record, as tracing is switched off by another CPU.
        for cpu in {fields["cpu"] for _, fields, _ in found}:
            texts = [text for text, fields, _ in found if fields["cpu"] == cpu]
            events, records_of = texts[:-1:2], texts[1::2]
            assert all("==>" in text or "  + " in text for text in events), texts  # their task's name may be <...>
            assert set(records_of) == {"<stack trace>"} and len(texts) - 2 * len(records_of) in (0, 1), texts
        found = session.record("nostacktrace", "sched_switch", "sleep 0.01")
        assert found and not any("stack trace" in text for text, _, _ in found)
        session.calm()


def test_symbols_of_stacks(machine):
    with machine.guest(timeout=120) as guest:
        session = Session(guest)
        session.record("stacktrace", "function", "cat /proc/self/comm", "ksys_read")
        plain = next(stack for text, _, stack in pairs(session.records()) if text.startswith("ksys_read"))
        session.ok("echo sym-offset > trace_options; echo sym-addr > trace_options")
        full = next(stack for text, _, stack in pairs(session.records()) if text.startswith("ksys_read"))
        assert len(plain) == len(full)
        for name, entry in zip(plain, full):
            match = re.fullmatch(rf"{name}\+0x([0-9a-f]+)/0x([0-9a-f]+) <([0-9a-f]{{16}})>", entry)
            assert match and 0 < int(match[1], 16) <= int(match[2], 16), entry
        session.calm()


@pytest.mark.parametrize(("machine", "command", "line", "flags"), product(lambda machine: machine.storms))
def test_stacks_of_what_nothing_masks(machine, command, line, flags, tmp_path):
    with machine.monitored(tmp_path, smp=2, timeout=180) as guest:
        session = Session(guest)
        with Storm(guest, command):
            found = session.record(
                "stacktrace",
                "function",
                "for i in 1 2 3 4 5 6; do ls / > /dev/null; sleep 0.1; done",
                "default_do_nmi 'ksys_*' '*_interrupt' schedule",
            )
        nmis = [stack for text, fields, stack in pairs(found) if re.match(flags, fields["flags"][2])]
        assert len(nmis) > 20
        for stack in nmis:
            assert stack[:3] == ["default_do_nmi", "nmi_handler", "nmi_entry"], stack
        assert sum(len(stack) > 4 for stack in nmis) > 10, "no interrupted kernel code is shown"
        session.calm()


def start(session, what):
    """Starts the program, which stays until it is killed (%1); the words that it printed, a list a line."""
    session.ok(f"rm -f /tmp/out; stacktest {what} > /tmp/out & until grep -q ready /tmp/out; do usleep 1000; done")
    return [line.split()[1:] for line in session.ok("cat /tmp/out").splitlines()[:-1]]


def shown_chain(session):
    stacks = [
        stack for text, _, stack in pairs(session.records(), "<user stack trace>") if text.startswith("sys_getppid")
    ]
    assert len(stacks) == 1, stacks
    return stacks[0]


def test_user_stack_of_a_known_chain(machine):
    with machine.guest(smp=2, timeout=120, files=machine.programs("stacktest")) as guest:
        session = Session(guest)
        session.record("userstacktrace", "function", "true", "sys_getppid")
        session.ok("echo 1 > tracing_on")
        callers = start(session, "chain")
        session.ok("echo 0 > tracing_on")
        stack = shown_chain(session)
        assert stack[1:4] == [f"<{address}>" for address, _ in callers], (stack, callers)
        session.ok("echo sym-userobj > trace_options")
        assert shown_chain(session)[1:4] == [f"/bin/stacktest[+0x{offset}]" for _, offset in callers]
        session.ok("echo sym-addr > trace_options")
        assert shown_chain(session)[1:4] == [f"/bin/stacktest[+0x{offset}] <{address}>" for address, offset in callers]
        # A caller at the first byte of a mapping belongs to it.
        session.ok("kill %1; wait; echo nosym-addr > trace_options; echo > trace; echo 1 > tracing_on")
        start(session, "first-byte")
        session.ok("echo 0 > tracing_on")
        assert shown_chain(session)[1:] == ["/bin/stacktest[+0x0]"]
        session.ok("kill %1; wait; echo > trace; echo 1 > tracing_on")
        callers = start(session, "chain")
        session.ok("echo 0 > tracing_on")
        # The program is gone: its addresses are what is left.
        session.ok("kill %1; wait")
        assert shown_chain(session)[1:4] == [f"<{address}>" for address, _ in callers]
        session.calm()


def test_user_stacks_of_events(machine):
    """Of the task that leaves the CPU, whichever it is; kernel threads have none."""
    with machine.guest(smp=2, timeout=120) as guest:
        session = Session(guest)
        found = session.record("userstacktrace sym-userobj", "sched_switch", "for i in 1 2 3; do usleep 1000; done")
        owners = {fields["comm"] for text, fields, _ in found if text == "<user stack trace>"}
        assert {"sh", "usleep"} <= owners, owners
        assert not any(re.match(r"<idle>|migration|rcu|kworker|ksoftirqd", name) for name in owners), owners
        shell = [stack for text, fields, stack in found if text == "<user stack trace>" and fields["comm"] == "sh"]
        assert all(entry.startswith("/bin/sh[+0x") for stack in shell for entry in stack), shell
        assert max(map(len, shell)) >= 5
        session.calm()


def test_hostile_user_stacks(machine):
    """Frame pointers to anywhere: each case says itself what is to be seen."""
    with machine.guest(smp=2, timeout=120, files=machine.programs("stacktest")) as guest:
        session = Session(guest)
        found = session.record("userstacktrace", "function", "stacktest hostile", "sys_getppid")
        cases, wanted = 0, None
        for text, _, stack in found:
            if text.startswith("tracing_mark_write: case "):
                wanted = text.split()[2:]
            elif text == "<user stack trace>" and wanted:
                assert stack[1:] == [f"<{address}>" for address in wanted[1:]], (wanted, stack)
                cases, wanted = cases + 1, None
        assert cases >= 30, cases
        session.calm()


@pytest.mark.parametrize("tracer", ["function", "sched_switch"])
def test_storm_of_stacks(machine, tracer):
    """Every function with both stacks, while memory that frames lie in comes and goes on other CPUs, options change and
    readers look addresses up in processes that end."""
    with machine.guest(smp=4, timeout=300, files=machine.programs("stacktest")) as guest:
        session = Session(guest)
        session.ok("echo 64 > buffer_size_kb")
        session.ok(
            "(while :; do for o in stacktrace nostacktrace sym-userobj nouserstacktrace userstacktrace nosym-userobj; do "
            "echo $o > trace_options; usleep 3000; done; done) & options=$!; "
            "(while :; do cat trace > /dev/null; done) & reader=$!"
        )
        session.ok(
            f"echo {tracer} > current_tracer; echo 1 > tracing_on; stacktest storm && stacktest storm; status=$?; "
            "kill $options $reader; wait; test $status = 0"
        )
        session.calm()


def test_tgids(machine):
    with machine.guest(smp=2, timeout=120, files=machine.programs("stacktest")) as guest:
        session = Session(guest)
        assert session.ok("cat saved_tgids") == ""
        session.record("userstacktrace sym-userobj record-tgid", "sched_switch", "true")
        session.ok("echo 1 > tracing_on")
        threads = start(session, "threads")
        session.ok("echo 0 > tracing_on")
        known = dict(line.split() for line in session.ok("cat saved_tgids").splitlines())
        shell = session.ok("echo $$").strip()
        assert known[shell] == shell and len(known) >= 5
        found = session.records()
        for pid, tgid in threads:
            assert pid != tgid and known[pid] == known[tgid] == tgid
            assert {fields["tgid"].strip() for _, fields, _ in found if fields["pid"] == pid} == {tgid}
            # The thread has ended, its process tells what is mapped.
            stacks = [stack for text, fields, stack in found if text == "<user stack trace>" and fields["pid"] == pid]
            assert stacks and all(entry.startswith("/bin/stacktest[+0x") for stack in stacks for entry in stack), stacks
        assert {fields["tgid"] for _, fields, _ in found if fields["pid"] == "0"} == {"-------"}
        session.ok("kill %1; wait; echo norecord-tgid > trace_options")
        before = session.ok("cat saved_tgids")
        session.ok("echo 1 > tracing_on; usleep 1000; echo 0 > tracing_on")
        assert session.ok("cat saved_tgids") == before
        session.calm()


def test_runqueues_at_events(machine):
    """sched-tree: pid, virtual and real run time of everybody who is queued."""
    with machine.guest(timeout=120) as guest:
        session = Session(guest)
        work = "(chrt -f 5 sh -c ': > /tmp/rt') & for i in 1 2 3; do (i=0; while test $i -lt 300; do i=$((i+1)); done) & done; wait"
        found = session.record("sched-tree", "sched_switch", work)
        queues, runtimes = [], {}
        for text, _, _ in found:
            if text.startswith("# "):
                pid, vruntime, runtime = map(int, text[2:].split())
                assert runtime >= runtimes.get(pid, 0), text
                runtimes[pid] = runtime
                queues[-1].append((pid, vruntime))
            else:
                match = re.match(r" *\d+:.*==> \[\d+\] *(\d+):", text)
                queues.append([])
                to = match and int(match[1])
            if match and to and len(queues[-1]) == 1:
                assert queues[-1][0][0] == to or to < 10, (text, queues[-1])  # who runs next stands first
        assert max(map(len, queues)) >= 4
        assert all(len(dict(queue)) == len(queue) for queue in queues)  # each once
        fair = max(queues, key=len)[1:]
        assert [vruntime for _, vruntime in fair] == sorted(vruntime for _, vruntime in fair)
        assert not any(pid == 0 for queue in queues for pid, _ in queue)
        session.ok("echo nosched-tree > trace_options")
        session.calm()


def test_trace_printk(machine):
    hello = "/sys/kernel/debug/trace_printk/hello"
    with machine.guest(smp=2, timeout=120) as guest:
        session = Session(guest)
        session.ok("test -e /sys/kernel/debug/trace_printk || mount -t debugfs debugfs /sys/kernel/debug")
        contexts = session.ok(f"cat {hello}").split()
        assert contexts == ["task", "puts", "irq", "softirq", "long", "kept", "text", "many"]
        contexts.remove("many")
        session.record("stacktrace", "nop", f"for c in {' '.join(contexts)}; do echo $c > {hello}; done")
        found = session.records()
        stacks = {text.split(":")[0]: (text, fields, stack) for text, fields, stack in pairs(found)}
        for name, flags, said in (
            ("hello_task", r"\.\.\.\.\.", r"hello from a task on CPU \d, preempt_count 0"),
            ("hello_puts", r"\.\.\.\.\.", "hello without a format"),
            ("hello_timer", r"d.h..", r"hello from an interrupt on CPU \d, preempt_count 1000[01]"),
            ("hello_action", r"..s..", r"hello from a softirq on CPU \d, preempt_count 100"),
            ("hello_kept", r"\.\.\.\.\.", r"-5 00017 feed 1099511627776 kept\|sho\|    42 hello_kept 100%"),
            ("hello_text", r"\.\.\.\.\.", r"c 5    \| 0x11 hello_text\+0x0/0x[0-9a-f]+"),
            ("hello_long", r"\.\.\.\.\.", " {1023}"),
        ):
            text, fields, stack = stacks[name]
            assert re.fullmatch(f"{name}: {said}", text) and re.fullmatch(flags, fields["flags"]), (text, fields)
            assert stack[0] == name and stack[-1] in ENDS, stack
        text, fields, _ = stacks["hello_timer"]
        assert (text[-1] == "1") == (fields["flags"][3] == "1"), (
            text,
            fields,
        )  # the idle task runs with preemption off
        found = session.record("notrace_printk", "nop", f"echo task > {hello}; echo marked > trace_marker")
        assert [text for text, _, _ in found] == ["tracing_mark_write: marked"]
        session.ok("echo trace_printk > trace_options")
        assert guest.run(f"echo nothing > {hello}")[0] != 0
        session.calm()


def test_free_buffer(machine):
    with machine.guest(smp=2, timeout=60) as guest:
        session = Session(guest)
        assert session.ok("echo 1 > tracing_on; cat buffer_size_kb") == "1410\n"
        assert session.ok("echo > free_buffer; cat buffer_size_kb tracing_on") == "7\n1\n"
        session.ok("echo 64 > buffer_size_kb; echo disable_on_free > trace_options")
        # Whoever holds it open and is killed: the same as closing.
        session.ok(
            "sleep 100 > free_buffer & until ls -l /proc/$!/fd | grep -q free_buffer; do usleep 1000; done; test $(cat tracing_on) = 1; kill -9 $!; wait"
        )
        assert session.ok("cat buffer_size_kb tracing_on") == "7\n0\n"
        assert guest.run("cat free_buffer")[0] != 0
        session.ok(
            "echo nodisable_on_free > trace_options; echo 1 > tracing_on; echo > free_buffer; echo still > trace_marker"
        )
        assert session.records()[-1][0] == "tracing_mark_write: still"
        session.calm()
