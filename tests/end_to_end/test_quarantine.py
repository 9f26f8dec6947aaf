"""A damaged segment: the shift names it, an operator takes it out, the rest lands once and nothing is lost silently."""

import os
import pathlib
import re
import signal
import time
from collections import Counter

import pytest


@pytest.fixture
def waiting(events):
    events.run(*events.load("x", "--wal-only"))
    return events


def segments(events):
    return sorted((events.folder / "warehouse/wal").rglob("0*.parquet"))


def truncate(segment):
    os.truncate(segment, 1000)


def break_a_page(segment):
    data = bytearray(segment.read_bytes())
    data[200] ^= 0xFF
    segment.write_bytes(data)


def error_of(events, *arguments, code=1):
    result = events.run(*arguments, code=code)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("firn: ")]
    return line


def quarantine(events, *names):
    return events.run("wal", "quarantine", events.TABLE, *names, "--yes").stdout


def ids(events):
    return Counter(events.rows(events.TABLE)["id"].to_pylist())


@pytest.mark.parametrize("damage", [truncate, break_a_page])
def test_a_damaged_segment_is_named_and_taken_out(waiting, damage):
    segment = segments(waiting)[1]
    damage(segment)
    line = error_of(waiting, "shift", waiting.TABLE)
    assert f"{segment.parent.name}/{segment.name}" in line and "firn wal quarantine" in line
    assert waiting.table(waiting.TABLE).current_snapshot() is None

    (key,) = set(re.findall(r"[\w-]+/[\w.-]+/\d{20}\.parquet", line))
    shown = waiting.run("wal", "quarantine", waiting.TABLE, key).stdout
    assert "nothing was changed" in shown
    first, last = (int(n.replace(",", "")) for n in re.search(r"records ([\d,]+) to ([\d,]+)", shown).groups())
    error_of(waiting, "shift", waiting.TABLE)

    quarantine(waiting, key)
    assert "in quarantine, left out: 1" in waiting.run("shift", waiting.TABLE).stdout
    expected = dict.fromkeys(set(range(waiting.ROWS)) - set(range(first, last + 1)), 1)
    assert ids(waiting) == expected and 0 < len(expected) < waiting.ROWS
    # Neither is it forgotten, nor does a load think that it must bring the rows again.
    assert segment.exists() and segment.with_suffix(".skip").exists()
    assert "in quarantine" in waiting.run("inspect", "wal", waiting.TABLE).stdout
    waiting.run(*waiting.load("x"))
    assert ids(waiting) == expected


def test_a_check_names_a_damaged_segment_and_a_shift_the_command(waiting):
    segment = segments(waiting)[1]
    truncate(segment)
    assert segment.name in waiting.run("check", code=1).stdout
    for command in ("plan", "shift"):
        wanted = f"'firn wal quarantine {waiting.TABLE} {segment.parent.name}/{int(segment.stem)}'"
        assert wanted in error_of(waiting, command, waiting.TABLE)


def test_the_last_segment_is_loaded_again(waiting):
    truncate(segments(waiting)[-1])
    quarantine(waiting, str(segments(waiting)[-1]))
    waiting.run("shift", waiting.TABLE)
    assert len(waiting.rows(waiting.TABLE)) < waiting.ROWS
    waiting.run(*waiting.load("x"))
    waiting.assert_each_row(times=1)


def test_a_segment_that_was_lost_no_longer_blocks(waiting):
    lost = segments(waiting)[1]
    lost.unlink()
    assert "is missing" in waiting.run("shift", waiting.TABLE, code=1).stderr
    assert "the segment is missing" in quarantine(waiting, f"{lost.parent.name}/{int(lost.stem)}")
    waiting.run("shift", waiting.TABLE)
    rows = ids(waiting)
    assert set(rows.values()) == {1} and max(rows) == waiting.ROWS - 1


def test_a_segment_that_a_dead_writer_lost_no_longer_blocks(waiting):
    lost = segments(waiting)[1]
    lost.unlink()
    lost.with_name("closed").unlink()
    name = f"{lost.parent.name}/{int(lost.stem)}"
    assert "its writer may live" in error_of(waiting, "wal", "quarantine", waiting.TABLE, name, "--yes")
    long_ago = time.time() - 25 * 3600
    for path in lost.parent.iterdir():
        os.utime(path, (long_ago, long_ago))
    assert "go on without it with 'firn wal quarantine'" in waiting.run("shift", waiting.TABLE).stderr
    quarantine(waiting, name)
    waiting.run("shift", waiting.TABLE)
    rows = ids(waiting)
    assert set(rows.values()) == {1} and max(rows) == waiting.ROWS - 1


@pytest.mark.parametrize("damage", [truncate, pathlib.Path.unlink])
def test_the_first_records_of_a_load_are_named_when_they_are_left_out(waiting, damage):
    first = segments(waiting)[0]
    damage(first)
    said = quarantine(waiting, f"{first.parent.name}/{int(first.stem)}")
    left_out = int(re.search(r"left out of load:x:0: records 0 to ([0-9,]+)", said)[1].replace(",", "")) + 1
    waiting.run("shift", waiting.TABLE)
    waiting.run(*waiting.load("x"))
    assert ids(waiting) == dict.fromkeys(range(left_out, waiting.ROWS), 1)


