# The same records as text and, with the option bin, as bytes.
echo 1 > tracing_on
echo kmemtrace > current_tracer
cat /proc/version > /dev/null
echo 0 > tracing_on
grep type_id trace > /tmp/text
echo 0 > options/context-info
echo 1 > options/bin
cat trace > /tmp/bytes
echo 0 > options/bin
echo "== text"
cat /tmp/text
echo "== bytes"
hexdump -C /tmp/bytes
