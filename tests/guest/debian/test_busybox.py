"""A session at the prompt: Debian's busybox behind our own programs, where the build could have it, and the pages of
man."""

import base64
import io
import lzma
import os
import re
import subprocess
import zipfile

import pytest
from vitrine_guest import ROOT

APPLETS = os.path.join(ROOT, "userland", "busybox.applets")
TEXT = b"text\n"


def packed(data):
    return base64.b64encode(data).decode()


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("in.zip", TEXT)
    return out.getvalue()


# A command and what it prints: every word of busybox.applets is used in one of them at least.
USED = [
    ("printf '1 x\\n2 y\\n' | awk '{s += $1} END {print s, $2}'", "3 y\n"),
    (
        "printf 'a\\nb\\n' > /tmp/a; printf 'a\\nc\\n' > /tmp/b; diff /tmp/a /tmp/b | grep '^[-+][a-z]'; diff -u /tmp/a /tmp/b > /tmp/p; cd /tmp; "
        "patch -p0 a p; cmp a b; echo $?; cd /",
        "-b\n+c\npatching file a\n0\n",
    ),
    (
        "printf 'AB' | od -c | head -1; printf 'AB' | od -An -tx1; printf AB | xxd -p; echo hello | base64",
        "0000000   A   B\n 41 42\n4142\naGVsbG8K\n",
    ),
    (
        "expr 6 '*' 7; expr abc : 'a.'; factor 12; echo '2^70' | bc; echo '3 4 * p' | dc",
        "42\n2\n12: 2 2 3\n1180591620717411303424\n12\n",
    ),
    (
        "echo text > /tmp/z; gzip /tmp/z; zcat /tmp/z.gz; gunzip /tmp/z.gz; cat /tmp/z; bzip2 /tmp/z; bzcat /tmp/z.bz2; bunzip2 /tmp/z.bz2; "
        "cat /tmp/z",
        "text\ntext\ntext\ntext\n",
    ),
    (
        f"echo {packed(lzma.compress(TEXT))} | base64 -d > /tmp/x.xz; xzcat /tmp/x.xz; xz -dc /tmp/x.xz; unxz /tmp/x.xz; cat /tmp/x",
        "text\n" * 3,
    ),
    (
        f"echo {packed(lzma.compress(TEXT, format=lzma.FORMAT_ALONE))} | base64 -d > /tmp/y.lzma; lzcat /tmp/y.lzma; lzma -dc /tmp/y.lzma; "
        "unlzma /tmp/y.lzma; cat /tmp/y",
        "text\n" * 3,
    ),
    (f"echo {packed(zipped())} | base64 -d > /tmp/e.zip; cd /tmp; unzip -q e.zip; cat in.zip; cd /", "text\n"),
    (
        "mkdir -p /tmp/d/e; echo 1 > /tmp/d/e/f; cd /tmp; tar czf d.tgz d; tar tzf d.tgz | tail -1; rm -r d; tar xzf d.tgz; cat d/e/f; "
        "find d | cpio -o -H newc 2> /dev/null | cpio -t 2> /dev/null | head -1; cd /",
        "d/e/f\n1\nd\n",
    ),
    ("find /bin -name 'v[i]' -exec echo found {} ';'", "found /bin/vi\n"),
    (
        "md5sum < /dev/null; sha1sum < /dev/null | cut -c 1-8; sha256sum < /dev/null | cut -c 1-8; sha512sum < /dev/null | cut -c 1-8; echo a | crc32",
        "d41d8cd98f00b204e9800998ecf8427e  -\nda39a3ee\ne3b0c442\ncf83e135\nddeaa107\n",
    ),
    (
        "echo abc | rev; seq 3 | tac; seq 2 | nl | tr -s ' \\t' ' '; seq 2 | paste -s -d+; echo abcdef | fold -w 4; printf 'a\\tb\\n' | expand; "
        "printf '        b\\n' | unexpand | tr '\\t' T",
        "cba\n3\n2\n1\n 1 1\n 2 2\n1+2\nabcd\nef\na       b\nTb\n",
    ),
    (
        "printf 'a\\r\\n' > /tmp/a; dos2unix /tmp/a; wc -c < /tmp/a; unix2dos /tmp/a; wc -c < /tmp/a; seq 5 | shuf | wc -l; echo hi | uuencode x | uudecode -o -",
        "2\n3\n5\nhi\n",
    ),
    (
        "head -c 9000 /dev/zero > /tmp/a; du -k /tmp/a | cut -f 1; truncate -s 5 /tmp/a; wc -c < /tmp/a; shred -u /tmp/a; ls /tmp/a 2> /dev/null",
        "12\n5\n",
    ),
    (
        "link /tmp/b /tmp/c; unlink /tmp/b; cat /tmp/c; readlink /bin/vi; realpath /bin/../bin/vi; test -p $(mkfifo /tmp/ff; echo /tmp/ff); echo $?; "
        "mknod /tmp/n c 1 3; echo x > /tmp/n; test -f $(mktemp); echo $?",
        "a\nc\nbusybox\n/bin/busybox\n0\n0\n",
    ),
    (
        "touch /tmp/o; chown 3:4 /tmp/o; stat -c %u:%g /tmp/o; chgrp 5 /tmp/o; stat -c %g /tmp/o; chroot / echo in",
        "3:4\n5\nin\n",
    ),
    (
        "echo axb | egrep 'x|y'; echo a.b | fgrep .; strings /bin/busybox | grep -c '^BusyBox v1'; echo 'a b' | ascii > /dev/null; cal 11 2026 | head -1",
        "axb\na.b\n1\n   November 2026\n",
    ),
    (
        "arch; hostname; hostid; tty; getopt ab: -a -b 1 x; echo l | ts | grep -c l",
        "MACHINE\nvitrine\n00000000\n/dev/console\n -a -b 1 -- x\n1\n",
    ),
    (
        "ping -c 2 -i 0.1 localhost | sed -n '1p; /packets/p'; ping -c 1 192.0.2.1 2>&1 | tail -1; traceroute -I -n -q 1 127.0.0.1 | grep -c '^ 1  127.0.0.1'",
        "PING localhost (127.0.0.1): 56 data bytes\n2 packets transmitted, 2 packets received, 0% packet loss\n"
        "ping: sendto: Network is unreachable\n1\n",
    ),
    (
        "ifconfig lo | grep -E 'inet addr|UP|Link'; ifconfig lo down; ping -c 1 127.0.0.1 2>&1 | tail -1; ifconfig lo up; ping -c 1 127.0.0.1 | grep -c ttl=64; "
        "netstat -wan 2> /dev/null | head -2",
        "lo        Link encap:Local Loopback  \n          inet addr:127.0.0.1  Mask:255.0.0.0\n"
        "          UP LOOPBACK RUNNING  MTU:65536  Metric:1\nping: sendto: Network is unreachable\n1\n"
        "Active Internet connections (servers and established)\n"
        "Proto Recv-Q Send-Q Local Address           Foreign Address         State       \n",
    ),
    (
        "(sleep 99 & until grep -q 99 /proc/$!/cmdline; do :; done; renice -n 5 -p $! > /dev/null; ps -l | grep -c ' 5 .*sleep 9[9]'; killall sleep; wait)",
        "1\n",
    ),
    (
        "top -b -n1 > /tmp/o; grep -c ' /init$\\| top -b' /tmp/o; setsid sh -c 'echo own' | cat; printf '1s/a/z/\\nw\\nq\\n' | ed /tmp/c > /dev/null; cat /tmp/c",
        "2\nown\nz\nc\n",
    ),
]
# In the session below.
TYPED = {"vi", "watch", "reset", "stty"}


