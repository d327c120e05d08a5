"""The function profiler: every byte of its table, its numbers against function_graph's, and what its options do."""

import re

import pytest
from test_formats import read_format
from stories import story
from test_graph import graph, script

TIME = r"(?:\d{8,} us |\d{7} us   ?|(?=.{12}(?:    |$))\d{1,6}\.\d{1,3} us *)"
ROW = re.compile(rf"  (?P<name>\S{{1,30}}) +(?P<hits>\d+)    (?P<time>{TIME})    (?P<avg>{TIME})    (?P<s2>{TIME})")
CALLS = 21


def ns(text):
    return round(float(text.split()[0]) * 1000)


def table(text):
    """{function: (hits, time, avg, s2)} in ns, of exactly this form, what took most time first."""
    header = "".join(read_format("trace_stat_function.txt").splitlines(keepends=True)[:2])
    assert text.startswith(header), text[:500]
    rows = {}
    for line in text[len(header) :].splitlines():
        row = ROW.fullmatch(line)
        assert row and row.start("time") == 48, line
        rows[row["name"]] = int(row["hits"]), ns(row["time"]), ns(row["avg"]), ns(row["s2"])
    times = [time for _, time, _, _ in rows.values()]
    assert times == sorted(times, reverse=True)
    return rows


def test_these_checks_accept_linux():
    assert table(read_format("trace_stat_function.txt"))["do_idle"][0] == 15


@pytest.mark.parametrize("bad", ["  f 1    1.000 us     1.000 us        0.000 us    ", "x"])
def test_these_checks_refuse_other_columns(bad):
    with pytest.raises(AssertionError):
        table("".join(read_format("trace_stat_function.txt").splitlines(keepends=True)[:2]) + bad)


def variance(times):
    """In ns^2 / 1000, as the table's microseconds read in ns."""
    n = len(times)
    return (n * sum(time * time for time in times) - sum(times) ** 2) / (n * (n - 1)) / 1000


@pytest.fixture(scope="module")
def parts(machine):
    return script(machine, f"CALLS={CALLS}\n" + story("profile"))


def test_before_the_first_time_there_are_no_rows(parts):
    assert table(parts["never"]) == {}


def test_it_counts_what_function_graph_records(parts):
    calls = [fields["ns"] for fields in graph(parts["graph"]) if "ns" in fields]
    hits, time, avg, s2 = table(parts["with graph"]).pop("plant_recurse")
    assert hits == len(calls) == CALLS
    assert abs(time - sum(calls)) < 0.05 * time
    assert abs(s2 - variance(calls)) < 0.05 * s2
    assert abs(avg - time / hits) <= 100


def test_alone_it_counts_the_same_calls_cheaper(parts):
    alone, both = table(parts["alone"]), table(parts["with graph"])
    assert list(alone) == ["plant_recurse"]
    assert alone["plant_recurse"][0] == CALLS and alone["plant_recurse"][1] < both["plant_recurse"][1]


def test_switched_off_its_numbers_stay(parts):
    assert parts["off"] == parts["alone"]


def test_without_graph_time_inner_calls_are_not_the_callers(parts):
    # An interrupt of the console, which sends what the host takes, may come into one of them: the least of three is
    # without.
    own, hits, s2 = min(
        (time, hits, s2) for hits, time, _, s2 in (table(parts[f"own time {n}"])["plant_recurse"] for n in (1, 2, 3))
    )
    total, total_s2 = min(
        (time, s2) for _, time, _, s2 in (table(parts[f"total {n}"])["plant_recurse"] for n in (1, 2, 3))
    )
    # Levels of equal cost: with inner calls they take 1 to n times one's own.
    assert hits == CALLS
    assert abs(total - own * (CALLS + 1) / 2) < 0.2 * total
    assert s2 < total_s2 / 50


def test_filters_say_which_functions(parts):
    assert table(parts["notrace"]) == {}
    changed = table(parts["changed"])
    assert changed["plant_recurse"][0] == 5 and changed["sys_nanosleep"][0] == 1


def test_sleep_time(parts):
    assert table(parts["changed"])["sys_nanosleep"][1] >= 200_000_000
    assert 0 < table(parts["sleep"])["sys_nanosleep"][1] < 50_000_000


def test_a_function_takes_at_least_as_long_as_what_it_calls(parts):
    rows = table(parts["all"])
    assert rows["sys_read"][1] >= rows["ksys_read"][1] >= rows["vfs_read"][1] > 0
    assert rows["do_group_exit"][0] >= 1 and rows["do_group_exit"][1] == 0  # begun, never returned


def test_a_threshold_leaves_out_what_is_quick(parts):
    rows, slow = table(parts["all"]), table(parts["slow"])
    assert slow == {name: row for name, row in rows.items() if row[2] >= 100_000} and slow


@pytest.mark.parametrize(
    "text, error",
    [
        ("x", "Invalid argument"),
        ("-1", "Invalid argument"),
        ("0x", "Invalid argument"),
        ("99999999999999999999", "range"),
        ("7", None),
    ],
)
def test_bad_input_changes_nothing(parts, text, error):
    *messages, value = parts[text].splitlines()
    assert value == "1"
    assert (error in messages[-1]) if error else not messages


def test_nothing_is_left_over(parts):
    assert "users: 0\n" in parts["stats"] and "mismatches: 0\n" in parts["stats"]
    assert re.search(r"cpu0 missed: 0\n", parts["stats"])
