# Sub-buffers of two other sizes, with records of more than a page.
for i in f:8 s:512; do echo ${i#*:} > instances/${i%:*}/buffer_subbuf_size_kb; done
for i in f s; do echo 0 > instances/$i/tracing_on; echo nop > instances/$i/current_tracer; done
for i in f s; do echo > instances/$i/set_event; done
for i in f s; do echo 1 > instances/$i/tracing_on; done
for i in f s; do for n in 1 2 3 4 5; do printf '%04050d\n' $n > instances/$i/trace_marker; done; done
for i in f s; do for n in 1 2 3 4 5; do echo $n > instances/$i/trace_marker; done; done
for i in f s; do echo 0 > instances/$i/tracing_on; done
