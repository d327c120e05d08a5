# Lab race, in the gdb of labs/13-race/replay: source labs/13-race/hints.gdb
set pagination off
define run_to_kernel
  hbreak start_kernel
  continue
  delete
end
document run_to_kernel
From the first instruction to where the kernel's variables can be read. Breakpoints are deleted.
end
define run_to_end
  delete
  hbreak sys_reboot
  continue
  delete
end
document run_to_end
To the end of the recording, where memory can still be read. Breakpoints are deleted.
end
