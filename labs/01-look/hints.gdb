# Lab look asks no code of you, but the same questions can be put to gdb: each of these stops, counts and goes on.
set pagination off
define count_pipe_writes
  set $writes = 0
  break pipe_write
  commands
    silent
    set $writes = $writes + 1
    continue
  end
end
document count_pipe_writes
Count the calls of pipe_write from now on; interrupt with Ctrl-C and `print $writes`.
end
