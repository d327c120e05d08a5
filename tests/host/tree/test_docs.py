"""What the documentation names is there: files, functions, and in the tables which file a function is in."""

import fnmatch
import functools
import glob
import os
import re

import pytest
from tree import ROOT, files, read
from vitrine_guest import MACHINES

FOLDERS = ("kernel", "tests", "tools", "trace", "userland")  # that have a README.md
PAGES = (
    sorted(glob.glob("docs/*.md", root_dir=ROOT))
    + ["README.md", "CONTRIBUTING.md"]
    + [f"{folder}/README.md" for folder in FOLDERS]
)
CODE = (".c", ".h", ".S", ".s", ".ld", ".py")
FILE_NAME = re.compile(r"(<?[\w.-]+>?/)*[\w.-]+\.(c|h|S|s|ld|py|sh|md|mk)")


@functools.cache
def called():
    """All that code calls, defines or declares with parentheses."""
    tools = tuple(path for path in files() if path.startswith("tools/"))
    return {
        name
        for path in files()
        if path.endswith(CODE) or path in tools
        for name in re.findall(r"(\w+)\s*\(", read(path))
    }


def quoted(page):
    """What stands between backquotes in running text and tables."""
    text = "\n".join(line for line in read(page).splitlines() if not line.startswith("    "))
    return re.findall(r"`([^`\n]+)`", text)


@functools.cache
def made_by_contributing():
    """The files that CONTRIBUTING.md makes for an example."""
    return set(re.findall(r"^New file `(.*)`:$", read("CONTRIBUTING.md"), re.M))


def is_there(name):
    """A file by its path or the end of it, of every machine where the machine is left open, a header as it is
    included."""
    if "NAME" in name or name.startswith(("build/", "/")) or name in made_by_contributing():
        return True
    if re.search(r"/(<arch>|<machine>|ARCH)/", name):
        return all(is_there(re.sub(r"/(<arch>|<machine>|ARCH)/", f"/{arch}/", name)) for arch in MACHINES)
    return any(path == name or path.endswith(name if name[0] == "_" else f"/{name}") for path in files())


def is_folder(name):
    """A folder of the tree, by its path or the end of it, or of a guest's tracefs: those of ours begin with one at the
    top."""
    top = {path.split("/")[0] for path in files() if "/" in path}
    if "ARCH" in name or not (name.split("/")[0] in top and name.count("/") > 1):
        return True
    return any(f"/{name}" in f"/{path}" for path in files())


def has(path, name):
    """Whether it is there that a function, macro or variable is defined (a header: named), or a tracepoint hit."""
    if path.endswith(".h"):
        return re.search(rf"\b{name}\b", read(path))
    lock = rf"\bDEFINE_(SPINLOCK|MUTEX)\(\s*{name}\)|\b(spinlock_t|struct mutex) .*\b{name}\b"
    return re.search(rf"^(#\s*define\s+|[A-Za-z_].*\b){name}\b(?!.*;$)|\btrace_{name}\(|{lock}", read(path), re.M)


