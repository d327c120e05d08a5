"""What an instructor does: hands out a tree, gives each student a seed, grades what comes back."""

import concurrent.futures
import csv
import hashlib
import hmac
import io
import json
import os
import queue
import re
import secrets
import subprocess

import cutting
import grading
import handouts
import student
from catalogue import ROOT, LabError, all_labs, find
from workshop import sources_of

# What shows a solution, or is about the course and not for the class.
NOT_HANDED_OUT = ["/labs/*/instructor.md", "/labs/*/solution.patch", "/labs/*/wrong", "/tests/mutation"]


def export(folder, names=None, say=print):
    """A repository of one commit without the solutions of these labs (None: of all), each handout also as a page."""
    labs = [find(name) for name in names] if names else all_labs()
    if os.path.exists(folder) and os.listdir(folder):
        raise LabError(f"{folder}: there is something in it already")
    os.makedirs(folder, exist_ok=True)
    hidden = [f"--exclude={path}" for path in NOT_HANDED_OUT]
    hidden += [f"--exclude=/{path}" for lab in labs for path in lab.hidden]
    hidden += [
        f"--exclude=/labs/{os.path.basename(lab.folder)}"
        for lab in all_labs()
        if lab.name not in {l.name for l in labs}
    ]
    # A file that git does not know is no part of the course: what is built, an instructor's notes, a class's grades.
    unknown = student.git(ROOT, "ls-files", "--others", "--directory", "-z", check=False).split("\0")
    hidden += [f"--exclude=/{path.rstrip('/')}" for path in unknown if path]
    subprocess.run(["rsync", "-a", *sources_of(ROOT), *hidden, f"{ROOT}/", f"{folder}/"], check=True)
    for lab in labs:
        cutting.cut(lab, folder)
        page = os.path.join(folder, "labs", os.path.basename(lab.folder), "handout")
        handouts.html(lab, page + ".html")
        handouts.pdf(lab, page + ".pdf")
    keep_links(folder)
    with open(os.path.join(folder, student.EXPORTED), "w", encoding="utf-8") as file:
        json.dump([lab.name for lab in labs], file)
        file.write("\n")
    student.git(folder, "init", "-q", "-b", "main")
    student.git(folder, *student.HANDS, "add", "-A")
    student.git(folder, *student.HANDS, "commit", "-q", "-m", "The starting code")
    say(f"{folder}: {', '.join(lab.name for lab in labs)}")
    if len(labs) > 1 and "mcount" in {lab.name for lab in labs}:
        say("students begin with mcount: the others need it to trace anything. Hand out what comes before it by itself")


def keep_links(folder):
    """docs/labs.md links only to handouts that are there."""
    path = os.path.join(folder, "docs", "labs.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()

    def kept(link):
        return link.group() if os.path.exists(os.path.join(folder, "docs", link.group(2))) else link.group(1)

    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"\[([\w ]+)\]\((\.\./labs/[^)]+)\)", kept, text))


def seeds(path, key_path=None, say=print):
    """A seed for each name in the first column of a CSV file, the same whenever it is asked for: an HMAC of the name
    (RFC 2104) under a key that the class does not see."""
    key_path = key_path or os.path.splitext(path)[0] + ".key"
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:  # spreadsheets write a mark before the text
            names = [row[0].strip() for row in csv.reader(file) if row and row[0].strip()]
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from error
    except (ValueError, csv.Error) as error:
        raise LabError(f"{path}: no CSV file in UTF-8: {error}") from error
    if not os.path.exists(key_path):
        with open(os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32) + "\n")
    with open(key_path, "rb") as file:
        key = file.read().strip()
    if len(set(names)) != len(names):
        raise LabError(f"{path}: a name is there twice")
    rows = [(name, int.from_bytes(hmac.new(key, name.encode(), hashlib.sha256).digest()[:3], "big")) for name in names]
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(row)  # a name may have a comma
        say(line.getvalue())
    return dict(rows)


def read_seeds(path):
    """{name: seed} as `seeds` printed it."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            return {row[0]: int(row[1]) for row in csv.reader(file) if len(row) >= 2}
    except (OSError, ValueError) as error:
        raise LabError(f"{path}: {error}") from error


def grade_all(name, folder, seed_of, jobs=1, say=print):
    """Grade each NAME.patch of a folder; NAME.json, NAME.txt and grades.csv come to stand beside them. seed_of: {NAME:
    seed}, of each NAME, or empty where the class has no seeds."""
    lab = find(name)
    patches = sorted(entry for entry in os.listdir(folder) if entry.endswith(".patch"))
    if not patches:
        raise LabError(f"{folder}: no submission NAME.patch is in it")
    strangers = [entry[: -len(".patch")] for entry in patches if entry[: -len(".patch")] not in seed_of]
    if seed_of and strangers:
        raise LabError(f"the file of seeds has no line for {', '.join(strangers)}, so nothing was graded")
    places = queue.Queue()
    for number in range(jobs):
        places.put(f"all-{number}")

    def one(entry):
        who, place = entry[: -len(".patch")], places.get()
        seed = seed_of.get(who, 1)
        base = os.path.join(folder, who)
        try:
            workshop = student.workshop_of_patch(lab, os.path.join(folder, entry), place, ROOT)
            results, figures = grading.run_checks(lab, workshop, lab.machines, seed)
        except LabError as error:
            said = str(error).encode(errors="backslashreplace").decode()  # a name in a patch is any bytes
            with open(base + ".txt", "w", encoding="utf-8") as file:
                file.write(f"{said}\n")
            return who, 0, said
        finally:
            places.put(place)
        grading.save(base + ".json", results, figures)
        with open(base + ".txt", "w", encoding="utf-8") as file:
            grading.text(lab, seed, results, figures, file)
        lost = sorted({result.check.name for result in results if result.lost})
        return who, sum(result.earned for result in results), " ".join(lost)

    rows = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for row in pool.map(one, patches):
            say(f"{row[0]:24} {row[1]:4} of {lab.points}  {row[2] and 'lost: ' + row[2]}")
            rows.append(row)
    with open(os.path.join(folder, "grades.csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("name", "points", "lost"), *rows])
    return rows
