#!/bin/sh
# description: ELF files written by hand: dynamic linkers, segments that overlap or wrap, .bss, nested scripts
# requires: smp=2 cpu=all timeout=120 progs="elftest"
. /run/prelude
elftest || fail elftest
finish
