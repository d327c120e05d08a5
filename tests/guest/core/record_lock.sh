#!/bin/sh
# description: one recording at a time, also when several take the lock of a dead one over at once
# requires: smp=4 timeout=180 progs="recordlock"
# requires: rooms="procfs"
. /run/prelude
recordlock || fail recordlock
finish
