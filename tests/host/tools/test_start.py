"""A start on any computer: what is said of a QEMU that is too old, missing, silent, or that ends before the guest begins.
Stand-ins are QEMU."""

import os
import signal
import subprocess
import sys
import time

import pytest
import vitrine_lifetime
import vitrine_qemu
import vitrine_session
from machines import params
from vitrine_gdb import find_gdb
from vitrine_guest import MACHINES, Guest, GuestError, cpio_archive
from vitrine_lifetime import Lifetime, Silence, can_run, processor_seconds
from vitrine_replay import Recording

HERE = os.path.dirname(os.path.abspath(__file__))
VRUN = os.path.join(HERE, "../../../tools/vrun")
FAKE = os.path.join(HERE, "fake_qemu.py")


@pytest.fixture(params=params())
def build(tmp_path, request):
    """A build folder of each machine, whose name is the folder's."""
    folder = tmp_path / request.param.arch
    folder.mkdir()
    (folder / MACHINES[folder.name].kernel).write_bytes(b"")
    (folder / "initramfs.cpio").write_bytes(cpio_archive({}))
    (folder / "script.sh").write_text("echo seen\nexit 7\n")
    return folder


def stand_in(folder, version, otherwise, name="qemu-system-x"):
    """A program that says this version, notes that it was asked, and else does what a line of shell says."""
    path = folder / name
    asked = f'[ "$*" != --version ] || {{ echo asked >> {folder}/asked; echo "{version}"; exit; }}'
    path.write_text(f"#!/bin/sh\n{asked}\n{otherwise}\n")
    path.chmod(0o755)
    return str(path)


def vrun(build, qemu, *options, script=True, path=None):
    command = [sys.executable, VRUN, "--arch", build.name, "--build", str(build), *options]
    environment = {**os.environ, "VITRINE_QEMU": qemu, "PATH": path or os.environ["PATH"]}
    return subprocess.run(
        [*command, *([build / "script.sh"] if script else ["--interactive"])],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("version", ["4.2.1", "6.2.0 (Debian 1:6.2+dfsg-2ubuntu6.22)", "7.1.94"])
def test_an_old_qemu_is_told_once_it_is_asked(build, version):
    """It is tried all the same. The second run has the answer of the first."""
    qemu = stand_in(build, f"QEMU emulator version {version}", f'exec {FAKE} "$@"')
    for _ in range(2):
        done = vrun(build, qemu)
        assert (done.returncode, done.stdout) == (7, "seen\n")
        said = f"vrun: qemu-system-x (version {version.split()[0]}) is too old, 7.2 or later is needed: "
        assert done.stderr.startswith(said) and done.stderr.count("\n") == 1 and "docs/hosts.md" in done.stderr
    assert (build / "asked").read_text() == "asked\n"
    # Another file is asked again.
    stand_in(build, "QEMU emulator version 7.10.0 or so", f'exec {FAKE} "$@"')
    assert vrun(build, qemu).stderr == ""


@pytest.mark.parametrize(
    "version", ["QEMU emulator version 7.2.22 (Debian 1:7.2)", "QEMU emulator version 11.0.1", "hm"]
)
def test_a_newer_qemu_and_what_is_none_are_not_spoken_of(build, version):
    assert vrun(build, stand_in(build, version, f'exec {FAKE} "$@"')).stderr == ""


def test_what_to_install_is_the_systems_own_package(build, tmp_path):
    for machine in MACHINES.values():
        stand_in(tmp_path, "QEMU emulator version 5.2.0", "exit 1", machine.qemu)
    for manager, words in (("apt-get", "apt-get install qemu-system-arm"), ("brew", "brew install qemu")):
        (tmp_path / manager).write_text("")
        (tmp_path / manager).chmod(0o755)
        command = [sys.executable, os.path.join(HERE, "../../../tools/vitrine_qemu.py")]
        done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True)
        lines = done.stderr.splitlines()
        assert (
            len(lines) == 2
            and f"deps: qemu-system-aarch64 (version 5.2.0) is too old, 7.2 or later is needed: {words} " in lines[0]
        )
        (tmp_path / manager).unlink()
    done = vrun(build, "/nonexistent/qemu-system-aarch64", path=str(tmp_path))
    assert done.returncode == 126
    assert "cannot start /nonexistent/qemu-system-aarch64: No such file or directory: install QEMU 7.2" in done.stderr


