"""The Guest class in an interactive session, with a stand-in for QEMU."""

import os

import pytest
from vitrine_guest import PANICKED, TIMED_OUT, Guest, GuestError

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_qemu.py")


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "Image").write_bytes(b"")
    (tmp_path / "initramfs.cpio").write_bytes(b"")
    return {"build": str(tmp_path), "qemu": FAKE, "append": "shell", "timeout": 20}


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


def test_silence_is_a_time_out(settings):
    with Guest(**{**settings, "timeout": 1}) as guest:
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


def test_unknown_machine_and_missing_build(settings):
    with pytest.raises(GuestError, match="no machine 'vax'"):
        Guest(**{**settings, "arch": "vax"})
    with pytest.raises(GuestError, match="make arm64 builds it"):
        Guest(**{**settings, "build": "/nonexistent"})
