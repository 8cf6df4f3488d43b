import gzip
from datetime import datetime

import numpy as np
import pytest

from gpbandits_env import files
from gpbandits_env.errors import (
    GPBanditsError,
    InvalidInput,
    MissingData,
    UnknownName,
)
from gpbandits_env.rewards.datasets import Readings, check_table, hours, read_table

TABLE = np.array([[1.0, 2.5, -3.0], [4.0, 5.0, 6.0]])
LINES = "1,2.5,-3\n4,5,6\n"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.npy", "t.npz"])
def test_every_kind_of_file_gives_the_same_table(tmp_path, name):
    path = tmp_path / name
    writers = {
        "t.csv": lambda: path.write_text(LINES),
        "t.csv.gz": lambda: path.write_bytes(gzip.compress(LINES.encode())),
        "t.npy": lambda: np.save(path, TABLE),
        "t.npz": lambda: np.savez(path, speeds=TABLE),
    }
    writers[name]()
    found = read_table(path)
    assert np.array_equal(found.values, TABLE)
    assert found.names == ()
    assert found.times is None


def test_names_in_the_first_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a",b,c\n' + LINES)
    assert read_table(path).names == ("a", "b", "c")
    path.write_text("7,8,9\n" + LINES)  # names that are numbers
    assert len(read_table(path).values) == 3
    found = read_table(path, header=True)
    assert found.names == ("7", "8", "9")
    assert np.array_equal(found.values, TABLE)
    with pytest.raises(InvalidInput, match="header must be true or false, got 'no'"):
        read_table(path, header="no")


def test_the_first_row_is_not_lost_to_texts_in_a_column_of_texts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("9:00,1,2\n10:00,3,4\n")
    found = read_table(path, usecols=[1, 2])
    assert (found.names, found.values.tolist()) == ((), [[1, 2], [3, 4]])
    assert len(read_table(path, time_column=0, date_format="%H:%M").values) == 2
    path.write_text("00:00,01:00\n1,2\n")
    assert read_table(path).names == ("00:00", "01:00")
    path.write_text("date,1,2\n01.03.2026,3,4\n")
    assert read_table(path, usecols=[1, 2]).names == ("1", "2")


