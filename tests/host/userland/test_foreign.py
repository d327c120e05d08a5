"""What other shells have and ours has not: refused by name; what only looks like it is taken. Run on the host by
qemu-user."""

import pytest
from userland_run import run, userland  # noqa: F401 (a fixture)

# What bash has and POSIX does not: the command, and what the message begins with. Nothing of such a line runs.
FOREIGN = [
    ("[[ a == b ]]", "[[ ]] is bash's; use [ ]"),
    ("if [[ -n $x && $y ]]; then echo no; fi", "[[ ]] is bash's"),
    ("function f { echo no; }", "function NAME is bash's; use NAME() { ...; }"),
    ("function f() { echo no; }", "function NAME is bash's"),
    ("((i++))", "(( )) is bash's"),
    ("if (( 1 > 0 )); then echo no; fi", "(( )) is bash's"),
    ("for ((i=0; i<3; i++)); do echo no; done", "for (( )) is bash's"),
    ("x=(1 2 3)", "an array (NAME=( )) is bash's"),
    ("x+=(4)", "an array (NAME=( ))"),
    ("x[1]=2", "an array (NAME[N]=VALUE) is bash's"),
    ("echo ${x[0]}", "an array (${NAME[N]}) is bash's"),
    ('echo "no ${x[@]}"', "an array (${NAME[N]})"),
    ("echo ${#x[@]}", "an array"),
    ("x+=y", "NAME+=VALUE is bash's; use NAME=$NAME..."),
    ("cat <<< text", "<<< is bash's"),
    ("echo no &> f", "&> is bash's; use >FILE 2>&1"),
    ("echo no &>> f", "&> is bash's"),
    ("echo no >& f", ">&FILE is bash's; use >FILE 2>&1"),
    ("echo no >&f", ">&FILE is bash's"),
    ("cat <&f", "<&FILE is bash's; use <FILE"),
    ("echo no |& cat", "|& is bash's; use 2>&1 |"),
    ("exec 3>&1-", "moving a descriptor (>&N-) is bash's"),
    ("cat <(echo no)", "<( ) is bash's"),
    ("echo no > >(cat)", ">( ) is bash's"),
    ("case a in a) echo no ;& b) echo no;; esac", ";& or ;;& is bash's"),
    ("case a in a) echo no ;;& esac", ";& or ;;& is bash's"),
    ("select x in a b; do echo no; done", "select is bash's"),
    ("let x=1", "let is bash's"),
    ("declare -a x", "declare is bash's"),
    ("typeset x=1", "typeset is bash's"),
    ("mapfile x", "mapfile is bash's"),
    ("pushd /", "pushd is bash's"),
    ("shopt -s x", "shopt is bash's"),
    ("for i in {1..3}; do echo no; done", "{a,b} or {1..3} is bash's"),
    ("echo {a,b}", "{a,b} or {1..3} is bash's"),
    ("touch x.{c,h}", "{a,b} or {1..3}"),
    ("echo {a..e..2}", "{a,b} or {1..3}"),
    ("echo {10..-1}", "{a,b} or {1..3}"),
    ("echo ${x/a/b}", "${NAME/TEXT/TEXT} is bash's"),
    ("echo ${x^^}", "${NAME^} or ${NAME,} is bash's"),
    ("echo ${!x}", "${!NAME} is bash's; use eval"),
]


@pytest.mark.parametrize("command,message", FOREIGN)
def test_what_only_bash_has_is_refused_by_name(userland, tmp_path, command, message):  # noqa: F811
    for before in ("echo before; ", "true && { echo before; }; ", "if true; then echo before; fi; "):
        out, err, status = run(userland, tmp_path, before + command + "\necho after")
        assert (out, status) == ("", 2) and err.startswith(f"sh: line 1: {message}"), err
    assert not list(tmp_path.iterdir()), "no file was made"


# What looks like it and is POSIX's.
NOT_FOREIGN = [
    (
        "echo {} {a} { } {1..a} {1...3} '{1..3}' \"{a,b}\" \\{a,b} a{b",
        "{} {a} { } {1..a} {1...3} {1..3} {a,b} {a,b} a{b\n",
        0,
    ),
    ("x={1..3}; y=${z:-{a,b}}; echo $x $y", "{1..3} {a,b}\n", 0),
    ("( (echo a); echo b); ((echo c); echo d)", "a\nb\nc\nd\n", 0),
    ("((echo 'a'))", "a\n", 0),
    (
        "echo a & wait; echo b >&1; echo c 2>&1; exec 3>&1; echo d >&3; exec 3>&-; n=1; echo e >&$n",
        "a\nb\nc\nd\ne\n",
        0,
    ),
    ("declare() { echo mine $1; }; declare x; let() { echo $1; }; let y", "mine x\ny\n", 0),
    (
        "echo function select [[ let; x=1; echo ${x}[0] \"${x#/}\" ${x%,} '${x^^} ${x[0]}' \\${x}",
        "function select [[ let\n1[0] 1 1 ${x^^} ${x[0]} ${x}\n",
        0,
    ),
    ("case x in x) echo a;; esac; if { true; } then echo b; fi; a() (echo c); a; echo $((1+(2)))", "a\nb\nc\n3\n", 0),
    ("cat <<E\n{1..3} ${x-<(a)} [[ <<< &>\nE\n", "{1..3} <(a) [[ <<< &>\n", 0),
    ("echo a (echo b)", "", 2),
    ("x=1 (echo b)", "", 2),
]


@pytest.mark.parametrize("command,printed,wanted", NOT_FOREIGN)
def test_what_looks_like_it_is_taken(userland, tmp_path, command, printed, wanted):  # noqa: F811
    out, err, status = run(userland, tmp_path, command)
    assert "is bash's" not in err and status == wanted, err
    assert out == printed


def test_nothing_of_ours_is_called_bash(userland):  # noqa: F811
    assert not (userland.bin / "bash").is_symlink() and not (userland.bin / "bash").exists()
