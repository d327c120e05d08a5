# The guests of tests/guest/module/test_module_refs.py run these parts.

#: watches: ksym_tracer watches a variable of a module that goes.
cd /sys/kernel/tracing; insmod /watched.ko; for n in 1 2 3; do echo watched_number:-w- > ksym_trace_filter
cat ksym_trace_filter | cut -d+ -f1; echo 1 > /sys/module/watched/parameters/watched_number
grep -c 'watched_number .* 1$' ksym_profile; rmmod watched; wc -l < ksym_trace_filter; insmod /watched.ko; done
for s in nr_cpu_ids cpu_online_mask cpu_possible_mask panic_timeout; do echo $s:-w- > ksym_trace_filter || echo full; done; wc -l < ksym_trace_filter

#: fails: A file of a module is opened while its init sleeps, and read after that has failed.
dmesg -c > /dev/null; insmod /fails.ko & job=$!
while ! [ -e /dev/held/fails ]; do sleep 0.05; done; exec 5<> /dev/held/fails; rm -r /dev/held
insmod /fails.ko 2> /waited & second=$! # it waits for the first, whose init sleeps
until grep -q '(insmod) S' /proc/$second/stat; do usleep 1000; done
rmmod fails; echo >&5; while ! dmesg | grep -q 'hold it'; do sleep 0.1; done; cat /proc/modules; cat <&5
insmod /fails.ko; echo going $? # the first keeps the name until the file is closed, and nobody waits for that
exec 5<&-; wait $job; echo insmod $?; wait $second; echo second $?; cat /waited; cat /proc/modules; echo end; ls -d /dev/held