def test_a_repaired_segment_is_released(waiting):
    segment = segments(waiting)[1]
    whole = segment.read_bytes()
    truncate(segment)
    quarantine(waiting, str(segment))
    segment.write_bytes(whole)
    waiting.run("wal", "release", waiting.TABLE, str(segment))
    waiting.run("shift", waiting.TABLE)
    waiting.assert_each_row(times=1)
    assert "not in quarantine" in error_of(waiting, "wal", "release", waiting.TABLE, str(segment))


def test_a_shift_that_counts_on_the_marker_plans_again_after_a_release(waiting):
    segment = segments(waiting)[1]
    whole = segment.read_bytes()
    truncate(segment)
    quarantine(waiting, str(segment))
    shift = waiting.start("shift", waiting.TABLE, FIRN_CRASH_POINT="shift.written",
                          FIRN_CRASH_SIGNAL=str(int(signal.SIGSTOP)))
    os.waitpid(shift.pid, os.WUNTRACED)
    segment.write_bytes(whole)
    waiting.run("wal", "release", waiting.TABLE, str(segment))
    shift.send_signal(signal.SIGCONT)
    output, errors = shift.communicate(timeout=100)
    assert shift.returncode == 0, errors
    assert "planned again, another process was faster: 1" in output
    waiting.assert_each_row(times=1)


def release_killed_at(events, segment, point):
    events.run("wal", "release", events.TABLE, str(segment), code=-signal.SIGKILL, FIRN_CRASH_POINT=point)


def test_a_shift_that_overtakes_a_release_that_died_does_not_cost_the_segment(events):
    events.configure((events.folder / "firn.yaml").read_text() + "  retention: 0s\n")
    events.run(*events.load("x", "--wal-only"))
    first, segment = segments(events)[:2]
    whole = segment.read_bytes()
    truncate(segment)
    quarantine(events, str(segment))
    shift = events.start("shift", events.TABLE, FIRN_CRASH_POINT="shift.written",
                         FIRN_CRASH_SIGNAL=str(int(signal.SIGSTOP)))
    os.waitpid(shift.pid, os.WUNTRACED)
    segment.write_bytes(whole)
    release_killed_at(events, segment, "release.begun")
    shift.send_signal(signal.SIGCONT)
    output, errors = shift.communicate(timeout=100)
    assert shift.returncode == 0, errors
    events.run("shift", events.TABLE)
    assert not first.exists() and segment.read_bytes() == whole
    assert "cannot take their place" in error_of(events, "wal", "release", events.TABLE, str(segment))


@pytest.mark.parametrize("point", ["release.begun", "release.superseded"])
def test_a_release_that_died_is_finished_by_another(waiting, point):
    segment = segments(waiting)[1]
    whole = segment.read_bytes()
    truncate(segment)
    quarantine(waiting, str(segment))
    segment.write_bytes(whole)
    release_killed_at(waiting, segment, point)
    line = error_of(waiting, "shift", waiting.TABLE)
    assert f"{segment.parent.name}/{segment.name}" in line and "firn wal release" in line
    waiting.run("wal", "release", waiting.TABLE, str(segment))
    waiting.run("shift", waiting.TABLE)
    waiting.assert_each_row(times=1)


def test_of_two_releases_at_once_each_says_that_the_segment_is_out(waiting):
    segment = segments(waiting)[1]
    whole = segment.read_bytes()
    truncate(segment)
    quarantine(waiting, str(segment))
    segment.write_bytes(whole)
    slow = []
    for point in ("release.begun", "release.superseded"):
        slow.append(waiting.start("wal", "release", waiting.TABLE, str(segment), FIRN_CRASH_POINT=point,
                                  FIRN_CRASH_SIGNAL=str(int(signal.SIGSTOP))))
        os.waitpid(slow[-1].pid, os.WUNTRACED)
    waiting.run("wal", "release", waiting.TABLE, str(segment))
    waiting.run("shift", waiting.TABLE)
    for process in slow:
        process.send_signal(signal.SIGCONT)
        output, errors = process.communicate(timeout=100)
        assert (process.returncode, errors) == (0, "")
        assert "is out of quarantine: another release was faster" in output
    waiting.run("shift", waiting.TABLE)
    waiting.assert_each_row(times=1)
    assert not segment.with_suffix(".skip").exists()


def test_after_the_shift_it_is_too_late_for_a_release(waiting):
    segment = segments(waiting)[1]
    truncate(segment)
    quarantine(waiting, str(segment))
    waiting.run("shift", waiting.TABLE)
    assert "cannot take their place" in error_of(waiting, "wal", "release", waiting.TABLE, str(segment))
    assert "the table is past it" in error_of(waiting, "wal", "quarantine", waiting.TABLE, str(segment))


def test_two_damaged_segments_are_taken_out_together(waiting):
    first, second = segments(waiting)[1:3]
    truncate(first)
    truncate(second)
    assert "name it, too" in error_of(waiting, "wal", "quarantine", waiting.TABLE, str(first))
    quarantine(waiting, str(first), str(second))
    waiting.run("shift", waiting.TABLE)
    assert set(ids(waiting).values()) == {1}


def test_what_is_no_segment_is_refused(waiting):
    assert "names no segment" in error_of(waiting, "wal", "quarantine", waiting.TABLE, "x", code=2)
    shard = segments(waiting)[0].parent.name
    assert "no such segment" in error_of(waiting, "wal", "quarantine", waiting.TABLE, f"{shard}/999")
