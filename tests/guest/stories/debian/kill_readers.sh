# Kill readers of /mnt again and again, a bit later each time; $1: how often. Others work in /host meanwhile.
mount -t 9p slow /mnt || exit
cd /host || exit
p9test together listed > /tmp/said 2>&1 &
worker=$!
round=0
while [ $round -lt $1 ]; do
	victims=
	for number in 0 1 2 3 4 5; do
		cat /mnt/big$number > /dev/null &
		victims="$victims $!"
		ls -l /mnt > /dev/null &
		victims="$victims $!"
	done
	usleep $((round % 60 * 1500))
	kill -9 $victims 2> /dev/null
	wait $victims
	round=$((round + 1))
done
wait $worker || { cat /tmp/said; exit 1; }
[ "$(ls /mnt | wc -l)" = 6 ] && umount /mnt && mount -t 9p slow /mnt && [ "$(ls /mnt | wc -l)" = 6 ] && umount /mnt
