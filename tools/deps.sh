#!/bin/bash
# Look for what a job needs on this machine; install what is missing with the system's package manager, or name it in one line.
#
# usage: tools/deps.sh [all | build | run | iso | test | labs | lint]...		DEPS_PREFIX=folder: see unpack()
#
# tools/deps.list says what a job needs and which package of which system has it. When all of a job's things were there, a stamp in
# build/ that is keyed by both files says so, and the next call only looks whether the commands and files are still there, which
# takes a few milliseconds (no python is started, no package is asked for). bash 3.2 is enough, as macOS has it.

set -u
cd "$(dirname "$0")/.." || exit 1
root=${DEPS_ROOT:-}		# tests put a folder here in place of /
prefix=${VITRINE_PREFIX:-}	# where an earlier call has unpacked packages
python=${PYTHON:-$root/usr/bin/python3}
# Where there is no /usr/bin/python3, make asks for the one on PATH.
[ "$python" != python3 ] || python=$(command -v python3)
[ -x "$python" ] || [ -z "$prefix" ] || python=$prefix/usr/bin/python3
machine=$(uname -m)
[ "$machine" != arm64 ] || machine=aarch64
system=$(uname -s)

# The first package manager that is here: its column of the table, and how it is asked.
manager=unknown column=3
for one in 3:apt-get 4:dnf 5:pacman 6:brew 7:apk; do
	[ "$manager" = unknown ] && command -v "${one#*:}" >/dev/null && manager=${one#*:} column=${one%%:*}
done
case $manager in
apt-get) install='apt-get install' quiet='-y --no-install-recommends' ;;
dnf)     install='dnf install' quiet=-y ;;
pacman)  install='pacman -S --needed' quiet=--noconfirm ;;
brew)    install='brew install' quiet= ;;
apk)     install='apk add' quiet= ;;
*)       install= quiet= ;;
esac

# Does this gdb know both machines? One that is built for its own host sets that one and says of the other that it is undefined.
knows_both_machines() {
	local said
	said=$("$1" -nx -batch -ex 'set architecture aarch64' -ex 'set architecture i386:x86-64' 2>&1 </dev/null)
	case $said in
	*ndefined*) return 1 ;;
	*x86-64*)   return 0 ;;
	*)          return 1 ;;
	esac
}

