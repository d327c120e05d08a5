# Lab cow, in `make gdb-arm64` or `make gdb-x86_64`: source labs/12-cow/hints.gdb
# Stops at each write to a page that may not be written, and shows whose it is.
break do_wp_page
commands
  silent
  printf "write to %#lx: ", f->addr
  print/x *(struct page *)phys_to_page(pte)
  continue
end
