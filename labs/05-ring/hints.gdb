# Lab ring, in `make gdb-arm64` or `make gdb-x86_64`: source labs/05-ring/hints.gdb
# Stops at each step to another page, and shows how far the writer, the commit and the reader are.
break rb_next_page
commands
  silent
  printf "page %lu is full; commit %lu, head %lu\n", page->seq, cpu_buffer->ring.commit_seq, cpu_buffer->ring.head >> 20
  continue
end