def test_a_script_whose_guest_is_not_heard(build, monkeypatch):
    """By the CPU time that QEMU uses, or because it uses none; once."""
    monkeypatch.setattr(Lifetime, "WATCH", 0.2)
    for fate, most, said in (
        (
            "compute",
            ("MOST_CPU", 0.3),
            "s of QEMU's CPU time. This is fake_qemu.py (version 99.0.0): try it without CPU=",
        ),
        ("hang", ("MOST_IDLE", 1), "s in which QEMU has done nothing. This is fake_qemu.py"),
    ):
        with monkeypatch.context() as short:
            for name, value in (("MOST_CPU", 1000), ("MOST_IDLE", 1000), most):
                short.setattr(Silence, name, value)
            heard = []
            short.setattr(Guest, "on_silence", staticmethod(heard.append))
            with Guest(
                arch=build.name, build=str(build), qemu=FAKE, append=fate, timeout=300, wait_prompt=False
            ) as guest:
                for portion in guest.life.portions(guest.child.pid):
                    guest.child.expect(["never"], portion)
                    guest._listen()
                    if heard:
                        break
                for _ in range(5):
                    guest._listen()
        assert len(heard) == 1 and heard[0].startswith("nothing was heard from the guest in ") and said in heard[0]
        assert heard[0].endswith("; docs/hosts.md")


def test_a_guest_that_has_said_something_may_be_silent(build, monkeypatch):
    monkeypatch.setattr(Silence, "look", lambda self: "in no time")
    monkeypatch.setattr(Guest, "on_silence", staticmethod(lambda line: pytest.fail(line)))
    with Guest(
        arch=build.name, build=str(build), qemu=FAKE, append="chatter hang", timeout=300, wait_prompt=False
    ) as guest:
        guest.expect("a boot message")
        guest._listen()