def test_a_column_of_dates_that_is_left_out_is_no_time(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("2026-03-02,1,2\n2026-03-01,3,4\n")  # these times would be refused
    found = read_table(path, usecols=[1, 2])
    assert (found.times, found.values.tolist()) == (None, [[1, 2], [3, 4]])
    path.write_text("2026-03-01,1,2\n2026-03-02,3,4\n")
    assert read_table(path, usecols=[0, 1]).times is not None
    assert read_table(path, time_column=0, usecols=[1]).times is not None


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    path = tmp_path / "t.csv"
    for mark, encoding in (("", "utf-8-sig"), ("\ufeff", "utf-8"), ("\ufeff", "utf-16-le")):
        path.write_text(f'{mark}# an "a"\na,b\n1,2\n', encoding=encoding)
        assert read_table(path, encoding=encoding, comment="#").names == ("a", "b")
        path.write_text(f"{mark}a,b\n1,2\n", encoding=encoding)
        assert read_table(path, encoding=encoding).names == ("a", "b")
        if encoding == "utf-8":
            assert read_table(path).names == ("a", "b")


def test_spaces_separate_cells(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(" a  b\n1.5   2\n")
    found = read_table(path, sep=" ")
    assert (found.names, found.values.tolist()) == (("a", "b"), [[1.5, 2]])


def test_a_separator_in_a_quoted_name_separates_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"load; kW",b\n1,2\n')
    found = read_table(path)
    assert (found.names, found.values.tolist()) == (("load; kW", "b"), [[1.0, 2.0]])


TIMED = "time;a;b\n2026-03-01 12:00;1,5;2\n2026-03-01 12:30;;-4\n\n2026-03-01 14:00;3;-5e-1\n"


@pytest.mark.parametrize("text", [
    TIMED,
    TIMED.replace(";", "\t"),
    TIMED.replace(",", ".").replace(";", ","),
    "\ufeff" + TIMED.replace(" 12", "T12").replace("30;", "30:00;"),
    TIMED.replace("12:00", "13:00+01:00").replace("30;", "30Z;").replace("14:00", "08:00-06:00"),
    TIMED.replace(";;", "; NA ;"),
    '"time";"a";"b"\n' + TIMED.partition("\n")[2],
])  # fmt: skip
def test_times_separators_and_gaps(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    found = read_table(path, gaps="keep")
    assert found.names == ("a", "b")
    assert np.array_equal(found.values, [[1.5, 2], [np.nan, -4], [3, -0.5]], equal_nan=True)
    assert hours(found.times).tolist() == [0.0, 0.5, 2.0]
    dropped = read_table(path, gaps="drop")
    assert dropped.values.tolist() == [[1.5, 2], [3, -0.5]]
    assert hours(dropped.times).tolist() == [0.0, 2.0]
    filled = read_table(path, gaps="interpolate")
    assert filled.values[1].tolist() == [1.5 + 1.5 * 0.25, -4]  # a quarter of the way in time
    with pytest.raises(InvalidInput, match=r"line 3, column 'a' is empty: fill it"):
        read_table(path)


def test_a_time_column_of_numbers_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,hour,b\n1,10,2\n3,11.5,4\n")
    found = read_table(path, time_column="hour")
    assert (found.names, found.times.tolist()) == (("a", "b"), [10.0, 11.5])
    assert found.values.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(UnknownName, match="no column named 'hours'; did you mean 'hour'"):
        read_table(path, time_column="hours")
    with pytest.raises(UnknownName, match="'interpolate'"):
        read_table(path, gaps="interpolat")
    path.write_text("a,hour,hour\n1,10,2\n")
    with pytest.raises(InvalidInput, match="2 columns are named 'hour': rename them"):
        read_table(path, time_column="hour")


def test_a_date_without_separators_is_no_number_of_a_time_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("day,a\n20260131,1\n20260201,2\n")
    with pytest.raises(
        InvalidInput, match=r"'20260131' is not a time.* 20260301 may be a date: write 2026-03"
    ):
        read_table(path, time_column="day")
    path.write_text("second,a\n20260131.0,1\n20260201.0,2\n")
    assert np.diff(read_table(path, time_column="second").times) == [70.0]


def test_a_line_of_separators_is_a_row_of_gaps(tmp_path):
    """Spreadsheets write such lines before and after a table too; these are no rows."""
    path = tmp_path / "t.csv"
    path.write_text(",\na,b\n1,2\n,\n\n3,4\n,\n,\n")
    kept = read_table(path, gaps="keep").values
    assert np.array_equal(kept, [[1, 2], [np.nan, np.nan], [3, 4]], equal_nan=True)
    assert read_table(path, gaps="interpolate").values.tolist() == [[1, 2], [2, 3], [3, 4]]
    assert read_table(path, gaps="drop").values.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(InvalidInput, match="line 4, column 'a' is empty"):
        read_table(path)


def test_gaps_of_arrays_in_files(tmp_path):
    np.save(tmp_path / "t.npy", [[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0]])
    with pytest.raises(InvalidInput, match="nan at row 0, column 1"):
        read_table(tmp_path / "t.npy")
    assert read_table(tmp_path / "t.npy", gaps="drop").values.tolist() == [[3, 4]]
    filled = read_table(tmp_path / "t.npy", gaps="interpolate").values
    assert filled.tolist() == [[1, 4], [3, 4], [3, 6]]
    np.save(tmp_path / "t.npy", [[1.0, np.inf]])
    with pytest.raises(InvalidInput, match="inf at row 0, column 1"):
        read_table(tmp_path / "t.npy", gaps="keep")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("1,2\n3,nan\n", "line 2, column 2 is empty"),
        ("1,2\n3,\n", "line 2, column 2 is empty"),
        ("a,b\n3,inf\n", "line 2, column 'b' is inf: no reading is above 1e.150"),
        ("a,b\n3,1e200\n", "is 1e200: no reading is above 1e.150 in size"),
        ("1,2\n3,4,5\n", "line 2 has 3 cells, the first row 2"),
        ("# two arms\na,b\n1,2\n", "line 2 has 2 cells, .* comment or skiprows if a line is not"),
        ("a|b\n1|2\n", r"'1\|2' is not a number; .* sep if it is several cells"),
        ("a,b\n1,2\n# end\n", "'# end' is not a number; .* comment, skiprows or"),
        ("1,2\n\n3\n", "line 3, column 2 is empty"),
        ("1,2\n\n3,x\n", "line 3, column 2: 'x' is not a number"),
        (
            "t,a\n2026-01-01,3\n5,4\n",
            "line 3, column 't': '5' is not a time, or does not fit the rows above",
        ),
        (
            "t,a\n2026-01-01,3\n2026-01-02T00:00Z,4\n",
            "T00:00Z' is not a time.* without an offset, .* or all dates with one",
        ),
        ("t,a\n2026-01-02,3\n2026-01-01,4\n", "line 3, column 't': '2026-01-01' is before"),
        ("t,a\n2026-10-25 02:30,3\n2026-10-25 02:00,4\n", "local times with their offset"),
        ("a,t\n3,2026-01-02\n", "'2026-01-02' is not a number; set the option time_column"),
        ("t,a\n03/25/2026,3\n", "'03/25/2026' is not a number; .* date_format if it is a date"),
        ("t,a\n2026-01-02,3\n0001-01-01T00:00+02:00,4\n", "is not a time"),
        ("t,a\n2026-01-02,3\nMonday,4\n", "line 3, column 't': 'Monday' is not a time"),
        ("a,b\n", "no rows of numbers"),
        ("", "no rows of numbers"),
        (",\n,\n", "no rows of numbers"),
        ("when\n2026-01-01\n", "no column beside that of the times"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path, content, says):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=says) as caught:
        read_table(path)
    assert "t.csv" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "t.csv").write_bytes("a \u00b0C,b\n1,2\n".encode("cp1252"))
    with pytest.raises(InvalidInput, match="save it as UTF-8"):
        read_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("t,a\n1,2\ninf,3\n")
    with pytest.raises(InvalidInput, match="'inf' is not a time"):
        read_table(tmp_path / "t.csv", time_column="t")
    with pytest.raises(MissingData, match="no such file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(InvalidInput, match=r"\.csv, \.csv\.gz"):
        read_table(tmp_path / "t.xlsx")
    np.savez(tmp_path / "two.npz", a=TABLE, b=TABLE)
    with pytest.raises(InvalidInput, match="must hold one"):
        read_table(tmp_path / "two.npz")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    with pytest.raises(InvalidInput, match="cannot read"):
        read_table(tmp_path / "objects.npy")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(LINES.encode())[:-9])
    with pytest.raises(InvalidInput, match="cannot read"):
        read_table(tmp_path / "cut.csv.gz")


def test_what_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path, monkeypatch):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"0,0\n" * 10**5))
    np.savez_compressed(tmp_path / "t.npz", np.zeros((1000, 50)))
    for name in ("t.csv.gz", "t.npz"):
        assert not read_table(tmp_path / name).values.any()
    monkeypatch.setattr(files, "MOST_UNPACKED", 399_999)
    for name in ("t.csv.gz", "t.npz"):
        with pytest.raises(InvalidInput, match="unpacks to more than 399999 bytes"):
            read_table(tmp_path / name)
    (tmp_path / "t.csv").write_bytes(b"0,0\n" * 10**5)  # the limit of others is larger
    assert len(read_table(tmp_path / "t.csv").values) == 10**5


