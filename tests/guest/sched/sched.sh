#!/bin/sh
# description: who runs when, on one CPU, counted in instructions
# requires: icount timeout=240 progs="schedtest timetest"
# requires: rooms="procfs"
schedtest policies nice_of_many fifo-preempts fifo-at-once equal nice rr fifo yield \
	keeps-slice keeps-place leaves-deadline resets-on-fork && timetest
