/*
 * Records that do not belong to events: those of tracers, stacks, markers. One definition gives the struct, its number,
 * and events/ftrace/NAME/format. Names, numbers, layouts and texts are Linux's, because programs that read raw records
 * know them. This file is included several times, each time with other meanings of these macros (core/entry.h,
 * events/entries.c), so it has no guard.
 *
 *     FTRACE_ENTRY(name, struct, TRACE_ID, number, F_STRUCT(fields), F_PRINTK("format", REC->field...))
 *
 * Fields: __field(type, item), __array(type, item, length); at the end one of __dynamic_array(type, item), as long as
 * the record; __stack_array(type, item, n), likewise, shown as n; __hidden_array(type, item), not shown at all.
 * F_PRINTK is for programs: what `trace` shows is made by the code beside the record's writer.
 */

/* The function `ip`, called from parent_ip. */
FTRACE_ENTRY(function, ftrace_entry, TRACE_FN, 1,
	     F_STRUCT(__field(unsigned long, ip) __field(unsigned long, parent_ip)),
	     F_PRINTK(" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip))

/* A task switch. Priorities: ctx_switch_prio(). */
FTRACE_ENTRY(context_switch, ctx_switch_entry, TRACE_CTX, 2,
	     F_STRUCT(__field(unsigned int, prev_pid) __field(unsigned int, next_pid) __field(unsigned int, next_cpu)
			      __field(unsigned char, prev_prio) __field(unsigned char, prev_state)
				      __field(unsigned char, next_prio) __field(unsigned char, next_state)),
	     F_PRINTK("%u:%u:%u  ==> %u:%u:%u [%03u]", REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_pid,
		      REC->next_prio, REC->next_state, REC->next_cpu))

/* A wake-up: the waker and the task that it wakes, in the same form. */
FTRACE_ENTRY_SAME(wakeup, ctx_switch_entry, TRACE_WAKE, 3,
		  F_STRUCT(__field(unsigned int, prev_pid) __field(unsigned int, next_pid)
				   __field(unsigned int, next_cpu) __field(unsigned char, prev_prio)
					   __field(unsigned char, prev_state) __field(unsigned char, next_prio)
						   __field(unsigned char, next_state)),
		  F_PRINTK("%u:%u:%u  ==+ %u:%u:%u [%03u]", REC->prev_pid, REC->prev_prio, REC->prev_state,
			   REC->next_pid, REC->next_prio, REC->next_state, REC->next_cpu))

/* A kernel stack: as many callers as `size` says, innermost first. */
FTRACE_ENTRY(kernel_stack, stack_entry, TRACE_STACK, 4,
	     F_STRUCT(__field(int, size) __stack_array(unsigned long, caller, 8)),
	     F_PRINTK("\t=> %ps\n\t=> %ps\n\t=> %ps\n"
		      "\t=> %ps\n\t=> %ps\n\t=> %ps\n"
		      "\t=> %ps\n\t=> %ps\n",
		      (void *)REC->caller[0], (void *)REC->caller[1], (void *)REC->caller[2], (void *)REC->caller[3],
		      (void *)REC->caller[4], (void *)REC->caller[5], (void *)REC->caller[6], (void *)REC->caller[7]))

/* Text, with its ending zero: of trace_marker, or of the kernel, from the place `ip`. */
FTRACE_ENTRY(print, print_entry, TRACE_PRINT, 5, F_STRUCT(__field(unsigned long, ip) __dynamic_array(char, buf)),
	     F_PRINTK("%ps: %s", (void *)REC->ip, REC->buf))

/* A message with a constant format: the format's address, and the arguments as vbin_printf keeps them. */
FTRACE_ENTRY(bprint, bprint_entry, TRACE_BPRINT, 6,
	     F_STRUCT(__field(unsigned long, ip) __field(const char *, fmt) __dynamic_array(u32, buf)),
	     F_PRINTK("%ps: %s", (void *)REC->ip, REC->fmt))

/* An access to a register of a device: opcode 1 reads, 2 writes, 5 is an instruction that is not known, in `value`. */
FTRACE_ENTRY(mmiotrace_rw, trace_mmiotrace_rw, TRACE_MMIO_RW, 7,
	     F_STRUCT(__field(resource_size_t, phys) __field(unsigned long, value) __field(unsigned long, pc)
			      __field(int, map_id) __field(unsigned char, opcode) __field(unsigned char, width)),
	     F_PRINTK("%lx %lx %lx %d %x %x", (unsigned long)REC->phys, REC->value, REC->pc, REC->map_id, REC->opcode,
		      REC->width))

/* A mapping of a device's registers is made (opcode 3) or ends (4). */
FTRACE_ENTRY(mmiotrace_map, trace_mmiotrace_map, TRACE_MMIO_MAP, 8,
	     F_STRUCT(__field(resource_size_t, phys) __field(unsigned long, virt) __field(unsigned long, len)
			      __field(int, map_id) __field(unsigned char, opcode)),
	     F_PRINTK("%lx %lx %lx %d %x", (unsigned long)REC->phys, REC->virt, REC->len, REC->map_id, REC->opcode))

/* A hint that was right or not. */
FTRACE_ENTRY(branch, trace_branch, TRACE_BRANCH, 9,
	     F_STRUCT(__field(unsigned int, line) __array(char, func, BRANCH_FUNC_LEN)
			      __array(char, file, BRANCH_FILE_LEN) __field(char, correct) __field(char, constant)),
	     F_PRINTK("%u:%s:%s (%u)%s", REC->line, REC->func, REC->file, REC->correct,
		      REC->constant ? " CONSTANT" : ""))

/* A call's return. Times are sched_clock's; calltime may be later than it was, by the time asleep. */
FTRACE_ENTRY_PACKED(funcgraph_exit, ftrace_graph_ret_entry, TRACE_GRAPH_RET, 10,
		    F_STRUCT(__field(unsigned long, func) __field(unsigned long, retval) __field(int, depth)
				     __field(unsigned int, overrun) __field(unsigned long long, calltime)
					     __field(unsigned long long, rettime)),
		    F_PRINTK("<-- %ps (%d) (start: %llx  end: %llx) over: %d retval: %lx", (void *)REC->func,
			     REC->depth, REC->calltime, REC->rettime, REC->depth, REC->retval))

/* The call. args: as many as the record is long. */
FTRACE_ENTRY_PACKED(funcgraph_entry, ftrace_graph_ent_entry, TRACE_GRAPH_ENT, 11,
		    F_STRUCT(__field(unsigned long, func) __field(int, depth) __hidden_array(unsigned long, args)),
		    F_PRINTK("--> %ps (%d)", (void *)REC->func, REC->depth))

/* A user program's stack: its pc and the callers, zeros behind the last. */
FTRACE_ENTRY(user_stack, userstack_entry, TRACE_USER_STACK, 12,
	     F_STRUCT(__field(unsigned int, tgid) __array(unsigned long, caller, USER_STACK_FRAMES)),
	     F_PRINTK("\t=> %ps\n\t=> %ps\n\t=> %ps\n"
		      "\t=> %ps\n\t=> %ps\n\t=> %ps\n"
		      "\t=> %ps\n\t=> %ps\n",
		      (void *)REC->caller[0], (void *)REC->caller[1], (void *)REC->caller[2], (void *)REC->caller[3],
		      (void *)REC->caller[4], (void *)REC->caller[5], (void *)REC->caller[6], (void *)REC->caller[7]))

/* A constant text. */
FTRACE_ENTRY(bputs, bputs_entry, TRACE_BPUTS, 14, F_STRUCT(__field(unsigned long, ip) __field(const char *, str)),
	     F_PRINTK("%ps: %s", (void *)REC->ip, REC->str))

/*
 * The longest two steps of the clock in a sample of hwlat, inner and outer, in us; when the first one beyond the
 * threshold was, by the wall clock; how many there were. nmi_total_ts: us in NMIs meanwhile.
 */
FTRACE_ENTRY(hwlat, hwlat_entry, TRACE_HWLAT, 15,
	     F_STRUCT(__field(u64, duration) __field(u64, outer_duration) __field(u64, nmi_total_ts)
			      __field(s64, tv_sec) __field(long, tv_nsec) __field(unsigned int, nmi_count)
				      __field(unsigned int, seqnum) __field(unsigned int, count)),
	     F_PRINTK("cnt:%u\tts:%010llu.%010lu\tinner:%llu\touter:%llu\tcount:%d\tnmi-ts:%llu\tnmi-count:%u\n",
		      REC->seqnum, REC->tv_sec, REC->tv_nsec, REC->duration, REC->outer_duration, REC->count,
		      REC->nmi_total_ts, REC->nmi_count))

/* A sample of osnoise: times in us, and how often each kind of context came in; hw: noise without any of them. */
FTRACE_ENTRY(osnoise, osnoise_entry, TRACE_OSNOISE, 16,
	     F_STRUCT(__field(u64, noise) __field(u64, runtime) __field(u64, max_sample) __field(unsigned int, hw_count)
			      __field(unsigned int, nmi_count) __field(unsigned int, irq_count)
				      __field(unsigned int, softirq_count) __field(unsigned int, thread_count)),
	     F_PRINTK("noise:%llu\tmax_sample:%llu\thw:%u\tnmi:%u\tirq:%u\tsoftirq:%u\tthread:%u\n", REC->noise,
		      REC->max_sample, REC->hw_count, REC->nmi_count, REC->irq_count, REC->softirq_count,
		      REC->thread_count))

/* A period of timerlat: ns since its timer was to fire; context 0 the interrupt, 1 the thread, 2 back in the kernel. */
FTRACE_ENTRY(timerlat, timerlat_entry, TRACE_TIMERLAT, 17,
	     F_STRUCT(__field(unsigned int, seqnum) __field(int, context) __field(u64, timer_latency)),
	     F_PRINTK("seq:%u\tcontext:%d\ttimer_latency:%llu\n", REC->seqnum, REC->context, REC->timer_latency))

/* A write to trace_marker_raw: a number that says which kind of data it is, and the data. */
FTRACE_ENTRY(raw_data, raw_data_entry, TRACE_RAW_DATA, 18,
	     F_STRUCT(__field(unsigned int, id) __dynamic_array(char, buf)),
	     F_PRINTK("id:%04x %08x", REC->id, (int)REC->buf[0]))

/* An access to a watched variable (HW_BREAKPOINT_R, _W, _RW). The number is the block tracer's, which is not here. */
FTRACE_ENTRY(ksym_trace, ksym_trace_entry, TRACE_KSYM, 13,
	     F_STRUCT(__field(unsigned long, ip) __field(unsigned long, addr) __field(unsigned char, type)
			      __array(char, cmd, TASK_COMM_LEN)),
	     F_PRINTK("ip: %pF type: %d ksym_name: %pS cmd: %s", (void *)REC->ip, REC->type, (void *)REC->addr,
		      REC->cmd))

/* The function entry before it was repeated so often; 48 bits of ns since the last time. */
FTRACE_ENTRY(func_repeats, func_repeats_entry, TRACE_FUNC_REPEATS, 19,
	     F_STRUCT(__field(unsigned long, ip) __field(unsigned long, parent_ip) __field(u16, count)
			      __field(u16, top_delta_ts) __field(u32, bottom_delta_ts)),
	     F_PRINTK(" %ps <-%ps\t(repeats:%u delta: -%llu)", (void *)REC->ip, (void *)REC->parent_ip, REC->count,
		      (((u64)REC->top_delta_ts << 32) | REC->bottom_delta_ts)))

/* ---- From 20 on: records of old tracers. Linux has dropped them, and its numbers of their day mean others today. */

/* An initcall begins: the pid of the task that calls, and the function. */
FTRACE_ENTRY(boot_call, trace_boot_call, TRACE_BOOT_CALL, 20,
	     F_STRUCT(__field(int, caller) __array(char, func, BOOT_FUNC_LEN)),
	     F_PRINTK("%d  %s", REC->caller, REC->func))

/* The initcall has returned: its result, and how many ns it took. */
FTRACE_ENTRY(boot_ret, trace_boot_ret, TRACE_BOOT_RET, 21,
	     F_STRUCT(__array(char, func, BOOT_FUNC_LEN) __field(int, result) __field(unsigned long, duration)),
	     F_PRINTK("%s %d %lx", REC->func, REC->result, REC->duration))

/* An allocation. type_id: 0 kmalloc, 1 kmem_cache_alloc, 2 whole pages. Linux 2.6.30 to 2.6.35; the number is ours. */
FTRACE_ENTRY(kmem_alloc, kmemtrace_alloc_entry, TRACE_KMEM_ALLOC, 22,
	     F_STRUCT(__field(unsigned int, type_id) __field(unsigned long, call_site) __field(const void *, ptr)
			      __field(size_t, bytes_req) __field(size_t, bytes_alloc) __field(unsigned int, gfp_flags)
				      __field(int, node)),
	     F_PRINTK("type:%u call_site:%lx ptr:%p req:%zi alloc:%zi flags:%x node:%d", REC->type_id, REC->call_site,
		      REC->ptr, REC->bytes_req, REC->bytes_alloc, REC->gfp_flags, REC->node))

/* What was allocated is given back. */
FTRACE_ENTRY(kmem_free, kmemtrace_free_entry, TRACE_KMEM_FREE, 23,
	     F_STRUCT(__field(unsigned int, type_id) __field(unsigned long, call_site) __field(const void *, ptr)),
	     F_PRINTK("type:%u call_site:%lx ptr:%p", REC->type_id, REC->call_site, REC->ptr))

/*
 * An idle period of a CPU, when it has ended: from `stamp` to `end`, ns of the trace's clock. type 1: an idle state.
 * Linux 2.6.28 to 2.6.31; the number is ours.
 */
FTRACE_ENTRY(power, trace_power, TRACE_POWER, 24,
	     F_STRUCT(__field(long long, stamp) __field(long long, end) __field(int, type) __field(int, state)),
	     F_PRINTK("%llx->%llx type:%u state:%u", REC->stamp, REC->end, REC->type, REC->state))

/*
 * Three numbers. Of sched-tree a runnable task: pid, virtual and real run time in ns. Of sysprof a part of a sample:
 * which, an address, a frame or pid. Linux 2.6.33 had 7 for it.
 */
FTRACE_ENTRY(special, special_entry, TRACE_SPECIAL, 25,
	     F_STRUCT(__field(unsigned long, arg1) __field(unsigned long, arg2) __field(unsigned long, arg3)),
	     F_PRINTK("(%08lx) (%08lx) (%08lx)", REC->arg1, REC->arg2, REC->arg3))

/* A branch that a CPU has taken. Linux 2.6.29 to 2.6.35; the number is ours. */
FTRACE_ENTRY(hw_branch, hw_branch_entry, TRACE_HW_BRANCHES, 26, F_STRUCT(__field(u64, from) __field(u64, to)),
	     F_PRINTK("from: %llx to: %llx", REC->from, REC->to))
