#!/bin/bash
# Debian's busybox-static of a machine, fetched by apt: busybox.sh ARCH FOLDER makes FOLDER/busybox.
#
# apt gets a state folder, lists and a configuration of its own: nothing of this computer changes, no root is needed,
# and the package's signature is checked. Where there is no apt, no network or no such package, one line says so,
# FOLDER/log says why, there is no FOLDER/busybox, and the status is 0: all else works without it.
set -u

arch=$1 folder=$2
case $arch in
aarch64) debian=arm64 ;;
x86_64) debian=amd64 ;;
esac

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
exec 3>&2 >"$folder/log" 2>&1

# "site release" of each source of Debian that this computer's apt knows, so that its mirror is asked, if it has one.
sources() {
	apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' 2>/dev/null
}

# The release itself, not its updates; without one, the release that this was written with.
source_line() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg site release

	while read -r site release; do
		case $release in
		*-*) ;;
		*) break ;;
		esac
	done < <(sources; echo http://deb.debian.org/debian bookworm)
	[ -e "$key" ] || key=
	echo "deb ${key:+[signed-by=$key]} $site $release main"
}

apt() {
	local options=(-q -o "Dir::State=$folder/apt" -o "Dir::Cache=$folder/cache" -o "Dir::Etc::sourcelist=$folder/sources.list"
		-o Dir::Etc::sourceparts=/dev/null -o Dir::State::status=/dev/null -o "APT::Architecture=$debian"
		-o "APT::Architectures=$debian" -o Acquire::Languages=none -o Acquire::Retries=1 -o Acquire::http::Timeout=15
		-o Acquire::https::Timeout=15 -o APT::Update::Error-Mode=any)

	[ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)
	timeout 300 apt-get "${options[@]}" "$@"
}

fetch() {
	cd "$folder" || return
	command -v apt-get dpkg-deb || return
	mkdir -p apt/lists/partial cache/archives/partial
	source_line >sources.list
	apt update && apt download "busybox-static:$debian" && dpkg-deb --fsys-tarfile busybox-static_*.deb | tar -x ./bin/busybox &&
		mv bin/busybox busybox
}

if ! fetch; then
	rm -f "$folder/busybox"
	echo "  busybox cannot be had for $arch: sessions go without vi, awk and others (why: $folder/log; make busybox tries again)" >&3
fi
rm -rf "$folder"/{apt,cache,bin,sources.list} "$folder"/*.deb
