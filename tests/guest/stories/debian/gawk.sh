# gawk on real data, in the folder that it is given: gawk.sh FOLDER. Here and on the computer that runs the test, which
# must print the same bytes.
cd "$1" || exit 1
export LC_ALL=C TZ=UTC
gawk '{ n[length($0)]++ } END { PROCINFO["sorted_in"] = "@ind_num_asc"; for (l in n) print l, n[l] }' code
gawk -F '[^A-Za-z_]+' '{ for (i = 1; i <= NF; i++) w[$i]++ } END { for (x in w) print w[x], x }' code | sort -k1,1nr -k2 | head -n 30
gawk 'BEGIN { RS = ""; FS = "\n" } { print NR, NF, length($1) }' text | cksum
gawk '/\{$/ { depth++ } /^\}/ { depth = 0 } { print depth + 0 }' code | cksum
gawk '{ print toupper(substr($0, 3, 20)) | "sort | cksum" }' text
gawk 'BEGIN { while (("seq 100" | getline n) > 0) s += n; print s; print length("abc"), index("abc", "c"), 2 ** 31, 7 % 3, -7 % 3 }'
gawk '{ print gensub(/([a-z]+)_([a-z]+)/, "\\2-\\1", "g") }' code | cksum
gawk 'match($0, /(struct|enum) +([a-z_]+)/, m) { print m[1], m[2] }' code | sort | uniq -c
gawk 'BEGIN { printf "%d %5.3f %e %g %x %o %c %s|%-10s|%+d\n", 42.9, 3.14159, 12345.678, 1e10, 255, 8, 65, "s", "left", 5 }'
gawk 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } BEGIN { print f(20) }'
gawk 'BEGIN { srand(1); x = rand(); srand(1); print x == rand(), int(10 * sin(1)), exp(0), log(1), sqrt(2), atan2(0, -1) }'
gawk 'BEGIN { print strftime("%Y-%m-%d %H:%M:%S", 86400 * 365), mktime("2001 02 03 04 05 06") }'
gawk 'BEGIN { n = split("a:b::c", p, ":"); print n, p[4]; print asort(p), p[1]; delete p[1]; print length(p); print and(12, 10), or(12, 10), xor(12, 10), lshift(1, 40) }'
gawk 'BEGIN { cat = "cat"; print "over" |& cat; close(cat, "to"); cat |& getline back; print back; print system("exit 3") }'
gawk -M 'BEGIN { print 2 ** 200 }'
gawk -v n=3 'NR % n == 0 { print FILENAME, FNR, NR; nextfile }' text code
gawk '{ print > ("out." NR % 5) } END { for (i = 0; i < 5; i++) close("out." i) }' text
cat out.* | cksum
echo 'a,"b,c",d' | gawk -v FPAT='([^,]+)|("[^"]+")' '{ print NF, $2 }'
gawk -f /dev/stdin text << 'here' | cksum
{ line[NR] = $0 }
END { for (i = NR; i; i--) print line[i] }
here
