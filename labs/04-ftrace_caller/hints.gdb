# Lab ftrace_caller, in `make gdb-arm64` or `make gdb-x86_64`: source labs/04-ftrace_caller/hints.gdb
# Stops at each traced call, where ftrace_caller begins and where it calls the tracer: step on by `stepi`. `handed` shows
# what the callee gets there.
define handed
  if sizeof(struct ftrace_regs) == 16
    info symbol $x0
    info symbol $x1
    print *(struct ftrace_regs *)$x3
  else
    info symbol $rdi
    info symbol $rsi
    print *(struct ftrace_regs *)$rcx
  end
end
break *(unsigned long)&ftrace_caller
commands
  silent
  x/3i $pc
  x/4gx $sp
end
break *(unsigned long)&ftrace_call
commands
  silent
  handed
end
