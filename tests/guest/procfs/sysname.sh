#!/bin/sh
# description: sysname= on the command line is what uname says, and the files of /proc that tell the same
# requires: smp=1 timeout=60 append="sysname=Linux sysname= sysname=0123456789012345678901234567890123456789012345678901234567890123456789"
. /run/prelude
same 'uname' "Linux $(cat /proc/sys/kernel/osrelease)" "$(uname -s -r)"
same 'ostype' Linux "$(cat /proc/sys/kernel/ostype)"
same 'version' "Linux version $(uname -r) " "$(grep -o '^.* version [^ ]* ' /proc/version)"
same 'the boot itself' Vitrine "$(dmesg | grep -o '[A-Z][a-z]* version' | cut -d' ' -f1)"
same 'values that are refused' 2 "$(dmesg | grep -c "'sysname=.*' refused")"
finish
