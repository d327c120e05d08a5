# Linux's ftracetest, as it is: ftracetest.sh FOLDER WITH [TEST...] runs it in FOLDER, with the programs of busybox or of
# the root that this is, and with the sample modules. Behind it: its own summary, and how the log of each test ends.
# A page of a program that lies in the folder of the host is fetched each time it is touched, and the tests start programs
# thousands of times: those of less than 8 MiB and their libraries are copied to memory, and mounted where they were. The
# programs of /vitrine/bin need no library.
to_memory() {
	for folder in /usr/bin /usr/lib/*-linux-gnu; do
		mkdir -p "/run/copy$folder"
		find "$folder" -maxdepth 1 ! -type d -size -8M -exec sh -c 'cp -r "$@" "$0"' "/run/copy$folder" {} +
		mount -t tmpfs -o mode=755 tmpfs "$folder"
		cp -r "/run/copy$folder"/* "$folder"
		rm -r "/run/copy$folder"
	done
}

if [ "$2" = busybox ]; then
	mkdir /bb && /busybox --install -s /bb || exit 1
	export PATH=/bb:/bin # for nice and chrt, which busybox does not have
	rm /bin/sh && cp /busybox /bin/sh || exit 1
	mkdir -p /lib/modules && ln -s /modules "/lib/modules/$(uname -r)" || exit 1
else
	all=$PATH
	PATH=/vitrine/bin
	to_memory
	PATH=$all
fi
cd "$1" || exit 1
shift 2
for test; do
	shift
	set -- "$@" "test.d/$test"
done
sh ./ftracetest -k -l /tmp/logs "$@"
echo "==> summary"
cat /tmp/logs/ftracetest.log
for log in /tmp/logs/*.tc-log.*; do
	number=${log#/tmp/logs/}
	echo "==> ${number%%-*} $(head -n 1 "$log")"
	grep "^Required\|^chrt\|not found" "$log"
	tail -n 4 "$log"
done
echo "==> end"
