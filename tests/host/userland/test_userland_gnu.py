"""Options behind operands, columns, sizes: our programs and GNU's are given the same, on the host by qemu-user."""

import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from userland_run import run, userland  # noqa: F401 (a fixture)

# Options behind operands: ours and GNU's are given the same. Status and output are compared, of errors only that there
# are some.
OPTIONS_BEHIND = [
    "ls d -a",
    "ls d -R -a",
    "ls -- -l",
    "ls d -- -a",
    "cat f -- -l",
    "head f g -n 1",
    "head -n f 2",
    "tail f -n2",
    "grep x f -n",
    "grep f -e x -e 3",
    "grep -n x f -- -l",
    "grep x f -A",
    "sort f -r",
    "sort f -k 1 -n -r",
    "wc f -l",
    "wc f -l g",
    "cut f -c 1",
    "cut f -d1 -f2",
    "uniq f -c",
    "seq 3 -1 1",
    "touch new -c; ls",
    "mkdir p/q -p; ls p",
    "rm f -f g; ls",
    "rm nosuch -f",
    "cp d -r e; ls e",
    "cat - f -- < g",
    "date +%Y -u",
    "stat f -c %s",
    "sed p -n f",
    "sed -n f -e 2p",
    "tee out -a < f",
    "ls f -Z9",
    "tr -d 1 < f",
    "tr 1 -2 < f",
    "nproc x",
    # The command's own options stay behind it.
    "env -u HOME ls d -a",
    "env ls d -a",
    "nice -n 1 ls d -a",
    "nice -3 ls d -a",
    "nice --3 ls d -a",
    "timeout 9 ls d -a",
    "timeout -s KILL 9 head f -n1",
    "echo d | xargs -n 1 ls -a",
    "taskset 1 ls d -a",
    "taskset -c 0 head f -n1",
    "chrt -o 0 ls d -a",
    "basename /x/-a",
    "basename d -a",
    "dirname -- -x/y",
    "printenv HOME -x",
    "env nice nice",
    "nice -n x true",
    "nice -x true",
    # What is asked for is bad, or unusual.
    "id nosuch",
    "rm -f f/x; ls",
    "ln -f f f; ls",
    "ln -f f ./f; ls",
    "ln -sf f f; cat f",
    "ln f h; ln -f f h; ls",
    "ln f h; ln -f f ./f; ls",
    "ln f d/f; ln -f f d; ls d",
    "dd if=f of=g bs=1 seek=1 count=1 status=none; cat g",
    "dd if=f of=g bs=1 seek=1 count=1 conv=notrunc status=none; cat g",
    "dd if=f of=g bs=1 seek=1 count=1 oflag=append conv=notrunc status=none; cat g",
    "printf '10.9\\n10.10\\n9.1\\n' | sort -t. -k1,1n -k2,2n",
    "printf 'a 5\\na  9\\nb 2\\n' | sort -t' ' -k2,2n",
    "printf '%s\\n' -1.5 -1.25 1. 1.0 .5 -.5 0 00.1 x 1.05 | sort -n",
    "seq 99 | sed 's/.*/k &/' | sort -u -k1,1",
    "sort -t '' f",
    "sort -t xy f",
    "seq 3 | xargs -n1 sh -c 'echo $0; exit 255'",
    "seq 3 | xargs -n1 sh -c 'echo $0; kill -9 $$'",
    "seq 3 | xargs -n1 sh -c 'echo $0; exit 1'",
    "seq 5000 | xargs -n1000 sh -c 'wc -c; echo $0'",
    "nice -n 5 chrt -b 0 nice",
    "nice -n 5 chrt -i 0 nice",
    "printf 'a\\0b\\nno end' > f; less f | tr '\\0' 0",
    # Lines of a pattern are patterns of their own.
    "grep \"$(printf 'x\\n3')\" f",
    "grep -F \"$(printf '3\\n.')\" f; grep -Fe x -e '^1' f; grep -xFe 1 -e 'x*' f; grep -ciF \"$(printf 'X\\n3')\" f",
    # A { that begins no repetition is itself.
    "printf 'f() {\\na{2,1\\na{}\\n{\\naa\\n' > f; for p in '\\) {' 'a{2,1$' '^{' 'a{2}' 'a{,2}$'; do grep -E \"$p\" f; done",
    # Below the folder links, FIFOs and devices are left out.
    "ln -s . d/self; ln -s ../f d/l; mknod d/p p; grep -r x d | sort; cd d; grep -rc x | sort",
    "ln -s ../f d/l; grep -R x d/l; grep -r x d/l; grep -R x d | sort",
    "printf 'x a\\nb\\0x c\\n' > h; grep x h; grep -c x h; grep -vc x h; grep -l c h; grep -n ^x h f; cat h | grep c; grep q h",
    "grep -q x f nosuch",
    # A whole word may be a part of what an expression could take.
    "printf 'a,b\\nxa\\nb-a-b\\naa\\n' > f; grep -w 'a[^ab]*' f; grep -nwE '(a|x)([^ab]*)' f; grep -wxE 'a+' f; grep -vw 'a.*' f",
    # Folders have an order, and -F shows a link itself.
    "mkdir b; ls f d b; ls d b; ls -r b d",
    "ln -s d l; ls -F l; ls l",
    "n=$(printf %01500d 0); ln -s $n l; ls -l l | sed 's/.* -> //' | wc -c",
    "printf 'a\\nb' > h; for s in s/b/x/ p = '$=' '$d' 1q; do sed $s h | wc -c; sed $s h f | wc -c; done; sed -n '$p' f h | wc -c",
    "sed 's/x/[\\0]/' f",
    "printf '%01500d|%-500x|%.300i|' 1 2 -3 | wc -c; printf '%70d|%.70d' 1 2",
    "seq 3 | xargs -n1 nosuch 2>&1 | wc -l; seq 3 | xargs -n1 nosuch",
    "seq 3 | xargs -n1 sh -c 'echo $0; exit 127'",
    "touch e; seq 2 | xargs ./e",
    # A zero is a byte like others.
    "printf 'a\\0b\\n\\0\\nc' > h; sed 's/b/x/; s/$/!/; s/[^a]/<&>/2' h | tr '\\0' 0; sed -n '/^a.b$/p; $p' h | tr '\\0' 0",
    "printf 'x\\0x a\\nb\\n\\0\\nc' > h; for o in -n -o -c -v -w -x -A1 -B2 -Fo; do grep -a $o 'x' h f | tr '\\0' 0; grep -a $o '^.$' h | tr '\\0' 0; done",
    # Ranges of which a line is kept from the command that they are for, or that are to begin before the first line.
    "for s in '4d;4,6p' '4d;4,/x/p' '4d;4,4p' '4d;4,5!p' '/c/!{/[25]/,3!p;d}' '2,4{3,4d};2,3!p' 0,/1/p 0,/5/p '2,0p'; do seq 9 | sed -n $s; done",
    "sed 0p f",
    "sed 0,3p f",
    # q ends the line, and is for one line.
    "printf a > h; for s in q '$q' 'p;q' '=;q' 1d 4q; do sed $s h | wc -c; sed $s h f | wc -c; sed -n $s f h | wc -c; done",
    "sed 1,2q f",
    # Links that lead in a circle.
    "ln -s .. d/up; ln -s . d/self; cp f d/f; grep -R x d; grep -R x . | sort; cd d; grep -Rs x | sort; grep -Rs q",
    "grep -lq x f; echo $?; grep -Lq q f; grep -lc x f g; grep -Lc q f; grep -cq x f",
    # Ranges and classes of brackets that there are not.
    "touch a : o; find . -name '[[:foo:]]' -o -name '[z-a]' -o -name '[!z[:foo:]]'; find . -name '[o[:foo:]]'; find . -name '[[:foo-g]*' -name '[:fo]'",
    "grep '[z-a]' f",
    "grep '[[:foo:]]' f",
    "sed 's/[b-a]//' f",
    # The last one counts.
    "until [ a -nt f ]; do printf 12345678 > a; done; until [ b -nt a ]; do touch b; done; ls -tS a b f; ls -St a b f; ls -S -r -t a b f; ls -t -rS a b f",
    # find empties folders from the inside, and tests modes.
    "mkdir -p d/e/x h; touch d/e/k d/e/x/y; find d/ -depth -name '[ekxy]'; find d -maxdepth 1 -depth; find d -mindepth 1 -delete; find d -print; find f h -delete; ls",
    "mkdir -p d/e/x; touch d/e/x/y; find d -empty -delete; ls d; ls -a | grep h; find . -name f -delete -o -print | sort",
    "mkdir -p d/e; touch d/e/k; find d ! -name k -delete; ls d/e",
    "find d -name e -prune -o -delete; ls -a d",
    "chmod 640 f; chmod 4755 g; for m in 640 -640 /111 -u=w,g=r 4755 -4000 /u+s,o+w; do find f g -perm $m; done",
    "find . -perm x",
    "find . -perm",
    "umask 027; mkdir -m u=rwx,g-w,o= p; mkdir -m go-rwx,+t q; mkdir -m 1777 r; mknod -m a=r,u+w s p; mknod -m 600 t p; find p q r s t -perm -400 | xargs stat -c '%n %a'",
    "mkdir -m x p",
    # All but the last, and words that are whole lines or end with zeros.
    "printf '1\n2\n3' > h; for n in -0 -1 -2 -3 -9 1; do head -n $n h f; head -c $n h; cat h | head -n$n; done; head -n -x h",
    "printf 'a b\\0\\0c\\n' | xargs -0 -n1 sh -c 'echo \"<$0>\"'; touch 'x y'; find . -name 'x*' -print0 | xargs -0 rm; ls",
    "printf '  a b \\n\\nc\\n' | xargs -I% echo '<%>' '%%' x; printf 'a\\0\\0b' | xargs -0 -I {} echo '<{}>'; xargs -I % echo % < /dev/null; seq 3 | xargs -I1 {}",
    "seq 2 | xargs -I {} sh -c 'exit 3'",
    # cp -a keeps what stat shows.
    "umask 077; mkdir -p d/e; ln -s ../f d/l; mknod d/p p; chmod 4751 d/-a; chmod 700 d/e; touch d/k; until [ h -nt d/k ]; do touch h; done; cp -a d z; cp -p d/-a y; cp -r d x; "
    "cd d; stat -c '%n %a %Y %u %y' . -- -a e k l p > ../1; cd ../z; stat -c '%n %a %Y %u %y' . -- -a e k l p | diff - ../1; ls -l | wc -l; "
    "[ $(stat -c %y ../y) = $(stat -c %y ../d/-a) ]; stat -c %a ../y ../x/-a",
    # Long options.
    "printf 'x\\n' | grep --line-buffered x -- -; grep --line-buffered=1 x f",
    "nproc --all=1",
    "nproc --ignore 9999; nproc --ignore=9999; nproc --ignore=",
    "chrt --deadline --sched-runtime=1 0 true",
    "chrt --all",
]


