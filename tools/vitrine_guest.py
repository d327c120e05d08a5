"""A Vitrine guest under QEMU: started, talked to over its serial console, and surely ended.

Everything that boots a guest goes through here: tools/vrun, `make qemu-arm64`, the tests. MACHINES is the one table of
machines. For an interactive session:

    with Guest(smp=4) as guest:                 # boots to the prompt
        status, output = guest.run("uname -a")  # types a command, waits for its end
        guest.send("cat\\n")
        guest.expect("...")                     # a regular expression on the console
"""

import atexit
import ctypes
import functools
import math
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
import termios
import time

from shell_text import guest_text
from vitrine_console import EOF, Console
from vitrine_icount import icount_arguments
from vitrine_lifetime import Lifetime, Silence, patience
from vitrine_machines import (
    MACHINES,
    MAX_CPUS,
    NO_STATUS,
    PANICKED,
    ROOT_PLACE,
    ROOT_TAG,
    SHARE_PLACE,
    SHARE_TAG,
    TIMED_OUT,
    GuestError,
    accel_arguments,
    has_ports,
    port_arguments,
    qemu_of,
    share_arguments,
)
from vitrine_qemu import ended_line, missing_line, silence_line, told_apart

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PANIC = r"Kernel panic - [^\r\n]*\r?\n"  # all of the line
PANIC_END = r"end Kernel panic[^\r\n]*"
PR_SET_PDEATHSIG = 1


def file_archive(initrd, files):
    """An initramfs with more files (see cpio_archive) behind this one's: the descriptor of a nameless file."""
    base = b""
    if initrd:
        with open(initrd, "rb") as file:
            base = file.read()
    return memory_file([base, cpio_archive(files)])


