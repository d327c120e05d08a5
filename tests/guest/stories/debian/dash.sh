# dash: words, loops, functions, redirections, jobs, signals and limits of the shell. Here and on the computer that runs
# the test, which must print the same.
cd /tmp || exit 1
export LC_ALL=C
# shellcheck disable=SC2016 # the inner shell expands
dash -c '
set -- a "b c" d; for x; do echo "[$x]"; done; echo $# "$*"; shift 2; echo "$@"
f() { local v=in; echo "$v $1"; return 7; }; v=out; f arg; echo $? $v
i=0; while [ $i -lt 5 ]; do i=$((i + 1)); [ $i = 3 ] && continue; [ $i = 5 ] && break; echo $i; done
case abc in a*) echo star ;; esac; case x in [!a-w]) echo range ;; esac
x=/usr/lib/a.tar.gz; echo ${x##*/} ${x%%.*} ${x#/} ${x%.gz} ${#x} ${none:-unset} ${x:+set}
echo $((7 / 2)) $((-7 % 3)) $((1 << 10 | 5)) $((010 + 0x10)) $((3 > 2 ? 4 : 5))
cat <<end
here $i $(echo sub)
end
exec 3> file; echo three >&3; exec 3>&-; cat file; echo more >> file; wc -l < file
{ echo out; echo err >&2; } 2>&1 | sort
(exit 4); echo $?; false || echo or; true && echo and; ! true; echo $?
echo a b c | { read x y; echo "$y"; }
trap "echo term" TERM; kill -TERM $$; trap - TERM
trap "echo bye" EXIT
sleep 0.2 & wait $!; echo $?
sh -c "kill -KILL \$\$" 2> /dev/null; echo $?
(ulimit -n 20; ulimit -n; ulimit -c 0; ulimit -c)
umask 027; : > masked; ls -l masked | cut -c 1-10; umask
printf "%s %d %x\n" s 10 255; echo "a\tb"; test -f file -a -w / && echo test
IFS=:; set -- $(echo 1:2:3); echo $2; unset IFS
eval "e=\$x"; echo $e; readonly r=1; (r=2) 2> /dev/null || echo readonly
getopts ab: o -b val; echo $o $OPTARG
command -v echo; type cd | head -n 1; cd / && pwd && cd - > /dev/null
for n in 1 2 3; do echo $n & done | sort; wait
'
dash -c 'kill -INT $$'
echo $?
