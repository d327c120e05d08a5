"""What a host must have: no recipe and no script needs an option that only GNU's tools have, a bash newer than 3.2, a
python newer than 3.9. A build and a run go through with stand-ins that refuse what macOS's tools do not know."""

import ast
import os
import re
import shutil
import subprocess
import sys

import pytest
from tree import ROOT, cloned, files, read
from vitrine_guest import MACHINES, GuestError, cpio_archive
from vitrine_machines import accel_arguments

SCRIPTS = [
    path
    for path in files()
    if path == "Makefile"
    or path.endswith((".sh", ".mk"))
    or path.startswith(("tools/", "tests/"))
    and "." not in os.path.basename(path)
    and re.match(r"#!.*\b(ba)?sh\b", read(path))
]
PYTHON = [
    path
    for path in files()
    if path.endswith(".py")
    or path.startswith(("tools/", "tests/"))
    and "." not in os.path.basename(path)
    and re.match(r"#!.*python", read(path))
]
# Of bash 4 and later, with the version that brought it.
NEWER_BASH = {
    r"\b(declare|local|typeset) -[a-z]*A": "4.0",
    r"\b(mapfile|readarray|coproc)\b": "4.0",
    r"\$\{\w+(\[[^]]*\])?(,,?|\^\^?)[^}]*\}": "4.0",
    r"&>>|\|&|;;&|;&": "4.0",
    r"\{\d+\.\.\d+\.\.\d+\}": "4.0",
    r"\[\[? -v ": "4.2",
    r"\$\{\w+\[-\d": "4.3",
    r"\b(declare|local) -n\b": "4.3",
    r"\bwait -n\b": "4.3",
    r"\$\{\w+@[A-Za-z]\}": "4.4",
}
# Of newer libraries of python; newer syntax is what ast finds.
NEWER_PYTHON = r"strict=True\)|\bpairwise\(|\.bit_count\(|slots=True|\bStrEnum\b|datetime\.UTC|\bExceptionGroup\b"

