"""The Guest class in an interactive session, with a stand-in for QEMU."""

import contextlib
import os
import subprocess
import time

import pytest
from machines import params
from vitrine_guest import (
    MACHINES,
    NO_STATUS,
    PANICKED,
    TIMED_OUT,
    Guest,
    GuestError,
    Setup,
    console_stdio,
    die_with_parent,
)
from vitrine_lifetime import Lifetime

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_qemu.py")


@pytest.fixture(params=params())
def settings(tmp_path, request):
    arch = request.param.arch
    (tmp_path / MACHINES[arch].kernel).write_bytes(b"")
    (tmp_path / "initramfs.cpio").write_bytes(b"")
    return {"arch": arch, "build": str(tmp_path), "qemu": FAKE, "append": "shell", "timeout": 100}


def test_commands_give_status_and_output(settings):
    with Guest(**settings) as guest:
        assert guest.run("echo one; echo two") == (0, "one\ntwo\n")
        assert guest.run("false") == (1, "")
        assert guest.run("(exit 42)") == (42, "")
        assert guest.run("sleep 0 &")[0] == 0
        assert guest.run("printf 'no newline'") == (0, "no newline")
        assert "booting" in guest.console


def test_typing_and_expecting(settings):
    with Guest(**settings) as guest:
        guest.send("cat\n")
        guest.send("abc\n")
        guest.expect("abc\r?\nabc\r?\n")  # the echo, then cat's
        guest.send("\x03")
        guest.expect(guest.PROMPT)
        assert guest.run("echo alive") == (0, "alive\n")


def test_turns_where_there_are_any(settings):
    plain = {key: value for key, value in settings.items() if key != "timeout"}
    for more, wanted in (
        ({"smp": 4, "icount": True}, True),
        ({"smp": 1, "icount": True}, False),
        ({"smp": 4}, False),
        ({"smp": 4, "icount": True, "turn": 0}, False),
        ({"smp": 4, "icount": True, "turn": 10}, True),
    ):
        words = " ".join(Setup(**plain, **more).command)
        assert ("filter-buffer" in words) == wanted, more
        assert f"interval={more.get('turn', 1000)}" in words or not wanted


def test_silence_is_a_time_out(settings):
    with Guest(**settings) as guest:
        guest.life.deadline = time.monotonic() + 1
        with pytest.raises(GuestError, match="time is up") as caught:
            guest.expect("never")
        assert caught.value.status == TIMED_OUT


def test_a_panic_is_told_apart(settings):
    with Guest(**settings) as guest:
        guest.send("echo 'Kernel panic'' - not syncing: x'; echo '---[ end Kernel panic'; cat\n")
        with pytest.raises(GuestError, match="the guest panicked") as caught:
            guest.expect("never")
        assert caught.value.status == PANICKED


def test_closing_ends_it(settings):
    guest = Guest(**settings)
    child = guest.child.pid
    guest.close()
    guest.close()  # a second time does nothing
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_more_patience(settings, monkeypatch):
    monkeypatch.setenv("VITRINE_PATIENCE", "2.5")
    with Guest(**settings) as guest:
        assert guest.life.seconds == 250 and 200 < guest.life.deadline - time.monotonic() <= 250


def test_a_guest_that_the_host_does_not_let_run(monkeypatch):
    """It has used no CPU time either, but it is not stuck."""
    monkeypatch.setattr(Lifetime, "WATCH", 1)
    monkeypatch.setenv("VITRINE_MOST_IDLE", "2")
    cpu = {min(os.sched_getaffinity(0))}
    busy = ["sh", "-c", "while :; do :; done"]

    def behind_all_others():
        os.sched_setaffinity(0, cpu)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    def why(process, seconds):
        life = Lifetime(seconds)
        for portion in life.portions(process.pid):
            time.sleep(portion)
        return life.why

    with contextlib.ExitStack() as stack:
        first, last, asleep = (
            stack.enter_context(subprocess.Popen(words, preexec_fn=before))
            for words, before in (
                (busy, lambda: os.sched_setaffinity(0, cpu)),
                (busy, behind_all_others),
                (["sleep", "1000"], None),
            )
        )
        for process in (first, last, asleep):
            stack.callback(process.kill)
        assert why(last, 6) == "time is up (6 s)"
        assert why(asleep, 600) == "the guest has done nothing for 2 s"


def test_a_child_of_who_has_gone_already():
    """Who is killed between fork and what the child asks of the kernel leaves no guest behind."""
    ours, its = os.pipe()
    parent = os.fork()
    if parent == 0:
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent:
                time.sleep(0.01)
            die_with_parent(parent)
            os.write(its, b"it lives")
        os._exit(0)
    os.waitpid(parent, 0)
    os.close(its)
    with os.fdopen(ours, "rb") as said:
        assert said.read() == b""


def test_unknown_machine_and_missing_build(settings):
    with pytest.raises(GuestError, match="no machine 'vax'"):
        Guest(**{**settings, "arch": "vax"})
    with pytest.raises(GuestError, match=f"make {MACHINES[settings['arch']].goal} builds it"):
        Guest(**{**settings, "build": "/nonexistent"})


def settings_of(settings, **more):
    """Setup's keywords among Guest's."""
    return Setup(**{key: settings[key] for key in ("arch", "build")}, **more)


def test_every_machine_ends_by_status_and_never_reboots(settings):
    argv = settings_of(settings).argv(console_stdio())
    assert "-no-reboot" in argv and set(MACHINES[settings["arch"]].exit_device) <= set(argv)


def test_every_interrupt_controller_and_cpu_can_be_chosen(settings):
    for irqchip, (board, cpu) in MACHINES[settings["arch"]].irqchips.items():
        argv = settings_of(settings, irqchip=irqchip, cpu="max", board="b").argv(console_stdio())
        assert argv[argv.index("-M") + 1] == "b" + board and argv[argv.index("-cpu") + 1] == "max" + cpu


def test_no_initrd(settings):
    assert "-initrd" not in settings_of(settings, initrd="").argv(console_stdio())


def test_an_image_has_its_own_command_line_and_files(settings):
    boots = [boot for boot in MACHINES[settings["arch"]].boots if boot != "kernel"]
    for boot in boots:
        with pytest.raises(GuestError, match="make iso builds it"):
            settings_of(settings, boot=boot)
    with open(os.path.join(settings["build"], "vitrine.iso"), "wb"):
        pass
    for boot in boots:
        argv = settings_of(settings, boot=boot).argv(console_stdio())
        assert "-kernel" not in argv and any("vitrine.iso" in word for word in argv)
        with pytest.raises(GuestError, match="make iso APPEND=") as caught:
            settings_of(settings, boot=boot, append="quiet")
        assert caught.value.status == NO_STATUS
        with pytest.raises(GuestError, match="its own files"):
            settings_of(settings, boot=boot).argv(console_stdio(), append="quiet")


def test_ports_are_words_for_qemu(settings, tmp_path):
    file = tmp_path / "a,b"
    argv = settings_of(settings, ports={"one": str(file), "two,three": "socket:s"}).argv(console_stdio())
    assert file.read_bytes() == b""
    assert set(MACHINES[settings["arch"]].ports[:-1]) <= set(argv) and any(
        word.endswith(",max_ports=3") for word in argv
    )
    assert f"file,path={tmp_path}/a,,b,id=port0" in argv and "socket,server=on,wait=off,path=s,id=port1" in argv
    assert "virtserialport,chardev=port1,id=port1,name=two,,three" in argv
    with pytest.raises(GuestError, match="31 ports: there can be 30"):
        settings_of(settings, ports={str(number): "socket:s" for number in range(31)})
