"""The guests' test programs (tests/guest/progs), as files to put into a guest at /bin."""

import os

from vitrine_guest import NO_STATUS, ROOT, GuestError


def program_files(names, arch="aarch64"):
    """{path in the guest: (mode, bytes)} of these programs, for Guest(files=...)."""
    files = {}
    for name in names:
        path = os.path.join(ROOT, "build", arch, "guest-tests", name)
        if not os.path.exists(path):
            raise GuestError(f"{path} is not there: make guest-programs builds it", NO_STATUS)
        with open(path, "rb") as file:
            files[f"bin/{name}"] = (0o755, file.read())
    return files
