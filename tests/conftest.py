"""What all tests share: the tree's root, the tools' folder on the path, the markers."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for folder in ("tools", "tests"):
    sys.path.insert(0, os.path.join(ROOT, folder))


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: has a long form, which runs for SOAK_MINUTES under make soak")
