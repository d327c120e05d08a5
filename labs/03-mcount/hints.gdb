# Lab mcount, in `make gdb-arm64` or `make gdb-x86_64`: source labs/03-mcount/hints.gdb
# Stops where boot is about to make nops of the sites, and shows one site before and after: on x86_64 the first instruction, on
# aarch64 the `bl` behind the prologue.
break ftrace_init
commands
  silent
  printf "before: a site as it was compiled\n"
  x/12i vfs_read
  continue
end
break ftrace_make_hints
commands
  silent
  printf "after: the same site, and the first record\n"
  x/12i vfs_read
  print/x ftrace_recs[0]
end
