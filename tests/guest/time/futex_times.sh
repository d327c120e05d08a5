#!/bin/sh
# description: no futex time-out is early, by a clock that counts instructions
# requires: smp=1 icount timeout=60 progs="futextimes"
# requires: rooms="procfs"
. /run/prelude
futextimes not-early time-is-over || fail futextimes
finish
