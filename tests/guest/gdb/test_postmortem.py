"""What is said of a guest that hangs (tests/postmortem.py)."""

import re
import time

import pytest
from vitrine_guest import GuestError
from vitrine_lifetime import Lifetime, processor_seconds


def test_of_a_hang(machine):
    with machine.guest(smp=2, timeout=100) as guest:
        guest.run("sleep 4711 & until grep -q nanosleep /proc/$!/stack; do usleep 1000; done")
        guest.life.deadline = time.monotonic() + 2
        with pytest.raises(GuestError, match=r"time is up \(\d+ s\) while waiting for 'never'") as raised:
            guest.expect("never")
        said = str(raised.value)
        assert "VM status: running" in said
        assert len(re.findall(r"^CPU#\d", said, re.M)) == 2, said
        assert re.search(r"^#\d .*\bwait_for_interrupt \(", said, re.M), said  # where an idle CPU stands
        assert re.search(r"^ +\d+ +\d+ +\d+ +\d S other +120 sleep ", said, re.M), said  # vt-ps
        assert len(re.findall(r"^CPU \d: {.*\bnext_event = \d+", said, re.M)) == 2, said  # vt-percpu
        # Of Arm's comparators one is on, for the sleep.
        assert machine.arch != "aarch64" or re.search("^0x1 0x[0-9a-f]+$", said, re.M), said
        assert re.search(r"^task:sleep +state:S (.*\n)*? do_nanosleep\+", said, re.M), said  # vt-bt all


def test_of_a_guest_that_waits_for_ever(machine, monkeypatch):
    """It is not waited for until its time is up; one that computes, or sleeps less, is."""
    monkeypatch.setenv("VITRINE_MOST_IDLE", "4")
    monkeypatch.setattr(Lifetime, "WATCH", 1)
    with machine.guest(smp=2, timeout=1000) as guest:
        guest.run("sleep 2; cat /dev/zero > /dev/null & sleep 6; kill $!; wait")
        guest.send("echo so far; mknod /tmp/p p; cat /tmp/p\n")
        guest.expect("so far")
        with pytest.raises(GuestError, match="the guest has done nothing for 4 s while waiting for 'never'") as raised:
            guest.expect("never")
        assert re.search(r"^ +\d+ +\d+ +\d+ +\d S other +120 cat ", str(raised.value), re.M), raised.value


def test_of_a_guest_that_computes_for_ever(machine, monkeypatch):
    """It is told by the CPU time of its QEMU; a host that is busy does not make it use more."""
    monkeypatch.setattr(Lifetime, "WATCH", 1)
    with machine.guest(smp=2, timeout=1000) as guest:
        guest.life.most_cpu = processor_seconds(guest.child.pid) + 3
        guest.send("while :; do :; done\n")
        with pytest.raises(
            GuestError, match="has used . s of CPU time, of [0-9.]+ while waiting for 'never'"
        ) as raised:
            guest.expect("never")
        assert re.search(r"^ +\d+ +\d+ +\d+ +\d R other +120 sh ", str(raised.value), re.M), raised.value
