"""What all tests share: the tree's root, the tools' folder on the path, the markers, the machines."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for folder in ("tools", "tests"):
    sys.path.insert(0, os.path.join(ROOT, folder))

from machines import params  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: has a long form, which runs for SOAK_MINUTES under make soak")


def pytest_generate_tests(metafunc):
    """A test with an argument `machine` runs on each, unless it names its rows itself."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "machine" in metafunc.fixturenames and not any("machine" in mark.args[0] for mark in marks):
        metafunc.parametrize("machine", params(), scope="session")
