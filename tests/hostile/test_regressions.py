"""Regressions found by fuzzing."""

import json
import time

import numpy as np
import pandas as pd
import pytest

from fouriertree import Model, PrimitiveSet, SymbolicRegressor, parse
from fouriertree.criteria.losses import as_loss
from fouriertree.data.checks import whole_limit
from fouriertree.export import ExportError, export
from fouriertree.expr import ParseError
from fouriertree.fit.guesses import parse_guesses
from fouriertree.runs.model_file import ModelFileError, decoded, encoded_record, from_json
from fuzz.models import model_files

X = np.random.default_rng(0).normal(size=(12, 2))
Y = 2.0 * X[:, 0] + 1.0


def fitted(X=X, y=Y, **parameters):
    return SymbolicRegressor(**{"max_evaluations": 300, "random_state": 0} | parameters).fit(X, y)


# Formulas ---------------------------------------------------------------------------------------------------
def test_a_feature_index_with_thousands_of_digits_is_refused():
    with pytest.raises(ParseError, match="there is no feature x999"):
        parse("x" + "9" * 5000)
    with pytest.raises(ParseError, match=r"there is no (column|feature) x999"):
        parse_guesses(["x" + "9" * 5000], ["a"], PrimitiveSet.default())
    assert parse("x" + "0" * 5000 + "7") == parse("x7")


def test_a_long_name_is_shortened_in_messages():
    with pytest.raises(ParseError) as caught:
        parse("a" * 100_000)
    assert len(caught.value.reason) < 310


def test_the_place_of_a_mistake_is_shown_without_control_characters():
    with pytest.raises(ParseError) as caught:
        parse("x0 + \x1b[31m")
    assert "\x1b" not in str(caught.value)


def seconds(action):
    started = time.process_time()
    action()
    return time.process_time() - started


@pytest.mark.parametrize("sign", ["*", "+"])
def test_a_long_model_is_assembled_in_time_that_grows_with_its_length(sign):
    tree = parse(sign.join(["x0"] * 20_000))
    # With a walk to the leaf at every factor it was minutes.
    assert seconds(lambda: Model((2.0,), (tree,)).expression) < 5.0
    assert seconds(lambda: Model.from_expression(tree)) < 5.0


def test_a_sum_of_more_addends_than_python_has_frames_is_taken_apart_in_order():
    tree = parse("x0 - (x1 - x2)" + " + x3" * 5000)
    model = Model.from_expression(tree)
    assert model.coefficients[:3] == (1.0, -1.0, 1.0)
    assert [str(e) for e in model.expressions[:4]] == ["x0", "x1", "x2", "x3"]
    assert model.n_terms == 5003


def test_a_guess_with_thousands_of_free_parameters_is_parsed_at_once():
    text = "+".join(f"a{i}*u" for i in range(3000))
    assert seconds(lambda: parse_guesses([text], ["u"], PrimitiveSet.default())) < 5.0


# Tables -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ma.array(X, mask=X > 1.0), "X has masked cells"),
        (X.astype("M8[s]"), r"column 0 holds datetime64\[s\]; turn it into numbers"),
        (pd.DataFrame({"t": pd.to_timedelta(np.arange(12))}), "column 't' holds timedelta64"),
        (X + 1j, "Complex data not supported"),
        (np.where(X > 1.0, 10**400, X.astype(object)), "beyond the range of float64"),
        (np.where(X > 1.0, pd.NA, X.astype(object)), "has a missing value"),
        (pd.DataFrame(X, columns=["a", "a"]), "2 columns are called 'a'"),
        (pd.DataFrame(X, columns=pd.Index(["\ud800", "b"], dtype=object)), "has a lone surrogate"),
    ],
)
def test_a_table_that_is_not_numeric_is_refused(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(table)


def test_a_cell_that_is_not_numeric_is_reported_with_its_column():
    with pytest.raises(TypeError, match=r"column 1 is not numeric: it contains \{'a': 1\}"):
        fitted(np.array([[1.0, {"a": 1}], [2.0, 3.0]], dtype=object), [1.0, 2.0])


def test_masked_cells_are_refused_in_predict_too():
    model = fitted()
    with pytest.raises(ValueError, match="X has masked cells"):
        model.predict(np.ma.array(X, mask=X > 1.0))
    with pytest.raises(ValueError, match="turn it into numbers"):
        model.predict(X.astype("M8[s]"))


def test_a_masked_array_without_masked_cells_is_accepted():
    assert fitted(np.ma.array(X)).get_best()["equation"] == fitted().get_best()["equation"]


@pytest.mark.parametrize(
    "y", [np.ma.array(Y, mask=Y > 1.0), Y.astype("M8[s]"), np.array([10**400] * 12, object)]
)
def test_a_target_that_is_not_numeric_is_refused(y):
    with pytest.raises(ValueError, match=r"masked|turn it into numbers|beyond the range"):
        fitted(X, y)


@pytest.mark.parametrize(("X", "y"), [([[10**400], [1]], [1, 2]), ([[1], [2]], [10**400, 1])])
def test_a_list_with_a_value_beyond_float64_is_refused(X, y):
    with pytest.raises(ValueError, match="has a number beyond the range of float64"):
        fitted(X, y)


# Parameters -------------------------------------------------------------------------------------------------
def test_an_infinite_limit_means_no_limit():
    assert whole_limit(np.inf) is None
    assert fitted(max_evaluations=np.inf, time_limit=1.0).get_best()["equation"] == "2*x0 + 1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss", np.array([1, 2])),
        ("model_selection", np.array(["mdl", "best"])),
        ("progress", np.array([True, False])),
        ("progress", "yes"),
        ("complexities", {1: 2}),
        ("nesting", {1: {}}),
    ],
)
def test_an_error_for_a_parameter_of_the_wrong_type_names_it(name, value):
    with pytest.raises(ValueError, match=name):
        fitted(**{name: value})


