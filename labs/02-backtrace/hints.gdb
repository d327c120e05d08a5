# Lab backtrace, in `make gdb-arm64` or `make gdb-x86_64`: source labs/02-backtrace/hints.gdb
# Stops where a backtrace is asked for, and follows the frame records, to compare with yours.
define records
  set $record = (unsigned long *)($arg0)
  while $record && $record[1]
    printf "%#lx: next %#lx, ", $record, $record[0]
    info symbol $record[1]
    set $record = (unsigned long *)$record[0]
  end
end
break show_stack
commands
  silent
  printf "this task's stack begins at %#lx; its frame records:\n", (unsigned long)$vt_current().stack
  records $fp
end
