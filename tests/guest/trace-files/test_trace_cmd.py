"""The guest's own trace-cmd: its words set tracefs as the real one's do, and its report is the host's of the same
file."""

import difflib
import re
import subprocess

from host_trace_cmd import as_ours, report_words
from test_trace_dat import session  # noqa: F401 (a fixture)

TRACING = "/sys/kernel/tracing"

# What record is given, and an event that the report must have.
RECORDED = [
    ("-p function -l 'vfs_*' -e sched -T", "function"),
    ("-a -b 64", "sys_exit"),
    (
        "-p function_graph -g vfs_read -g do_wait --max-graph-depth=5 -C mono -e sched:sched_switch -e irq",
        "funcgraph_exit",
    ),
    (
        "-p function_graph -g vfs_read -e sched:sched_switch -B a -e sched:sched_waking -B longer -p function -l 'vfs_*' -e irq",
        "sched_waking",
    ),
]
COMMAND = "sh -c 'ls / > /dev/null; echo marker > /sys/kernel/tracing/trace_marker; cat /proc/meminfo | wc -l > /dev/null; sleep 0.01'"

# A command, and what is printed by it and the next lines.
TYPED = [
    (
        "trace-cmd start -p function -l schedule -e sched:sched_switch -f 'prev_pid == 0' -M 1 -P 1; cat current_tracer set_ftrace_filter set_event "
        "set_ftrace_pid set_event_pid tracing_on tracing_cpumask events/sched/sched_switch/filter",
        "  plugin 'function'\nfunction\nschedule\nsched:sched_switch\n1\n1\n1\n1\nprev_pid == 0\n",
    ),
    ("trace-cmd stat | head -n 3", "Tracer: function\nRecording: 1\nEvents: sched:sched_switch\n"),
    ("trace-cmd stop; cat tracing_on; trace-cmd restart; cat tracing_on; trace-cmd stop", "0\n1\n"),
    (
        "trace-cmd restart; taskset 1 sh -c 'echo shown > trace_marker'; trace-cmd stop; trace-cmd show | grep -c shown; trace-cmd show -f | "
        "head -n 2; trace-cmd extract -o /tmp/x.dat 2> /dev/null; trace-cmd report /tmp/x.dat | grep -c 'print: .*: shown$'",
        "1\n/sys/kernel/tracing/trace\n# tracer: function\n1\n",
    ),
    (
        "trace-cmd snapshot -s; trace-cmd snapshot | grep -c shown; trace-cmd snapshot -r; trace-cmd snapshot | grep -c shown; trace-cmd snapshot -f; "
        "grep -c 'Snapshot is freed' snapshot",
        "0\n0\n1\n",
    ),
    (
        "trace-cmd set -e irq:irq_handler_entry -O nooverwrite; sort set_event; cat current_tracer options/overwrite; trace-cmd set -O overwrite",
        "irq:irq_handler_entry\nsched:sched_switch\nfunction\n0\n",
    ),
    ("trace-cmd clear; trace-cmd show | grep -vc '^#'", "0\n"),
    (
        "trace-cmd reset; cat set_event current_tracer tracing_on set_ftrace_pid set_event_pid tracing_cpumask events/sched/sched_switch/filter; "
        "grep -c '^[^#]' set_ftrace_filter",
        "nop\n1\nno pid\n3\nnone\n0\n",
    ),
    (
        "trace-cmd start -B i -e sched_wakeup -B j -p nop -e sched_waking; trace-cmd list -B; cat instances/i/set_event instances/j/set_event; trace-cmd stop -B i; "
        "cat tracing_on instances/*/tracing_on; trace-cmd stop -a; cat tracing_on instances/*/tracing_on; trace-cmd reset -a; cat instances/i/set_event; "
        "rmdir instances/i instances/j",
        "  plugin 'nop'\ni\nj\nsched:sched_wakeup\nsched:sched_waking\n1\n0\n1\n0\n0\n0\n",
    ),
    (
        "trace-cmd list -t | sort > /tmp/a; tr ' ' '\\n' < available_tracers | grep . | sort | cmp.sh /tmp/a; trace-cmd list -e 'sched_sw|irq_handler_e'; trace-cmd list -f "
        "'^vfs_(read|write)$'; trace-cmd list -F -e sched_switch | grep -c 'prev_comm;\\|prev_comm\\['",
        "same\nirq:irq_handler_exit\nirq:irq_handler_entry\n" "sched:sched_switch\nvfs_read\nvfs_write\n1\n",
    ),
    (
        "trace-cmd start -e sched:sched_process_exec cat set_event; trace-cmd stop; grep -c 'filename=[^ ]*/cat ' trace; trace-cmd start sh -c 'exit 3'; echo $?; "
        "trace-cmd start nosuch 2>&1; echo $?; cat tracing_on; trace-cmd reset",
        "sched:sched_process_exec\n1\n3\ntrace-cmd: nosuch: No such file or directory\n127\n1\n",
    ),
    (
        "trace-cmd list -e nosuch 2>&1; trace-cmd show -c 9 2>&1; trace-cmd record -e nosuch -o /tmp/n.dat true 2>&1; trace-cmd > /tmp/a 2>&1; echo $?; "
        "grep -c '^  record \\|^Usage: trace-cmd COMMAND' /tmp/a",
        "trace-cmd: nothing in available_events matches 'nosuch'\ntrace-cmd show: no CPU 9\ntrace-cmd record: no event 'nosuch'\n1\n2\n",
    ),
    # Only the task, and only its children when that is wanted: the command's own pid is the smallest one.
    (
        "trace-cmd record -q -e sched:sched_process_exit -F -o /tmp/y.dat sh -c '(true); (true); true'; trace-cmd report /tmp/y.dat | grep -c sched_process_exit:; "
        "trace-cmd record -q -e sched:sched_process_exit -F -c -o /tmp/y.dat sh -c '(true); (true); true'; trace-cmd report /tmp/y.dat | grep -c "
        "sched_process_exit:",
        "1\n3\n",
    ),
    (
        "trace-cmd record -q -e raw_syscalls:sys_enter -f 'id == 64 || id == 1' -o /tmp/y.dat echo a b; trace-cmd report -F sys_enter /tmp/y.dat | grep -vc "
        "'cpus=\\|NR 64 \\|NR 1 '; cat events/raw_syscalls/sys_enter/filter",
        "a b\n0\nnone\n",
    ),
    (
        "cd /tmp; trace-cmd record -e sched true 2>&1 | cut -d: -f 1; trace-cmd report | head -n 1; trace-cmd report --cpu 1 -F sched_switch | grep -c '\\[000\\]'; "
        f"trace-cmd report -t | grep -c '\\[00[01]\\] *[0-9]*\\.[0-9]\\{{9\\}}: ' | grep -cx 0; cd {TRACING}",
        None,
    ),
    # A trigger, of an event that is off as well; several filters; all gone after reset.
    (
        "trace-cmd start -e sched_switch -R stacktrace:3 -f 'prev_pid == 1' -f 'next_pid == 0' -v -e sched_waking -R traceoff:9; trace-cmd stop; "
        "cd events/sched; cut -d: -f 1 sched_switch/trigger; cat sched_switch/enable sched_switch/filter sched_waking/enable; cut -d: -f 1 sched_waking/trigger; cd ../..; "
        "trace-cmd set -e sched_switch -R hist:keys=next_pid -R stacktrace:9999999; grep -c stacktrace:count=9 events/sched/sched_switch/trigger; grep -c ^hist:keys events/sched/sched_switch/trigger; trace-cmd reset; "
        "cat events/sched/sched_switch/trigger events/sched/sched_waking/trigger | grep -vc '^#'",
        "stacktrace\n1*\n(prev_pid == 1)&&(next_pid == 0)\n0*\ntraceoff\n1\n1\n0\n",
    ),
    (
        "trace-cmd start -e sched -v -e 'sched_*wak*'; grep -c wak set_event; grep -c sched_switch set_event; trace-cmd start -p preemptirqsoff -d; cat current_tracer "
        "options/function-trace; trace-cmd start -p preemptirqsoff; cat options/function-trace; trace-cmd set -d; cat current_tracer options/function-trace; "
        "trace-cmd set -O function-trace; trace-cmd reset",
        "0\n1\n  plugin 'preemptirqsoff'\npreemptirqsoff\n0\n  plugin 'preemptirqsoff'\n1\npreemptirqsoff\n0\n",
    ),
    # The functions of a module that is not loaded; the filter that was there comes back.
    (
        "trace-cmd start -p function --module later; cat set_ftrace_filter; trace-cmd start -p function --module later -n 'a*' -l 'b*,c*'; grep -hv '^#' "
        "set_ftrace_filter set_ftrace_notrace; trace-cmd reset; echo ':mod:kept' > set_ftrace_filter; trace-cmd record -q -p function --module later -o /tmp/y.dat true; "
        "cat set_ftrace_filter; trace-cmd reset",
        "  plugin 'function'\n*:mod:later\n  plugin 'function'\nb*:mod:later\nc*:mod:later\na*:mod:later\n  plugin 'function'\n*:mod:kept\n",
    ),
    (
        "trace-cmd record -q -e sched_switch -R stacktrace:3 -o /tmp/y.dat sleep 0.01; trace-cmd report /tmp/y.dat | grep -c kernel_stack; grep -vc '^#' "
        "events/sched/sched_switch/trigger; trace-cmd record -q -e sched -v -e sched_switch -o /tmp/y.dat sleep 0.01; trace-cmd report /tmp/y.dat | grep -c "
        "' sched_switch:'; trace-cmd report /tmp/y.dat | grep -c ' sched_process_exec:'; cat events/sched/sched_switch/enable",
        "3\n0\n0\n1\n0\n",
    ),
    # The newest two pages of a CPU, where there are more; pages that are looked for before half a buffer is full.
    (
        "many='i=0; while test $i -lt 2000; do i=$((i+1)); echo > /dev/null; done; echo newest > trace_marker'; for max in '' '-m 8'; do trace-cmd record $max -F -e "
        "raw_syscalls -o /tmp/y.dat taskset 1 sh -c \"$many\" 2>&1 | cut -d' ' -f 2 | sed 's/.*/test & -gt 4/' | sh; echo $?; trace-cmd report /tmp/y.dat | "
        "grep -c ': newest$'; done; trace-cmd record -q -s 1000 -e sched -o /tmp/z.dat sh -c 'until test -e /tmp/z.dat.*.cpu001.000000; do usleep 1000; done'; "
        "ls /tmp/z.dat*",
        "0\n1\n1\n1\n/tmp/z.dat\n",
    ),
    (
        "trace-cmd stack --start; cat /proc/sys/kernel/stack_tracer_enabled; ls > /dev/null; trace-cmd stack | grep -c '^(stack tracer running)$\\|^  0) '; trace-cmd "
        "stack --stop; trace-cmd stack --reset; cat stack_max_size; trace-cmd stack",
        "1\n2\n0\n(stack tracer not running)\n        Depth    Size   Location    (0 entries)\n        -----    ----   --------\n",
    ),
    (
        "f=events/sched/sched_switch/format; trace-cmd check-events -N; echo $?; sed 's/prev_prio=%d/prev_prio=%q/' $f > /tmp/f; mount --bind /tmp/f $f; trace-cmd "
        "check-events 2>&1 | cut -d: -f 1-4; trace-cmd check-events 2> /dev/null; echo $?; umount $f",
        "0\ntrace-cmd: sched:sched_switch: its format is not understood\n1\n",
    ),
    # What is refused leaves the trace that is there.
    (
        "trace-cmd start -p function -l vfs_read; cat /proc/version > /dev/null; trace-cmd stop; for words in '-e nosuch' '-p nosuch' '-d -Q' '-d -R x' '-d -m 9' '-s 9'; do "
        "trace-cmd start $words 2> /dev/null; done; cat current_tracer options/function-trace tracing_on; grep -c 'vfs_read <-' trace | sed 's/[1-9].*/some/'; "
        "trace-cmd clear -h | grep -c Usage; trace-cmd reset",
        "  plugin 'function'\n  plugin 'nosuch'\nfunction\n1\n0\nsome\n1\n",
    ),
]
REFUSED = [
    ("nosuch", "no command 'nosuch'"),
    *(
        (words, "that needs Debian's: make debian-root")
        for words in ("hist", "split", "mem", "dump --summary", "options")
    ),
    *((words, "that needs Debian's: make debian-root") for words in ("convert -h", "stream -e sched sleep 1")),
    ("start -s 10 -e sched", "only record takes -s"),
    ("set -m 10", "only record takes -m"),
    ("start -v -e sched -f 'prev_pid == 1'", "records nothing to filter"),
    ("start -R stacktrace -e sched", "-R 'stacktrace': the -e of an event"),
    ("start -e sched_switch -R nosuch", "does not take the trigger 'nosuch'"),
    ("record -e sched -v -B i true", "rmdir /sys/kernel/tracing/instances/i"),
    ("record -m 0 -e sched true", "number '0'"),
    ("start -b x -e sched", "invalid number 'x'"),
    ("start -p function_graph --module m -g f", "a module (m) is only for -l and -n"),
    ("stack --nosuch", "unknown option '--nosuch'"),
    ("check-events x", "does not take 'x'"),
    ("record -k true", "unknown option '-k'"),
    ("record true", "nothing to record"),
    ("record -e nosuch true", "no event 'nosuch'"),
    ("record -e sched -f 'no == 1' true", "does not take the filter 'no == 1'"),
    ("start -p nosuch", "no tracer 'nosuch'"),
    ("start -f x==1 -e sched", "-e of an event"),
    ("set ls", "takes no command ('ls')"),
    ("report -E", "unknown option '-E'"),
    ("report -F 'sched_switch:prev_pid==1'", "only an event's name"),
    ("report /etc/rc", "/etc/rc: no trace.dat"),
    ("report /tmp/none", "No such file"),
    ("show -B none", "no instance 'none'"),
    ("clear x", "does not take 'x'"),
    ("report /tmp/cut.dat", "/tmp/cut.dat: broken at"),
    ("record --nosuch true", "unknown option '--nosuch'"),
    ("list -e '['", "unmatched"),
]