def test_arrays_with_gaps_or_of_another_shape():
    with pytest.raises(
        InvalidInput, match=r"nan at row 0, column 2 \(counted from 0\), and 1 more"
    ):
        check_table([[1, 2, np.nan], [np.inf, 1, 1]], "readings")
    for bad in ([1.0, 2.0], np.zeros((0, 3)), [[1, 2], [3]], "text"):
        with pytest.raises(InvalidInput, match="readings must"):
            check_table(bad, "readings")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"names": "ab"}, "names must be a list, got 'ab'"),
        ({"names": 2}, "names must be a list, got 2"),
        ({"locations": "here"}, "locations must be an array of numbers"),
        ({"locations": [[0.0, np.nan], [1.0, 1.0]]}, "locations must be finite"),
        ({"days": 3}, r"days must have shape \(2,\), got \(\)"),
        ({"days": ["a", "b"]}, "days must be an array of numbers"),
    ],
)
def test_what_is_wrong_beside_readings_is_said(given, says):
    with pytest.raises(InvalidInput, match=says):
        Readings([[1.0, 2.0], [3.0, 4.0]], **given)


def test_a_data_frame_without_names_is_read_as_pandas_writes_it(tmp_path):
    path = tmp_path / "frame.csv"
    path.write_text(",0,1\n0,3.5,2.5\n1,3.0,2.0\n")
    with pytest.raises(InvalidInput, match=r"no name: .* \(index=False\), name .* or usecols"):
        read_table(path)
    assert read_table(path, usecols=[0, 1, 2]).names == ("", "0", "1")
    assert read_table(path, time_column="").values.tolist() == [[3.5, 2.5], [3.0, 2.0]]
    path.write_text(",0,1\n2026-03-01,3.5,2.5\n2026-03-02,3.0,2.0\n")
    assert read_table(path).values.tolist() == [[3.5, 2.5], [3.0, 2.0]]


