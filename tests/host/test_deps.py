"""tools/deps.sh in a box made of folders: what it finds, what it asks apt for, what it says, what it costs."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHELL_TOOLS = ("bash", "dirname", "mkdir", "touch", "mktemp", "rm", "tail", "env", "flock")
COMMANDS = (
    "aarch64-linux-gnu-gcc",
    "x86_64-linux-gnu-gcc",
    "gcc",
    "tar",
    "xz",
    "bzip2",
    "cpio",
    "qemu-system-aarch64",
    "qemu-system-x86_64",
    "gdb-multiarch",
    "qemu-aarch64",
    "qemu-x86_64",
    "grub-mkrescue",
    "xorriso",
    "mformat",
    "trace-cmd",
    "protoc",
    "kernelshark",
    "Xvfb",
    "tesseract",
    "node",
    "npm",
    "rsync",
    "ctags",
    "patch",
    "git",
    "clang-format",
    "clang-tidy",
    "cppcheck",
    "black",
)
FILES = (
    "usr/include/stdio.h",
    "usr/bin/python3",
    "usr/src/newlib",
    "usr/include/cmocka.h",
    "usr/include/traceevent/event-parse.h",
    "usr/share/ovmf/OVMF.fd",
    "usr/aarch64-linux-gnu/lib/libc.a",
    "usr/lib/grub/i386-pc",
    "usr/lib/grub/x86_64-efi",
)


class Fake:
    """A box: a root folder, a PATH, an apt-get that writes down how it was called."""

    def __init__(self, folder):
        self.folder, self.bin, self.calls = folder, folder / "bin", folder / "calls"
        self.bin.mkdir()
        for tool in SHELL_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name in COMMANDS:
            self.program(name, "exit 0")
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("#!/bin/bash\nexit 0\n")
            (folder / name).chmod(0o755)
        self.program("id", "echo 0")
        self.program("uname", "echo x86_64")
        self.program("apt-get", f'echo "$@" >> {self.calls}')

    def program(self, name, text):
        (self.bin / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.bin / name).chmod(0o755)

    def run(self, *jobs):
        environment = {"PATH": str(self.bin), "DEPS_ROOT": str(self.folder), "DEPS_STAMP": str(self.folder / "stamp")}
        return subprocess.run(
            [os.path.join(ROOT, "tools/deps.sh"), *jobs],
            env=environment,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def asked(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def box(tmp_path):
    return Fake(tmp_path)


def test_all_there_is_silent(box):
    for _ in range(2):
        done = box.run("all")
        assert (done.returncode, done.stdout) == (0, "")
    assert box.asked() == []


def test_stamp_spares_python(box):
    assert box.run("run").returncode == 0
    python = box.folder / "usr/bin/python3"
    python.write_text(f"#!/bin/bash\necho python >> {box.calls}\n")
    assert box.run("run").returncode == 0
    assert box.asked() == []


def test_stamp_does_not_hide_a_command_that_went(box):
    assert box.run("build").returncode == 0
    (box.bin / "cpio").unlink()
    box.program(
        "apt-get",
        f'echo "$@" >> {box.calls}; [ "$1" = update ] || : > {box.bin}/cpio; '
        f"/bin/chmod -f 755 {box.bin}/cpio; exit 0",
    )
    assert box.run("build").returncode == 0
    assert box.asked() == ["update", "install -y --no-install-recommends cpio"]


def test_root_installs_what_is_missing(box):
    (box.bin / "cppcheck").unlink()
    (box.folder / "usr/include/cmocka.h").unlink()
    box.program(
        "apt-get",
        f'echo "$@" >> {box.calls}; [ "$1" = update ] && exit 0\n'
        f": > {box.folder}/usr/include/cmocka.h\n"
        f"echo '#!/bin/bash' > {box.bin}/cppcheck; /bin/chmod 755 {box.bin}/cppcheck",
    )
    done = box.run("all")
    assert (done.returncode, done.stdout) == (0, "deps: installing libcmocka-dev cppcheck\n")
    assert box.asked() == ["update", "install -y --no-install-recommends libcmocka-dev cppcheck"]


def test_only_the_wanted_jobs(box):
    (box.bin / "cppcheck").unlink()
    assert box.run("build", "run").returncode == 0
    assert box.asked() == []


def test_an_alternative_is_enough(box):
    (box.bin / "aarch64-linux-gnu-gcc").unlink()
    box.program("aarch64-none-elf-gcc", "exit 0")
    assert box.run("build").returncode == 0
    assert box.asked() == []


def test_without_root_one_line_names_all(box):
    box.program("id", "echo 1000")
    for name in ("cppcheck", "xz", "qemu-system-aarch64"):
        (box.bin / name).unlink()
    done = box.run("all")
    assert done.returncode == 1
    assert done.stdout == "deps: missing; as root: apt-get install xz-utils qemu-system-arm cppcheck\n"
    assert box.asked() == []


def test_sudo_is_used_when_it_asks_nothing(box):
    box.program("id", "echo 1000")
    box.program("sudo", f'echo "sudo $@" >> {box.calls}; shift; [ "$1" = true ] && exit 0; exec "$@"')
    (box.bin / "xz").unlink()
    box.program(
        "apt-get",
        f'echo "$@" >> {box.calls}; [ "$1" = update ] || ' f"{{ echo > {box.bin}/xz; /bin/chmod 755 {box.bin}/xz; }}",
    )
    assert box.run("build").returncode == 0
    assert "update" in box.asked() and "install -y --no-install-recommends xz-utils" in box.asked()


def test_the_compiler_for_x86_64_is_the_hosts_own_or_a_cross_compiler(box):
    box.program("id", "echo 1000")
    (box.bin / "x86_64-linux-gnu-gcc").unlink()
    assert box.run("build").stdout == "deps: missing; as root: apt-get install gcc\n"
    box.program("uname", "echo aarch64")
    assert box.run("build").stdout == "deps: missing; as root: apt-get install gcc-x86-64-linux-gnu\n"


def test_grub_is_asked_for_where_it_is_packaged(box):
    box.program("id", "echo 1000")
    (box.folder / "usr/lib/grub/i386-pc").unlink()
    (box.bin / "mformat").unlink()
    assert box.run("iso").stdout == "deps: missing; as root: apt-get install grub-pc-bin mtools\n"
    assert box.run("build", "run", "test").returncode == 0
    box.program("uname", "echo aarch64")
    assert box.run("all").returncode == 0


def test_missing_module(box):
    python = box.folder / "usr/bin/python3"
    python.write_text('#!/bin/bash\n[ "$2" != "import elftools" ]\n')
    box.program("id", "echo 1000")
    assert box.run("build").stdout == "deps: missing; as root: apt-get install python3-pyelftools\n"


def test_failing_apt_is_shown(box):
    (box.bin / "xz").unlink()
    box.program("apt-get", "echo E: no network >&2; exit 100")
    done = box.run("build")
    assert done.returncode == 1
    assert "E: no network" in done.stdout and done.stdout.endswith("deps: apt-get failed; still missing: xz-utils\n")


def test_install_that_does_not_help(box):
    (box.bin / "xz").unlink()
    done = box.run("build")
    assert done.returncode == 1 and "not found: xz-utils" in done.stdout


def test_two_at_once_install_once(box):
    (box.bin / "xz").unlink()
    (box.bin / "sleep").symlink_to("/bin/sleep")
    box.program(
        "apt-get",
        f'echo "$@" >> {box.calls}; [ "$1" = update ] || '
        f"{{ sleep 0.3; echo > {box.bin}/xz; /bin/chmod 755 {box.bin}/xz; }}",
    )
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(box.run, ["build", "build"]))
    assert [one.returncode for one in done] == [0, 0]
    assert len(box.asked()) == 2, "one update, one install"


def test_unknown_job(box):
    assert box.run("everything").returncode == 2
