# bash's own tests, as its source has them: bash_suite.sh FOLDER TOOLS TEST... runs each TEST (run-array, ...) in FOLDER,
# with the small programs of TOOLS that they use, and prints what each prints behind a line with its name. Here and on
# the computer that runs the test.
cd "$1" || exit 1
PATH=$2:$PATH
shift 2
export THIS_SH=/bin/bash BUILD_DIR=$PWD/.. TMPDIR=/tmp LC_ALL=C HOME=$PWD
export BASH_TSTOUT=/tmp/bash-test.$$
for test; do
	echo "==> $test"
	sh "./$test" 2>&1 < /dev/null
	rm -f "$BASH_TSTOUT"
done
echo "==> end"