GERMAN = """\
# Messstelle Köln-Süd, Außenluft

Zeit;"Temperatur; °C";Leistung
01.03.2026;1,5;1.234,5
02.03.2026;---;-999
03.03.2026; -0,25 ; NA
"""


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_german_table_is_read_in_one_call(tmp_path, encoding):
    path = tmp_path / "messung.csv"
    path.write_text(GERMAN, encoding=encoding)
    options = {"encoding": encoding, "comment": "#", "date_format": "%d.%m.%Y", "thousands": "."}
    found = read_table(path, gaps="keep", na_values=["---", -999.0], **options)
    assert found.names == ("Temperatur; °C", "Leistung")
    want = [[1.5, 1234.5], [np.nan, np.nan], [-0.25, np.nan]]
    assert np.array_equal(found.values, want, equal_nan=True)
    assert found.times.tolist() == [datetime(2026, 3, day) for day in (1, 2, 3)]
    with pytest.raises(InvalidInput, match=r"line 5, column 'Temperatur; °C': '---' is not a numb"):
        read_table(path, **options)
    path.write_text("Zeit;a\n2026-03-01;1\n\n#\n\n03.03.2026;2\n", encoding=encoding)
    with pytest.raises(InvalidInput, match=r"line 6, column 'Zeit': '03\.03\.2026' is not a time"):
        read_table(path, encoding=encoding, comment="#")


@pytest.mark.parametrize("words", [-999, "-999", ["-999"], [-999], ["x", -999.0]])
def test_a_number_may_stand_for_a_gap(tmp_path, words):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,-999\n-999.0,2\n")
    found = read_table(path, gaps="keep", na_values=words).values
    assert np.array_equal(found, [[1, np.nan], [np.nan, 2]], equal_nan=True)


def test_options_that_do_not_fit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("day|a\n20260301|1\n20260302|2\n")
    found = read_table(path, sep="|", time_column="day", date_format="%Y%m%d")
    assert hours(found.times).tolist() == [0.0, 24.0]
    for wrong, error, says in (
        ({"sepp": "|"}, UnknownName, "did you mean 'sep'"),
        ({"sep": 3}, InvalidInput, "sep must be a text that is not empty, got 3"),
        ({"decimal": ""}, InvalidInput, "decimal must be a text that is not empty, got ''"),
        (
            {"sep": r"\s+"},
            InvalidInput,
            r"sep must be one character \(' ': any number of spaces\), got",
        ),
        ({"time_column": []}, InvalidInput, "time_column must be a list of one or more columns"),
        ({"parse_dates": True}, UnknownName, "did you mean 'time_column'"),
        ({"index_col": 0}, UnknownName, "did you mean 'time_column'"),
        ({"dayfirst": True}, UnknownName, "did you mean 'date_format'"),
        ({"delimiter": "|"}, UnknownName, "did you mean 'sep'"),
        ({"encoding": "latin-99"}, InvalidInput, "unknown encoding: latin-99"),
        ({"na_values": None}, InvalidInput, "na_values must be a list, got None"),
    ):
        with pytest.raises(error, match=says):
            read_table(path, **wrong)


@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize("gap", ["", " nan ", "n/a", "NULL", "None"])
def test_every_digit_of_a_number_counts(tmp_path, sep, gap):
    rng = np.random.default_rng(0)
    given = np.ldexp(rng.standard_normal((2000, 5)), rng.integers(-60, 60, (2000, 5)))
    lines = [sep.join(f"{value:.17g}" for value in row) for row in given.tolist()]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    assert read_table(path).values.tobytes() == given.tobytes()
    lines.append(sep.join(["1", "2", gap, "3", "4"]))
    path.write_text("\n".join(lines).replace(".", "." if sep == "," else ","))
    with_gap = read_table(path, gaps="keep").values
    assert with_gap[:-1].tobytes() == given.tobytes()
    assert np.isnan(with_gap[-1]).tolist() == [False, False, True, False, False]