def check_report(session, recorded, wanted):  # noqa: F811
    """Of the same file, with plug-ins and without."""
    session.run(f"trace-cmd record -q -o /tmp/r.dat {recorded} {COMMAND} > /tmp/said")
    dat = session.fetch("/tmp/r.dat")
    for options in ("", "-N", "-l", "-lNt"):
        session.run(f"trace-cmd report {options} /tmp/r.dat > /tmp/report.txt")
        with open(session.fetch("/tmp/report.txt"), encoding="ascii") as file:
            ours = file.read().splitlines()
        done = subprocess.run([*report_words(), *options.split(), dat], capture_output=True, text=True, check=True)
        theirs = as_ours(done.stdout).splitlines()
        if (
            "N" not in options
        ):  # a plug-in of the host's may name a task by its first switch, before it has read the file's list of names
            ours, theirs = (
                [re.sub(r"^((?: *\w+:)?) *\S+-(\d+ )", r"\1\2", line) for line in lines] for lines in (ours, theirs)
            )
        assert any(f" {wanted}: " in line for line in theirs) and len(theirs) > 10
        # The host's library has no %c and writes a word of its own there.
        ended = [line for line in ours if " rcu_batch_end: " in line]
        assert all(re.search(r"CBs-invoked=\d+ idle=[C.][S.]\.R$", line) for line in ended), ended
        ours, theirs = ([re.sub(r" idle=\S+$", "", line) for line in lines] for lines in (ours, theirs))
        assert ours == theirs, "\n".join(
            list(difflib.unified_diff(theirs, ours, "the host's", "ours", lineterm="", n=1))[:40]
        )


