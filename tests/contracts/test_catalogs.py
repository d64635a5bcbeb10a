"""Every file of every catalogue says what it is in one line, and is what its folder promises."""

import inspect

import pytest

from shiftscope import catalog
from shiftscope.catalog import Catalog
from shiftscope.schema import Schema

CATALOGS = [value for value in vars(catalog).values() if isinstance(value, Catalog)]
ENTRIES = [(c, name) for c in CATALOGS for name in c.names()]


@pytest.mark.parametrize(("one", "name"), ENTRIES, ids=lambda x: getattr(x, "noun", x))
def test_an_entry_has_a_one_line_summary(one, name):
    summary = one.summary(name)
    assert 10 < len(summary) <= 110
    assert summary[-1] in ".…"


@pytest.mark.parametrize("name", catalog.SCHEMAS.names())
def test_a_schema_file_holds_a_schema_of_its_name(name):
    schema = catalog.SCHEMAS.load(name).SCHEMA
    assert isinstance(schema, Schema)
    assert schema.name == name
    for attribute in (*schema.attributes, *schema.part_attributes):
        assert len(set(attribute.terms)) == len(attribute.terms)
        for _, members in attribute.kinds:
            assert not schema.closed or set(members) <= set(attribute.values)


@pytest.mark.parametrize("name", catalog.DIALECTS.names())
def test_a_dialect_reads_and_writes(name):
    dialect = catalog.DIALECTS.load(name)
    assert callable(dialect.read)
    assert callable(dialect.write)


@pytest.mark.parametrize("name", catalog.VERBS.names())
def test_a_verb_is_a_command_with_help(name):
    verb = catalog.VERBS.load(name)
    commands = (
        [c.callback for c in verb.group.registered_commands] if hasattr(verb, "group") else [verb.command]
    )
    assert commands
    for command in commands:
        assert command.__doc__


@pytest.mark.parametrize("name", catalog.MODELS.names())
def test_a_model_can_be_built(name):
    assert list(inspect.signature(catalog.MODELS.load(name).build).parameters) == ["target", "setting"]


@pytest.mark.parametrize("name", catalog.METRICS.names())
def test_a_metric_measures_a_run_or_several(name):
    metric = catalog.METRICS.load(name)
    assert callable(getattr(metric, "measure", None) or getattr(metric, "measure_runs", None))


@pytest.mark.parametrize("name", catalog.SHIFTS.names())
def test_a_shift_is_a_factor_of_twins_or_makes_sets_of_samples(name):
    shift = catalog.SHIFTS.load(name)
    if hasattr(shift, "FACTOR"):
        assert {shift.FACTOR.base, *shift.FACTOR.test_only} <= set(shift.FACTOR.variants)
        assert list(inspect.signature(shift.breaches).parameters) == ["base", "twin"]
    else:
        assert list(inspect.signature(shift.sets).parameters)[:2] == ["samples", "settings"]


@pytest.mark.parametrize("name", catalog.TESTS.names())
def test_a_generalization_test_plans_exams_and_finds_something_out(name):
    one = catalog.TESTS.load(name)
    assert one.APPLIES
    assert one.Options() == one.Options()
    assert list(inspect.signature(one.plan).parameters) == ["data", "options"]
    assert list(inspect.signature(one.findings).parameters) == ["plan", "taken", "options"]


@pytest.mark.parametrize("name", catalog.SUITES.names())
def test_a_suite_is_an_order_its_shards_and_a_card(name):
    suite = catalog.SUITES.load(name)
    order = suite.Order()
    assert order.spec()["suite"] == name
    assert suite.Order.of(order.spec()) == order
    assert sum(order.jobs().values()) > 0
    assert suite.make_shard.__module__ == f"shiftscope.suites.{name}"
    assert suite.ABOUT.title
    assert "For example" in suite.__doc__