def misplaced(page):
    """(name, files) of table rows with functions in the first column and files in the second."""
    for row in re.findall(r"^\|([^|\n]*)\|([^|\n]*)\|.*\|$", read(page), re.M):
        names = re.findall(r"`([A-Za-z_]\w*)(?:\(\))?`", row[0])
        where = [path for path in re.findall(r"`<?([\w/-]+/[\w.-]+\.[chS])>?`", row[1])]
        paths = [path for path in files() for end in where if path == end or path.endswith(f"include/{end}")]
        yield from ((name, where) for name in names if where and not any(has(path, name) for path in paths))


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page):
    words = quoted(page)
    assert not [word for word in words if FILE_NAME.fullmatch(word) and not is_there(word)]
    assert not [word for word in words if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/", word) and not is_folder(word)]
    assert not [
        word
        for word in words
        if re.fullmatch(r"[\w/.-]*\*[\w.-]*\.[chS]", word)
        and not any(fnmatch.fnmatchcase(f"/{path}", f"*/{word}") for path in files())
    ]
    assert not [
        word
        for word in words
        if re.fullmatch(r"<(?!generated/)[\w/-]+\.h>", word) and not is_there(f"include/{word[1:-1]}")
    ]  # of <generated/...> there is one a build
    assert not [word for word in words for name in re.findall(r"\b([A-Za-z_]\w*)\(\)", word) if name not in called()]
    assert not list(misplaced(page))


def test_every_page_is_in_the_list_of_pages():
    """docs/README.md has one line for each page, and README.md leads to it and to each folder's own."""
    listed = re.findall(r"^\| \[([\w-]+\.md)\]\(\1\) \| [^|\n]*\w[^|\n]* \|$", read("docs/README.md"), re.M)
    pages = {name for name in os.listdir(os.path.join(ROOT, "docs")) if not name.endswith(".svg")}  # pictures of pages
    assert sorted(listed) == sorted(pages - {"README.md"})
    links = re.findall(r"\]\(([\w./-]+)\)", read("README.md"))
    assert not [
        page
        for page in ("docs/README.md", "CONTRIBUTING.md", *(f"{folder}/README.md" for folder in FOLDERS))
        if page not in links
    ]


def test_pages_of_folders_name_all_that_is_in_them():
    """Each folder and each tool has its line in the README beside it."""
    for folder in ("trace", "kernel", "tools"):
        inside = {path.split("/")[1] + "/" * (path.count("/") > 1) for path in files() if path.startswith(f"{folder}/")}
        wanted = {name for name in inside if name.endswith("/") or folder == "tools"} - {"README.md"}
        words = {word.removeprefix(f"{folder}/") for word in quoted(f"{folder}/README.md")}
        if folder == "trace":
            wanted = {name for name in wanted if name.rstrip("/") not in {word.split("/")[0] for word in words}}
        assert wanted - words == set(), folder
        rooms = {
            f"{os.path.dirname(path)}/" for path in files() if path.startswith(f"{folder}/") and path.endswith(".c")
        }
        if folder != "tools":
            assert rooms - {f"{folder}/", *quoted(f"{folder}/README.md")} == set()  # those within others, too


def test_links_lead_somewhere():
    for page in PAGES:
        for link, mark in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", read(page)):
            target = os.path.normpath(os.path.join(os.path.dirname(page), link)) if link else page
            assert os.path.exists(os.path.join(ROOT, target)), (page, link)
            heads = (
                {
                    re.sub(r"[^\w -]", "", head).lower().replace(" ", "-")
                    for head in re.findall(r"^#+ (.*)", read(target), re.M)
                }
                if mark
                else {mark}
            )
            assert mark in heads, (page, link, mark)


def test_a_page_explains_its_own_session():
    """tracer-irqsoff.md reads its session aloud: head and record are the ones that stand there."""
    page = read("docs/tracer-irqsoff.md")
    session, rest = page.split("<!-- session:")[1].split("<!-- end of session -->")
    explained = re.findall(r"^\| `((?:# |#\d|task:|CPU#|M:)[^`]*?)(?: \.\.\.)?` \|", rest, re.M) + re.findall(
        r"^ {6}(\S+ .*us.: \S.*)$", rest, re.M
    )
    assert len(explained) >= 6
    assert not [text for text in explained if text not in session]


def test_permissions_has_every_call_and_every_row():
    """Who adds a system call says who may make it, in the page or above its definition; who adds a row to the guest's
    tables says what it shows."""
    page = read("docs/permissions.md")
    calls = set(re.findall(r"^[^#\n]* (\w+)$", read("include/uapi/syscall.tbl"), re.M))
    assert len(calls) > 150
    said = {name for words in quoted("docs/permissions.md") for name in re.findall(r"\w+", words)}
    sources = [path for path in files() if path.startswith(("kernel/", "trace/", "arch/")) and path.endswith(".c")]
    above = r"/\*(?:(?!\*/).)*?\bWho may: (?:(?!\*/).)*\*/\nSYSCALL_DEFINE\d\((\w+)"
    said |= {name for path in sources for name in re.findall(above, read(path), re.S)}
    assert not calls - said, (
        f"neither docs/permissions.md nor a line 'Who may: ...' above the definition says who may call "
        f"{', '.join(sorted(calls - said))}"
    )
    tests = {test.strip() for row in re.findall(r"^\|.*\|([^|\n]*)\|$", page, re.M) for test in row.split(",")} - {
        "",
        "test",
        "---",
    }
    rows = {
        name
        for program in ("cred/permtest", "cred/permfiles")
        for name in re.findall(r'^\t\{"(.*?)", do_', read(f"tests/guest/progs/{program}.c"), re.M)
    }
    cases = {
        name
        for program in ("cred/setidtest", "proc/exectest", "cred/hidden")
        for name in re.findall(r'^\t\t\{"(.*?)", \w+\},', read(f"tests/guest/progs/{program}.c"), re.M)
    }
    assert len(rows) > 80
    rows = {part.strip() for name in rows for part in name.split(",")}  # one has a comma in its name
    assert not sorted(rows - tests) and not sorted(tests - rows - cases)
