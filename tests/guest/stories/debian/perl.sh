# perl on real data, in the folder that it is given: perl.sh FOLDER. Here and on the computer that runs the test, which
# must print the same bytes.
cd "$1" || exit 1
export LC_ALL=C TZ=UTC PERL_HASH_SEED=0
perl -ne '$n{length $_}++; END { print map { "$_ $n{$_}\n" } sort { $a <=> $b } keys %n }' code
perl -0777 -ne 'while (/(\w+)\s*\(([^()]*)\)/g) { $c{$1}++ } END { print map { "$c{$_} $_\n" } (sort { $c{$b} <=> $c{$a} || $a cmp $b } keys %c)[0 .. 29] }' code
perl -MDigest::SHA -MDigest::MD5 -MMIME::Base64 -e 'local $/; for (@ARGV) { open F, $_; $d = <F>; print Digest::SHA::sha256_hex($d), " ", Digest::MD5::md5_hex(encode_base64($d)), "\n" }' text code binary
perl -e 'local $/; open F, "binary"; $d = <F>; print unpack("%32N*", $d), " ", join(",", unpack("(n2 V a4 x2)4", $d) ? length $d : 0), "\n"; print scalar reverse("abc"), " ", pack("w/a N n", "xyz", 7, 9) eq "\3xyz\0\0\0\7\0\11" ? "packed" : "not", "\n"'
perl -MPOSIX -e 'print POSIX::floor(-2.5), " ", POSIX::strftime("%F %T", gmtime 1e9), " ", POSIX::strtol("ff", 16), " ", fmod(7, 3), "\n"'
perl -e 'for my $i (1 .. 5) { my $pid = fork; if (!$pid) { exit $i } waitpid $pid, 0; print $? >> 8 } print "\n"'
perl -e 'pipe R, W; if (!fork) { close R; print W "line $_\n" for 1 .. 20000; exit } close W; while (<R>) { $n++; $s += length } wait; print "$n $s\n"'
perl -MSocket -e 'socketpair A, B, AF_UNIX, SOCK_STREAM, PF_UNSPEC; if (!fork) { close A; $_ = <B>; syswrite B, uc; exit } close B; syswrite A, "over\n"; print scalar <A>; wait'
perl -e '$SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; select undef, undef, undef, 20 }; print $@; $SIG{USR1} = sub { $u++ }; kill USR1 => $$ for 1 .. 5; print "$u\n"'
perl -MFile::Find -e 'find(sub { push @f, $File::Find::name if -f }, "."); print map { "$_\n" } sort @f'
perl -MStorable=freeze,thaw -MData::Dumper -e '$Data::Dumper::Sortkeys = $Data::Dumper::Indent = 1; print Dumper(thaw(freeze({ a => [ 1, { b => undef } ], c => \"s" })))'
perl -MList::Util=sum,shuffle,reduce -MScalar::Util=weaken -e 'print sum(1 .. 100), " ", reduce { $a * $b } 1 .. 10; print "\n"'
perl -Mbigint -e 'print 2 ** 200, "\n"'
perl -MFcntl=:flock,:seek -e 'open F, "+>", "locked"; flock F, LOCK_EX or die; print F "0123456789"; seek F, 3, SEEK_SET; truncate F, 6; read F, $x, 10; print "$x\n"; print -s "locked", "\n"'
perl -MTime::HiRes=usleep,time -e '$t = time; usleep 50000; print time - $t >= 0.05 ? "slept\n" : "early\n"'
perl -pe 'tr/a-z/n-za-m/; s/(\d+)/$1 * 2/ge' text | cksum
perl -F: -lane 'print join "|", reverse @F' code | cksum
perl -e 'print sort { $a cmp $b } <>' text code | cksum
perl -i.old -pe 's/the/THE/' code && cmp -s code code.old
echo "$?"
perl -Mutf8 -CS -e 'print lc("ÄÖ"), length("ß"), " ", "aé" =~ /^\w{2}$/ ? 1 : 0, "\n"'
perl -e 'eval { die { code => 7 } }; print $@->{code}, "\n"; print `echo sub; exit 3`, $? >> 8, "\n"; exec "echo", "last"'
