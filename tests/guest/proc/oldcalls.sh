#!/bin/sh
# description: the older system calls, where the machine has them, do what the newer ones do
# requires: smp=2;1 timeout=60 progs="oldcalls"
# requires: rooms="procfs"
. /run/prelude
oldcalls || fail oldcalls
finish
