#!/bin/sh
# description: idle CPUs take work, tasks stay where they may be, and two who change one task's policy lose nothing
# requires: smp=4 timeout=120 progs="schedtest schedsmp"
# requires: rooms="procfs"
schedtest policies affinity spread && schedsmp renice