def test_every_applet_is_used():
    """Here, so that the list has nothing in it that does not work."""
    with open(APPLETS, encoding="ascii") as file:
        wanted = set(file.read().split())
    used = set(re.findall(r"[\w]+", " ".join(command for command, _ in USED))) | TYPED
    assert wanted <= used, wanted - used


def check_tools(machine, guest):
    status, listed = guest.run("busybox --list")
    with open(APPLETS, encoding="ascii") as file:
        assert status == 0 and set(file.read().split()) <= set(listed.split())
    # Our own programs are where they were.
    assert guest.run("for p in ls find less ps; do readlink /bin/$p; done; test -L /bin/ls; echo $?")[1] == "more\n1\n"
    wrong = [
        (command, got)
        for command, expected in USED
        if (got := guest.run(command)[1]) != expected.replace("MACHINE", machine.arch)
    ]
    assert not wrong, "\n".join(map(repr, wrong))


def check_vi(guest):
    """A line is changed, one is added, the file is written; nothing of the screen stays behind."""
    guest.run("printf 'one\\ntwo\\n' > /tmp/edited")
    guest.send("vi /tmp/edited\n")
    # Each key when the screen shows the one before: what follows an escape at once is taken for a key of the
    # terminal's.
    for keys, shown in (
        ("", r"- /tmp/edited 1/2"),
        ("xxx", r"- /tmp/edited \[Modified\]"),
        ("i", r"I /tmp/edited"),
        ("1st \x1b", r"- /tmp/edited"),
        ("o", r"I /tmp/edited"),
        ("new\x1b", r"- /tmp/edited"),
        (":wq\r", guest.PROMPT),
    ):
        guest.send(keys)
        guest.expect(shown)
    assert guest.run("cat /tmp/edited; stty -a | grep -c ' icanon'")[1] == "1st \nnew\ntwo\n1\n"


