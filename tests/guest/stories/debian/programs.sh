# What stands before each story of a program (tests/programs_root.py).

#: debian_first: Programs of Debian come before this tree's own, and dash runs the script where it is there.
PATH=/usr/bin:$PATH
export PATH
if [ -z "$BY_DASH" ] && [ -x /usr/bin/dash ]; then
	BY_DASH=yes exec dash "$0" "$@"
fi
