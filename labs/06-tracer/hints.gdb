# Lab tracer, in `make gdb-arm64` or `make gdb-x86_64`: source labs/06-tracer/hints.gdb
# Stops when a tracer is selected, and shows each task that must wait for a mutex, with its owner (the lowest bits are flags).
break tracing_set_tracer
break __mutex_lock_slowpath
commands
  silent
  printf "waits for %#lx, owned by %#lx\n", m, m->owner
  continue
end