def apply_bootconfig(bootconfig, path, handle=None):
    """Put a file of keys at the end of an initramfs (docs/bootconfig.md); handle: the open file that path names."""
    program = os.path.join(ROOT, "tools/bootconfig")
    if not os.path.exists(program):
        raise GuestError("--bootconfig needs the source tree, which has tools/bootconfig", NO_STATUS)
    done = subprocess.run(
        [program, "-a", bootconfig, path],
        pass_fds=[] if handle is None else [handle],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise GuestError(f"--bootconfig: {done.stdout.strip().removeprefix('bootconfig: ')}", NO_STATUS)


class Setup:
    """One machine's settings, from keywords of Guest() or options of vrun."""

    def __init__(
        self,
        arch="aarch64",
        smp=1,
        mem="256M",
        cpu=None,
        board=None,
        irqchip=None,
        boot="kernel",
        icount=False,
        turn=None,
        append="",
        build=None,
        kernel=None,
        initrd=None,
        iso=None,
        qemu=None,
        qemu_args=(),
        ports=None,
        share=None,
        root=None,
        session=False,
        bootconfig=None,
        accel=None,
    ):
        """board, cpu: as for QEMU's -M and -cpu; irqchip, boot: names of MACHINES; ports: see port_arguments; share,
        root: a folder, see share_arguments; turn: microseconds that a CPU runs before the others under icount, 0 for
        QEMU's own way, None for what the machine needs; initrd "": none; session: the first files of a session at the
        prompt, with man's pages and busybox, where they are built; bootconfig: a file of keys for the boot; accel: as
        for QEMU's -accel.
        """
        self.arch, self.boot, self.bootconfig = arch, boot, bootconfig
        if not 1 <= int(smp) <= MAX_CPUS:
            raise GuestError(f"smp {smp}: the kernel runs on 1 to {MAX_CPUS} CPUs", NO_STATUS)
        # Programs of another root ask uname whether this is Linux (docs/programs.md). Words of `append` come later and
        # may say otherwise; none of these may be behind a --.
        words = (bootconfig and "bootconfig", root and "sysname=Linux", append)
        self.append = " ".join(word for word in words if word)
        self.machine = machine = self._choose("machine", arch, MACHINES)
        board_more, cpu_more = self._choose("irqchip", irqchip or next(iter(machine.irqchips)), machine.irqchips)
        self._start = self._choose("boot", boot, machine.boots)
        self.build = build or os.path.join(ROOT, "build", arch)
        self.kernel = kernel or os.path.join(self.build, machine.kernel)
        self.initrd = self._first_files(session) if initrd is None else initrd
        self.iso = iso or os.path.join(self.build, "vitrine.iso")
        self._check_files()
        self.command = [qemu or qemu_of(machine), "-M", (board or machine.board) + board_more]
        accel_words, cpu = accel_arguments(arch, accel, cpu, icount)
        self.command += accel_words
        self.command += ["-cpu", (cpu or machine.cpu) + cpu_more, "-smp", str(smp), "-m", str(mem)]
        self.command += ["-nodefaults", "-display", "none", "-no-reboot", *machine.exit_device]
        if not self._start and board in (None, machine.board):
            self.command += machine.firmware
        if icount:
            self.command += icount_arguments(self.command[0], machine, smp, turn)
        self.command += port_arguments(machine, ports)
        for what, folder, tag in (("share", share, SHARE_TAG), ("root", root, ROOT_TAG)):
            if folder and not has_ports(machine, board):
                raise GuestError(f"{what} {folder}: the board {board} has no place for the device", NO_STATUS)
            self.command += share_arguments(machine, folder, tag, what=what) if folder else []
        self.command += qemu_args

    @staticmethod
    def _choose(what, name, table):
        if name not in table:
            raise GuestError(f"no {what} '{name}': there are {', '.join(table)}", NO_STATUS)
        return table[name]

    def _first_files(self, session):
        """The initramfs; a variant of the kernel has none for sessions."""
        more = os.path.join(self.build, "session.cpio")
        return more if session and os.path.exists(more) else os.path.join(self.build, "initramfs.cpio")

    def _goal(self):
        """What make is asked for to fill the build folder: that of a variant of the kernel has its suffix."""
        goal = self.machine.goal
        variants = {f"{self.arch}-{name}": f"{name}-{goal}" for name in ("nopg", "noevents", "branch")}
        variants[f"{self.arch}-branch-all"] = f"branch-{goal} BRANCH=all"
        variants[f"{self.arch}-core"] = f"{goal} CORE=1"
        return variants.get(os.path.basename(os.path.abspath(self.build)), goal)

    def _check_files(self):
        """What will be started is there, and is of this build."""
        goal = self._goal()
        made = {self.iso: "iso"} if self._start else {self.kernel: goal, self.initrd: goal}
        for path, goal in made.items():
            if path and not os.path.exists(path):
                raise GuestError(f"{path} is not there: make {goal} builds it", NO_STATUS)
        if self._start and self.bootconfig:
            raise GuestError(
                f"boot={self.boot}: the bootconfig is the image's own (make iso BOOTCONFIG=...)", NO_STATUS
            )
        if self._start and self.append:
            raise GuestError(f"boot={self.boot}: the command line is the image's own (make iso APPEND=...)", NO_STATUS)

    def first_files(self, files):
        """The initramfs with these files and the bootconfig: the descriptor of a nameless file. None: as it is built."""
        if not files and not self.bootconfig:
            return None
        handle = file_archive(self.initrd, files)
        if self.bootconfig:
            try:
                apply_bootconfig(self.bootconfig, path_of(handle), handle)
            except GuestError:
                os.close(handle)
                raise
        return handle

    def argv(self, console, initrd=None, append=""):
        """QEMU's command line; console: the arguments that say where the serial port goes."""
        argv = [*self.command, *console]
        if self._start:
            if initrd or append:
                raise GuestError(f"boot={self.boot}: the image has its own files and command line", NO_STATUS)
            return argv + self._start(self.iso)
        words = " ".join(word for word in (self.append, append) if word)
        initrd = initrd or self.initrd
        return [
            *argv,
            "-kernel",
            self.kernel,
            *(["-initrd", initrd] if initrd else []),
            *(["-append", words] if words else []),
        ]


def console_stdio():
    """Serial port on standard input and output; ^C goes to the guest."""
    return ["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]


def cpio_archive(files):
    """A newc archive of {path in the guest: (mode, bytes)}, folders included."""
    out, folders = bytearray(), set()

    def put(number, name, mode, data):
        name = os.fsencode(name) + b"\0"  # lengths are of bytes
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
        out.extend(b"070701" + b"".join(b"%08X" % field for field in fields) + name)
        out.extend(bytes(-len(out) % 4))
        out.extend(data)
        out.extend(bytes(-len(out) % 4))

    number = 0x10000  # above the base archive's, in case the unpacker minds inode numbers
    for path, (mode, data) in files.items():
        parts = path.strip("/").split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in folders:
                folders.add(folder)
                number += 1
                put(number, folder, 0o040755, b"")
        number += 1
        put(number, "/".join(parts), 0o100000 | mode, data)
    put(0, "TRAILER!!!", 0, b"")
    return bytes(out)


def memory_file(parts):
    """A nameless file of these bytes, each part from a multiple of 4; gone with this process however it ends. Only
    Linux has such files; elsewhere it has a name (path_of), and is gone when this process ends of itself."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("initramfs")
    else:
        handle, name = tempfile.mkstemp(prefix="initramfs-")
        _named[handle] = name
        atexit.register(os.unlink, name)
    with os.fdopen(os.dup(handle), "wb") as file:
        for part in parts:
            file.write(part + bytes(-len(part) % 4))
    return handle


_named = {}  # the files' names, where they have one


def path_of(handle, process="self"):
    """Where a child, or another process, finds what memory_file() has made."""
    return _named.get(handle) or f"/proc/{process}/fd/{handle}"


def die_with_parent(parent):
    """For a child before exec: be killed when the parent is gone, even by SIGKILL. A parent that has gone already sends
    nothing any more. Other systems than Linux have no such wish."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def prepare_child(parent):
    """For QEMU on a terminal of ours, before exec. QEMU switches output processing on and keeps the kind it finds: here
    none, since the guest ends its lines with \\r\\n itself. SIGINT, which a background job inherits as ignored, is
    QEMU's to have.
    """
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    attributes = termios.tcgetattr(1)
    attributes[1] &= ~termios.ONLCR
    termios.tcsetattr(1, termios.TCSANOW, attributes)


class Guest:
    """A running guest. `timeout` seconds bound its whole life, not each wait: a guest that hangs ends as TIMED_OUT."""

    # The prompt of the shell at the end of what the console shows, for interactive sessions.
    PROMPT = r"(?:^|[\r\n])[^\r\n]*[#$] $"

    # Seconds without a word after which a panic's report is over.
    SILENCE = 2

    # Called with each guest that starts; the tests' reports use it.
    on_start = staticmethod(lambda guest: None)
    # What every guest's QEMU gets besides, and what is said of a guest whose time is up; the tests look into it then.
    more_arguments = staticmethod(lambda: [])
    on_timeout = staticmethod(lambda guest: "")
    # Called with a line to show when a guest is not heard that should have been by now.
    on_silence = staticmethod(lambda line: print(f"vrun: {line}", file=sys.stderr, flush=True))

    def __init__(self, files=None, append="", timeout=60, log=None, wait_prompt=True, **setup):
        """files: {path in the guest: (mode, bytes)} added to the initramfs; setup: keywords of Setup."""
        self.setup = Setup(**setup)
        self.life = Lifetime(timeout)
        self._console = []  # all that the guest has written, in portions
        self._initrd = self.setup.first_files(files or {})
        initrd = None
        if self._initrd is not None:
            initrd = path_of(self._initrd, os.getpid())
        self.argv = self.setup.argv(console_stdio() + self.more_arguments(), initrd, append)
        try:
            self.child = Console(self.argv, 25, 200, _Tee(self, log), functools.partial(prepare_child, os.getpid()))
        except OSError as error:
            self._close_initrd()
            raise GuestError(missing_line(self.argv[0], error), NO_STATUS) from error
        self._silence = None if "-S" in self.argv else Silence(self.child.pid)
        self.on_start(self)
        if wait_prompt:
            try:
                self.expect(self.PROMPT)
            except BaseException:
                self.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def console(self):
        """All that the guest has written, as it came."""
        return "".join(self._console)

    def send(self, text):
        """Type this on the console."""
        self.child.send(text)

    def expect(self, pattern, panic=True):
        """Wait until the console shows the regular expression; the match object. What went before: .before().

        GuestError when the guest ends first, when time is up or it has been idle too long, or (panic=True) when it
        panics.
        """
        patterns = [pattern, EOF] + ([PANIC] if panic else [])
        index = self._index_of_next(patterns)
        if index is None:
            message = f"{self.life.why} while waiting for {pattern!r}{self.on_timeout(self)}"
            raise GuestError(message, TIMED_OUT)
        if index == 1:
            status = self.exit_status()
            words = told_apart(self.console, self.argv[0])[1]
            if words:
                raise GuestError(ended_line(self.argv[0], self.child.status(), words), NO_STATUS)
            how = f" with status {status}" if status else ""
            raise GuestError(f"the guest ended{how} while {pattern!r} was awaited", status or NO_STATUS)
        if index == 2:
            raise self._panic()
        return self.child.match

    def _index_of_next(self, patterns, seconds=math.inf):
        """Which of the patterns comes; None when time is up, the guest's or so many seconds of a quiet host, or when the
        guest is stuck. self.life.why says which."""
        for portion in self.life.portions(self.child.pid, seconds):
            index = self.child.expect(patterns, portion)
            if index is not None:
                return index
            self._listen()
        return None

    def _listen(self):
        """Say it, once, when the guest should have been heard by now."""
        if self._silence and told_apart(self.console, self.argv[0])[0]:
            self._silence = None
        why = self._silence and self._silence.look()
        if why:
            self._silence = None
            self.on_silence(silence_line(self.argv[0], why))

    def before(self):
        """What the console showed between the last match and the one before it."""
        return self.child.before()

    def run(self, command):
        """Type a command at the shell's prompt and wait for its end: (exit status, what it printed).

        The markers are typed in two halves, so that the terminal's echo of the command does not look like them.
        """
        token = secrets.token_hex(6)
        ending = "" if command.rstrip().endswith("&") else ";"
        self.send(f'echo "be""gin-{token}"; {command}{ending} echo "en""d-{token}:$?"\n')
        self.expect(f"begin-{token}\r?\n")
        status = int(self.expect(f"end-{token}:(\\d+)\r?\n").group(1))
        output = self.before().replace("\r\n", "\n")
        self.expect(self.PROMPT)
        return status, output

    def wait_end(self, seconds=20, panic=False):
        """Wait until QEMU is gone; False when it is still there after that many seconds (of a quiet host), at the end of
        the guest's time, or when the guest is stuck. panic: GuestError when the guest panics."""
        index = self._index_of_next([EOF] + ([PANIC] if panic else []), seconds)
        if index == 1:
            raise self._panic()
        return index == 0

    def exit_status(self):
        """After the end: the status that the kernel gave (0: powered off); None when QEMU failed or was ended from
        outside."""
        self._wait_ended(10)  # the end of the console comes just before that of the process
        code = self.child.status()
        return None if code is None else self.setup.machine.exit_status(code)

    def _wait_ended(self, seconds):
        """Until QEMU's process has ended, or so many seconds have passed, on a quiet host."""
        end = time.monotonic() + seconds * patience()
        while self.child.is_alive() and time.monotonic() < end:
            time.sleep(0.01)

    def close(self):
        """End the guest, whatever state it is in. QEMU leads a process group of its own, which goes as a whole."""
        if self.child.is_alive():
            try:
                os.killpg(self.child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it ended between the two calls
            self._wait_ended(10)  # a busy host takes its time
        self.child.close()
        self._close_initrd()

    def tail(self, lines=40):
        """The console's last lines, for a report of failure."""
        return "\n".join(self.console.replace("\r\n", "\n").splitlines()[-lines:])

    def _close_initrd(self):
        if self._initrd is not None:
            os.close(self._initrd)
            self._initrd = None

    def _panic(self):
        """What is to be raised for the panic that has just been seen. The rest of its report is taken in: to its closing
        line, QEMU's end, some silent seconds, or the guest's time."""
        line, said = self.child.match.group().strip(), None
        while said != len(self._console):
            said = len(self._console)
            index = self.child.expect([PANIC_END, EOF], min(self.SILENCE, self.life.left()))
            if index is not None or not self.life.left():
                break
        return GuestError(f"the guest panicked: {line}", PANICKED)


class _Tee:
    """Keeps the console's text and hands it on."""

    def __init__(self, guest, log):
        self.guest, self.log = guest, log

    def write(self, text):
        self.guest._console.append(text)
        if self.log:
            self.log.write(text)
            self.log.flush()


def first_program(token, script, arguments, folders="", within="", after=""):
    """The first program of a headless run, as bytes. token: what tells its two markers from other text; folders: lines of
    mount_folder(); the rest is ScriptRun's."""
    return guest_text(
        "run",
        "init",
        FOLDERS=folders,
        TOKEN=token,
        WITHIN=within,
        SCRIPT=script,
        ARGUMENTS=shlex.join(arguments),
        AFTER=after,
    ).encode()


def mount_folder(tag, place):
    """Lines for first_program(), which begin with the end of the line before them."""
    return f"\nmkdir -p {place}\nmount -t 9p -o trans=virtio,version=9p2000.L {tag} {place}"


def root_and_share(root, share):
    """The same for a guest with a root or a share. In a root, the share is where its programs look for it."""
    return (mount_folder(ROOT_TAG, ROOT_PLACE) if root else "") + (
        mount_folder(SHARE_TAG, (ROOT_PLACE if root else "") + SHARE_PLACE) if share else ""
    )


# What runs a script in the root, where this guest's first files are in /vitrine.
IN_ROOT = "/bin/sh /etc/enter-root"


class ScriptRun:
    """A script inside a guest: started as the first program, its status read from a marker on the console."""

    def __init__(self, script, arguments=(), files=None, append="", within="", after="", **guest):
        """script: bytes of the shell script; files: more files for the guest; within: a command that runs what stands
        behind it; after: shell text to run behind the script, unseen; guest: keywords of Guest."""
        self.token = secrets.token_hex(8)
        init = first_program(
            self.token,
            "/vitrine/run/script" if guest.get("root") else "/run/script",
            arguments,
            root_and_share(guest.get("root"), guest.get("share")),
            f"{within} {IN_ROOT if guest.get('root') else ''}".strip(),
            after,
        )
        inside = {"run/vrun-init": (0o755, init), "run/script": (0o755, script), **(files or {})}
        append = f"{append} init=/run/vrun-init".strip()
        self.guest = Guest(files=inside, append=append, wait_prompt=False, **guest)
        self.output = ""  # what the script printed, with bare newlines

    def wait_start(self):
        """Wait until the script begins."""
        self.guest.expect(f"vrun-start-{self.token}\r?\n")

    def wait_exit(self, between=lambda: None, seconds=20):
        """Wait for the script's end, call `between`, wait for the guest's end, `seconds` at most; the status. GuestError
        as Guest.expect(), also when it does not end: where nothing can be started, a script not run has status 0."""
        try:
            status = int(self.guest.expect(f"vrun-exit-{self.token} (\\d+)\r?\n").group(1))
        finally:
            self.output = self._between_markers()
        between()
        if not self.guest.wait_end(seconds, panic=True):
            raise GuestError(
                f"the script ended with status {status}, and the guest did not power off{self.guest.on_timeout(self.guest)}",
                TIMED_OUT,
            )
        return status

    def _between_markers(self):
        text = self.guest.console.replace("\r\n", "\n")
        start = re.search(f"vrun-start-{self.token}\n", text)
        text = text[start.end() :] if start else ""
        return text.split(f"vrun-exit-{self.token}", 1)[0]
