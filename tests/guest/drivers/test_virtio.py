"""Virtio devices: channels between guest and host beside the console, and random bytes."""

import array
import re
import socket
import time

MORE = 300000  # as tests/guest/progs/drivers/porttest.c has it


def pattern(size):
    """The first bytes of what porttest sends and wants."""
    return array.array("I", (number * 2654435761 & 0xFFFFFFFF for number in range((size + 3) // 4))).tobytes()[:size]


def passes(guest, command):
    status, output = guest.run(command)
    assert status == 0, output
    return output


def test_ports_and_random_bytes(machine, tmp_path):
    """Two ports, a file and a socket: by name, whole, beside the console; alone, full, hung up, pulled out, and there
    again. The other device gives what never repeats."""
    file, line = tmp_path / "file", tmp_path / "line"
    with machine.monitored(
        tmp_path,
        smp=4,
        timeout=180,
        files=machine.programs("porttest"),
        qemu_args=[*machine.rng, "-device", machine.rng[-1]],
        ports={"file": str(file), "line": f"socket:{line}"},
    ) as guest:
        assert passes(guest, "ls -l /dev/virtio-ports | grep -c ' -> ../vport0p[12]'") == "2\n"
        major = passes(guest, "ls -l /dev/vport0p1 | tr -s ' ' | cut -d' ' -f5").strip().rstrip(",")
        assert re.findall(rf"^ *{major} (\w+)$", passes(guest, "cat /proc/devices"), re.M) == ["vport0p1"]
        passes(guest, "porttest manners")
        assert file.read_bytes() == b""
        assert passes(guest, "porttest big").count("for everybody, all the time.\n") > 1
        assert file.read_bytes() == pattern(8 << 20)
        passes(guest, "porttest alone")
        with connected(line) as link:
            guest.send("porttest full\n")
            size = int(guest.expect(r"full (\d+)\r?\n").group(1))
            assert received(link, size) == pattern(size)
            guest.expect("full ok")
            guest.expect(guest.PROMPT)
            guest.send("porttest stale\n")
            for part in range(2):
                guest.expect(rf"tell {part}\r?\n")
                link.sendall(b"stale")
                guest.expect(rf"tell again {part}\r?\n")
                link.sendall(b"new")
            guest.expect("stale ok")
            guest.expect(guest.PROMPT)
            check_known(guest, link)
        with connected(line) as link:
            guest.send("porttest answer\n")
            guest.expect("listening\r?\n")
            link.sendall(pattern(MORE))
            guest.expect("heard\r?\n")
        guest.expect("hung up\r?\n")
        with connected(line) as link:
            assert received(link, 5) == b"again"
            guest.expect("answer ok")
            guest.expect(guest.PROMPT)
            guest.send("porttest unplug\n")
            guest.expect("pull\r?\n")
            guest.qmp("device_del", id="port1")
            guest.expect("unplug ok")
            guest.expect(guest.PROMPT)
        guest.qmp("chardev-add", id="next", backend={"type": "file", "data": {"out": str(tmp_path / "next")}})
        guest.qmp("device_add", driver="virtserialport", id="next", chardev="next", name="next", nr=2)
        passes(guest, "porttest plug")
        assert (tmp_path / "next").read_bytes() == b"next"
        check_successor(guest, tmp_path)
        reads = [passes(guest, "dd if=/dev/hwrng bs=1000 count=1 2>/dev/null | hexdump") for _ in range(2)]
        assert reads[0] != reads[1] and all(len(set(re.findall(r"\b[0-9a-f]{4}\b", read))) > 400 for read in reads)
        bytewise = passes(guest, "dd if=/dev/hwrng bs=1 count=64 2>/dev/null | hexdump")
        assert len(set(re.findall(r"\b[0-9a-f]{4}\b", bytewise))) > 20, "the first byte of each read is random, too"
        said = passes(guest, "dmesg | grep -i virtio").splitlines()
        assert len(said) == 1 and said[0].endswith(
            "virtio-rng: probe failed, error -16"
        ), "a second source, and no more"


def check_known(guest, link):
    """An open port is one that QEMU knows to be open, though no worker of the guest's CPU can run any more."""
    assert guest.run("echo -1 > /proc/sys/kernel/sched_rt_runtime_us")[0] == 0
    guest.send("porttest known\n")
    guest.expect("opening\r?\n")
    while "port 2, guest on" not in guest.human("info qtree"):
        time.sleep(0.05)
    link.sendall(b"x")
    guest.expect("known ok")
    guest.expect(guest.PROMPT)


def check_successor(guest, folder):
    """One port goes and another takes its number before the guest has seen either: an open file is the first one's for
    ever."""
    assert guest.run("exec 5<> /dev/virtio-ports/next; cat <&5 > /tmp/heard 2>&1 & reader=$!")[0] == 0
    guest.qmp("stop")
    guest.qmp("device_del", id="next")
    guest.qmp("chardev-add", id="after", backend={"type": "file", "data": {"out": str(folder / "after")}})
    guest.qmp("device_add", driver="virtserialport", id="after", chardev="after", name="after", nr=2)
    guest.qmp("cont")
    assert guest.run("wait $reader; cat /tmp/heard") == (0, "cat: -: No such device\n")
    assert guest.run("echo old >&5") == (1, "sh: echo: write error: No such device\n")
    assert guest.run("echo new > /dev/virtio-ports/after; exec 5>&-; echo more > /dev/virtio-ports/after")[0] == 0
    assert (folder / "after").read_bytes() == b"new\nmore\n"


def connected(path):
    link = socket.socket(socket.AF_UNIX)
    link.connect(str(path))
    return link


def received(link, size):
    data = b""
    while len(data) < size:
        part = link.recv(size - len(data))
        assert part, f"the guest's side ended after {len(data)} of {size} bytes"
        data += part
    return data


def test_old_interface(machine):
    """A device that has the old interface only is told off in one line, and not used."""
    with machine.guest(timeout=60, qemu_args=machine.legacy_rng) as guest:
        said = passes(guest, "dmesg | grep virtio")
        assert re.fullmatch(
            r".*virtio-\w+: device of kind 4 has the legacy interface only: not used \(QEMU: .*\)\n", said
        )
        assert guest.run("ls /dev/hwrng")[0]