# What the tools of macOS, or those of POSIX, do not know. The rest of each tool is the host's own.
REFUSED = {
    "sed": r"-i|-[a-zA-Z]*r|--.*",
    "stat": r"-c|--.*",
    "readlink": r"-[fem]|--.*",
    "date": r"-d|-I.*|--.*|\+.*%N.*",
    "cp": r"-[a-zA-Z]*[autT].*|--.*",
    "mv": r"-[tTu]|--.*",
    "ln": r"-[a-zA-Z]*[rTt].*|--.*",
    "touch": r"-d|--.*",
    "mktemp": r"-p|--.*",
    "install": r"-[a-zA-Z]*[DtT].*|--.*",
    "grep": r"-[a-zA-Z]*P.*|--.*",
    "xargs": r"-d|--.*",
    "sort": r"--.*",
    "find": r"-printf|-executable|-regextype",
    "cmp": r"--.*",
    "head": r"-n-.*|--.*",
    "rm": r"--.*",
    "mkdir": r"--.*",
    "ls": r"--.*",
    "cut": r"--.*",
    "cat": r"-A|--.*",
    "cksum": r"-.*",
}
PLAIN = (
    "sh",
    "bash",
    "env",
    "dirname",
    "basename",
    "tr",
    "wc",
    "uname",
    "expr",
    "printf",
    "echo",
    "test",
    "true",
    "sleep",
)
PLAIN += (
    "false",
    "rmdir",
    "chmod",
    "kill",
    "id",
    "tail",
    "getconf",
    "tar",
    "xz",
    "bzip2",
    "awk",
    "diff",
    "make",
    "gcc",
    "as",
    "ld",
    "pwd",
)
# What is not there at all: cpio, flock, nproc, seq, tac, timeout, truncate, realpath.


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A folder for PATH."""
    folder = tmp_path_factory.mktemp("bin")
    for name in PLAIN:
        (folder / name).symlink_to(shutil.which(name))
    for name, refused in REFUSED.items():
        (folder / name).write_text(
            f"#!{sys.executable}\nimport os, re, sys\n"
            f"for word in sys.argv[1:]:\n    if re.fullmatch({refused!r}, word):\n"
            f"        sys.exit('{name}: illegal option ' + word)\n"
            f"os.execv({shutil.which(name)!r}, sys.argv)\n"
        )
        (folder / name).chmod(0o755)
    for machine in MACHINES:
        prefix = next(one for one in (f"{machine}-linux-gnu-", "") if shutil.which(f"{one}gcc"))
        for tool in ("gcc", "ld", "as", "ar", "nm", "strip", "objcopy", "objdump", "ranlib"):
            (folder / f"{machine}-linux-gnu-{tool}").symlink_to(shutil.which(prefix + tool))
    return folder


@pytest.fixture
def clone(tmp_path):
    return cloned(tmp_path / "tree")


def run(command, path, where, **more):
    environment = {"PATH": str(path), "HOME": str(where), "PYTHONDONTWRITEBYTECODE": "1", **more}
    done = subprocess.run(
        command, cwd=where, env=environment, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def test_the_stand_ins_refuse(path):
    for name, word in (("sed", "-i"), ("cp", "-au"), ("date", "+%s%N"), ("stat", "-c"), ("mktemp", "--tmpdir")):
        done = subprocess.run([path / name, word, "x"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "illegal option" in done.stderr


def test_each_kind_of_recipe_with_other_tools(path, clone, machine):
    """Tables, objects of C and of assembly, the vDSO, a program, the C library's part: one of each kind. The long form
    builds all, see below."""
    if not (clone / f"build/newlib/{machine.arch}/.ready").exists():
        pytest.skip("the C library is not built: it takes minutes, which the long form takes")
    build = f"build/{machine.arch}"
    kinds = ["include/generated/asm-offsets.h", "include/generated/syscall_table.h", "config", "linker.lds"]
    kinds += ["kernel/ksyms.o", f"arch/{machine.arch}/mm/memory.o", "vdso/vdso.so", "root/bin/basename", "commands.txt"]
    run(["make", f"ARCH={machine.arch}", *(f"{build}/{kind}" for kind in kinds)], path, clone)
    assert [kind for kind in kinds if not (clone / build / kind).exists()] == []
    # The archives, of the programs that are there.
    (clone / build / "root/bin/sh").write_text("")
    run(["sh", "userland/mkroot.sh", f"{build}/root", "bin/basename", "bin/sh"], path, clone)
    pages = ["sh", "userland/mksession.sh", f"{build}/root", "build/none", "build/stage", "README.md"]
    run(pages, path, clone)
    assert (clone / "build/stage/usr/share/doc/vitrine/README.md").exists()


@pytest.mark.soak(only=True)
def test_a_whole_build_with_other_tools(path, clone, machine):
    (clone / "build/newlib").unlink(missing_ok=True)
    run(["make", f"ARCH={machine.arch}", f"CROSS={machine.arch}-linux-gnu-", "all"], path, clone)
    script = clone / "script.sh"
    script.write_text("exit 0\n")
    qemu = shutil.which(MACHINES[machine.arch].qemu)
    vrun = [sys.executable, "tools/vrun", "--arch", machine.arch, str(script)]
    run(vrun, path, clone, VITRINE_QEMU=qemu)


def same_bytes(one, other, names):
    return [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]


def test_another_folder_gives_the_same_objects(clone, tmp_path, machine):
    """With their debugging information. The long form compares the kernel, the initramfs and the image."""
    if not (clone / f"build/newlib/{machine.arch}/.ready").exists():
        pytest.skip("the C library is not built: it takes minutes, which the long form takes")
    other = cloned(tmp_path / "a-folder-whose-name-is-longer")
    made = ["kernel/ksyms.o", f"arch/{machine.arch}/mm/memory.o", "vdso/vdso.debug", "root/bin/basename", "linker.lds"]
    names = [f"build/{machine.arch}/{name}" for name in made]
    for tree in (clone, other):
        goals = [name.replace("vdso.debug", "vdso.so") for name in names]
        run(["make", f"ARCH={machine.arch}", *goals], os.environ["PATH"], tree)
    assert same_bytes(clone, other, names) == []


def test_a_copy_of_the_tree_with_its_own_toolchain_has_nothing_to_build(clone, machine):
    """Labs and `make toolchain` together: the compiler of a copy has another path, and names its headers by another."""
    built, real = clone / "build/toolchain", shutil.which(f"{machine.arch}-linux-gnu-gcc")
    (built / "bin").mkdir(parents=True)
    (built / "share/vitrine").mkdir(parents=True)
    name = {"aarch64": "aarch64-none-elf-", "x86_64": "x86_64-elf-"}[machine.arch]
    (built / f"share/vitrine/{name}newlib").touch()
    compiler = built / "bin" / f"{name}gcc"
    compiler.write_text(
        f"#!/bin/sh\n[ $1 = -print-file-name=include ] || exec {real or 'gcc'} \"$@\"\n"
        f"[ -e {built} ] && echo {built}/lib/include || echo ${{0%/*}}/../lib/include\n"
    )
    compiler.chmod(0o755)
    flags = [f"build/{machine.arch}/kernel.flags", f"build/{machine.arch}/userland/flags"]
    run(["make", f"ARCH={machine.arch}", *flags], os.environ["PATH"], clone)
    said = [(clone / one).read_text() for one in flags]
    assert said[0].startswith(f"build/toolchain/bin/{name}gcc ") and "-isystem build/toolchain/lib/include " in said[0]
    moved = clone.rename(clone.with_name("elsewhere"))
    run(["make", f"ARCH={machine.arch}", *flags], os.environ["PATH"], moved)
    assert [(moved / one).read_text() for one in flags] == said


@pytest.mark.soak(only=True)
def test_another_folder_gives_the_same_bytes(clone, tmp_path, machine):
    other = cloned(tmp_path / "another-place/of-the-tree")
    (other / "build/newlib").unlink(missing_ok=True)
    iso = machine.arch == "x86_64"
    for tree in (clone, other):
        run(["make", f"ARCH={machine.arch}", "all", *(["iso"] if iso else [])], os.environ["PATH"], tree)
    made = [
        "vmlinux",
        "initramfs.cpio",
        "session.cpio",
        MACHINES[machine.arch].kernel,
        *(["vitrine.iso"] if iso else []),
    ]
    assert same_bytes(clone, other, [f"build/{machine.arch}/{name}" for name in made]) == []


def test_vrun_with_other_tools(path, tmp_path, machine):
    """And without what only Linux has: nameless files, and children that die with their parent."""
    (tmp_path / MACHINES[machine.arch].kernel).write_bytes(b"")
    (tmp_path / "initramfs.cpio").write_bytes(cpio_archive({}))
    (tmp_path / "script.sh").write_text("echo seen\nexit 7\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/sitecustomize.py").write_text("import os, sys\ndel os.memfd_create\nsys.platform = 'darwin'\n")
    (tmp_path / "tmp").mkdir()
    environment = {"PATH": str(path), "PYTHONPATH": str(tmp_path / "lib"), "TMPDIR": str(tmp_path / "tmp")}
    environment["VITRINE_QEMU"] = os.path.join(ROOT, "tests/host/tools/fake_qemu.py")
    command = [sys.executable, os.path.join(ROOT, "tools/vrun"), "--arch", machine.arch, "--build", str(tmp_path)]
    done = subprocess.run(
        [*command, str(tmp_path / "script.sh")], env=environment, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "seen\n", "")
    assert os.listdir(tmp_path / "tmp") == [], "the file is gone with the process"


def test_the_initramfs_is_the_same_each_time(tmp_path):
    """Whatever the order in which files were made, their times and who made them."""
    archives = []
    for folder, names in (("one", ["b", "a/x", "a/y"]), ("two", ["a/y", "b", "a/x"])):
        for name in names:
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).write_text(name)
            os.utime(tmp_path / folder / name, (len(folder), len(archives) * 1000))
        (tmp_path / folder / "link").symlink_to("a/x")
        command = [sys.executable, os.path.join(ROOT, "tools/newc.py"), str(tmp_path / folder)]
        archives.append(subprocess.run(command, check=True, capture_output=True).stdout)
    assert archives[0] == archives[1]
    assert len(archives[0]) % 512 == 0
    names = re.findall(rb"070701.{104}([^\0]+)\0", archives[0], re.S)
    assert names == [b".", b"a", b"a/x", b"a/y", b"b", b"link", b"TRAILER!!!"]
    more = subprocess.run([*command, tmp_path / "one/b"], check=True, capture_output=True).stdout
    assert more.startswith(b"b\0\0\0" + b"070701"), "the second archive begins at a multiple of four"


def test_no_script_needs_a_newer_bash():
    assert "Makefile" in SCRIPTS and "tools/deps.sh" in SCRIPTS and "tools/toolchain" in SCRIPTS
    found = []
    for path in (one for one in SCRIPTS if not one.startswith("tests/guest/")):  # those are for the guest's shell
        for number, line in enumerate(read(path).splitlines(), 1):
            code = re.sub(r"(^|\s)#.*", "", line)
            found += [
                f"{path}:{number}: bash {since}: {line.strip()}"
                for pattern, since in NEWER_BASH.items()
                if re.search(pattern, code)
            ]
    assert not found, "\n".join(found)


def test_no_script_calls_what_is_not_everywhere():
    """Of what the stand-ins do not reach: Debian's own tools may be called where Debian is asked for."""
    only_gnu = re.compile(r"(?:^|[|;&(]\s*|\s)(nproc|truncate|timeout|tac|realpath|seq|cpio)\s+[-\w$'\"]")
    ours = [path for path in SCRIPTS if path.startswith(("Makefile", "mk/", "tools/", "userland/"))]
    found = [
        f"{path}: {line.strip()}"
        for path in ours
        for line in read(path).splitlines()
        if not line.lstrip().startswith("#") and only_gnu.search(line) and "apt-get" not in line
    ]
    assert not found, "\n".join(found)


