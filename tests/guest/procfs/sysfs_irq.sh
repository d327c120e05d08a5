#!/bin/sh
# description: /sys/kernel/irq: each line of /proc/interrupts has a directory that says the same
# requires: smp=2 timeout=60
. /run/prelude
cd /sys/kernel/irq

lines=0
while read -r number first second chip hwirq type names; do
	irq=${number%:}
	case $irq in *[!0-9]*) continue ;; esac
	lines=$((lines + 1))
	same "$irq: chip" "$chip" "$(cat $irq/chip_name)"
	same "$irq: its number there" "$hwirq" "$(cat $irq/hwirq)"
	case $type in
	Edge) type=edge ;;
	Level) type=level ;;
	esac
	same "$irq: type" "$type $type" "$(cat $irq/type) $(cat $irq/name)"
	same "$irq: handlers" "$names" "$(sed 's/,/, /g' $irq/actions)"
	counts=$(cat $irq/per_cpu_count)
	same "$irq: a number for each CPU" 2 "$(echo $counts | tr , '\n' | wc -l)"
	[ ${counts%,*} -ge $first ] && [ ${counts#*,} -ge $second ] || fail "$irq: $counts, but it was $first,$second"
done < /proc/interrupts
[ $lines -ge 1 ] || fail "only $lines lines"
[ "$(ls | grep -c .)" -ge $lines ] || fail 'a line without a directory'
echo 1 2> /dev/null > 1/hwirq && fail 'a file was written'

finish
