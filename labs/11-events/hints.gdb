# Lab events, in `make gdb-arm64` or `make gdb-x86_64`: source labs/11-events/hints.gdb
# Prints each filter that is written. `program FILTER` shows one that is made: for each term where its two jumps lead.
break filter_parse
commands
  silent
  printf "%s\n", text
  continue
end
define program
  set $i = 0
  while $i < $arg0->nr
    printf "%u: false -> %u, true -> %u\n", $i, $arg0->preds[$i].next[0], $arg0->preds[$i].next[1]
    set $i = $i + 1
  end
end
