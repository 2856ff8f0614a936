"""The worked examples of textbooks and tutorials, computed by hand."""

import pytest
from rankings_of import value


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([4, 5, 3, 2, 1], 0.9640700016),
        ([7, 8, 9, 10], 0.9189665678),
        ([5, 2, 3, 1], 0.9842698034),
    ],
)
def test_linear_gain_and_log2_discount(grades: list[float], expected: float) -> None:
    assert value("ndcg", grades) == pytest.approx(expected, abs=6e-11)


def test_dcg_idcg_and_ndcg_of_one_list() -> None:
    grades = [3.0, 2.0, 5.0, 0.0, 1.0]
    assert value("dcg", grades) == pytest.approx(7.1487123144, abs=6e-11)
    assert value("idcg", grades) == pytest.approx(8.3234658188, abs=6e-11)
    assert value("ndcg", grades) == pytest.approx(0.8588624583, abs=6e-11)


@pytest.mark.parametrize(
    ("grades", "cg", "dcg", "idcg", "ndcg"),
    [
        ([2, 3, 1, 2, 1, 0, 1], 10, 7.4178134988, 7.5793888725, 0.9786822689),
        ([3, 2, 2, 1, 2, 1, 0, 0, 1], 12, 8.3255303073, 8.4355960596, 0.9869522258),
    ],
)
def test_jarvelin_kekalainen_with_base_2(grades: list[float], cg: float, dcg: float, idcg: float, ndcg: float) -> None:
    assert value("cg", grades) == cg
    assert value("dcg(discount=jk2)", grades) == pytest.approx(dcg, abs=6e-11)
    assert value("idcg(discount=jk2)", grades) == pytest.approx(idcg, abs=6e-11)
    assert value("ndcg(discount=jk2)", grades) == pytest.approx(ndcg, abs=6e-11)


@pytest.mark.parametrize(
    ("grades", "dcg", "idcg", "ndcg"),
    [
        ([2, 3, 1, 2, 1, 0, 1], 9.9287240898, 11.5665258131, 0.8584015849),
        ([3, 2, 2, 1, 2, 1, 0, 0, 1], 12.6412614233, 12.7612122626, 0.9906003570),
    ],
)
def test_exp2_gain(grades: list[float], dcg: float, idcg: float, ndcg: float) -> None:
    assert value("dcg(gain=exp2)", grades) == pytest.approx(dcg, abs=6e-11)
    assert value("idcg(gain=exp2)", grades) == pytest.approx(idcg, abs=6e-11)
    assert value("ndcg(gain=exp2)", grades) == pytest.approx(ndcg, abs=6e-11)


@pytest.mark.parametrize(
    ("grades", "unretrieved", "linear", "exp2"),
    [
        ([3, 1, 2, 2, 1], [3, 0], 0.8232936062, 0.7406319170),
        ([3, 3, 2, 0, 1], [2, 1], 0.8793791210, 0.9114768699),
    ],
)
def test_the_ideal_uses_the_whole_judged_pool(
    grades: list[float], unretrieved: list[float], linear: float, exp2: float
) -> None:
    assert value("ndcg@5", grades, *unretrieved) == pytest.approx(linear, abs=6e-11)
    assert value("ndcg(gain=exp2)@5", grades, *unretrieved) == pytest.approx(exp2, abs=6e-11)


def test_the_ideal_of_the_retrieved_items_alone() -> None:
    assert value("ndcg(ideal=retrieved)@2", [1, 2], 3) == value("ndcg@2", [1, 2])


def test_a_table_of_gains() -> None:
    assert value("dcg(discount=position, gain={1:3.5, 2:9})", [2, 0, 1]) == pytest.approx(9 + 3.5 / 3, abs=1e-15)