def test_numbers_have_points_or_commas_between_semicolons(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1.5;2,5\n3,25;4\n")
    assert read_table(path).values.tolist() == [[1.5, 2.5], [3.25, 4.0]]


def test_lines_are_counted_as_an_editor_does(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('#,"\n\n"a\n(in K)",b\n   \n1,2 # two\n#\n,\n3,x\n')
    with pytest.raises(InvalidInput, match="line 9, column 'b': 'x' is not a number"):
        read_table(path, comment="#", gaps="keep")
    with pytest.raises(InvalidInput, match=r"line 8, column 'a\\n\(in K\)' is empty"):
        read_table(path, comment="#")


def test_comments_after_cells_and_in_quoted_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a // 1",b\n1,2 // two\n// three, 4\n3,4\n')
    found = read_table(path, comment="//")
    assert (found.names, found.values.tolist()) == (("a // 1", "b"), [[1, 2], [3, 4]])


MESSY = """# Messstation München, Süd
# erzeugt am 02.03.2026
Datum;Uhrzeit;Süd (°C);Nord (hPa);Bemerkung
1.3.2026;6:00;20,5;1.021,0;gut
01.03.2026;18:00;---;1.022,5;Gerät geprüft
02.03.2026;06:00;21,5;1.023,5;
Summe;;42,0;3.067,0;
"""
USUAL = {"encoding": "latin-1", "na_values": "---", "thousands": "."}
DATE_AND_HOUR = {"time_column": ["Datum", "Uhrzeit"], "usecols": ["Süd (°C)", "Nord (hPa)"]}
TO_THE_MINUTE = "%d.%m.%Y %H:%M"


@pytest.mark.parametrize(
    "options",
    [
        {"comment": "#", "skipfooter": 1, **DATE_AND_HOUR},
        {"skiprows": 2, "nrows": 3, "sep": ";", "decimal": ",", **DATE_AND_HOUR},
        {"skiprows": 2, "skipfooter": 1, "time_column": [0, 1], "usecols": [0, 1, 2, 3]},
    ],
)
def test_a_messy_file_is_read_in_one_call(tmp_path, options):
    (tmp_path / "messy.csv").write_text(MESSY, encoding="latin-1")
    table = read_table(
        tmp_path / "messy.csv", gaps="interpolate", date_format=TO_THE_MINUTE, **USUAL, **options
    )
    assert table.names == ("Süd (°C)", "Nord (hPa)")
    assert table.values.tolist() == [[20.5, 1021.0], [21.0, 1022.5], [21.5, 1023.5]]
    assert table.times.astype(str).tolist()[1] == "2026-03-01T18:00:00.000000"
    dates = {"time_column": "Datum", "date_format": "%d.%m.%Y", "usecols": [2, 3], "gaps": "drop"}
    by_day = read_table(tmp_path / "messy.csv", **USUAL, **{**options, **dates})
    assert by_day.values.tolist() == [[20.5, 1021.0], [21.5, 1023.5]]
    assert by_day.times.astype("datetime64[D]").astype(str).tolist() == ["2026-03-01", "2026-03-02"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"skiprows": -1}, "skiprows"),
        ({"usecols": ["West"]}, "no column named 'West'"),
        ({"usecols": [9]}, "a column"),
        ({"time_column": ["Datum", "Hour"]}, "no column named 'Hour'"),
        ({"time_column": 9}, "a column"),
        ({"skipfooter": 0}, "line 7, column 'Datum'.*skipfooter"),
    ],
)
def test_options_are_checked(tmp_path, options, says):
    (tmp_path / "messy.csv").write_text(MESSY, encoding="latin-1")
    usual = {"comment": "#", "skipfooter": 1, "time_column": 0, "usecols": [2, 3], **USUAL}
    usual["date_format"] = "%d.%m.%Y"
    with pytest.raises(GPBanditsError, match=says):
        read_table(tmp_path / "messy.csv", **{**usual, **options}, gaps="drop")


def test_thousands_and_decimals_have_different_marks(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a,b\n1.5,2.5\n")
    with pytest.raises(InvalidInput, match="thousands and decimal"):
        read_table(file, thousands=".")


def test_hours_of_any_sequence_of_dates():
    pandas = pytest.importorskip("pandas")
    index = pandas.date_range("2026-03-01", periods=4, freq="90min")
    column = pandas.Series(index, index=[7, 0, 5, 2])
    local = index.tz_localize("Europe/Berlin")
    listed = index.to_pydatetime().tolist()
    for dates in (index, local, column, pandas.Series(local)[1:], listed, index - index[0]):
        assert hours(dates).tolist() == [0.0, 1.5, 3.0, 4.5][: len(dates)]
    assert hours(index[:0].to_numpy()).shape == (0,)
    assert hours(["2026-03-01", "2026-03-01T06:00"]).tolist() == [0.0, 6.0]
    assert hours(["1.5", "2"]).tolist() == [1.5, 2.0]
    for wrong in (["yesterday"], [None, index[0]], [index[0], local[0]], index.to_frame()):
        with pytest.raises(InvalidInput, match=r"times must be dates of one kind \(T,\)"):
            hours(wrong)