class Session:
    """run_session() with a stand-in for QEMU, a line of shell that may read QEMU's words; the first line about it ends
    it."""

    def __init__(self, folder, monkeypatch, line, *words, **more):
        self.lines = []
        pid = folder / "pid"
        monkeypatch.setattr(vitrine_session, "LOOK", 0.1)

        def say(text):
            self.lines.append(text)
            try:
                os.kill(int(pid.read_text()), signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself

        monkeypatch.setattr(vitrine_session, "say", say)
        qemu = stand_in(folder, "QEMU emulator version 4.2.1", f"echo $$ > {pid}.part; mv {pid}.part {pid}; {line}")
        self.status = vitrine_session.run_session(lambda console: [qemu, *console, *words], **more)


def test_a_session_whose_guest_is_not_heard(tmp_path, monkeypatch):
    monkeypatch.setattr(Silence, "MOST_IDLE", 1)
    session = Session(tmp_path, monkeypatch, "exec sleep 1000")
    assert session.status == 128 + signal.SIGKILL and len(session.lines) == 1
    assert session.lines[0].startswith("nothing was heard from the guest in 1 s in which QEMU has done nothing. ")
    assert "This is qemu-system-x (version 4.2.1): version 7.2 or later is needed: " in session.lines[0]
    assert session.lines[0].endswith("; docs/hosts.md (Ctrl-A x ends QEMU)")
    monkeypatch.setattr(Silence, "MOST_IDLE", 1000)
    monkeypatch.setattr(Silence, "MOST_CPU", 0.3)
    session = Session(tmp_path, monkeypatch, "while :; do :; done")
    assert len(session.lines) == 1 and "s of QEMU's CPU time. This is" in session.lines[0]


# QEMU ignores SIGPIPE.
COPY = 'trap "" PIPE; copy=${2##*logfile=}; echo "the guest" > "$copy"; echo "still there"; sleep 2; echo "and here" > "$copy"; exit 5'


@pytest.mark.parametrize("line, words", [(COPY, ()), ("sleep 2; exit 5", ("-S",))])
def test_a_session_that_may_be_silent(tmp_path, monkeypatch, capfd, line, words):
    """Its guest has said something, after which nobody reads the copy any more; or it waits for a debugger."""
    monkeypatch.setattr(Silence, "MOST_IDLE", 0.3)
    session = Session(tmp_path, monkeypatch, line, *words)
    assert (session.status, session.lines) == (5, [])
    assert capfd.readouterr().out == ("" if words else "still there\n")


# Stands in for QEMU and a guest at its prompt, whose second word is what is wrong with it.
TYPED = """
import os, sys
fate, line, mode = sys.argv[2], "", "$ "
out = os.open(sys.argv[1].split("logfile=")[1], os.O_WRONLY)
def show(text):
    for where in (1, out):
        os.write(where, text.encode())
show("booting\\r\\n" + ("[    0.1] Kernel panic - not syncing: a reason\\r\\n---[ end Kernel panic - not syncing: a reason ]---\\r\\n" if "panic" in fate else ""))
if fate == "ends in panic":
    sys.exit(0)
show("" if fate in ("panic", "no prompt") else "\\r\\n$ ")
while key := os.read(0, 1).decode():
    if key == "\\3" and fate != "deaf":
        mode = "$ "
        show("^C\\r\\n$ ")
    if key >= " ":
        line += key
    if key != "\\n" or fate == "panic":
        continue
    typed, line = line, ""
    if typed == "poweroff" and mode == "$ ":
        sys.exit(0)
    mode = {"open quote": "> ", "runs on": "", "deaf": "", "no prompt": ""}.get(fate, mode)
    show(f"\\r\\n{mode}")
"""


@pytest.mark.parametrize(
    "fate, status, said",
    [
        ("none", 0, []),
        ("open quote", 0, []),
        ("runs on", 0, []),
        ("shows a panic", 0, []),
        ("no prompt", 0, []),
        ("deaf", 124, ["the input has ended, and the guest does not power off, for all of ^C and ^D"]),
        ("panic", 125, ["the guest panicked: Kernel panic - not syncing: a reason"]),
        ("ends in panic", 125, ["the guest panicked: Kernel panic - not syncing: a reason"]),
    ],
)
def test_a_typed_session_ends(tmp_path, monkeypatch, fate, status, said):
    """Whatever is typed and whatever becomes of the guest: with poweroff, with ^C before it, or with a line."""
    monkeypatch.setattr(vitrine_session.Typist, "INTERRUPTED", (0.5, 0.5))
    monkeypatch.setattr(Guest, "SILENCE", 0.5)
    (tmp_path / "typed.py").write_text(TYPED)
    (tmp_path / "input").write_text('echo "abc\n')
    kept = os.dup(0)
    with open(tmp_path / "input", "rb") as typed:
        os.dup2(typed.fileno(), 0)
    try:
        session = Session(
            tmp_path, monkeypatch, f"exec {sys.executable} {tmp_path}/typed.py \"$2\" '{fate}'", seconds=1
        )
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert (session.status, session.lines) == (status, said)


# What QEMU 7.2 says, and a word of the line that follows.
GIVES_UP = [
    ("qemu: could not load PC BIOS 'qboot.rom'", "QEMU's own firmware is missing"),
    ("qemu: could not load PC BIOS '/usr/share/ovmf/OVMF.fd'", "package is ovmf"),
    ("qemu-system-x: unsupported machine type\nUse -machine help to list supported machines", "has no such board"),
    ("qemu-system-x: unable to find CPU model 'none'", "`-cpu help`"),
    ("qemu-system-x: cannot set up guest memory 'mach-virt.ram': Cannot allocate memory", "a smaller MEM="),
    (
        "qemu-system-x: -device virtio-9p-pci,fsdev=f: 'virtio-9p-pci' is not a valid device model name",
        "without SHARE=",
    ),
    ("qemu-system-x: -netdev user,id=turns: Parameter 'type' expects a netdev backend type", "user networking"),
    ("qemu-system-x: -accel kvm: failed to initialize kvm: Permission denied", "ACCEL=tcg"),
    ("qemu-system-x: error while loading shared libraries: libfdt.so.1: cannot open", "install it again"),
    ("qemu-system-x: Property 'virt-4.2-machine.x' not found", "7.2 or later is needed"),
    ("qemu-system-x: the moon is full", "what it says is above"),
]


@pytest.mark.parametrize("words, help_", GIVES_UP)
def test_a_qemu_that_gives_up_is_followed_by_what_helps(tmp_path, words, help_):
    """In a session and in a script's run alike; its warnings are no reason."""
    build = tmp_path / "x86_64"
    build.mkdir()
    for name in (MACHINES["x86_64"].kernel, "initramfs.cpio", "script.sh"):
        (build / name).write_text("")
    warning = "qemu-system-x: warning: TCG does not support requested feature"
    qemu = stand_in(tmp_path, "QEMU emulator version 8.2.2", f'echo "{warning}\n{words}" >&2; exit 1')
    line = "vrun: qemu-system-x (version 8.2.2) ended with status 1 before the guest began: "
    for script in (False, True):
        done = vrun(build, qemu, script=script)
        assert done.returncode == (126 if script else 1)
        assert words in (done.stdout if script else done.stderr)
        last = done.stderr.splitlines()[-1]
        assert last.startswith(line) and help_ in last and last.endswith("; docs/hosts.md")


def test_a_warning_is_not_the_guest():
    warning = "qemu-system-x: warning: TCG does not support requested feature\r\n"
    for console, wanted in (
        (warning, ("", "")),
        (f"{warning}[    0.0] booting\r\nqemu-system-x: no\r\n", ("[    0.0] booting\r\nqemu-system-x: no\r\n", "")),
        (f"{warning}qemu: no\r\n", ("", "qemu: no\r\n")),
    ):
        assert vitrine_qemu.told_apart(console, "/usr/bin/qemu-system-x") == wanted


def test_a_host_without_proc_asks_ps(monkeypatch):
    """As macOS is."""
    monkeypatch.setattr(vitrine_lifetime, "PROC", "/nonexistent")
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy, subprocess.Popen(["sleep", "1000"]) as asleep:
        try:
            while processor_seconds(busy.pid) < 1:
                assert can_run(busy.pid)
                time.sleep(0.1)
            while can_run(asleep.pid):
                time.sleep(0.1)
            assert processor_seconds(asleep.pid) == 0
        finally:
            busy.kill()
            asleep.kill()
    assert not processor_seconds(asleep.pid) >= 0 and not can_run(asleep.pid), "it has ended"


def test_the_debugger_is_that_of_the_system(tmp_path, monkeypatch):
    """Homebrew has one for each machine; Debian's knows both, and is preferred."""
    machine = MACHINES["aarch64"]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GDB", raising=False)
    with pytest.raises(GuestError, match="gdb-multiarch is not there: install it"):
        find_gdb(machine)
    (tmp_path / "brew").write_text("")
    (tmp_path / "brew").chmod(0o755)
    with pytest.raises(GuestError, match="gdb-multiarch is not there: brew install aarch64-elf-gdb"):
        find_gdb(machine)
    for name in ("gdb", "aarch64-elf-gdb", "gdb-multiarch"):
        stand_in(tmp_path, "", "echo 'The target architecture is set to \"aarch64\".'", name)
        assert find_gdb(machine) == name
    (tmp_path / "gdb-multiarch").unlink()
    stand_in(tmp_path, "", "echo 'Undefined item: \"aarch64\".'", "aarch64-elf-gdb")
    with pytest.raises(GuestError, match="aarch64-elf-gdb knows no arm64: brew install aarch64-elf-gdb"):
        find_gdb(machine)


@pytest.mark.parametrize("options, script", [((), True), ((), False), (("--replay", "/nonexistent/gdb"), True)])
def test_what_cannot_be_started_is_told(build, options, script):
    """A script's run, a session, a recording."""
    done = vrun(build, "/nonexistent/qemu", *options, script=script)
    assert done.returncode == 126
    assert "vrun: cannot start /nonexistent/qemu: No such file or directory: install QEMU 7.2" in done.stderr


def test_a_recording_whose_guest_is_not_heard(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Lifetime, "WATCH", 0.2)
    monkeypatch.setattr(Silence, "MOST_IDLE", 0.5)
    for heard in (False, True):
        (tmp_path / "console.log").write_text("booting" if heard else "")
        with subprocess.Popen([stand_in(tmp_path, "QEMU emulator version 8.1.0", "exec sleep 1000"), "x"]) as qemu:
            Recording._wait(qemu, 3, str(tmp_path / "console.log"))
            qemu.kill()
        said = capsys.readouterr().err
        assert said.count("nothing was heard from the guest in") == (not heard) and "time is up (3 s): the rec" in said


def test_a_session_that_is_ended_from_outside_ends_its_qemu(build):
    qemu = stand_in(
        build,
        "QEMU emulator version 9.0.0",
        f"echo $$ > {build}/pid.part; mv {build}/pid.part {build}/pid; exec sleep 1000",
    )
    command = [sys.executable, VRUN, "--arch", build.name, "--build", str(build), "--interactive"]
    for number, status in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)):
        environment = {**os.environ, "VITRINE_QEMU": qemu}
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as session:
            while not (build / "pid").exists():
                assert session.poll() is None
                time.sleep(0.02)
            pid = int((build / "pid").read_text())
            (build / "pid").unlink()
            session.send_signal(number)
            assert session.wait(100) == status
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.02)


def test_a_replayed_or_debugged_guest_has_the_same_reasons(build):
    """GuestError's of Guest itself, which all tools share."""
    qemu = stand_in(build, "QEMU emulator version 8.0.0", "echo 'qemu-system-x: unsupported machine type'; exit 1")
    with pytest.raises(GuestError, match="ended with status 1 before the guest began: it has no such board"):
        Guest(arch=build.name, build=str(build), qemu=qemu)
