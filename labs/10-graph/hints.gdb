# Lab graph, in `make gdb-arm64` or `make gdb-x86_64`: source labs/10-graph/hints.gdb
# Stops at each return of a hooked call by the general way. `frames` shows the shadow stack of the task that runs.
define frames
  set $stack = $vt_current().ret_stack
  set $frame = $stack->frames
  while $frame < $stack->top
    printf "%d: slot %#lx, mark %#lx, key %#lx, returns to ", $frame - $stack->frames, $frame->slot, $frame->mark, $frame->key
    info symbol $frame->ret
    set $frame = $frame + 1
  end
end
break fgraph_return
commands
  silent
  print *regs
  frames
end