@pytest.mark.parametrize("words", OPTIONS_BEHIND)
def test_options_behind_operands(userland, tmp_path, words):
    found = []
    for name in ("ours", "theirs"):
        folder = tmp_path / name
        (folder / "d").mkdir(parents=True)
        for file in ("f", "g", "-l", "d/.h", "d/-a"):
            (folder / file).write_text("1\nx\n3\n")
    found.append(run(userland, tmp_path / "ours", words))
    done = subprocess.run(
        ["/bin/sh", "-c", words],
        cwd=tmp_path / "theirs",
        capture_output=True,
        timeout=6000,
        env={"PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C"},
    )
    found.append((done.stdout.decode(), done.stderr.decode(), done.returncode))
    (out, err, status), (their_out, their_err, their_status) = found
    assert (out.split(), status, err != "") == (their_out.split(), their_status, their_err != ""), (found, words)


# What is typed at a trace to take fields out of its lines, and what is hard about groups: one in another, repeated,
# empty, not passed, more than nine, in both syntaxes.
GROUPS = [
    r"s/.*: \(.*\) <-.*/\1/",
    r"s/^ *\(.*\)-\([0-9]*\) .*/\2 of \1/",
    r"s/\([a-z_]*\) <-\([a-z_]*\)/\2 -> \1/",
    r"s/\(o\)\(.\)/\2\1/g",
    r"s/\([0-9]\)/[\1]/3g",
    r"-E s/(([a-z]+)_)+([a-z]+)/\1|\2|\3/",
    r"-E s/(x)|(v)/<\1\2>/g",
    r"-E s/(z*)v/<\1>/",
    r"-E s/(a|ab)(c|bcd)(d*)/\1,\2,\3/",
    r"-E s/(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)/\9\1&/",
    r"-E s/([0-9]+)\.([0-9]+)/\2.\1/",
    r"-E s/(^| )(b+)?(a+)( |$)/[\1][\2][\3][\4]/g",
    r"-E s/((a){2,3}|b)c/\1-\2/g",
    r"-E s/(\w+)=(\w*)/\2=\1/g",
]


