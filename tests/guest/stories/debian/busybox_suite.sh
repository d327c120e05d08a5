# busybox's own tests, as its source has them: busybox_suite.sh FOLDER [APPLET...] runs them in FOLDER/testsuite, against
# FOLDER/busybox with the options of FOLDER/.config, by the sh of /dash where there is one. Here and on the computer that
# runs the test.
cd "$1/testsuite" || exit 1
shift
export LC_ALL=C TZ=UTC PATH=/dash:$PATH
bash ./runtest "$@" < /dev/null 2>&1 | grep -a '^[A-Z]*: '
echo "==> end"
