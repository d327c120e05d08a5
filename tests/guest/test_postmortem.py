"""What is said of a guest that hangs (tests/postmortem.py)."""

import re
import time

import pytest
from vitrine_guest import GuestError


def test_of_a_hang(machine):
    with machine.guest(smp=2, timeout=100) as guest:
        guest.run("sleep 4711 & until grep -q nanosleep /proc/$!/stack; do usleep 1000; done")
        guest.deadline = time.monotonic() + 2
        with pytest.raises(GuestError, match=r"time is up \(\d+ s\) while waiting for 'never'") as raised:
            guest.expect("never")
        said = str(raised.value)
        assert "VM status: running" in said
        assert len(re.findall(r"^CPU#\d", said, re.M)) == 2, said
        assert re.search(r"^#\d .*\bwait_for_interrupt \(", said, re.M), said  # where an idle CPU stands
        assert re.search(r"^ +\d+ +\d+ +\d+ +\d S other +120 sleep ", said, re.M), said  # vt-ps
        assert re.search(r"^task:sleep +state:S (.*\n)*? do_nanosleep\+", said, re.M), said  # vt-bt all