@pytest.mark.parametrize("script", GROUPS)
def test_groups_of_sed(userland, tmp_path, script):
    (tmp_path / "f").write_text(
        "            bash-1234    [001] d..2.  1040.124891: vfs_read <-ksys_read\n"
        " look-a-17 kmalloc: call_site=pipe_init+0x20 bytes_req=10 ptr=\nabcd aaac aac bc\nbba a bb aaa\n\nvvv zzv\n"
    )
    words = [word for word in script.partition(" ") if word.strip()] if script.startswith("-E") else [script]
    wanted = subprocess.run(["sed", *words, "f"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run(userland, tmp_path, f"sed {' '.join(shlex.quote(word) for word in words)} f") == (wanted.stdout, "", 0)


def on_terminal(columns, argv, cwd, env):
    """What a program prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    text = b""
    # Our own hold on the program's side stays until the last byte has come: nothing can be lost to its end.
    with subprocess.Popen(argv, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        ended = False
        while True:
            if select.select([ours], [], [], 0 if ended else 0.01)[0]:
                text += os.read(ours, 65536)
            elif ended:
                break
            else:
                ended = process.poll() is not None
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0, text
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("options", ["", "-F", "-i", "-aF"])
def test_columns_of_ls(userland, tmp_path, options):
    """As GNU's ls lays them out, with wide characters, marks over letters and marks of -F."""
    names = [
        "a",
        "bb",
        "跟踪",
        "跟踪器的缓冲区",
        "o\u0308ffnen",
        "\uac00\uac01",
        "x" * 30,
        "émile",
        *(f"file{n}" for n in range(40)),
    ]
    for name in names:
        (tmp_path / name).touch()
    for name in ("program", "跑"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    for name in ("folder", "夹子"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "dangling").symlink_to("none")
    env = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
    for columns in (20, 64, 80, 133, 400):
        ours = on_terminal(columns, [userland.qemu, str(userland.bin / "ls"), *options.split()], tmp_path, env)
        theirs = on_terminal(columns, [shutil.which("ls"), "-N", "-T0", *options.split()], tmp_path, env)
        if "i" in options:  # our inode numbers are seven columns wide
            assert all(f"{(tmp_path / name).lstat().st_ino} {name}" in ours for name in names)
        else:
            assert ours == theirs, columns


@pytest.mark.parametrize(
    "words",
    ["/proc", "-h /proc /", "-T /", "/ -i", "-hi /proc /tmp", "-k / -T /proc", "none /", "-a /proc", "-ahT", "-z"],
)
def test_df(userland, tmp_path, words):
    """As GNU's df, but for what is written meanwhile."""
    if not re.search(r"^\S+ / ", Path("/proc/self/mounts").read_text(encoding="utf-8"), re.M):
        pytest.skip("the root is no mount here, as by chroot into a plain folder")
    theirs = subprocess.run(
        ["/bin/sh", "-c", f"/usr/bin/df {words}"], cwd=tmp_path, capture_output=True, timeout=600, env={"LC_ALL": "C"}
    )
    out, err, status = run(userland, tmp_path, f"env df {words}")

    def lines(text):
        found = [line.split() for line in text.splitlines()]
        return [[re.sub(r"^[\d.]+(?=[KMGT%]?$)", "N", word) for word in words] for words in found]

    assert (status, err != "") == (theirs.returncode, theirs.stderr != b"")
    if "-a" not in words.split() and "-ahT" not in words:
        assert lines(out) == lines(theirs.stdout.decode())
    else:
        assert {line[-1] for line in lines(theirs.stdout.decode())} <= {line[-1] for line in lines(out)}


def test_sizes_with_units(userland, tmp_path):
    sizes = [
        0,
        1,
        999,
        1023,
        1024,
        1025,
        1126,
        10137,
        10138,
        10240,
        10241,
        102400,
        1047552,
        1047553,
        1048575,
        1048576,
        5368709120,
    ]
    for size in sizes:
        (tmp_path / f"f{size:012d}").touch()
        os.truncate(tmp_path / f"f{size:012d}", size)
    ours = [line.split()[4] for line in run(userland, tmp_path, "ls -lh | tail -n +2")[0].splitlines()]
    theirs = subprocess.run(
        ["ls", "-lh"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.splitlines()[1:]
    assert ours == [line.split()[4] for line in theirs]


@pytest.mark.parametrize(
    "script, expected, status",
    [
        ("sudo echo -n a -s", "a -s", 0),
        ("sudo X=1 sh -c 'echo $X'", "1\n", 0),
        ("sudo sh -c 'echo 1 > f'; cat f", "1\n", 0),
        ("echo 'echo $0 shell' | sudo -s", "sh shell\n", 0),
        ("sudo -E -n false", "", 1),
        ("sudo nosuch", "", 127),
        ("sudo", "", 1),
        ("sudo -u x true", "", 1),
    ],
)
def test_sudo(userland, tmp_path, script, expected, status):
    if os.geteuid():
        expected, status = "", 1
    assert run(userland, tmp_path, script)[::2] == (expected, status)
