# Lab sched: source labs/07-sched/hints.gdb, after `target remote :1234`.
set pagination off

define queue
  # The fair queue of CPU 0: how many, their weights, and where its clock stands.
  set $rq = (struct rq *)((char *)&runqueues + __per_cpu_offset[0])
  print $rq->cfs.nr_running
  print $rq->cfs.load
  print/d (long)$rq->cfs.min_vruntime
  if $rq->cfs.curr
    print *$rq->cfs.curr
  end
end
document queue
Show the fair queue of CPU 0.
end

# Who is asked to leave the CPU, and by whom:
#   break resched_curr
#   backtrace
# Where a task gets its vruntime from:
#   break enqueue_task_fair
#   print p->comm
#   print flags
