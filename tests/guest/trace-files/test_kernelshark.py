"""Debian's KernelShark opens a trace of ours on a screen of memory; what the screenshot shows is read by tesseract."""

import os
import re
import struct
import subprocess
import time

import pytest

VRUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/vrun")
PATIENCE = 400  # seconds until the window must be there; on a quiet machine 3
WINDOW = ("-qwindowgeometry", "690x600+0+0")  # else later versions have room for one plot; Qt 6 makes them of larger pixels
SCRIPT = "for i in 1 2 3; do sleep 0.01; done\n"


class Screen:
    """An X server without a screen: its picture is a file in `folder`, in the format of xwd(1)."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "Xvfb_screen0")
        ours, its = os.pipe()
        with open(os.path.join(folder, "Xvfb.log"), "wb") as log:
            self.server = subprocess.Popen(
                ["Xvfb", "-displayfd", str(its), "-screen", "0", "800x700x24", "-fbdir", folder, "-nolisten", "tcp"],
                pass_fds=(its,),
                stdout=log,
                stderr=log,
            )
        os.close(its)
        with os.fdopen(ours) as said:
            self.name = ":" + said.readline().strip()

    def close(self):
        self.server.terminate()
        self.server.wait()

    def picture(self):
        """(width, height, rows of bytes B G R x)."""
        with open(self.file, "rb") as file:
            data = file.read()
        header = struct.unpack_from(">25I", data)
        width, height, line, start = header[4], header[5], header[12], header[0] + 12 * header[19]
        return width, height, [data[start + y * line : start + y * line + 4 * width] for y in range(height)]


def words_of(picture, folder):
    """What is written there, each pixel made three by three: letters are too small for tesseract otherwise."""
    width, height, rows = picture
    path = os.path.join(folder, "shot.pgm")
    with open(path, "wb") as file:
        file.write(b"P5 %d %d 255\n" % (3 * width, 3 * height))
        for row in rows:
            wide = bytearray(3 * width)
            for third in range(3):
                wide[third::3] = row[1::4]  # green is nearest to how bright it is
            file.write(3 * wide)
    return subprocess.run(["tesseract", path, "-", "--psm", "11"], capture_output=True, text=True, check=True).stdout


def colours_of(picture):
    """How many pixels are of a colour of their own, not grey: those are the plots."""
    return sum(max(pixel) - min(pixel) > 60 for row in picture[2] for pixel in zip(row[0::4], row[1::4], row[2::4]))


@pytest.fixture
def screen(tmp_path):
    screen = Screen(str(tmp_path))
    yield screen
    screen.close()


def test_screenshot(machine, tmp_path, screen):
    """A plot of a CPU and one of a task, both with something in them, and the table of records."""
    (tmp_path / "script").write_text(SCRIPT)
    (tmp_path / "setting.ini").write_text("[General]\nnoRootWarn=true\n")
    subprocess.run(
        [
            VRUN,
            "--arch",
            machine.arch,
            "--smp",
            "2",
            "--trace",
            tmp_path / "t.dat",
            "--trace-args",
            "-e sched",
            tmp_path / "script",
        ],
        check=True,
    )
    report = subprocess.run(
        ["trace-cmd", "report", tmp_path / "t.dat"], capture_output=True, text=True, check=True
    ).stdout
    pid = re.search(r"^ *sleep-(\d+) ", report, re.M)[1]
    shark = subprocess.Popen(
        ["kernelshark", *WINDOW, "-i", tmp_path / "t.dat", "--cpu", "1", "--pid", pid],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "DISPLAY": screen.name,
            "HOME": str(tmp_path),
            "KS_USER_CACHE_DIR": str(tmp_path),
            "QT_FONT_DPI": "110",
        },
    )
    # The underscores are too faint to be read, and may look like the end of a word.
    wanted = (r"CPU 1", rf"sleep-{pid}", r"Time Stamp", r"sched/sched[\W_]*wak")
    end = time.monotonic() + PATIENCE
    try:
        while True:
            assert shark.poll() is None, "KernelShark has ended"
            picture = screen.picture()
            words = words_of(picture, tmp_path) if colours_of(picture) > 500 else ""
            missing = [text for text in wanted if not re.search(text, words)]
            if not missing:
                return
            assert time.monotonic() < end, f"{missing} not in: {words}"
            time.sleep(0.5)
    finally:
        shark.terminate()
        shark.wait()
