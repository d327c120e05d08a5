#!/bin/sh
# description: the assembly that copies, clears and compares memory, with a fault at each of its steps
# requires: smp=1 timeout=60 progs="copytest"
. /run/prelude
copytest || fail copytest
finish