# Is one thing there? Modules and headers are asked for only without a stamp: starting python or gcc is what costs time.
one_present() {
	case $1 in
	/*)        [ -e "$root$1" ] || { [ -n "$prefix" ] && [ -e "$prefix$1" ]; } ;;
	py:*)      [ -n "$stamped" ] || "$python" -c "import ${1#py:}" 2>/dev/null ;;
	h:*)       [ -n "$stamped" ] || [ -e "$root/usr/include/${1#h:}" ] ||
	           { [ -n "$prefix" ] && [ -e "$prefix/usr/include/${1#h:}" ]; } ||
	           { [ -z "$root" ] && echo "#include <${1#h:}>" | gcc -E -o /dev/null - 2>/dev/null; } ;;
	native:*)  [ "$system" = Linux ] && [ "$machine" = "${1#native:}" ] && command -v gcc >/dev/null ;;
	multi:gdb) command -v gdb >/dev/null && { [ -n "$stamped" ] || knows_both_machines gdb; } ;;
	python3)   [ -x "$python" ] ;;
	*)         command -v "$1" >/dev/null ;;
	esac
}

present() {
	local one what=$1
	local IFS='|'
	case $what in
	gcc-for-aarch64)  what='aarch64-none-elf-gcc|aarch64-elf-gcc|aarch64-linux-gnu-gcc|native:aarch64' ;;
	gcc-for-x86_64)   what='x86_64-elf-gcc|x86_64-linux-gnu-gcc|native:x86_64' ;;
	newlib)           what='/usr/src/newlib' ; ls build/usr/src/newlib/newlib-*.tar.* >/dev/null 2>&1 && [ -z "$root" ] && return 0 ;;
	libc-for-aarch64) what='/usr/aarch64-linux-gnu/lib/libc.a|/usr/lib/aarch64-linux-gnu/libc.a' ;;
	esac
	for one in $what; do
		one_present "$one" && return 0
	done
	return 1
}

# The package of this system that X86 and ARM stand for: $1 is the word, $2 the machine, $3 what other machines call its compiler.
compiler() {
	if [ "$machine" = "$2" ] && [ "$manager" != brew ]; then
		echo gcc
	else
		case $manager in
		dnf)    echo "gcc-$2-linux-gnu" ;;
		pacman) [ "$2" = aarch64 ] && echo aarch64-linux-gnu-gcc || echo - ;;
		apk)    [ "$2" = aarch64 ] && echo gcc-aarch64-none-elf newlib-aarch64-none-elf || echo - ;;
		*)      echo "gcc-$3-linux-gnu" ;;
		esac
	fi
}

add() {
	case " $missing " in
	*" $1 "*) ;;
	*) missing="$missing $1" ;;
	esac
}

# The packages that the wanted jobs lack, into $missing; what no package of this system has, into $elsewhere.
look() {
	local job what packages package
	missing= elsewhere=
	while read -r job what packages; do
		case " $jobs " in
		*" $job "*) ;;
		*) continue ;;
		esac
		# GRUB's PC modules are packaged for x86 hosts only; elsewhere all but `make iso` works.
		[ "$job" = iso ] && [ "$machine" != x86_64 ] && continue
		present "$what" && continue
		# shellcheck disable=SC2086  # words are wanted
		set -- $job $what $packages
		package=$(eval "echo \"\${$column}\"")
		case $package in
		X86) package=$(compiler X86 x86_64 x86-64) ;;
		ARM) package=$(compiler ARM aarch64 aarch64) ;;
		esac
		if [ "$package" = - ]; then elsewhere="$elsewhere $what"; else for one in $package; do add "$one"; done; fi
	done <tools/deps.list
	missing=${missing# } elsewhere=${elsewhere# }
}

# Ubuntu's component universe has half of the packages, and some images have no such line.
without_universe() {
	grep -q '^ID=ubuntu' "$root/etc/os-release" 2>/dev/null &&
		! grep -rqs universe "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
}

# What apt-get wants first: its lists are empty in most containers.
before_apt() {
	[ "$manager" = apt-get ] || return 0
	! without_universe || { echo 'add-apt-repository universe && ' && return; }
	[ ! -d "$root/var/lib/apt/lists" ] || ls "$root"/var/lib/apt/lists/*Packages* >/dev/null 2>&1 || echo 'apt-get update && '
}

# What helps against what the package manager has said, in the file $1: the first line whose pattern is in it.
advise() {
	local line help
	while read -r line; do
		grep -Eqi "${line%% => *}" "$1" || continue
		help=${line#* => }
		! without_universe || help=${help/#these packages*/as root: add-apt-repository universe}
		echo "deps: $help; then run make again" >&2
		return
	done <<'EOT'
could not get lock => another program installs packages, such as the first upgrade of a new system: wait for its end
not valid yet => the clock of this computer is slow (in WSL after a sleep; as root: hwclock -s): set it
could ?n.t resolve|failure resolving|name resolution => the packages' server cannot be found: connect this computer, or name a proxy (apt: Acquire::http::Proxy "http://..."; in /etc/apt/apt.conf)
unable to locate package|no installation candidate|unable to find a match|target not found|no such package => these packages are in no repository that this system uses: add it (Debian: main)
no longer has a release file|does not have a release file|404 +not found => this release of the system is not served any more, or its lists are old: a newer release, or new lists
EOT
}

# One line that can be copied as far as this system has packages, and says for the rest where to get it.
tell() {
	local what pip= line=
	if [ "$manager" = unknown ] && [ "$system" = Darwin ]; then
		line="; Homebrew has it: install that by the line of https://brew.sh, and run make again"
		elsewhere=
	elif [ "$manager" = unknown ]; then
		line="; no package manager that is known here has been found: what is wanted is, by Debian's names, $missing"
	elif [ -n "$missing" ]; then
		line="; $([ "$manager" = brew ] || echo 'as root: ')$(before_apt)$install $missing"
	fi
	for what in $elsewhere; do
		case $what in
		py:*) pip="$pip $(echo "${what#py:}" | sed 's/|.*//; s/elftools/pyelftools/; s/xdist/pytest-xdist/; s/tomllib/tomli/')" ;;
		newlib) line="$line; curl --create-dirs -o build/usr/src/newlib/newlib-3.3.0.tar.gz https://sourceware.org/pub/newlib/newlib-3.3.0.tar.gz" ;;
		*) line="$line; by other means than packages: $what" ;;
		esac
	done
	[ -z "$pip" ] || line="$line; $python -m pip install --user$pip"
	echo "deps: missing$line" >&2
	exit 1
}

