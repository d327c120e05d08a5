"""A folder of the host in the guest (9p over virtio): both sides see one folder, whoever changes it, and a guest's task
that waits for the server can be killed."""

import hashlib
import os
import random
import subprocess

import pytest

from test_modules import DEMO, make
from vitrine_guest import MACHINES, ROOT, share_arguments

SOAK = int(os.environ.get("SOAK_MINUTES", "0"))
FILES = 5000 if SOAK else 300
OPTIONS = "-t 9p -o trans=virtio,version=9p2000.L"


# The shell's $cat is a reader that has sent its request and sleeps.
UNTIL_IT_WAITS = "until grep -q p9_client_rpc /proc/$cat/stack; do usleep 1000; done"


def passes(guest, command):
    status, output = guest.run(command)
    assert status == 0, f"{command}: {output}"
    return output


def plant_tree(top):
    """Small files in nested folders, some larger ones, links of both kinds, an empty folder, names of all kinds."""
    dice = random.Random(9)
    folder = top
    for number in range(FILES):
        if number % 25 == 0:
            folder = top / f"d{number // 100}" / f"e{number}"
            folder.mkdir(parents=True)
        size = 400000 if number % 100 == 7 else dice.randrange(6000)
        (folder / f"f{number}").write_bytes(dice.randbytes(size))
        (folder / f"f{number}").chmod(dice.choice((0o644, 0o600, 0o755, 0o444)))
    (top / "empty").mkdir()
    (top / "a ü€ 漢字 'quoted'").write_text("unicode\n")
    (top / ("n" * 255)).write_text("long\n")
    (top / "link").symlink_to("d0/e0/f3")
    (top / "dangling").symlink_to("nowhere")


def digest(top):
    """{name below top: type, mode and contents} of all that is there."""
    seen = {}
    for folder, folders, names in os.walk(top):
        for name in folders + names:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if os.path.islink(path):
                what = ("link", os.readlink(path))
            elif os.path.isdir(path):
                what = ("folder", mode)
            else:
                with open(path, "rb") as file:
                    what = (mode, hashlib.sha256(file.read()).hexdigest())
            seen[os.path.relpath(path, top)] = what
    return seen


def test_operations(machine, tmp_path):
    """p9test's cases on the shared folder, and those of other programs that need no shared writable mapping and no
    rename with flags."""
    with machine.guest(
        smp=4, timeout=300, share=str(tmp_path), files=machine.programs("p9test", "nametest", "filetest")
    ) as guest:
        assert passes(guest, "mount | grep 9p").startswith("host on /host type 9p (rw,trans=virtio,version=9p2000.L,")
        for command in (
            "p9test",
            "nametest removed-folder slashes folders-count no-loops listed-while-they-go listed-and-removed",
            "filetest emptied holes own-positions half-a-buffer appending written-together spliced",
        ):
            passes(guest, f"cd /host && {command}")
        assert guest.run("dmesg | grep ' 9p: '")[0], "the client complains"


@pytest.mark.soak
def test_trees(machine, tmp_path):
    """A tree copied out of the folder and back into it is the same tree; the host's find and the guest's agree."""
    source, back = tmp_path / "source", tmp_path / "back"
    source.mkdir()
    plant_tree(source)
    with machine.guest(smp=2, mem="512M", timeout=400, share=str(tmp_path)) as guest:
        passes(guest, "cp -r /host/source /tmp/copy && cp -r /tmp/copy /host/back")
        assert digest(back) == digest(source)
        names = passes(guest, "cd /host && find source | sort | wc -l")
        assert int(names) == len(digest(source)) + 1
        passes(guest, "cd / && rm -r /host/back")
        assert not back.exists()