def test_trace_cmd(session):  # noqa: F811
    session.run(
        f'echo \'cmp=$(cat); test "$cmp" = "$(cat $1)" && echo same\' > /bin/cmp.sh; chmod +x /bin/cmp.sh; cd {TRACING}; echo 1408 > buffer_size_kb'
    )
    session.run("trace-cmd reset")
    settled = session.run("trace-stat")
    wrong = []
    for command, expected in TYPED:
        got = session.guest.run(command)[1].replace("\r", "")
        if got != (expected if expected is not None else "trace.dat\ncpus=2\n0\n0\n"):
            wrong.append((command, got))
    assert not wrong, "\n".join(map(repr, wrong))
    session.run("head -c 300000 /tmp/x.dat > /tmp/cut.dat; cd /tmp")
    for words, says in REFUSED:
        status, said = session.guest.run(f"trace-cmd {words}")
        assert status and says in said, (words, said)
    assert session.run("echo > /sys/kernel/tracing/error_log; trace-stat") == settled
    for recorded, wanted in RECORDED:
        check_report(session, recorded, wanted)
    session.run("trace-cmd record -q -p irqsoff -o /tmp/l.dat sleep 0.01")
    assert "# tracer: irqsoff" in session.run("trace-cmd report /tmp/l.dat")
    assert session.run("echo 0 > /sys/kernel/tracing/tracing_max_latency; trace-stat") == settled
    # The switch of Linux 2.6, left off: a recording has it on meanwhile, stat shows it, reset and restart put it back.
    session.run(f"cd {TRACING}; echo 0 > tracing_enabled; trace-cmd record -q -e sched -o /tmp/s.dat sleep 0.01")
    assert "sched_switch" in session.run(
        "trace-cmd report /tmp/s.dat; trace-fn -l vfs_read cat /proc/version > /tmp/f; grep -q vfs_read /tmp/f"
    )
    assert session.run("cat tracing_enabled; trace-cmd stat | grep tracing_enabled") == "0\ntracing_enabled: 0\n"
    assert (
        session.run("echo 1 > events/sched/enable; usleep 1000; head -3 trace | tail -1") == "# tracing_enabled is 0\n"
    )
    session.run(
        "trace-cmd restart; usleep 1000; trace-cmd stop; grep -q sched_switch trace; echo 0 > tracing_enabled; trace-cmd reset"
    )
    assert session.run("trace-stat") == settled
    # One recording at a time, whichever program makes it.
    session.guest.send("trace-record -q -e sched -o /tmp/y.dat -- sleep 100 &\n")
    session.run("until test -L /run/trace.lock; do usleep 1000; done")
    status, said = session.guest.run("trace-fn true")
    assert status == 125 and "records already" in said
    session.run("kill %1; wait")
    assert (
        session.guest.run("trace-fn -l vfs_read cat /proc/version > /dev/null; ls /run/trace.lock 2> /dev/null")[1]
        == ""
    )