def check_screens(guest):
    """Programs that draw the screen until a key ends them."""
    guest.send("watch -n 1 echo drawn\n")
    guest.expect("Every 1.0s: echo drawn")
    # While its command runs watch ignores the key, as system(3) does: then it comes again with the next screen.
    while guest.expect(rf"{guest.PROMPT}|[\r\n]drawn\r?\n").group().strip() == "drawn":
        guest.send("\x03")
    guest.send("top\n")
    guest.expect("Load average: .*COMMAND")
    guest.send("q")
    guest.expect(guest.PROMPT)
    assert guest.run("reset > /dev/null; stty -a | grep -c ' icanon'")[1] == "1\n"


def check_man(guest):
    """Pages and what programs say of themselves, filled to the width, by `less` on a terminal."""
    status, page = guest.run("man irqsoff | cat")
    assert (
        status == 0
        and page.startswith("IRQSOFF: THE LONGEST TIME WITH INTERRUPTS OFF\n\nWhile a CPU")
        and "`" not in page.split("\n    ")[0]
    )
    assert all(len(line) <= 80 for line in page.splitlines() if not line.startswith(("  ", "|")))
    assert guest.run("man ftrace | head -n 1")[1] == "VITRINE\n"
    for names, title in (
        (("user_events", "user_events_data", "user_events_status"), "EVENTS OF PROGRAMS\n"),
        (("rooms",), "ARCHITECTURE\n"),
    ):
        assert [guest.run(f"man {name} | head -n 1")[1] for name in names] == [title] * len(names)
    assert len(set(guest.run("man tutorial | head -n 1; man tutorials | head -n 1")[1].splitlines())) == 1
    # What the shell has built in, with and without a program of that name.
    assert guest.run("man cd | head -n 1; help cd | head -n 1; man echo | head -n 1; help nosuch 2>&1")[
        1
    ].splitlines() == [
        "Usage: cd [FOLDER]",
        "Usage: cd [FOLDER]",
        "Usage: echo [-neE] [WORD...]",
        "sh: help: no builtin nosuch (try nosuch --help, or man nosuch)",
    ]
    words = [line.split(None, 2) for line in guest.run("man -k latency")[1].splitlines()]
    assert {("latency", "(1)"), ("latency", "(7)"), ("time-travel", "(7)")} <= {
        (name, section) for name, section, _ in words
    }
    assert guest.run("man latency | head -n 1; man latency | tail -n 1; man 7 latency | head -n 1")[1].splitlines()[
        1:
    ] == ["`man 7 latency` is the page of that name.", "THE KERNEL'S OWN RECORD"]
    assert (
        guest.run("man 1 ls | head -n 1; man echo | cat; man ls -k 2>&1 | tail -n 1 | cut -c 1-9")[1].splitlines()[1]
        == "Usage: echo [-neE] [WORD...]"
    )
    assert guest.run("man nosuchthing")[0] == 16 and guest.run("man -k nosuchthing")[0] == 16
    guest.send("man wakeup_rt\n")
    guest.expect("WAKEUP, WAKEUP_RT, WAKEUP_DL")
    guest.send("q")
    guest.expect(guest.PROMPT)


def test_a_session_has_more(machine):
    with machine.guest(session=True, timeout=60) as guest:
        guest.run("test -e /proc/version || mount -t proc proc /proc")
        check_man(guest)
        if not os.path.exists(os.path.join(guest.setup.build, "busybox", "busybox")):
            pytest.skip("the build could not have Debian's busybox (build/*/busybox/log)")
        check_tools(machine, guest)
        check_vi(guest)
        check_screens(guest)


def test_without_a_network(machine, tmp_path):
    """The build says so in one line and goes on; what is tried once is not tried again."""
    (tmp_path / "bin").mkdir()
    for name, text in {"apt-get": "echo asked >> $ASKED; echo no network >&2; exit 100"}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "ASKED": str(tmp_path / "asked")}
    done = subprocess.run(
        ["bash", os.path.join(ROOT, "userland", "busybox.sh"), machine.arch, tmp_path / "out"],
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "") and done.stderr.count("\n") == 1 and "cannot be had" in done.stderr
    assert "no network" in (tmp_path / "out" / "log").read_text() and not (tmp_path / "out" / "busybox").exists()
    # What a session has is put together all the same.
    stage = tmp_path / "stage"
    root = os.path.join(ROOT, "build", machine.arch, "root")
    words = ["sh", "userland/mksession.sh", root, tmp_path / "out" / "busybox", stage, "README.md"]
    subprocess.run(words, cwd=ROOT, check=True)
    names = [str(path.relative_to(stage)) for path in stage.rglob("*")]
    assert "usr/share/doc/vitrine/README.md" in names and not any(name.startswith("bin/") for name in names)
