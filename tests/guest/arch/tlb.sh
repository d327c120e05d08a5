#!/bin/sh
# description: a change of an address space holds for its threads on all CPUs at once
# requires: smp=4;2 timeout=120 progs="tlbtest"
# requires: rooms="ranges"
. /run/prelude
cd $T
test ! -d events/tlb || echo tlb:tlb_flush ipi:ipi_send_cpu ipi:ipi_send_cpumask > set_event
tlbtest || fail tlbtest
echo > set_event
if test -d events/tlb; then # whoever flushes for others asks for it, and they flush
	for what in 'tlb_flush: pages:[0-9-]* reason:remote ipi send (4)' 'tlb_flush: pages:[0-9-]* reason:remote shootdown (1)' \
		'tlb_flush: pages:1 reason:local mm shootdown (3)' 'tlb_flush: pages:-1 reason:flush on task switch (0)' \
		'ipi_send_cpu.*: cpu.*=[0-9,]* callsite=flush_tlb_[a-z]*+.* callback=tlb_shootdown_interrupt+0x0/'; do
		grep -q "$what" trace || fail "no $what"
	done
fi
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
