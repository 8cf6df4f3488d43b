"""What is written is there whole or not at all, and replaces no input and no other kind of file."""

import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.files import check_output, check_regular, write_text, writing


def test_a_file_is_replaced_in_one_step(tmp_path):
    path = tmp_path / "deep" / "a.txt"
    with writing(path, "text") as part:
        part.write_text("new")
        assert not path.exists()
    path.chmod(0o640)
    write_text(path, "newer", "text")
    assert path.read_text() == "newer"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(path.parent.iterdir()) == [path]


def count_one(path):
    with writing(path, "text", alone=True) as part:
        known = int(path.read_text())
        time.sleep(0.001)
        part.write_text(str(known + 1))


def test_what_is_written_alone_replaces_what_was_read(tmp_path):
    path = tmp_path / "count.txt"
    path.write_text("0")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count_one, [path] * 60))
    assert path.read_text() == "60"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path, error):
    with writing(path, "text") as part:
        part.write_text("half")
        raise error


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_after_an_error_everything_is_as_before(tmp_path, error):
    old, fresh = tmp_path / "old.txt", tmp_path / "no" / "folder" / "a.txt"
    old.write_text("old")
    for path in (old, fresh):
        wanted = StoreError if isinstance(error, OSError) else KeyboardInterrupt
        with pytest.raises(wanted):
            write_half(path, error)
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_an_input_is_never_written_over(tmp_path):
    source = tmp_path / "source"
    source.write_text("text")
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "soft").symlink_to(source)
    (tmp_path / "folder").symlink_to(tmp_path)
    for path in (source, tmp_path / "hard", tmp_path / "soft", tmp_path / "folder" / "source"):
        with pytest.raises(InvalidInput, match="would destroy"):
            check_output(path, "text", [tmp_path / "other", source])
    with pytest.raises(InvalidInput, match="would destroy"):  # a file that is to be made
        check_output(tmp_path / "folder" / "new", "text", [tmp_path / "new"])


@pytest.mark.parametrize(("kind", "good"), [
    ("png", b"\x89PNG\r\n"), ("svg", b"<?xml version"), ("parquet", b"PAR1"),
    ("html", b"<!doctype html>\n"), ("csv", b"epsilon,agent,trial,round,slot,reward\n0.1"),
    ("campaign", b'{"format": 2'), ("text", b"title = 1"),
])  # fmt: skip
def test_only_a_file_of_its_kind_is_replaced(tmp_path, kind, good):
    path = tmp_path / "file"
    for content in (b"SQLite format 3\0 and more", b"my thesis\0"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="exists and is not"):
            write_text(path, "page", kind)
        assert path.read_bytes() == content
    for content in (good, b""):
        path.write_bytes(content)
        write_text(path, "page", kind)
        assert path.read_text() == "page"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "text", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


def test_pipes_devices_and_large_files_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"12345")
    for path, words in (
        (tmp_path / "pipe", "regular file"),
        (tmp_path / "..", "folder"),
        ("/dev/zero", "regular file"),
        (tmp_path / "large", "5 bytes; at most 4"),
        ("a\0b", "null"),
    ):
        with pytest.raises(InvalidInput, match=words):
            check_regular(type(tmp_path)(path), 4)
        if words != "5 bytes; at most 4":
            with pytest.raises(InvalidInput):
                check_output(type(tmp_path)(path), "text")
    check_regular(tmp_path / "none")
    check_regular(tmp_path / "large" / "below a file")