# DEPS_PREFIX=folder: without root, Debian's packages and what they depend on are fetched and unpacked into that folder. make takes
# what is there from then on, since it reads what is left in build/; a shell does after `. folder/env`.
unpack() {
	local folder packages
	mkdir -p "$1/packages" build && folder=$(cd "$1" && pwd) || exit 1
	# shellcheck disable=SC2086  # words are wanted
	packages=$(apt-get install -s --no-install-recommends $missing 2>/dev/null | sed -n 's/^Inst \([^ ]*\) .*/\1/p')
	echo "deps: unpacking $(echo $packages | wc -w | tr -d ' ') packages into $folder"
	# shellcheck disable=SC2086
	(cd "$folder/packages" && apt-get download $packages >log 2>&1 && for package in *.deb; do dpkg -x "$package" .. || exit 1; done) || {
		tail -5 "$folder/packages/log" >&2
		echo "deps: not all of this could be fetched: $packages" >&2
		exit 1
	}
	rm -rf "$folder/packages"
	local libraries=$folder/usr/lib/$machine-linux-gnu:$folder/lib/$machine-linux-gnu
	cat >"$folder/env" <<EOT
export VITRINE_PREFIX="$folder" SOURCES="$folder" PATH="$folder/usr/bin:$folder/bin:\$PATH"
export LD_LIBRARY_PATH="$libraries:$folder/usr/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
export PYTHONPATH="$folder/usr/lib/python3/dist-packages\${PYTHONPATH:+:\$PYTHONPATH}"
EOT
	cat >build/prefix.mk <<EOT
ifndef VITRINE_PREFIX
export VITRINE_PREFIX := $folder
export SOURCES := $folder
export PATH := $folder/usr/bin:$folder/bin:\$(PATH)
export LD_LIBRARY_PATH := $libraries:$folder/usr/lib\$(if \$(LD_LIBRARY_PATH),:\$(LD_LIBRARY_PATH))
export PYTHONPATH := $folder/usr/lib/python3/dist-packages\$(if \$(PYTHONPATH),:\$(PYTHONPATH))
endif
EOT
	# shellcheck disable=SC1090,SC1091
	. "$folder/env"
	prefix=$folder
	[ -x "$python" ] || python=$prefix/usr/bin/python3
}

jobs=${*:-all}
[ "$jobs" = all ] && jobs='build run iso test labs lint'
# Libraries and headers for tests, and GRUB, want to lie in /usr.
if [ -n "${DEPS_PREFIX:-}" ]; then
	[ "$manager" = apt-get ] || { echo "deps: PREFIX= is for packages of Debian and its like: there is no apt-get here" >&2; exit 2; }
	jobs='build run'
fi
for job in $jobs; do
	case $job in
	build|run|iso|test|labs|lint) ;;
	*) echo "deps: no job '$job': all, build, run, iso, test, labs or lint" >&2; exit 2 ;;
	esac
done
stamp=${DEPS_STAMP:-build/.deps}-${jobs// /-}
stamped=
[ -e "$stamp" ] && [ "$stamp" -nt "$0" ] && [ "$stamp" -nt tools/deps.list ] && stamped=yes

look
if [ -n "$missing" ] && [ "$manager" = apt-get ]; then
	# One at a time: make -j may ask for two jobs at once, and what one lacks the other may be installing.
	mkdir -p "$(dirname "$stamp")"
	exec 9>"$(dirname "$stamp")/.deps.lock"
	flock 9
	hash -r
	look
fi
if [ -n "$missing$elsewhere" ]; then
	wanted=$missing
	run=
	if [ -n "${DEPS_PREFIX:-}" ]; then
		unpack "$DEPS_PREFIX"
	else
		if [ "$(id -u)" != 0 ] && [ "$manager" != brew ]; then
			run='sudo -n'
			sudo -n true 2>/dev/null || tell
		fi
		[ -n "$missing" ] && [ "$manager" != unknown ] || tell
		echo "deps: installing $missing"
		log=$(mktemp)
		# shellcheck disable=SC2086  # words are wanted
		if ! { { [ "$manager" != apt-get ] || $run apt-get update; } &&
			$run env DEBIAN_FRONTEND=noninteractive $install $quiet $missing; } >"$log" 2>&1 </dev/null; then
			tail -5 "$log" >&2
			echo "deps: $manager failed; still missing: $missing" >&2
			advise "$log"
			rm -f "$log"
			exit 1
		fi
		rm -f "$log"
	fi
	stamped=
	hash -r
	look
	if [ -n "$missing" ]; then
		echo "deps: installed $wanted, and yet what these have is not found: $missing" >&2
		exit 1
	fi
	[ -z "$elsewhere" ] || tell
fi
if [ -z "$stamped" ]; then
	# One that is too old is told now, and not after minutes of building.
	case " $jobs " in
	*" run "*) "$python" tools/vitrine_qemu.py ;;
	esac
	mkdir -p "$(dirname "$stamp")" && touch "$stamp"
fi
