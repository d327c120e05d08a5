"""tools/deps.sh in a machine made of folders: what it finds, what it asks apt for, what it says, what it costs."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHELL_TOOLS = ("bash", "dirname", "mkdir", "touch", "mktemp", "rm", "tail", "env", "flock")
COMMANDS = ("aarch64-linux-gnu-gcc", "x86_64-linux-gnu-gcc", "gcc", "tar", "xz", "bzip2", "cpio", "qemu-system-aarch64",
            "qemu-system-x86_64", "gdb-multiarch", "qemu-aarch64", "qemu-x86_64", "grub-mkrescue", "xorriso", "mformat",
            "clang-format", "clang-tidy", "cppcheck")
FILES = ("usr/include/stdio.h", "usr/bin/python3", "usr/src/newlib", "usr/include/cmocka.h", "usr/share/ovmf/OVMF.fd",
         "usr/lib/grub/i386-pc", "usr/lib/grub/x86_64-efi")


class Fake:
    """A machine: a root folder, a PATH, an apt-get that writes down how it was called."""

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
        return subprocess.run([os.path.join(ROOT, "tools/deps.sh"), *jobs], env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def asked(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path):
    return Fake(tmp_path)


def test_all_there_is_silent(machine):
    for _ in range(2):
        done = machine.run("all")
        assert (done.returncode, done.stdout) == (0, "")
    assert machine.asked() == []


def test_stamp_spares_python(machine):
    assert machine.run("run").returncode == 0
    python = machine.folder / "usr/bin/python3"
    python.write_text(f"#!/bin/bash\necho python >> {machine.calls}\n")
    assert machine.run("run").returncode == 0
    assert machine.asked() == []


def test_stamp_does_not_hide_a_command_that_went(machine):
    assert machine.run("build").returncode == 0
    (machine.bin / "cpio").unlink()
    machine.program("apt-get", f'echo "$@" >> {machine.calls}; [ "$1" = update ] || : > {machine.bin}/cpio; '
                               f"/bin/chmod -f 755 {machine.bin}/cpio; exit 0")
    assert machine.run("build").returncode == 0
    assert machine.asked() == ["update", "install -y --no-install-recommends cpio"]


def test_root_installs_what_is_missing(machine):
    (machine.bin / "cppcheck").unlink()
    (machine.folder / "usr/include/cmocka.h").unlink()
    machine.program("apt-get", f'echo "$@" >> {machine.calls}; [ "$1" = update ] && exit 0\n'
                               f": > {machine.folder}/usr/include/cmocka.h\n"
                               f"echo '#!/bin/bash' > {machine.bin}/cppcheck; /bin/chmod 755 {machine.bin}/cppcheck")
    done = machine.run("all")
    assert (done.returncode, done.stdout) == (0, "deps: installing libcmocka-dev cppcheck\n")
    assert machine.asked() == ["update", "install -y --no-install-recommends libcmocka-dev cppcheck"]


def test_only_the_wanted_jobs(machine):
    (machine.bin / "cppcheck").unlink()
    assert machine.run("build", "run").returncode == 0
    assert machine.asked() == []


def test_an_alternative_is_enough(machine):
    (machine.bin / "aarch64-linux-gnu-gcc").unlink()
    machine.program("aarch64-none-elf-gcc", "exit 0")
    assert machine.run("build").returncode == 0
    assert machine.asked() == []


def test_without_root_one_line_names_all(machine):
    machine.program("id", "echo 1000")
    for name in ("cppcheck", "xz", "qemu-system-aarch64"):
        (machine.bin / name).unlink()
    done = machine.run("all")
    assert done.returncode == 1
    assert done.stdout == "deps: missing; as root: apt-get install xz-utils qemu-system-arm cppcheck\n"
    assert machine.asked() == []


def test_sudo_is_used_when_it_asks_nothing(machine):
    machine.program("id", "echo 1000")
    machine.program("sudo", f'echo "sudo $@" >> {machine.calls}; shift; [ "$1" = true ] && exit 0; exec "$@"')
    (machine.bin / "xz").unlink()
    machine.program("apt-get", f'echo "$@" >> {machine.calls}; [ "$1" = update ] || '
                               f"{{ echo > {machine.bin}/xz; /bin/chmod 755 {machine.bin}/xz; }}")
    assert machine.run("build").returncode == 0
    assert "update" in machine.asked() and "install -y --no-install-recommends xz-utils" in machine.asked()


def test_the_compiler_for_x86_64_is_the_hosts_own_or_a_cross_compiler(machine):
    machine.program("id", "echo 1000")
    (machine.bin / "x86_64-linux-gnu-gcc").unlink()
    assert machine.run("build").stdout == "deps: missing; as root: apt-get install gcc\n"
    machine.program("uname", "echo aarch64")
    assert machine.run("build").stdout == "deps: missing; as root: apt-get install gcc-x86-64-linux-gnu\n"


def test_grub_is_asked_for_where_it_is_packaged(machine):
    machine.program("id", "echo 1000")
    (machine.folder / "usr/lib/grub/i386-pc").unlink()
    (machine.bin / "mformat").unlink()
    assert machine.run("iso").stdout == "deps: missing; as root: apt-get install grub-pc-bin mtools\n"
    assert machine.run("build", "run", "test").returncode == 0
    machine.program("uname", "echo aarch64")
    assert machine.run("all").returncode == 0


def test_missing_module(machine):
    python = machine.folder / "usr/bin/python3"
    python.write_text('#!/bin/bash\n[ "$2" != "import elftools" ]\n')
    machine.program("id", "echo 1000")
    assert machine.run("build").stdout == "deps: missing; as root: apt-get install python3-pyelftools\n"


def test_failing_apt_is_shown(machine):
    (machine.bin / "xz").unlink()
    machine.program("apt-get", "echo E: no network >&2; exit 100")
    done = machine.run("build")
    assert done.returncode == 1
    assert "E: no network" in done.stdout and done.stdout.endswith("deps: apt-get failed; still missing: xz-utils\n")


def test_install_that_does_not_help(machine):
    (machine.bin / "xz").unlink()
    done = machine.run("build")
    assert done.returncode == 1 and "not found: xz-utils" in done.stdout


def test_two_at_once_install_once(machine):
    (machine.bin / "xz").unlink()
    (machine.bin / "sleep").symlink_to("/bin/sleep")
    machine.program("apt-get", f'echo "$@" >> {machine.calls}; [ "$1" = update ] || '
                               f"{{ sleep 0.3; echo > {machine.bin}/xz; /bin/chmod 755 {machine.bin}/xz; }}")
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(machine.run, ["build", "build"]))
    assert [one.returncode for one in done] == [0, 0]
    assert len(machine.asked()) == 2, "one update, one install"


def test_unknown_job(machine):
    assert machine.run("everything").returncode == 2
