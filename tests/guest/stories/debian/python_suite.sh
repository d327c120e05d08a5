# Modules of python's own tests: python_suite.sh MODULE..., each by itself. What it says about them at the end.
cd /tmp || exit 1
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
# Two cases of test_signal and a class of test_os want a TCP socket, and there is no TCP. One of test_subprocess gives an
# emulated machine three seconds to begin another python, and one of test_pty ten.
left_out='--ignore test_invalid_socket --ignore test_set_wakeup_fd_socket_result --ignore *.TestSendfile.* --ignore test_check_output_timeout --ignore test_spawn_doesnt_hang'
set -f # that is no name of a file
for module; do
	python3 -m test $left_out -W --timeout 3000 "$module" > said 2>&1
	status=$?
	echo "$module $status $(sed -n 's/^\(Tests r\|R\)esult: //p' said)" # the words differ from version to version
	[ $status = 0 ] || grep -a '^\(ERROR\|FAIL\): \|^[A-Za-z]*Error: \|^Fatal' said | head -n 24
done
