# Programs of coreutils on real data, in the folder that it is given: coreutils.sh FOLDER. Here and on the computer that
# runs the test, which must print the same bytes.
cd "$1" || exit 1
export LC_ALL=C TZ=UTC
sum() { sha256sum | cut -c 1-16; }
for file in text code binary; do
	wc < $file
	for program in md5sum sha1sum sha224sum sha384sum sha512sum b2sum cksum; do
		$program < $file
	done
	sum -r < $file
	sum -s < $file
	base64 $file | sum
	base32 $file | sum
	basenc --z85 -i $file 2>&1 | sum
	od -A x -t x1z -v $file | sum
	od -t f8 -N 4096 $file | sum
	tr -d '\n' < $file | fold -b -w 77 | sum
	head -c 12345 $file | tail -c 4321 | sum
	split -b 30000 $file part. && cat part.* | cmp - $file && ls part.* | wc -l
	rm part.*
	dd if=$file bs=777 skip=3 count=50 conv=swab 2> /dev/null | sum
	tac $file | sum
	cat -A $file | sum
	shuf --random-source=binary -n 200 $file | sum
done
tr -cs 'A-Za-z' '\n' < text | tr A-Z a-z | sort | uniq -c | sort -k1,1nr -k2 | head -n 20
sort text | sum
sort -u -r code | sum
sort -n -k 2 -t : code | sum
sort -V code | sum
sort -h -k 1,1 text | sum
sort -R --random-source=binary text | sum
sort --parallel=2 -S 100k -T . text code | sum
cut -d ' ' -f 2-4 --output-delimiter=_ text | sum
cut -b 3-10,20- code | sum
paste -d '|,' text code | sum
nl -ba -w 4 -s '. ' code | sum
pr -2 -w 100 -l 40 -D date -h title text | sum
fmt -w 60 text | sum
expand -t 4 code | unexpand -a -t 8 | sum
sort -u text > a
sort -u code > b
comm -12 a b | sum
comm -3 --total a b | sum
join -a 1 -e none -o 0,1.2,2.2 a b 2> /dev/null | sum
tsort << here | paste -s -d ' '
a b b c c d a d
here
csplit -q -z -f piece code '/^static/' '{*}' && ls piece* | wc -l && cat piece* | sum
rm piece*
seq -w 1 0.5 20 | paste -s -d +
seq 1000 | factor | sum
seq 100000 | numfmt --to=iec --format=%.2f | sum
seq 1 7 1000 | shuf --random-source=text | sum
env printf '%5.2f|%-8s|%x|%q|%b\n' 3.14159 word 255 "it's" 'a\tb' 10 '' 16 '$x' '\0101'
expr 17 \* 3 + 4
expr abcdef : 'ab\(.*\)f'
date -d '2024-02-29 12:34:56 +1 year 3 days' '+%F %T %j %U %A'
date -d @1000000000 --iso-8601=seconds
mkdir -p tree/one/two && cp text tree/one && ln text hard && ln -s one/text tree/link && cp -a tree copy
ls -lR --time-style=+ copy | grep -v '^total' | gawk '{ print $1, $2, $6, $7, $8 }'
ls -1 --sort=version tree/* | sum
stat -c '%n %s %F %h %A' text tree/link hard
du -b --apparent-size text code binary
chmod 640 hard && stat -c %a text
touch -d '2001-02-03 04:05:06' hard && stat -c '%y' text
readlink tree/link
realpath --relative-to=tree/one/two copy/one
truncate -s 100000 hole && stat -c %s hole && cksum hole
mv copy moved && rmdir tree/one/two && test ! -d copy && test -d moved/one/two && echo moved
install -m 751 -D code deep/er/code && stat -c %a deep/er/code
mktemp -u XXXXXX | wc -c
dirname /a/b/c. && basename /a/b/c.txt .txt
pathchk -p 'a b:c' 2> /dev/null
echo "$?"
timeout 0.2 sleep 5
echo "$?"
env -i A=1 B=2 printenv | sort
yes | head -n 1000 | sum
tee one two < text | sum
cmp one two && echo same
test 3 -gt 2 -a abc \< abd
echo "$?"
uname -s > /dev/null && nproc > /dev/null && id > /dev/null && echo here
