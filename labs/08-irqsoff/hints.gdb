# Lab irqsoff, in `make gdb-arm64` or `make gdb-x86_64`: source labs/08-irqsoff/hints.gdb
# Each maximum that is taken: how long, and from where to where.
break trace_max_take
commands
  silent
  printf "%lu ns\n", section->end - section->start
  info symbol section->critical_start
  info symbol section->critical_end
  continue
end
