# Lab wakeup, in `make gdb-arm64` or `make gdb-x86_64`: source labs/09-wakeup/hints.gdb
# Stops where a task begins to wait for a mutex, and shows both of them with their priorities.
break __mutex_lock_slowpath
commands
  silent
  set $owner = (struct task_struct *)(m->owner & ~3UL)
  printf "waits for a mutex: "
  if $owner
    printf "owner %s, prio %d, own %d\n", $owner->comm, $owner->prio, $owner->normal_prio
  else
    printf "free again\n"
  end
  continue
end