def test_changes_of_the_host(machine, tmp_path):
    """What the host writes, renames, replaces and removes is so in the guest at its next look, also for a name that the
    guest is using or has just missed; and the other way round."""
    with machine.guest(timeout=120, share=str(tmp_path)) as guest:
        assert guest.run("cat /host/x")[0] == 1
        (tmp_path / "x").write_text("first\n")
        assert passes(guest, "cat /host/x") == "first\n"
        passes(guest, "exec 5< /host/x")  # in use from here on
        (tmp_path / "x").write_text("rewritten, and longer\n")
        assert passes(guest, "cat /host/x; stat -c %s /host/x") == "rewritten, and longer\n22\n"
        (tmp_path / "new").write_text("replaced\n")
        os.replace(tmp_path / "new", tmp_path / "x")
        assert passes(guest, "cat /host/x; cat <&5") == "replaced\nrewritten, and longer\n"
        os.rename(tmp_path / "x", tmp_path / "y")
        assert guest.run("cat /host/x")[0] == 1
        assert passes(guest, "cat /host/y; ls /host") == "replaced\ny\n"
        os.remove(tmp_path / "y")
        assert guest.run("cat /host/y")[0] == 1
        passes(guest, "exec 5<&-; mkdir /host/here; cd /host/here; echo made > file")
        assert (tmp_path / "here/file").read_text() == "made\n"
        os.rename(tmp_path / "here", tmp_path / "there")
        (tmp_path / "here").write_text("no folder any more\n")
        assert passes(guest, "cat /host/here; cat /host/there/file") == "no folder any more\nmade\n"
        passes(guest, "cd /; mkdir /host/mountpoint; mount -t tmpfs tmpfs /host/mountpoint")
        os.rmdir(tmp_path / "mountpoint")
        passes(guest, "echo in memory > /host/mountpoint/f; umount /host/mountpoint")
        assert guest.run("ls /host/mountpoint")[0]
        os.mkfifo(tmp_path / "fifo")
        assert passes(guest, "cat /host/fifo & echo through > /host/fifo; wait").endswith("through\n")


def test_programs_and_scripts(machine, tmp_path):
    """Programs run from the folder, scripts by their first line, and the host may replace one while it runs."""
    with machine.guest(timeout=120, share=str(tmp_path)) as guest:
        passes(guest, "cp /bin/sleep /bin/sh /host")
        script = tmp_path / "script"
        script.write_text("#!/host/sh\necho by $0: $1\n")
        assert guest.run("/host/script")[0] == 126
        script.chmod(0o755)
        assert passes(guest, "/host/script words") == "by /host/script: words\n"
        passes(
            guest,
            "/host/sleep 1000 & until ls -l /proc/$!/exe | grep -q /host/sleep; do usleep 1000; done; echo replaced > /host/other; mv /host/other /host/sleep; kill %1",
        )
        assert "Text file busy" in guest.run("/host/sh -c 'echo x > /host/sh'")[1]
        assert "Text file busy" in guest.run("exec 5>> /host/sh; /host/sh -c true; exec 5>&-")[1]
        passes(guest, "/host/sh -c true")


def test_edit_make_insmod(machine, tmp_path):
    """A module is built, loaded, edited and loaded again, without leaving the guest."""
    (tmp_path / "demo.c").write_text(DEMO)
    with machine.guest(timeout=180, share=str(tmp_path)) as guest:
        for word in ("hello", "welcome"):
            (tmp_path / "demo.c").write_text(DEMO.replace("hello %s", f"{word} %s"))
            status, said = make(tmp_path, machine.arch)
            assert status == 0, said
            passes(guest, "echo > /sys/kernel/tracing/trace; insmod /host/demo.ko times=1; rmmod demo")
            assert f"{word} nobody 0" in passes(guest, "cat /sys/kernel/tracing/trace")


def test_two_guests(machine, tmp_path):
    """Two guests append to one file and see each other's files."""
    with machine.guest(timeout=200, share=str(tmp_path)) as one, machine.guest(timeout=200, share=str(tmp_path)) as two:
        for guest, name in ((one, "one"), (two, "two")):
            guest.send(
                f"i=0; while [ $i -lt 200 ]; do echo {name} $i >> /host/log; i=$((i+1)); done; echo {name}-d''one\n"
            )
        one.expect("one-done")
        two.expect("two-done")
        lines = (tmp_path / "log").read_text().splitlines()
        assert sorted(lines) == sorted(f"{name} {number}" for name in ("one", "two") for number in range(200))
        one.expect(one.PROMPT)
        two.expect(two.PROMPT)
        passes(one, "exec 5> /host/open; echo by one >&5")
        assert passes(two, "cat /host/open; mv /host/open /host/moved; echo by two >> /host/moved") == "by one\n"
        passes(one, "exec 5>> /host/moved; echo again >&5")
        assert passes(two, "cat /host/moved") == "by one\nby two\nagain\n"


