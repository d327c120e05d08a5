"""What .vscode and .devcontainer say: files that parse, goals that make has, and a debugger that attaches as VS Code's
extensions do it, in gdb's machine interface."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess

import pexpect
import pytest
from tree import ROOT, read
from vitrine_guest import MACHINES

FOLDER = "${workspaceFolder}/"


def settings(name):
    return json.loads(read(name))


def tasks():
    return {task["label"]: task for task in settings(".vscode/tasks.json")["tasks"]}


def test_all_files_parse_and_agree():
    launch, tasks_of = settings(".vscode/launch.json")["configurations"], tasks()
    assert {one["preLaunchTask"] for one in launch} <= set(tasks_of)
    for one in launch:
        attached = one.get("miDebuggerServerAddress") or one["target"]
        assert f"GDB_PORT={attached.rpartition(':')[2]}" in tasks_of[one["preLaunchTask"]]["command"]
    extensions = settings(".vscode/extensions.json")["recommendations"]
    inside = settings(".devcontainer/devcontainer.json")["customizations"]["vscode"]["extensions"]
    assert extensions == inside
    assert settings(".vscode/settings.json")["C_Cpp.default.compileCommands"] == FOLDER + "compile_commands.json"


def test_what_they_name_is_there():
    """Files of the tree, and those that a build makes."""
    made = {"compile_commands.json"} | {f"build/{arch}/vmlinux" for arch in MACHINES}
    text = "".join(read(f".vscode/{name}.json") for name in ("tasks", "launch", "settings", "extensions"))
    named = set(re.findall(r"\$\{workspaceFolder\}/([\w./-]+)", text)) | set(
        re.findall(r"source (tools[\w./-]+)", text)
    )
    assert len(named) >= 4
    assert [path for path in named - made if not os.path.exists(os.path.join(ROOT, path))] == []
    copied = re.findall(r"^COPY (\S+)", read(".devcontainer/Containerfile"), re.M)
    assert copied == ["Makefile", "mk", "tools", "tests"]
    # What is copied is enough for the one step: make reads nothing else for it.
    assert read(".devcontainer/Containerfile").rstrip().endswith("make -C /deps deps")


def test_make_has_their_goals():
    goals = {task["command"].split()[1] for task in tasks().values()}
    assert len(goals) >= 7
    done = subprocess.run(
        ["make", "-n", *(goal for goal in goals if goal != "test")],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_containers_step_needs_no_more_of_the_tree(tmp_path):
    for name in ("Makefile", "mk", "tools", "tests"):
        from_, to = os.path.join(ROOT, name), tmp_path / name
        shutil.copytree(from_, to) if os.path.isdir(from_) else shutil.copy(from_, to)
    (tmp_path / "tools/deps.sh").write_text('#!/bin/bash\necho "asked for $@"\n')
    done = subprocess.run(["make", "-C", tmp_path, "deps"], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "asked for all" in done.stdout


@pytest.mark.parametrize("kind", ["cppdbg", "gdb"])
def test_a_debugger_attaches(machine, kind, tmp_path):
    """The task boots a guest that waits and says so; then the extension's commands: the file, its set-up, the target,
    what comes after it. The kernel stops at start_kernel, in a source that is found."""
    goal = MACHINES[machine.arch].goal
    launch = settings(".vscode/launch.json")["configurations"]
    (one,) = (one for one in launch if one["type"] == kind and goal in one["name"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    task = tasks()[one["preLaunchTask"]]
    command = task["command"].replace("GDB_PORT=1234", f"GDB_PORT={port}")
    # As the goal's recipe has it: the machine is built, and is not to be built again here.
    recipe = subprocess.run(
        ["make", "-n", *shlex.split(command)[1:]], cwd=ROOT, text=True, capture_output=True, check=True
    ).stdout
    vrun = shlex.split(next(line for line in recipe.splitlines() if "tools/vrun" in line))
    said = next(line for line in recipe.splitlines() if "a debugger attaches" in line)
    assert re.match(task["problemMatcher"]["background"]["endsPattern"], shlex.split(said)[1])
    ends = {"cwd": ROOT, "encoding": "utf-8", "timeout": 600}
    guest = pexpect.spawn(vrun[0], vrun[1:], **ends)
    words = ["-i=mi", "-q", "-nx"]
    gdb = pexpect.spawn(one.get("miDebuggerPath") or one["gdbpath"], words, echo=False, **ends)
    try:
        guest.expect("Ctrl-A x: end QEMU")
        program = (one.get("program") or one["executable"]).replace(FOLDER, "")
        before = [command["text"] for command in one.get("setupCommands", [])]
        after = [command["text"] for command in one.get("postRemoteConnectCommands", [])] + one.get("autorun", [])
        gdb.sendline(f"1-file-exec-and-symbols {program}")
        gdb.expect(r"1\^done")
        for text in before:
            gdb.sendline(f'2-interpreter-exec console "{text.replace(FOLDER, "")}"')
            gdb.expect(r"2\^done")
        for _ in range(50):  # QEMU may be about to listen
            gdb.sendline(f"3-target-select remote 127.0.0.1:{port}")
            if gdb.expect([r"3\^connected", r"3\^error"]) == 0:
                break
        for text in after:
            gdb.sendline(f'4-interpreter-exec console "{text}"')
            gdb.expect(r"4\^done")
        gdb.sendline("5-exec-continue")
        gdb.expect(r"\*stopped,[^\n]*")
        stop = gdb.match.group()
        assert 'reason="breakpoint-hit"' in stop and 'func="start_kernel"' in stop, stop
        found = re.search(r'fullname="([^"]+)"', stop).group(1)
        assert os.path.samefile(found, os.path.join(ROOT, "kernel/init/main.c")), found
        gdb.sendline('6-interpreter-exec console "help vitrine"')
        gdb.expect("vt-ftrace")
        gdb.expect(r"6\^done")
    finally:
        gdb.close(force=True)
        guest.send("\x01x")
        guest.close(force=True)


def test_tags_lead_to_definitions(tmp_path):
    if not shutil.which("ctags"):
        pytest.skip("ctags is not here: make deps")
    done = subprocess.run(["make", "-n", "tags"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    (line,) = (line for line in done.splitlines() if "ctags" in line)
    line = line.replace("-f tags", f"-f {tmp_path}/tags").replace("-f TAGS", f"-f {tmp_path}/TAGS")
    subprocess.run(["/bin/bash", "-c", line], cwd=ROOT, check=True, capture_output=True)
    assert re.search(r"^schedule\tkernel/sched/\w+\.c\t", (tmp_path / "tags").read_text(), re.M)
    assert "\x7fschedule\x01" in (tmp_path / "TAGS").read_text()
