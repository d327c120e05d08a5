"""tools/vrun with a stand-in for QEMU: statuses, what is shown, files, and that nothing stays behind."""

import importlib.machinery
import importlib.util
import io
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import types

import pytest
import tohost
import vitrine_replay
from machines import params
from vitrine_guest import MACHINES, MAX_CPUS, TIMED_OUT

HERE = os.path.dirname(os.path.abspath(__file__))
VRUN = os.path.join(HERE, "../../../tools/vrun")
FAKE = os.path.join(HERE, "fake_qemu.py")
EMPTY_ARCHIVE = b"070701" + b"00000000" * 11 + b"0000000B" + b"00000000" + b"TRAILER!!!\0" + b"\0" * 3


@pytest.fixture(params=params())
def build(tmp_path, request):
    """A build folder of each machine, whose name is the folder's."""
    folder = tmp_path / request.param.arch
    folder.mkdir()
    (folder / MACHINES[folder.name].kernel).write_bytes(b"")
    (folder / "initramfs.cpio").write_bytes(EMPTY_ARCHIVE + bytes(512 - len(EMPTY_ARCHIVE)))
    return folder


def command(build, script, *options, arguments=()):
    path = build / "script.sh"
    path.write_text(script)
    return [sys.executable, VRUN, "--arch", build.name, "--build", str(build), *options, str(path), *arguments]