def test_mounting(machine, tmp_path):
    """By hand: under another name, several devices, wrong options and names, a folder that is in use; and no trace of
    it all without a device."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (two / "f").write_text("f\n")
    more = share_arguments(MACHINES[machine.arch], str(two), tag="the-second-one")
    with machine.guest(timeout=120, share=str(one), qemu_args=more) as guest:
        passes(guest, f"mount {OPTIONS},msize=8192 'the-second-one' /mnt && cat /mnt/f")
        passes(guest, "dd if=/dev/zero of=/mnt/z bs=50000 count=3 2>/dev/null; sync; [ $(stat -c %s /mnt/z) = 150000 ]")
        assert guest.run(f"mount {OPTIONS} host /tmp")[1].endswith("Device or resource busy\n")
        assert "has the name nobody" in guest.run(f"mount {OPTIONS} nobody /tmp")[1]
        for wrong in ("trans=tcp", "version=9p2000.u", "cache=loose", "msize=100", "msize=x", "bad"):
            passes(guest, "umount /mnt")
            assert guest.run(f"mount -t 9p -o {wrong} 'the-second-one' /mnt")[1].endswith("Invalid argument\n"), wrong
            passes(guest, "mount -t 9p 'the-second-one' /mnt")
        assert "busy" in guest.run("cd /mnt; umount /mnt")[1]
        passes(guest, "cd /; exec 5< /mnt/f; umount -l /mnt; read line <&5; [ $line = f ]; exec 5<&-")
        passes(guest, 'umount /host && [ -z "$(ls /host)" ] && mount /host && mount -o remount,ro /host')
        assert "Read-only" in guest.run("echo > /host/f")[1]
        assert passes(guest, "df /host | grep -c '^host '") == "1\n"
    with machine.guest(timeout=60) as guest:
        assert guest.run("ls /host")[0]
        assert guest.run("dmesg | grep -i 9p")[0] == 1


def checksum(path):
    """What tests/guest/progs/fs/checksum.c prints of this file."""
    value, data = 0xCBF29CE484222325, path.read_bytes()
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{len(data)} {value:016x}\n"


def test_killed_while_it_waits(machine, tmp_path):
    """A server that lets a reader wait: the reader is killed at once, and others go on. The late answers go nowhere:
    the same memory and tags are used meanwhile, and files have the right bytes."""
    slow, quick = tmp_path / "slow", tmp_path / "quick"
    for folder in (slow, quick):
        folder.mkdir()
        (folder / "big").write_bytes(random.Random(folder.name).randbytes(1 << 20))
    more = share_arguments(MACHINES[machine.arch], str(slow), tag="slow", options=",throttling.bps-read=100000")
    files = machine.programs("checksum")
    with machine.guest(smp=2, timeout=240, share=str(quick), qemu_args=more, files=files) as guest:
        passes(guest, f"mount {OPTIONS} slow /mnt")
        for _ in range(5):
            passes(guest, f"cat /mnt/big > /tmp/part & cat=$!; {UNTIL_IT_WAITS}; kill -9 $cat; wait $cat; [ $? = 137 ]")
            passes(guest, "ls -l /mnt > /dev/null && dd if=/host/big of=/tmp/copy bs=1M 2>/dev/null")
            assert passes(guest, "checksum < /tmp/copy") == checksum(quick / "big")
        passes(
            guest,
            f"cat /mnt/big > /tmp/part & cat=$!; {UNTIL_IT_WAITS}; kill -INT $cat; kill -TERM $cat; wait $cat; [ $? -gt 128 ]",
        )
        passes(guest, "umount /mnt; [ ! -e /mnt/big ]")
        assert guest.run("dmesg | grep ' 9p: '")[0], "the client complains"


def test_silent_server(machine, tmp_path):
    """A server that never answers a read again: with a time limit the reader gets EIO, without one it waits until a
    signal ends it. Other calls go on meanwhile; the next session with this server waits for the answers, and gives EIO
    too."""
    silent = tmp_path / "silent"
    silent.mkdir()
    (silent / "big").write_bytes(bytes(1 << 20))
    # After the first message the server owes so many bytes that the next one has its turn in 36 hours.
    more = share_arguments(MACHINES[machine.arch], str(silent), tag="silent", options=",throttling.bps-read=1")
    with machine.guest(smp=2, timeout=120, qemu_args=more) as guest:
        passes(guest, f"dmesg -n 1; mount {OPTIONS},timeout=1 silent /mnt")
        assert ",timeout=1" in passes(guest, "grep ' /mnt 9p ' /proc/mounts")
        status, said = guest.run("cat /mnt/big > /tmp/part")
        assert (status, said) == (1, "cat: /mnt/big: Input/output error\n")
        assert guest.run("head -c 1 /mnt/big")[1] == "head: /mnt/big: Input/output error\n"
        assert passes(guest, "ls /mnt; stat -c %s /mnt/big") == "big\n1048576\n"
        said = passes(guest, "dmesg | grep -o '9p: silent: .*'")
        assert said == 2 * "9p: silent: the server does not answer a request of type 116\n"
        passes(guest, "umount /mnt")
        assert guest.run(f"mount {OPTIONS},timeout=1 silent /mnt")[1].endswith("Input/output error\n")
        for wrong in ("timeout=", "timeout=x", "timeout=-1", "timeout=86401"):
            assert guest.run(f"mount {OPTIONS},{wrong} silent /mnt")[1].endswith("Invalid argument\n"), wrong
    with machine.guest(smp=2, timeout=120, qemu_args=more) as guest:
        passes(guest, f"mount {OPTIONS} silent /mnt")
        for name in ("INT", "TERM", "KILL"):
            passes(guest, f"cat /mnt/big > /tmp/part & cat=$!; {UNTIL_IT_WAITS}")
            passes(guest, f"kill -{name} $cat; wait $cat; [ $? -gt 128 ] && ls /mnt > /dev/null")
        passes(guest, "umount /mnt")
        assert guest.run("dmesg | grep ' 9p: '")[0], "the client complains"


@pytest.mark.soak
def test_kill_storm(machine, tmp_path):
    """Readers and listers of a slow server are killed in each moment of their waits, while others of another server
    check what they read. Afterwards no request is left over: the folder can be unmounted, and mounted again."""
    slow, quick = tmp_path / "slow", tmp_path / "quick"
    for folder in (slow, quick):
        folder.mkdir()
    for number in range(6):
        (slow / f"big{number}").write_bytes(bytes(1 << 20))
    more = share_arguments(MACHINES[machine.arch], str(slow), tag="slow", options=",throttling.bps-read=2000000")
    story = os.path.join(ROOT, "tests/guest/stories/debian/kill_readers.sh")
    files = {**machine.programs("p9test"), "run/story": (0o755, open(story, "rb").read())}
    with machine.guest(smp=4, timeout=200 + SOAK * 60, share=str(quick), qemu_args=more, files=files) as guest:
        passes(guest, f"sh /run/story {500 * SOAK if SOAK else 15}")
        assert guest.run("dmesg | grep ' 9p: '")[0], "the client complains"


def test_option_share(machine, tmp_path):
    """vrun --share: scripts have /host, and what is no folder is named in one line."""
    script = tmp_path / "script"
    script.write_text("cat /host/word; echo 7 > /host/number\n")
    (tmp_path / "word").write_text("from the host\n")
    vrun = [os.path.join(ROOT, "tools/vrun"), "--arch", machine.arch]
    done = subprocess.run(
        [*vrun, "--share", tmp_path, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "from the host\n"), done.stderr
    assert (tmp_path / "number").read_text() == "7\n"
    for wrong, said in ((script, "not a folder"), (tmp_path / "nowhere", "there is no such folder")):
        done = subprocess.run(
            [*vrun, "--share", wrong, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (126, f"vrun: share {wrong}: {said}\n")
