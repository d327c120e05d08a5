#!/bin/sh
# description: 65,000 mappings cost little more each than 100 do, in instructions; vm.max_map_count is where it ends
# requires: smp=1 icount timeout=120 progs="maptest"
# requires: rooms="procfs"
. /run/prelude
maptest 100 > /tmp/few || fail "maptest 100: $(cat /tmp/few)"
maptest 65000 > /tmp/many || fail "maptest 65000: $(cat /tmp/many)"
echo "mappings, then what one more, a hole, rights, a touch cost:"
cat /tmp/few /tmp/many
read n few_map few_hole few_protect few_touch < /tmp/few
read n many_map many_hole many_protect many_touch < /tmp/many
# Ten more levels of a tree, and page tables of their own: a few hundred instructions. A list of 65,000 costs a million.
for what in map hole protect touch; do
	eval "few=\$few_$what many=\$many_$what"
	test $many -le $((few * 2 + 1500)) || fail "$what: $few with 100, $many with 65,000"
done

# -- as on Linux: one more than the number, which the program's own areas are part of
same 'as Linux has it' 65530 "$(cat /proc/sys/vm/max_map_count)"
echo 1000 > /proc/sys/vm/max_map_count
same 'set' 1000 "$(sysctl -n vm.max_map_count)"
for bad in -1 x 4294967296 ''; do
	echo "$bad" 2> /dev/null > /proc/sys/vm/max_map_count && fail "max_map_count takes '$bad'"
done
first=$(maptest limit)
test $first -gt 980 && test $first -lt 1000 || fail "$first of 1000 mappings"
echo 1500 > /proc/sys/vm/max_map_count
same 'five hundred more' $((first + 500)) "$(maptest limit)"
finish
