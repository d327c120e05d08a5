/*
 * The file README in tracefs: a short manual where it is needed, on the machine that is traced.
 *
 * It has a first session that can be typed as it stands, and one line for every control file. When a file is added,
 * removed or changes its meaning, its line here changes too. The text is a constant of the kernel's image: reading
 * it needs no lock and no memory.
 */
#include <fs/libfs.h>
#include <lib/string.h>

#include "tracefs/tracefs.h"

static const char readme_text[] =
	"Tracing in brief. Every control is a file here: cat shows it, echo sets it.\n"
	"\n"
	"# mount -t tracefs [-o [gid=<gid>]] nodev /sys/kernel/tracing    where it is not mounted;\n"
	"                                   members of the group gid may use it as well\n"
	"# echo 0 > tracing_on              hold still while you set up\n"
	"# cat available_tracers            what there is to choose from\n"
	"# echo schedule > set_ftrace_filter    trace only this function ...\n"
	"# echo 'vfs_*' >> set_ftrace_filter    ... and these (quote the star)\n"
	"# echo function > current_tracer   choose a tracer\n"
	"# echo 1 > tracing_on; sleep 1; echo 0 > tracing_on\n"
	"# head -20 trace                   read; echo > trace clears it\n"
	"# echo nop > current_tracer        all back to nothing\n"
	"\n"
	"  available_filter_functions  - every function that can be traced\n"
	"  available_tracers           - tracers to write into current_tracer\n"
	"  buffer_percent              - how full a CPU's buffer shall be when readers of trace_pipe_raw wake\n"
	"  buffer_size_kb              - KiB of buffer for each CPU; per_cpu/cpuN has one of its own\n"
	"  buffer_subbuf_size_kb       - KiB of its pages, which trace_pipe_raw hands out\n"
	"  buffer_total_size_kb        - all CPUs together\n"
	"  current_tracer              - the tracer at work; nop when there is none\n"
	"  dyn_ftrace_total_info       - how many functions carry a site, and the memory of the records\n"
	"  dynamic_events              - events that a user makes, a line each; > replaces, >> adds,\n"
	"                                -:[GROUP/]EVENT deletes; below are the forms of lines\n"
	"  enabled_functions           - sites that call the tracer now, by how many users\n"
	"  eval_map                    - values of names in texts of events; events/.../format shows them\n"
	"  free_buffer                 - closing it gives the buffer's memory back\n"
	"  function_profile_enabled    - 1 counts calls and their time, from 0 on, into trace_stat/function<cpu>\n"
	"  hwlat_detector/             - the tracer hwlat: width us of each window us, mode\n"
	"  latency_trace               - trace in the latency format, whatever trace_options says\n"
	"  max_graph_depth             - function_graph: how deep calls are followed, 0 for all the way\n"
	"  options/, trace_options     - what is recorded and how it is shown; write NAME or noNAME\n"
	"  osnoise/                    - osnoise and timerlat: cpus, periods, what stops recording, options\n"
	"  per_cpu/cpuN/               - trace, trace_pipe, snapshot, buffer_size_kb and stats of one CPU;\n"
	"                                trace_pipe_raw: the records as bytes, for programs (events/.../format)\n"
	"  printk_formats              - address and text of the kernel's own messages, for readers of raw records\n"
	"  saved_cmdlines              - pid and name of the tasks in the trace\n"
	"  saved_cmdlines_size         - how many of them are kept\n"
	"  saved_tgids                 - pid and process of tasks, with the option record-tgid\n"
	"  set_ftrace_filter           - functions to trace; > replaces, >> adds, !name removes\n"
	"                                name, begin*, *middle*, *end, any glob; several at once;\n"
	"                                name:command[:count]: traceon traceoff snapshot stacktrace dump cpudump,\n"
	"                                enable_event:system:event, disable_event:system:event\n"
	"  set_ftrace_notrace          - functions not to trace, whatever the filter says\n"
	"  set_ftrace_pid              - trace only these tasks; >> adds, an empty write ends it\n"
	"  set_ftrace_notrace_pid      - do not trace these tasks\n"
	"  set_event_pid               - record only these tasks' events; set_event_notrace_pid: not theirs\n"
	"  set_graph_function          - function_graph: begin at these functions, with all that they call\n"
	"  set_graph_notrace           - function_graph: leave these out, with all that they call\n"
	"  snapshot                    - 1 keeps what is in the trace now, 2 forgets that, 0 frees it\n"
	"  stack_max_size              - the most bytes of a stack in use, 0 to begin anew\n"
	"  stack_trace                 - by which functions; /proc/sys/kernel/stack_tracer_enabled looks\n"
	"  stack_trace_filter          - at these functions only\n"
	"  timestamp_mode              - records tell their time as the distance from the one before\n"
	"  touched_functions           - sites that have called a tracer since boot\n"
	"  trace                       - the buffer as text; reading leaves it, writing clears it\n"
	"  trace_clock                 - what time stamps are made of\n"
	"  trace_marker                - text written here appears in the trace\n"
	"  trace_marker_raw            - bytes written here, behind a number that says what they are, likewise\n"
	"  trace_pipe                  - the trace live: what is read is gone, no more to read waits;\n"
	"                                each CPU has one reader at a time\n"
	"  trace_stat/                 - statistics, as of the moment of opening, sorted\n"
	"  tracing_cpumask             - CPUs that record, as a hexadecimal mask\n"
	"  tracing_enabled             - 0 stops the tracer itself (the switch of Linux 2.6)\n"
	"  tracing_max_latency         - us; the longest section so far, 0 to begin anew\n"
	"  tracing_on                  - 0 stops recording only, the tracer goes on being called\n"
	"  tracing_thresh              - us; not 0: every section as long is shown, not only the longest;\n"
	"                                function_graph: only returns of calls that took as long;\n"
	"                                hwlat, osnoise: gaps in the clock that count\n"
	"  workqueue_profile_enabled   - 1 counts works of work queues, from 0 on, into trace_stat/workqueues\n"
	"\n"
	"  kprobe_events, dynamic_events: a line for each event; Create/append/remove. kprobe_profile counts hits\n"
	"\t  p[:[<group>/][<event>]] <place> [<args>]\n"
	"\t  r[maxactive][:[<group>/][<event>]] <place> [<args>]\n"
	"\t  -:[<group>/][<event>]\n"
	"\t    place: [<module>:]<symbol>[+<offset>]|<memaddr>\n"
	"\t    place (kretprobe): [<module>:]<symbol>[+<offset>]%return|<memaddr>\n"
	"\t  kernel return probes support: $retval, $arg<N>, $comm\n"
	"\t     args: <name>=fetcharg[:type]\n"
	"\t fetcharg: (%<register>|$<var>), @<address>, @<symbol>[+|-<offset>], $stack, $stack<N>, $retval, $comm,\n"
	"\t           $arg<N>, +|-[u]<offset>(<fetcharg>), \\imm-value, \\\"imm-string\"\n"
	"\t     type: s8/16/32/64, u8/16/32/64, x8/16/32/64, char, string, symbol, symstr, %pd/%pD,\n"
	"\t           b<bit-width>@<bit-offset>/<container-size>, ustring,\n"
	"\t           <type>\\[<array-size>\\]\n";

static ssize_t tracing_readme_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	return simple_read_from_buffer(buf, n, pos, readme_text, sizeof(readme_text) - 1);
}

static const struct file_operations tracing_readme_fops = {
	.read = tracing_readme_read,
	.llseek = default_llseek,
};
TRACEFS_FILE(readme, "README", 0440, TRACEFS_TOP, &tracing_readme_fops);