def vrun(build, script, *options, arguments=()):
    return subprocess.run(
        command(build, script, *options, arguments=arguments),
        env={**os.environ, "VITRINE_QEMU": FAKE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("status", [0, 1, 7, 124, 255])
def test_status_is_the_scripts(build, status):
    done = vrun(build, f"exit {status}\n")
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_output_without_boot_log(build):
    done = vrun(build, "echo one\nprintf 'two, no newline'\n", "--append", "chatter")
    assert done.stdout == "one\ntwo, no newline"


def test_verbose_shows_the_boot_log(build):
    assert "a boot message" in vrun(build, "echo one\n", "-v", "--append", "chatter").stdout


def test_log_has_everything(build, tmp_path):
    log = tmp_path / "console"
    assert vrun(build, "echo one\n", "--append", "chatter", "--log", str(log)).returncode == 0
    text = log.read_text()
    assert "a boot message" in text and "one" in text


def test_arguments_arrive_unchanged(build):
    assert vrun(build, 'printf "<%s>" "$@"\n', arguments=["a b", "$HOME", "'", ""]).stdout == "<a b><$HOME><'><>"


def test_files_arrive_with_their_mode(build, tmp_path):
    data = tmp_path / "data"
    data.write_bytes(bytes(range(256)) * 33 + b"x")
    data.chmod(0o640)
    done = vrun(
        build, "cksum < $RUN/deep/er/file; stat -c %a $RUN/deep/er/file\n", "--file", f"{data}:/run/deep/er/file"
    )
    want = subprocess.run(["cksum"], stdin=data.open(), capture_output=True, text=True, check=True).stdout
    assert done.stdout == want + "640\n"


def test_names_of_files_are_bytes(build, tmp_path):
    """Names in any language, and a folder: the archive stays whole, what stands behind such a name arrives as well."""
    folder = tmp_path / "目录"
    (folder / "子").mkdir(parents=True)
    (folder / "文件一").write_text("one\n", encoding="utf-8")
    (folder / "子" / "b c.sh").write_text("two\n", encoding="utf-8")
    (folder / "子" / "b c.sh").chmod(0o755)
    (folder / "nowhere").symlink_to("/nonexistent")
    (tmp_path / "last").write_text("three\n", encoding="utf-8")
    done = vrun(
        build,
        'cd $RUN/文; cat 文件一 "子/b c.sh" ../ä; stat -c "%a %n" * 子/*\n',
        "--file",
        f"{folder}:/run/文",
        "--file",
        f"{tmp_path}/last:/run/ä",
    )
    assert done.stdout == "one\ntwo\nthree\n755 子\n644 文件一\n755 子/b c.sh\n", done.stdout + done.stderr


def test_script_cannot_fake_the_marker(build):
    script = "cat $RUN/vrun-init; echo 'vrun-exit-0123456789abcdef 0'\necho 'Kernel panicked the reader'\nexit 3\n"
    assert vrun(build, script).returncode == 3


def test_long_output_is_complete(build):
    done = vrun(build, "seq 1 40000\n")
    assert done.stdout == "".join(f"{i}\n" for i in range(1, 40001))


def test_panic_is_125_with_its_report(build):
    done = vrun(build, "exit 0\n", "--append", "panic chatter")
    assert done.returncode == 125
    assert "a boot message" in done.stdout and "f+0x1/0x2" in done.stdout and "end Kernel panic" in done.stdout
    assert "the guest panicked: Kernel panic - not syncing: a reason" in done.stderr


def test_a_panic_that_takes_its_time_is_shown_to_its_end(build):
    done = vrun(build, "exit 0\n", "--append", "dump", "--timeout", "300")
    assert done.returncode == 125
    assert "line 5 of the dump" in done.stdout and "the guest panicked" in done.stderr
    assert (
        vrun(build, "exit 0\n", "--append", "dump endless", "--timeout", "8").returncode == 125
    ), "the guest's time bounds it"


def test_time_out_is_124_with_the_boot_log(build):
    done = vrun(build, "exit 0\n", "--append", "hang chatter", "--timeout", "5")
    assert done.returncode == 124
    assert "a boot message" in done.stdout and "time is up" in done.stderr


def test_guest_that_does_not_power_off_is_124(build):
    """What its script printed is shown, and its status told; it is no success."""
    done = vrun(build, "echo one\n", "--append", "stay", "--timeout", "2")
    assert done.returncode == 124 and done.stdout.startswith("one\n")
    assert "the script ended with status 0, and the guest did not power off" in done.stderr


def test_panic_behind_the_script_is_125(build):
    done = vrun(build, "exit 0\n", "--append", "stay late")
    assert done.returncode == 125 and "the guest panicked: Kernel panic - not syncing: a late one" in done.stderr


def test_guest_that_vanishes_is_126(build):
    done = vrun(build, "exit 0\n", "--append", "vanish")
    assert done.returncode == 126 and "the guest ended" in done.stderr


@pytest.mark.parametrize("status", [1, 42, 125, 127])
def test_status_that_the_kernel_ended_with(build, status):
    """Without a marker on the console: what the kernel gave QEMU, as this machine's way to end codes it."""
    code = {"aarch64": status, "x86_64": status << 1 | 1}[build.name]
    done = vrun(build, "exit 0\n", "--append", f"end={code}")
    assert done.returncode == status and f"the guest ended with status {status}" in done.stderr


def test_qemus_own_failure_is_no_status(build):
    done = vrun(build, "exit 0\n", "--append", f"end={ {'aarch64': 0, 'x86_64': 1}[build.name]}")
    assert done.returncode == 126 and "the guest ended while" in done.stderr


@pytest.mark.parametrize(
    "options, words",
    [
        (["--kernel", "/nonexistent"], "/nonexistent is not there"),
        (["--initrd", "/nonexistent"], "/nonexistent is not there"),
        (["--irqchip", "8259"], "no irqchip '8259': there are "),
        (["--boot", "tape"], "no boot 'tape': there are kernel"),
        (["--file", "nocolon"], "HOST:GUEST is wanted"),
        (["--log", "/nonexistent/x"], "vrun: /nonexistent/x: No such file or directory\n"),
        (["--file", "/nonexistent:/run/x"], "vrun: /nonexistent: No such file or directory\n"),
        (["--port", "name"], "--port name: NAME=FILE is wanted"),
        (["--port", "a=/nonexistent/x"], "vrun: port a: /nonexistent/x: No such file or directory\n"),
        (["--port", "a/b=x"], "port 'a/b': this is no name for a file"),
        (["--port", "a=socket:x", "--port", "a=socket:y"], "there is a port a already"),
    ],
)
def test_what_cannot_start_says_why(build, options, words):
    done = vrun(build, "echo one\n", *options)
    assert (done.returncode, done.stdout) == (126, "") and words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "variant, goal",
    [("", "{}"), ("-branch", "branch-{}"), ("-branch-all", "branch-{} BRANCH=all"), ("-nopg", "nopg-{}")]
    + [("-noevents", "noevents-{}"), ("-mine", "{}")],
)
def test_a_kernel_that_is_not_there_has_a_goal(build, variant, goal):
    (build / MACHINES[build.name].kernel).unlink()
    done = vrun(build, "exit 0\n", "--build", str(build.parent / f"{build.name}{variant}"))
    wanted = goal.format(MACHINES[build.name].goal)
    assert done.returncode == 126 and f"is not there: make {wanted} builds it\n" in done.stderr


@pytest.mark.parametrize(
    "options, words",
    [
        (["--trace-args=-e sched"], "--trace OUT.DAT is wanted, too"),
        (["--trace", "t.dat", "--trace-args=-e sched -o x"], "no -o, no -P"),
        (["--trace", "t.dat", "--trace-args=-e sched", "--trace-args=-P x"], "no -o, no -P"),
        (["--trace", "/", "--trace-args=-e sched"], "--trace /: a folder; a file is wanted"),
        (["--out", "/tmp"], "--out is for an --interactive session"),
        (["--console", "--file", "a:b"], "--file: the guest that this attaches to has its files already"),
        (["--timeout", "inf"], "argument --timeout: invalid seconds value: 'inf'"),
        (["--timeout", "nan"], "argument --timeout: invalid seconds value: 'nan'"),
        (["--smp", "0"], "vrun: smp 0: the kernel runs on 1 to 64 CPUs\n"),
        (["--smp", "65"], "vrun: smp 65: the kernel runs on 1 to 64 CPUs\n"),
        (["--gdb", "70000"], "argument --gdb: invalid port value: '70000'"),
        (["--replay", "-1"], "argument --replay: invalid port value: '-1'"),
    ],
)
def test_options_that_mean_nothing(build, options, words):
    done = vrun(build, "exit 0\n", *options)
    assert done.returncode in (2, 126) and words in done.stderr and "Traceback" not in done.stderr


def test_missing_qemu_says_so(build):
    done = subprocess.run(
        command(build, "exit 0\n"),
        env={**os.environ, "VITRINE_QEMU": "/nonexistent/qemu"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 126 and "/nonexistent/qemu" in done.stderr and "Traceback" not in done.stderr


def test_a_line_that_comes_in_two_portions(monkeypatch):
    """The console's lines end in two characters, and a portion may end between them."""
    loader = importlib.machinery.SourceFileLoader("vrun", VRUN)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("vrun", loader))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    output, shown = module.ScriptOutput(False), io.StringIO()
    output.start, output.end = "start", "end"
    monkeypatch.setattr(sys, "stdout", shown)
    for portion in ("start\r\none\r", "\ntwo\r", "\nen", "d 0\r\n"):
        output.write(portion)
    assert shown.getvalue() == "one\ntwo\n"


def test_what_cannot_start_leaves_no_folder(build, tmp_path):
    (build / MACHINES[build.name].kernel).unlink()
    (tmp_path / "scratch").mkdir()
    done = subprocess.run(
        command(build, "exit 0\n", "--trace", str(tmp_path / "t.dat")),
        env={**os.environ, "VITRINE_QEMU": FAKE, "TMPDIR": str(tmp_path / "scratch")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 126 and "is not there" in done.stderr
    assert os.listdir(tmp_path / "scratch") == []


@pytest.mark.parametrize(
    "fate, most, why",
    [
        ("hang", ("VITRINE_MOST_IDLE", "10"), "the guest has done nothing for 10 s while waiting for"),
        ("compute", ("VITRINE_CPU_PART", "0.001"), "s of CPU time, of 1 while waiting for"),
        ("stay", ("VITRINE_MOST_IDLE", "5"), "the script ended with status 0, and the guest did not power off"),
    ],
)
def test_a_guest_that_is_stuck(build, monkeypatch, fate, most, why):
    """It is told before its time is up, if the environment says so."""
    monkeypatch.setenv(*most)
    done = vrun(build, "exit 0\n", "--timeout", "1000", "--append", fate)
    assert done.returncode == TIMED_OUT and why in done.stderr, done.stderr


def test_patience_is_a_number(build, monkeypatch):
    monkeypatch.setenv("VITRINE_PATIENCE", "much")
    done = vrun(build, "exit 0\n")
    assert done.returncode == 126 and done.stderr == "vrun: VITRINE_PATIENCE=much: a number is wanted\n"


def test_a_monitor_that_nobody_answers_is_closed():
    monitor = tohost.Monitor()
    with pytest.raises(OSError):
        monitor.connect()
    monitor.close()
    assert not os.path.exists(monitor.folder)


def frame(kind, data=b""):
    tail = tohost.HEAD.pack(tohost.MAGIC, 0, ord(kind), len(data))[8:] + data
    return tohost.MAGIC + tohost.zlib.crc32(tail).to_bytes(4, "little") + tail


def test_a_disk_that_is_full_is_told_to_the_guest(tmp_path):
    """More than the receiver may write: a file's end cannot be written when it is closed, either."""
    receiver = tohost.Receiver(str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        receiver.take("N", b"file")
        for _ in range(20):
            receiver.take("D", b"x" * 3000)
        answer = receiver.take("E", b"")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert answer.startswith("no ") and os.listdir(tmp_path) == []


def test_half_a_file_goes_when_the_guest_is_killed(tmp_path):
    ours, theirs = socket.socketpair()
    theirs.sendall(frame("E") + frame("N", b"file") + frame("D", b"half"))
    theirs.close()
    with ours, pytest.raises(OSError):  # the answer has nobody to go to, or what was sent is lost with it
        tohost.Receiver(str(tmp_path)).serve(Late(ours))
    assert os.listdir(tmp_path) == []


class Late:
    """A socket whose other end is killed, and that says so behind what has come."""

    def __init__(self, link):
        self.link = link

    def recv(self, size):
        data = self.link.recv(size)
        if not data:
            raise ConnectionResetError("reset")
        return data

    def sendall(self, data):
        """An answer that nobody reads."""


def test_a_recording_that_fails_is_not_the_one_before(tmp_path):
    (tmp_path / "initramfs").write_bytes(b"")
    (tmp_path / "console.log").write_text("vrun-start-recorded\nold\nvrun-exit-recorded 0\n")
    setup = types.SimpleNamespace(
        initrd=str(tmp_path / "initramfs"), bootconfig=None, argv=lambda *_: [sys.executable, "-c", "exit(3)"]
    )
    recording = vitrine_replay.Recording(setup, str(tmp_path))
    with pytest.raises(vitrine_replay.GuestError, match="ended with status 3 before the guest began"):
        recording.record(b"exit 0\n", [], {}, 100)
    assert not (tmp_path / "argv").exists()


def processes(word):
    """Processes whose command line has this word, zombies left out."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if word.encode() in file.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass  # it has ended meanwhile
    return found


def until(condition, seconds=100):
    """Wait for a condition of the process table; it offers no event to wait on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_nothing_stays_behind(build, number):
    unique = f"word={build}"
    with subprocess.Popen(
        command(build, "exit 0\n", "--append", f"hang {unique}", "--timeout", "500"),
        env={**os.environ, "VITRINE_QEMU": FAKE},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as runner:
        assert until(lambda: len(processes(unique)) >= 2), "vrun and its QEMU"
        runner.send_signal(number)
        runner.wait(100)
    assert until(lambda: not processes(unique)), "QEMU is gone too"


def test_in_the_background_of_a_shell(build):
    """Started with SIGINT and SIGHUP ignored it stays deaf to them, its guest does not; and SIGTERM ends both."""
    unique = f"word={build}"
    words = [
        "sh",
        "-c",
        'trap "" INT HUP; exec "$@"',
        "sh",
        *command(build, "exit 0\n", "--append", f"hang {unique}", "--timeout", "500"),
    ]
    with subprocess.Popen(
        words,
        env={**os.environ, "VITRINE_QEMU": FAKE},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as runner:

        def hears(pid):
            """SIGINT. vrun's other children come and go."""
            try:
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    ignored = int(next(line for line in file if line.startswith("SigIgn")).split()[1], 16)
            except (FileNotFoundError, ProcessLookupError):
                return False
            return not ignored & 1 << signal.SIGINT - 1

        heard = until(lambda: any(hears(pid) for pid in processes(unique) if pid != runner.pid))
        runner.send_signal(signal.SIGINT)
        runner.send_signal(signal.SIGHUP)
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(100) == 128 + signal.SIGTERM and heard, "QEMU has SIGINT's default"
    assert until(lambda: not processes(unique)), "QEMU is gone too"


def test_no_guest_after_a_normal_run(build):
    unique = f"word={build}"
    assert vrun(build, "exit 0\n", "--append", unique).returncode == 0
    assert not processes(unique)


@pytest.mark.parametrize("given, wanted", [((), 0), (("ICOUNT=0",), 0), (("ICOUNT=1",), 3)])
def test_make_hands_icount_on(given, wanted):
    for machine in MACHINES.values():
        goals = [f"{goal}-{machine.goal}" for goal in ("qemu", "run", "gdb")]
        done = subprocess.run(
            ["make", "-n", "-o", "deps-run", "-o", machine.goal, *goals, "SCRIPT=x", *given],
            text=True,
            cwd=os.path.join(HERE, "../../.."),
            capture_output=True,
            check=True,
        )
        assert done.stdout.split().count("--icount") == wanted, done.stdout


def test_as_many_cpus_as_the_kernel_has_places_for():
    with open(os.path.join(HERE, "../../../include/kernel/smp.h"), encoding="utf-8") as header:
        assert f"#define NR_CPUS {MAX_CPUS}\n" in header.read()


@pytest.mark.parametrize(
    "goal, right",
    [
        ("qemu-x86", "qemu-x86_64"),
        ("run-x86-64", "run-x86_64"),
        ("x86", "x86_64"),
        ("amd64", "x86_64"),
        ("aarch64", "arm64"),
        ("qemu-aarch64", "qemu-arm64"),
    ],
)
def test_a_machine_by_another_name_in_a_goal(goal, right):
    done = subprocess.run(["make", goal], text=True, cwd=os.path.join(HERE, "../../.."), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f" {goal}: goals call this machine {right.rpartition('-')[2]}: make {right}." in done.stderr


def rules(*given):
    """All that make knows with these words."""
    words = ["make", "-n", "-p", "help", *given]
    return subprocess.run(words, text=True, cwd=os.path.join(HERE, "../../.."), capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "given, variant",
    [
        ((), ""),
        (("BRANCH=1",), "-branch"),
        (("BRANCH=all",), "-branch-all"),
        (("CORE=1",), "-core"),
        (("CORE=1", "WITH=hist trace/synth"), "-core-with-hist-trace_synth"),
        (("WITHOUT=noise", "BRANCH=1"), "-branch-without-noise"),
        (("NOPG=1",), "-nopg"),
    ],
)
def test_make_runs_the_kernel_that_it_builds(given, variant):
    """And builds the full one first, whose programs each runs."""
    for arch, machine in MACHINES.items():
        goals = [f"{goal}-{machine.goal}" for goal in ("qemu", "run", "gdb", "attach", "replay", "console")]
        done = subprocess.run(
            ["make", "-n", "-o", "deps-run", "-o", machine.goal, *goals, "SCRIPT=x", *given],
            text=True,
            cwd=os.path.join(HERE, "../../.."),
            capture_output=True,
            check=True,
        )
        said = done.stdout.split()
        folders = re.findall(r"--build (\S+)", done.stdout)
        assert said.count("tools/vrun") == 6 and folders == [f"build/{arch}{variant}"] * (6 if variant else 0)
        assert bool(re.search(rf"(?m)^{machine.goal}:.* full-{machine.goal}\b", rules(*given))) == bool(variant)


def test_make_hands_files_on():
    for machine in MACHINES.values():
        words = ["make", "-n", "-o", "deps-run", "-o", machine.goal, "SCRIPT=x", "FILES=a:/b c:/d", "OUT=dir"]
        for goal, wanted in (
            ("qemu", "--file a:/b --file c:/d --out dir"),
            ("run", "--file a:/b --file c:/d"),
            ("console", ""),
        ):
            done = subprocess.run(
                [*words, f"{goal}-{machine.goal}"],
                text=True,
                cwd=os.path.join(HERE, "../../.."),
                capture_output=True,
                check=True,
            )
            line = next(line for line in done.stdout.splitlines() if "tools/vrun" in line)
            given = " ".join(re.findall(r"--(?:file|out) \S+", line.replace("'", "")))
            assert given == wanted, line