def test_no_python_newer_than_3_9():
    assert len(PYTHON) > 60
    for path in PYTHON:
        text = read(path)
        ast.parse(text, path, feature_version=(3, 9))
        if not path.startswith("tests/"):  # the suite itself is for a Debian
            assert not re.search(NEWER_PYTHON, text), path


def test_an_old_make_is_refused_in_one_line():
    done = subprocess.run(["make", "MAKE_VERSION=3.81", "help"], cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode and done.stderr.count("\n") == 1
    assert "GNU make 4.2 or later is needed, and this is 3.81; macOS: brew install make" in done.stderr


def test_a_tree_whose_path_has_a_blank_is_refused_in_one_line(tmp_path):
    """As those of a user of Windows may have, seen from WSL."""
    (tmp_path / "John Smith").mkdir()
    command = ["make", "-f", os.path.join(ROOT, "Makefile"), "-C", str(tmp_path / "John Smith"), "help"]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    refused = [line for line in done.stderr.splitlines() if "directory" not in line]
    assert done.returncode and len(refused) == 1 and "the path of this tree has a blank" in refused[0]


def test_a_clone_is_the_same_on_every_system():
    """Windows ends lines in another way when git may change them; neither it nor macOS tells names apart by case, and it
    has names of its own. A symbolic link is a file of text there."""
    assert "* -text\n" in read(".gitattributes")
    names = files()
    assert len({name.lower() for name in names}) == len(names)
    reserved = re.compile(r"(^|/)(aux|con|prn|nul|com\d|lpt\d)(\.[^/]*)?(/|$)|[<>:\"|?*\\\\]|[. ](/|$)", re.I)
    assert [name for name in names if reserved.search(name)] == []
    assert [name for name in names if os.path.islink(os.path.join(ROOT, name))] == []
    endings = [name for name in SCRIPTS + PYTHON if "\r" in read(name)]
    assert endings == []


def chosen(*words, **environment):
    """What mk/toolchain.mk makes of these words: the compiler, or its error."""
    rules = "include mk/toolchain.mk\n$(info CC=$(CC))\nall: ;\n"
    done = subprocess.run(
        ["make", "-f", "-", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        input=rules,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout


def compiler(folder, name, machine="", version="12.2.0", says="gcc"):
    (folder / name).write_text(
        f"#!/bin/sh\ncase $1 in -dumpmachine) echo {machine};; -dumpversion) echo {version};; *) echo {says};; esac\n"
    )
    (folder / name).chmod(0o755)


def test_the_hosts_own_gcc_is_taken_where_it_fits(tmp_path):
    """Fedora's, Arch's and Alpine's gcc are known by other names than Debian's."""
    none = f"PREFIX={tmp_path}"  # one that `make toolchain` has built would be preferred
    (tmp_path / "sh").symlink_to("/bin/sh")
    (tmp_path / "make").symlink_to(shutil.which("make"))
    for target in ("x86_64-redhat-linux", "x86_64-pc-linux-gnu", "x86_64-alpine-linux-musl"):
        compiler(tmp_path, "gcc", target)
        said = chosen("ARCH=x86_64", none, PATH=str(tmp_path))
        assert f"CC={tmp_path}/gcc\n" in said, said
        assert "no compiler for aarch64" in chosen("ARCH=aarch64", none, PATH=str(tmp_path))
    compiler(tmp_path, "gcc", "arm64-apple-darwin23")
    assert "no compiler for aarch64" in chosen("ARCH=aarch64", none, PATH=str(tmp_path))


def test_a_toolchain_of_make_toolchain_is_preferred_when_it_is_whole(tmp_path):
    (tmp_path / "bin").mkdir()
    compiler(tmp_path / "bin", "x86_64-elf-gcc")
    (tmp_path / "share/vitrine").mkdir(parents=True)
    mine = f"CC={tmp_path}/bin/x86_64-elf-gcc\n"
    assert mine not in chosen("ARCH=x86_64", f"PREFIX={tmp_path}")
    (tmp_path / "share/vitrine/x86_64-elf-newlib").touch()
    assert mine in chosen("ARCH=x86_64", f"PREFIX={tmp_path}")


@pytest.mark.parametrize("arch", MACHINES)
def test_clang_and_an_old_gcc_are_refused_in_one_line(arch, tmp_path):
    compiler(tmp_path, "clang-gcc", says="Debian clang version 14.0.6", version="14.0.6")
    said = chosen(f"ARCH={arch}", f"CROSS={tmp_path}/clang-")
    assert "is clang, whose -pg does not list call sites" in said and said.count("\n") == 1
    compiler(tmp_path, "old-gcc", version="11")
    said = chosen(f"ARCH={arch}", f"CROSS={tmp_path}/old-")
    assert "old-gcc is version '11': gcc 12 or later is needed" in said and said.count("\n") == 1


def test_the_real_clang_is_known():
    clang = shutil.which("clang")
    if not clang:
        pytest.skip("clang is not here")
    assert "is clang" in chosen("ARCH=x86_64", f"CC={clang}")


# The order is that of the reasons: the name, the system, the machine, what tcg alone can do.
@pytest.mark.parametrize(
    "accel, arch, icount, system, machine, reason",
    [
        ("fast", "x86_64", False, "Linux", "x86_64", "accel fast: there are tcg, kvm, hvf"),
        ("hvf", "x86_64", False, "Linux", "x86_64", "this is for Darwin"),
        ("kvm", "aarch64", False, "Darwin", "arm64", "this is for Linux"),
        ("kvm", "aarch64", False, "Linux", "x86_64", "this computer is x86_64 and the guest aarch64: only tcg"),
        ("hvf", "aarch64", True, "Darwin", "arm64", "instructions are counted (icount, replay) under tcg only"),
    ],
)
def test_an_accelerator_that_cannot_be(monkeypatch, accel, arch, icount, system, machine, reason):
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    with pytest.raises(GuestError) as caught:
        accel_arguments(arch, accel, None, icount)
    assert reason in str(caught.value)


def test_an_accelerator_gets_the_hosts_cpu(monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert accel_arguments("aarch64", "hvf", None, False) == (["-accel", "hvf"], "host")
    assert accel_arguments("aarch64", "hvf", "max", False) == (["-accel", "hvf"], "max")
    assert accel_arguments("aarch64", "tcg", None, True) == ([], None)


def test_make_hands_the_accelerator_on():
    done = subprocess.run(
        ["make", "-n", "run-x86_64", "SCRIPT=x", "ACCEL=kvm"], cwd=ROOT, text=True, capture_output=True, check=True
    )
    assert "--accel 'kvm'" in done.stdout
    environment = {**os.environ, "ACCEL": "kvm"}
    command = ["make", "-n", "run-x86_64", "SCRIPT=x"]
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=True)
    assert "--accel" not in done.stdout, "an ACCEL of the environment is somebody else's"
