# The guests of tests/guest/module/test_modules.py run these parts.

#: session: The session of the tutorial.
cd /sys/kernel/tracing; insmod /demo.ko; echo 0 > tracing_on; echo > trace; echo function_graph > current_tracer
echo ':mod:demo' > set_ftrace_filter; echo == set; cat set_ftrace_filter; rmmod demo; echo == kept
cat set_ftrace_filter; echo ':mod:demo' > set_ftrace_filter; echo 1 > tracing_on; insmod /demo.ko times=2 'name=a b'; rmmod demo; echo 0 > tracing_on
echo == trace; cat trace; echo == enabled; cat enabled_functions; echo == formats; grep -c 'hello %s %d' printk_formats

#: sys_module: /sys/module and /proc/kallsyms; a file that is open when its module goes.
ls /sys/module; insmod /demo.ko times=0 list=5,6; cd /sys/module/demo; ls -1a . sections parameters
for f in initstate refcnt initsize coresize taint parameters/times parameters/name parameters/list; do
echo $f $(cat $f); done; echo 7 > parameters/times; cat parameters/times; echo x > parameters/times; echo $?
echo 1 > refcnt; echo $?; stat -c %a parameters/times parameters/name
echo 99999999999 2> /dev/null > parameters/times; dmesg | grep -o 'demo: .*'
grep '\[demo\]' /proc/kallsyms | cut -c17- | sort | head -4
text=$(cat sections/.text) t=$(grep ' t demo_exit' /proc/kallsyms); case 0x$t in ${text%???}*) echo same;; esac
exec 4< parameters/times; rmmod demo; cat <&4; ls /sys/module; grep -c '\[demo\]' /proc/kallsyms
grep -c demo_exit /sys/kernel/debug/gone_symbols; insmod /demo.ko; cat /sys/module/demo/parameters/times; rmmod demo

#: filters: Another module at the same place is not taken for the one that has gone.
cd /sys/kernel/tracing; insmod /demo.ko; echo demo_exit > set_graph_function; echo 0 > tracing_on
exec 3> set_ftrace_filter; echo 'demo_exit schedule' >&3; rmmod demo; insmod /next.ko; exec 3>&-
echo == graph; cat set_graph_function; echo == filter; cat set_ftrace_filter; echo > set_ftrace_filter
echo function_graph > current_tracer; echo > trace; echo 1 > tracing_on; rmmod next; echo 0 > tracing_on
echo == trace; grep next_ trace; true

#: no_functions: A filter whose functions have gone traces nothing.
cd /sys/kernel/tracing; insmod /demo.ko; echo demo_exit > stack_trace_filter
echo 1 > /proc/sys/kernel/stack_tracer_enabled; echo == loaded; grep -c . enabled_functions
rmmod demo; echo == filter; cat stack_trace_filter; echo function > current_tracer; echo nop > current_tracer
echo == gone; grep -c . enabled_functions; echo schedule >> stack_trace_filter; echo == more; cat stack_trace_filter
echo '!schedule' >> stack_trace_filter; echo == less; cat stack_trace_filter; grep -c . enabled_functions
echo > stack_trace_filter; echo == clear; cat stack_trace_filter
test $(grep -c . enabled_functions) -gt 100 && echo all

#: modprobe: modprobe and modinfo go by modules.dep.
mkdir -p /lib/modules/$(uname -r); mv /*.ko /modules.dep /lib/modules/$(uname -r)
modprobe -n top; modprobe -nv top age=4; cat /proc/modules; modprobe -v mid_dle; modprobe -v top 'who=x y'; lsmod | cut -c1-8; cat /sys/module/top/parameters/who; modprobe top; echo $?
modprobe -r mid_dle 2>&1; modprobe -rnv top; modprobe -r -v top; cat /proc/modules; modprobe mid-dle; lsmod | wc -l; modprobe -r mid_dle
modprobe nobody 2>&1; echo $?; cd /lib/modules/$(uname -r); modinfo top.ko | grep -v vermagic | sort; modinfo modules.dep 2>&1
modinfo -p top.ko; modinfo -F depends top; modinfo -F filename base; modprobe -r top; echo $?
modprobe -d . base; cat /proc/modules | cut -d' ' -f1; rmmod base; cd /
modinfo mid_dle | grep -v vermagic | sort; modinfo nobody 2>&1; cp -r /lib/modules/$(uname -r) /else
modprobe /else/top.ko; cat /proc/modules | cut -d' ' -f1 | sort; modprobe -r /else/top.ko; cat /proc/modules
modprobe /else/none.ko 2>&1; rm /lib/modules/$(uname -r)/*; insmod /else/base.ko; modprobe -r base; echo $?
cat /proc/modules; modprobe -r base 2>&1; echo $?
