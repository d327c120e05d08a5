"""docs/reading.md: the path stays short enough to be walked, its files are there and are the core's, and each evening has
a question with a way to its answer."""

import os
import re

import rooms

LIMIT = 10000


def evenings():
    """{heading: text} of the page's evenings."""
    with open(os.path.join(rooms.ROOT, "docs/reading.md"), encoding="utf-8") as file:
        _, *sections = re.split(r"^## ", file.read(), flags=re.M)
    return {section.splitlines()[0]: section for section in sections}


def test_the_path_is_short():
    files = [path for section in evenings().values() for path, _ in rooms.table_rows(section)]
    assert len(files) == len(set(files)) > 30
    assert not [path for path in files if not os.path.isfile(os.path.join(rooms.ROOT, path))]
    listed = rooms.read()
    assert not [path for path in files if listed[rooms.room_of(path, listed)].kind != "core"]
    assert sum(map(rooms.file_lines, files)) <= LIMIT, f"{LIMIT} lines are the limit: leave something out"


def test_an_evening_is_an_evening():
    sections = evenings()
    assert [head.split(".")[0] for head in sections] == [str(number) for number in range(1, len(sections) + 1)]
    for head, section in sections.items():
        assert 150 < sum(rooms.file_lines(path) for path, _ in rooms.table_rows(section)) < 1300, head
        assert section.count("*Question:*") == 1 == section.count("\nFind it:\n\n    # "), head
