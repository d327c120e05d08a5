# Debian's rtla: what it says of the time that was taken from a busy loop (osnoise), and of how late timers are (timerlat).
# One CPU is measured: under -icount CPUs take turns, and the turn of another that is busy is noise of this one.
cd /tmp || exit 1
rtla osnoise top -c 0 -p 100000 -r 5000 -d 1s -q > said 2>&1
echo "osnoise top status $?"
cat said
rtla timerlat top -c 0 -p 1000 -d 1s -q > said 2>&1
echo "timerlat top status $?"
cat said
rtla timerlat hist -c 0 -p 1000 -d 1s > said 2>&1
echo "timerlat hist status $?"
cat said
