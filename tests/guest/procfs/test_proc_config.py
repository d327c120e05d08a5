"""/proc/config.gz and /boot/config-RELEASE say what kernel/init/config.list says, and each of its lines is true of the
guest. docs/proc.md has each file of /proc, and no other among those that are there."""

import gzip
import re
import sys
from pathlib import Path

import pytest
from machines import TARGETS
from stories import story

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from kconfig import config_text, read_list  # noqa: E402

LIST = ROOT / "kernel/init/config.list"
RELEASE = re.search(r'UTS_RELEASE "(.*)"', (ROOT / "include/kernel/utsname.h").read_text()).group(1)


def documented():
    """The files that docs/proc.md says are there, by the heads of its tables: {head: names}."""
    tables = {}
    for part in (ROOT / "docs/proc.md").read_text().split("\n## ")[1:]:
        head = part.splitlines()[0]
        rows = re.findall(r"^\| (`.*?) \|", part, re.M)
        tables[head.split(":")[0]] = sorted(name for row in rows for name in re.findall(r"`([^`]+)`", row))
    return tables


def probe(option):
    """A shell command that succeeds when the evidence of an option is there."""
    path, _, word = option.evidence.replace("T/", "/sys/kernel/tracing/", 1).partition("=")
    return f"grep -qw '{word}' {path} 2>/dev/null" if word else f"test -e {path}"


@pytest.mark.parametrize("machine", TARGETS, ids=repr)
def test_every_line_is_true(machine):
    options = read_list(LIST, machine.arch)
    shown = [option for option in options if option.value in "yn"]
    script = "".join(f"if {probe(o)}; then echo {o.name} y; else echo {o.name} n; fi\n" for o in shown)
    script += story("proc_config")
    run = machine.script(script.encode(), smp=2, timeout=60)
    try:
        run.wait_start()
        assert run.wait_exit() == 0
    finally:
        run.guest.close()
    found, files, own, boot, dump = run.output.split("==\n")
    tables, paths = documented(), [path.removeprefix("/proc/") for path in files.split()]
    assert (
        sorted([p for p in paths if not p.startswith("sys/")] + ["mounts", "self", "thread-self"])
        == tables["The system"]
    )
    assert sorted(p.removeprefix("sys/") for p in paths if p.startswith("sys/")) == tables["/proc/sys"]
    assert sorted(own.split()) == tables["A process"]
    assert found.splitlines() == [f"{o.name} {o.value}" for o in shown]
    wanted = config_text(options, RELEASE)
    assert boot == wanted
    words = [word for line in dump.splitlines() for word in line.split()[1:]]
    data = b"".join(int(word, 16).to_bytes(2, "little") for word in words)
    assert gzip.decompress(data[: int(dump.split()[-1], 16)]).decode() == wanted


def test_numbers_are_those_of_the_sources():
    for machine in TARGETS:
        for option in read_list(LIST, machine.arch):
            if option.value in "yn":
                continue
            header, macro = option.evidence.split(":")
            assert re.search(rf"^#define {macro}\s+{option.value}\b", (ROOT / header).read_text(), re.M), option


def test_lines_that_are_wrong_are_refused(tmp_path):
    for line in ("FTRACE", "FTRACE m T/trace", "ftrace y T/trace", "FTRACE y T/trace aarch64 more"):
        (tmp_path / "list").write_text(line + "\n")
        with pytest.raises(SystemExit):
            read_list(tmp_path / "list", "aarch64")
