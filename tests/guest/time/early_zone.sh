#!/bin/sh
# description: a first time zone that would move the clock to before the start of the machine does not move it
# requires: smp=1 timeout=60 progs="earlyzone"
. /run/prelude
earlyzone || fail earlyzone
finish
