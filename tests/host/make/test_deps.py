"""tools/deps.sh in a box made of folders: what it finds, what it asks apt for, what it says, what it costs."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SHELL_TOOLS = "bash dirname mkdir touch mktemp rm tail env flock sed wc tr grep ls".split()
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
    "less",
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
        self.host("x86_64")
        self.program("apt-get", f'echo "$@" >> {self.calls}')

    def program(self, name, text):
        (self.bin / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.bin / name).chmod(0o755)

    def host(self, machine, system="Linux"):
        self.program("uname", f'[ "$1" = -s ] && echo {system} || echo {machine}')

    def manager(self, name):
        """Another system than Debian: this is its package manager, and nobody is root."""
        (self.bin / "apt-get").unlink()
        self.program(name, f'echo "$@" >> {self.calls}')
        self.program("id", "echo 1000")

    def run(self, *jobs, **more):
        environment = {"PATH": str(self.bin), "DEPS_ROOT": str(self.folder), "DEPS_STAMP": str(self.folder / "stamp")}
        environment |= more
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
    (box.bin / "bzip2").unlink()
    box.program(
        "apt-get",
        f'echo "$@" >> {box.calls}; [ "$1" = update ] || : > {box.bin}/bzip2; '
        f"/bin/chmod -f 755 {box.bin}/bzip2; exit 0",
    )
    assert box.run("build").returncode == 0
    assert box.asked() == ["update", "install -y --no-install-recommends bzip2"]


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
    assert box.run("build").stdout == "", "gcc itself makes code for its host"
    (box.bin / "gcc").unlink()
    assert box.run("build").stdout == "deps: missing; as root: apt-get install gcc\n"
    box.program("gcc", "exit 0")
    box.host("aarch64")
    assert box.run("build").stdout == "deps: missing; as root: apt-get install gcc-x86-64-linux-gnu\n"


def test_grub_is_asked_for_where_it_is_packaged(box):
    box.program("id", "echo 1000")
    (box.folder / "usr/lib/grub/i386-pc").unlink()
    (box.bin / "mformat").unlink()
    assert box.run("iso").stdout == "deps: missing; as root: apt-get install grub-pc-bin mtools\n"
    assert box.run("build", "run", "test").returncode == 0
    box.host("aarch64")
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


# What package managers say on a new system, and what the last line then says.
FAILURES = {
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)": "wait for its end",
    "E: Release file for http://x/InRelease is not valid yet (invalid for another 2h 5min)": "hwclock -s",
    "W: Failed to fetch http://x  Temporary failure resolving 'x'\nE: Unable to locate package xz-utils": "Acquire::http::Proxy",
    "Error: Failed to download metadata: Curl error (6): Couldn't resolve host name": "connect this computer",
    "E: Unable to locate package xz-utils": "in no repository that this system uses: add it (Debian: main)",
    "E: Package 'xz-utils' has no installation candidate": "in no repository that this system uses",
    "error: target not found: xz": "in no repository that this system uses",
    "E: The repository 'http://x impish Release' does not have a Release file.": "is not served any more",
}


@pytest.mark.parametrize("said, help_", FAILURES.items())
def test_a_failure_is_followed_by_what_helps(box, said, help_):
    (box.bin / "xz").unlink()
    box.program("apt-get", f"cat >&2 <<'EOT'\n{said}\nEOT\nexit 100")
    (box.bin / "cat").symlink_to("/bin/cat")
    lines = box.run("build").stdout.splitlines()
    assert lines[-2] == "deps: apt-get failed; still missing: xz-utils"
    assert lines[-1].startswith("deps: ") and help_ in lines[-1] and lines[-1].endswith("; then run make again")


@pytest.mark.parametrize("where", ["sources.list", "sources.list.d/ubuntu.sources"])
def test_ubuntu_without_universe(box, where):
    """Root is told so when apt-get finds nothing, others in the line that they are to copy."""
    (box.folder / "etc/apt/sources.list.d").mkdir(parents=True)
    (box.folder / "etc/os-release").write_text('NAME="Ubuntu"\nID=ubuntu\n')
    (box.folder / "etc/apt" / where).write_text("deb http://x noble main\n")
    (box.bin / "xz").unlink()
    box.program("apt-get", "echo 'E: Unable to locate package xz-utils' >&2; exit 100")
    assert box.run("build").stdout.endswith("deps: as root: add-apt-repository universe; then run make again\n")
    box.program("id", "echo 1000")
    line = "deps: missing; as root: add-apt-repository universe && apt-get install xz-utils\n"
    assert box.run("build").stdout == line
    (box.folder / "etc/apt" / where).write_text("deb http://x noble main universe\n")
    assert box.run("build").stdout == line.replace("add-apt-repository universe && ", "")


def test_a_container_whose_lists_are_empty(box):
    box.program("id", "echo 1000")
    (box.bin / "xz").unlink()
    lists = box.folder / "var/lib/apt/lists"
    lists.mkdir(parents=True)
    assert box.run("build").stdout == "deps: missing; as root: apt-get update && apt-get install xz-utils\n"
    (lists / "deb.debian.org_debian_dists_bookworm_main_binary-amd64_Packages").write_text("")
    assert box.run("build").stdout == "deps: missing; as root: apt-get install xz-utils\n"


def test_a_mac_without_homebrew(box):
    box.manager("unheard-of")
    box.host("arm64", "Darwin")
    for name in ("xz", "aarch64-linux-gnu-gcc", "x86_64-linux-gnu-gcc"):
        (box.bin / name).unlink()
    assert box.run("build").stdout == (
        "deps: missing; Homebrew has it: install that by the line of https://brew.sh, and run make again\n"
    )


def test_a_python_that_is_elsewhere(box):
    """Where there is no /usr/bin/python3, make says python3, and that is found on PATH."""
    (box.folder / "usr/bin/python3").unlink()
    box.program("id", "echo 1000")
    assert (
        box.run("build", PYTHON="python3").stdout
        == "deps: missing; as root: apt-get install python3 python3-pyelftools\n"
    )
    box.program("python3", "exit 0")
    assert box.run("build", PYTHON="python3").stdout == ""


def test_an_old_qemu_is_told_before_anything_is_built(box):
    """By tools/vitrine_qemu.py, once: then the stamp says that it was asked."""
    (box.folder / "usr/bin/python3").write_text(f"#!/bin/bash\n[ $1 != tools/vitrine_qemu.py ] || echo old QEMU\n")
    assert box.run("build").stdout == ""
    assert box.run("run").stdout == "old QEMU\n"
    assert box.run("run").stdout == ""


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


# What is taken out of the box, and what each system then says. The names are those of its own packages.
SYSTEMS = {
    "dnf": "as root: dnf install gcc-aarch64-linux-gnu xz qemu-system-aarch64 gdb",
    "pacman": "as root: pacman -S --needed aarch64-linux-gnu-gcc xz qemu-system-aarch64 gdb",
    "brew": "brew install aarch64-elf-gcc xz qemu aarch64-elf-gdb x86_64-elf-gdb",
    "apk": "as root: apk add gcc-aarch64-none-elf newlib-aarch64-none-elf xz qemu-system-aarch64 gdb-multiarch",
}


@pytest.mark.parametrize("manager", SYSTEMS)
def test_another_system_is_told_its_own_names(box, manager):
    box.manager(manager)
    for name in ("aarch64-linux-gnu-gcc", "xz", "qemu-system-aarch64", "gdb-multiarch"):
        (box.bin / name).unlink()
    if manager == "brew":
        box.host("arm64", "Darwin")
        box.program("brew", "exit 1")
        assert box.run("build", "run").stdout.endswith(
            "deps: brew failed; still missing: aarch64-elf-gcc xz qemu aarch64-elf-gdb x86_64-elf-gdb\n"
        )
    else:
        assert box.run("build", "run").stdout == f"deps: missing; {SYSTEMS[manager]}\n"
    assert box.asked() == []


def test_dnf_installs_as_root(box):
    box.manager("dnf")
    box.program("id", "echo 0")
    (box.bin / "xz").unlink()
    box.program("dnf", f'echo "$@" >> {box.calls}; echo > {box.bin}/xz; /bin/chmod 755 {box.bin}/xz')
    done = box.run("build")
    assert (done.returncode, done.stdout, box.asked()) == (0, "deps: installing xz\n", ["install -y xz"])


def test_what_no_package_has_is_named_with_its_place(box):
    box.manager("pacman")
    shutil.rmtree(box.folder / "usr/src")
    (box.folder / "usr/share/ovmf/OVMF.fd").unlink()
    said = box.run("build", "test").stdout
    assert said.count("\n") == 1 and "pacman" not in said
    assert "curl --create-dirs -o build/usr/src/newlib/newlib-3.3.0.tar.gz https://sourceware.org/pub/newlib/" in said
    assert said.endswith("; by other means than packages: /usr/share/ovmf/OVMF.fd\n")


def test_modules_of_python_come_by_pip_where_they_are_not_packaged(box):
    box.manager("brew")
    box.host("arm64", "Darwin")
    box.program("aarch64-elf-gcc", "exit 0")
    python = box.folder / "usr/bin/python3"
    python.write_text("#!/bin/bash\ncase $2 in *elftools*|*pexpect*) exit 1;; esac\n")
    assert box.run("run").stdout == "", "a guest needs no module"
    said = box.run("build").stdout
    assert said == f"deps: missing; {python} -m pip install --user pyelftools\n"


def test_an_unknown_system_is_told_debians_names(box):
    box.manager("unheard-of")
    (box.bin / "xz").unlink()
    done = box.run("build")
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1 and done.stdout.endswith("by Debian's names, xz-utils\n")


def test_a_gdb_for_both_machines_is_as_good(box):
    box.program("id", "echo 1000")
    (box.bin / "gdb-multiarch").unlink()
    known = "echo 'The target architecture is set to \"%s\".'\n"
    x86_64 = known % "i386:x86-64"
    # Debian's plain gdb: it knows its own host, and goes on behind an error. Then one that does not even start.
    for one in ("echo 'Undefined item: \"aarch64\".' >&2\n" + x86_64, "exit 1"):
        box.program("gdb", one)
        assert box.run("run").stdout == "deps: missing; as root: apt-get install gdb-multiarch\n"
    box.program("gdb", known % "aarch64" + x86_64)
    assert box.run("run").returncode == 0


def test_every_line_of_the_table_is_whole():
    jobs = {"build", "run", "iso", "test", "labs", "lint"}
    with open(os.path.join(ROOT, "tools/deps.list"), encoding="utf-8") as table:
        lines = [line.split() for line in table if not line.startswith("#")]
    assert len(lines) > 40 and {line[0] for line in lines} == jobs
    assert [line for line in lines if len(line) != 7] == []
    whats = [tuple(line[:2]) for line in lines]
    assert len(set(whats)) == len(whats)


@pytest.fixture
def tree(tmp_path):
    """A folder that deps.sh takes for its tree: what is unpacked is noted in its build/."""
    copy = tmp_path / "tree"
    (copy / "tools").mkdir(parents=True)
    for name in ("deps.sh", "deps.list"):
        shutil.copy2(os.path.join(ROOT, "tools", name), copy / "tools" / name)
    return copy


def test_prefix_unpacks_without_root(box, tree):
    """apt-get names what a package depends on, too, and each is fetched and unpacked. make finds them from then on."""
    box.program("id", "echo 1000")
    (box.bin / "xz").unlink()
    shutil.rmtree(box.folder / "usr/src")
    box.program(
        "apt-get",
        f'echo "$@" >> {box.calls}\n'
        'if [ "$2" = -s ]; then echo "Inst xz-utils (5 Debian:12 [amd64])"; echo "Inst liblzma5 (5)"; '
        'echo "Inst newlib-source (3.3)"; fi\n'
        'if [ "$1" = download ]; then shift; for name; do : > $name.deb; done; fi',
    )
    box.program("dpkg", "mkdir -p $3/usr/bin $3/usr/src/newlib; echo > $3/usr/bin/xz; /bin/chmod 755 $3/usr/bin/xz")
    (box.bin / "cat").symlink_to(shutil.which("cat"))
    to = box.folder / "mine"
    command = [tree / "tools/deps.sh", "all"]
    environment = {"PATH": str(box.bin), "DEPS_ROOT": str(box.folder), "DEPS_PREFIX": str(to)}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"deps: unpacking 3 packages into {to}\n"
    assert box.asked()[-1] == "download xz-utils liblzma5 newlib-source"
    assert not (to / "packages").exists()
    # A make that reads what was written finds the program; so does a shell.
    (tree / "Makefile").write_text("-include build/prefix.mk\nall:\n\t@command -v xz; echo $$SOURCES\n")
    plain = {"PATH": f"{box.bin}:/usr/bin-not-here"}
    made = subprocess.run([shutil.which("make")], cwd=tree, env=plain, text=True, capture_output=True, check=True)
    assert made.stdout.split() == [str(to / "usr/bin/xz"), str(to)]
    command = ["/bin/bash", "-c", f". {to}/env; command -v xz"]
    said = subprocess.run(command, env=plain, text=True, capture_output=True, check=True)
    assert said.stdout.split() == [str(to / "usr/bin/xz")]


def test_prefix_is_for_apt_only(box):
    box.manager("dnf")
    done = box.run("all", DEPS_PREFIX=str(box.folder / "mine"))
    assert done.returncode == 2 and "there is no apt-get here" in done.stdout