def test_a_loss_that_is_nan_is_refused():
    with pytest.raises(ValueError, match="loss must return a number for every row"):
        fitted(loss=lambda y, predicted: y * np.nan)
    assert as_loss(lambda y, p: np.abs(y - p), 0.5).cost(np.ones(2), np.zeros(2)).tolist() == [1.0, 1.0]


# Model files ------------------------------------------------------------------------------------------------
def test_a_feature_with_an_empty_name_survives_saving():
    model = fitted(pd.DataFrame(X, columns=["", "b"]))
    content = encoded_record(model.to_record())
    again = SymbolicRegressor.from_record(from_json(decoded(content)))
    assert str(again) == str(model)
    assert encoded_record(again.to_record()) == content


def test_an_unpaired_surrogate_in_a_parameter_can_be_saved():
    data = json.loads(model_files()[0])
    data["described"] = {"search": "\ud800"}
    assert json.loads(encoded_record(from_json(data))) == data


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"unknown": 1}, "an unknown parameter 'unknown'"),
        ({"n_jobs": "all"}, "n_jobs, 'all',"),
        ({"n_jobs": 0}, "n_jobs, 0,"),
    ],
)
def test_a_file_with_an_unknown_parameter_is_damaged(tmp_path, parameters, sentence):
    data = json.loads(model_files()[0])
    data["parameters"] |= parameters
    path = tmp_path / "model.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ModelFileError, match=f"model.json is damaged: .*{sentence}"):
        SymbolicRegressor.load(path)


def test_a_file_with_a_duplicate_key_is_damaged():
    content = model_files()[0].replace(b'"chosen": ', b'"chosen": 0, "chosen": ')
    with pytest.raises(ModelFileError, match="has the same key twice"):
        from_json(decoded(content))


def test_every_digit_of_a_coefficient_counts():
    """A change of any coefficient in the last bit makes the file invalid."""
    data = json.loads(model_files()[0])
    for i, row in enumerate(data["rows"]):
        for j, term in enumerate(row["terms"]):
            changed = json.loads(model_files()[0])
            changed["rows"][i]["terms"][j]["coefficient"] = float(np.nextafter(term["coefficient"], np.inf))
            with pytest.raises(ModelFileError, match=f"the formula and the terms of row {i} disagree"):
                from_json(changed)


@pytest.mark.parametrize(
    "data",
    [
        None, [], {}, {"names": None}, {"names": "ab", "terms": []}, {"names": ["a", "a"], "terms": []},
        {"names": None, "terms": {}}, {"names": None, "terms": [1]}, {"names": None, "terms": [{"expression": "x0"}]},
        {"names": None, "terms": [{"expression": 1, "coefficient": 1}]},
        {"names": None, "terms": [{"expression": "x0", "coefficient": "1"}]},
        {"names": ["a"], "terms": [{"expression": "x1", "coefficient": 1}]},
    ],
)  # fmt: skip
def test_an_invalid_description_is_refused_with_a_message(data):
    with pytest.raises(ValueError, match=r"names|terms?|mentions"):
        Model.from_json(data)


# Names ------------------------------------------------------------------------------------------------------
def test_a_name_does_not_end_the_html_script_that_contains_it():
    text = export(Model((1.0,), (parse("x0"),), ("</script><script>alert(1)<!--",)), "javascript")
    assert "</" not in text
    assert "<!--" not in text


def test_a_name_that_sql_cannot_hold_is_shortened_in_messages():
    with pytest.raises(ExportError) as caught:
        export(Model((1.0,), (parse("x0"),), ("\0" * 5000,)), "sqlite")
    assert len(str(caught.value)) < 200


def test_an_unpaired_surrogate_can_be_written_as_json():
    model = Model((1.0,), (parse("x0"),), ("\ud800",))
    text = export(model, "json")
    assert json.loads(text.encode())["names"] == ["\ud800"]


def test_a_line_break_in_a_name_is_a_space_in_latex():
    assert Model((1.0,), (parse("x0"),), ("a\n\nb\x1b",)).latex() == r"\text{a  b }"
