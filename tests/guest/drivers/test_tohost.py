"""Files into a session and out of it: tools/vrun --interactive with --file and --out, the guest's tohost; and a session
without a terminal."""

import os
import re
import subprocess
import sys
import time

import pexpect
import pytest
from vitrine_guest import ROOT, Guest

VRUN = os.path.join(ROOT, "tools/vrun")


def words(machine, *more):
    return [VRUN, "--arch", machine.arch, "--interactive", *more]


class Session:
    """vrun --interactive on a terminal of ours."""

    def __init__(self, machine, *more):
        self.child = pexpect.spawn(
            sys.executable, words(machine, *more), timeout=300, echo=False, encoding="utf-8", dimensions=(25, 200)
        )
        self.child.delaybeforesend = None
        self.child.expect(Guest.PROMPT)

    def run(self, command):
        """(status, output) of a line."""
        self.child.send(f'echo "be""gin"; {command}; echo "en""d:$?"\n')
        self.child.expect(r"begin\r+\n(.*)end:(\d+)\r+\n")  # QEMU's own terminal adds one
        status, output = int(self.child.match[2]), re.sub("\r+\n", "\n", self.child.match[1])
        self.child.expect(Guest.PROMPT)
        return status, output


def receivers_of(pid):
    """Processes that have this parent, a vrun, and are not its QEMU."""
    found = []
    for one in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{one}/stat", encoding="ascii", errors="replace") as file:
                name, rest = file.read().rsplit(")", 1)
            if int(rest.split()[1]) == pid and "(qemu" not in name:
                found.append(int(one))
        except OSError:
            pass  # it has ended meanwhile
    return found


def test_files_into_a_session_and_out(machine, tmp_path):
    data = bytes(range(256)) * 4000 + b"end"
    (tmp_path / "in").write_bytes(data)
    (tmp_path / "in").chmod(0o750)
    out = tmp_path / "out"
    (tmp_path / "目录").mkdir()
    (tmp_path / "目录" / "文件").write_text("你好\n", encoding="utf-8")
    session = Session(
        machine, "--file", f"{tmp_path}/目录:/root/目录", "--file", f"{tmp_path}/in:/root/deep/in", "--out", str(out)
    )
    receiver = receivers_of(session.child.pid)
    assert len(receiver) == 1
    assert session.run("stat -c %a /root/deep/in; wc -c < /root/deep/in") == (0, f"750\n{len(data)}\n")
    assert session.run("cp /root/deep/in /tmp/trace.dat; tohost /tmp/trace.dat") == (
        0,
        f"/tmp/trace.dat: {len(data)} bytes, on the host {out}/trace.dat\n",
    )
    assert (out / "trace.dat").read_bytes() == data
    assert session.run("cat /root/目录/文件; dmesg | grep -c initramfs.*damaged")[1] == "你好\n0\n"
    assert session.run("tohost /root/目录/文件")[0] == 0 and (out / "文件").read_text(encoding="utf-8") == "你好\n"
    (out / "文件").unlink()
    # Files of /proc have no size; several; what is not there.
    status, said = session.run("tohost /proc/version /nosuch /tmp /etc/rc")
    assert status == 1 and said.splitlines()[1:3] == [
        "tohost: /nosuch: No such file or directory",
        "tohost: /tmp: Is a directory",
    ]
    assert (out / "version").read_text().startswith("Vitrine version") and (out / "rc").exists()
    # One that is killed in the middle of a frame, and ^C: the next is whole, nothing of theirs stays.
    session.run("tohost /dev/zero & sleep 0.2; kill -9 $!; wait; printf '\\1VTH0123456\\7' > /dev/virtio-ports/tohost")
    assert session.run("tohost /etc/rc")[0] == 0
    session.child.send("tohost /dev/zero\n")
    end = time.monotonic() + 200
    while not any(one.stat().st_size for one in out.glob(".tohost-*")):  # only then is it sure to be in the foreground
        assert time.monotonic() < end, "nothing comes"
        time.sleep(0.01)
    session.child.send("\x03")
    session.child.expect(Guest.PROMPT)
    assert session.run("echo $?; tohost /etc/rc; stty size")[0] == 0
    assert sorted(one.name for one in out.iterdir()) == ["rc", "trace.dat", "version"]
    # A folder of that name on the host.
    (out / "hosts").mkdir()
    status, said = session.run("echo x > /tmp/hosts; tohost /tmp/hosts")
    assert status == 1 and re.search(r"tohost: /tmp/hosts: .*Is a directory", said), said
    session.child.send("poweroff\n")
    session.child.expect(pexpect.EOF)
    session.child.wait()
    assert not os.path.exists(f"/proc/{receiver[0]}") or receivers_of(session.child.pid) == []


def test_a_session_without_a_terminal(machine):
    """Nothing of what a terminal would be asked is in the output; the shell runs what it is sent, and files come in."""
    done = subprocess.run(
        [sys.executable, *words(machine, "--file", f"{VRUN}:/vrun")],
        input="\n\ntest -s /vrun && echo o''k $TERM\npoweroff\n",
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert "\nok dumb\n" in done.stdout.replace("\r", "") and "\x1b[6n" not in done.stdout, done.stdout


@pytest.mark.parametrize(
    "typed, shown",
    [
        ("", r"# poweroff\n"),
        # A line at each prompt. What reads gets the next one, or an end; the last line has no newline.
        ("read x\nhello\necho $((6*7)) $x; cat", r"\n42 hello\n.*# poweroff\n"),
    ],
    ids=["nothing", "lines"],
)
def test_a_session_ends_with_its_input(machine, typed, shown):
    """What came is run, and the machine goes off."""
    done = subprocess.run(
        [sys.executable, *words(machine)], input=typed, text=True, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(shown + ".*reboot: Power down", done.stdout.replace("\r", ""), re.S), done.stdout


@pytest.mark.parametrize(
    "options, said",
    [
        (["--file", "/nonexistent:/x"], "vrun: /nonexistent: No such file or directory"),
        (
            ["--board", "microvm", "--out", "/tmp"],
            "vrun: --out: this board, or a --port tohost, leaves no way for files",
        ),
    ],
)
def test_what_cannot_be(machine, options, said):
    done = subprocess.run(
        [sys.executable, *words(machine, *options)],
        stdin=subprocess.DEVNULL,
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 126 and said in done.stderr, done.stderr


def test_without_a_way_to_the_host(machine):
    """tohost says so at once."""
    with machine.guest(timeout=60) as guest:
        status, said = guest.run("cp /proc/version /tmp/v; tohost /tmp/v")
        assert status == 1 and said == (
            "tohost: this machine has no way to the host (no /dev/virtio-ports/tohost): make qemu-* and vrun "
            "--interactive give it one\n"
        )
        guest.send("tohost -m /tmp/v\n")
        guest.expect(r"tohost [0-9a-f]+ \d+ [0-9a-f]{8}\r\n")
        guest.send("\x03")
        guest.expect(guest.PROMPT)
        assert guest.run("echo alive; stty | tail -1") == (0, "alive\niutf8\n")
