# stress-ng's stressors of what a kernel does most, with --verify: stress_ng.sh SECONDS STRESSOR...
# A line for each: its status, what it did, and what it found to be wrong.
seconds=$1
shift
cd /tmp || exit 1
for stressor; do
	case $stressor in
	vm) more="--vm-bytes 64M" ;;
	mmap) more="--mmap-bytes 32M" ;;
	*) more= ;;
	esac
	# shellcheck disable=SC2086 # several words
	stress-ng "--$stressor" 2 $more --verify --timeout "$seconds" --metrics-brief > said 2>&1
	echo "$stressor: $? $(grep -c 'fail:' said) $(sed -n "s/.*metrc: .* $stressor  *\([0-9]*\) .*/\1/p" said | head -n 1)"
	grep -a 'fail:\|error:' said | head -n 5
done
