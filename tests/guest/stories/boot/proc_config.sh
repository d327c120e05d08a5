# Every file of /proc that is no process's, what a process has, and the kernel's configuration in two forms.
echo ==
find /proc -type f 2> /dev/null | grep -v '^/proc/[0-9]'; echo ==; ls /proc/self
echo ==
cat /boot/config-$(uname -r)
echo ==
hexdump /proc/config.gz
