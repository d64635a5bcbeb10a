"""Every file of every catalogue says what it is in one line, and is what its folder promises."""

import inspect
import pickle
from importlib import import_module

import pytest
from typer.main import get_command

from shiftscope import registry as catalog
from shiftscope.cli._app import app
from shiftscope.registry import Registry
from shiftscope.schema import Schema
from shiftscope.suites import load_suite
from shiftscope.world import load_world

CATALOGS = [value for value in vars(catalog).values() if isinstance(value, Registry)]
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


@pytest.mark.parametrize("name", catalog.NOTATIONS.names())
def test_a_dialect_reads_and_writes(name):
    dialect = catalog.NOTATIONS.load(name)
    assert callable(dialect.read)
    assert callable(dialect.write)


@pytest.mark.parametrize("name", catalog.VERBS.names())
def test_a_verb_is_a_command_with_help(name):
    verb = catalog.VERBS.load(name)
    several = get_command(app).commands[name].commands.values() if hasattr(verb, "group") else ()
    commands = [c.callback for c in several] or [verb.command]
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
def test_a_shift_is_a_factor_of_twins_or_makes_sets_of_samples_or_chooses_questions(name):
    shift = catalog.SHIFTS.load(name)
    if hasattr(shift, "FACTOR"):
        assert {shift.FACTOR.base, *shift.FACTOR.test_only} <= set(shift.FACTOR.variants)
        assert list(inspect.signature(shift.breaches).parameters) == ["base", "twin"]
    elif hasattr(shift, "choose_questions"):
        assert list(inspect.signature(shift.choose_questions).parameters)[:2] == ["pools", "scenes"]
    else:
        assert list(inspect.signature(shift.sets).parameters)[:2] == ["samples", "settings"]


@pytest.mark.parametrize("name", catalog.GENERALIZATION_TESTS.names())
def test_a_generalization_test_plans_test_sets_and_finds_something_out(name):
    one = catalog.GENERALIZATION_TESTS.load(name)
    assert one.APPLIES
    assert one.OPTIONS() == one.OPTIONS()
    assert list(inspect.signature(one.plan).parameters) == ["data", "options"]
    assert list(inspect.signature(one.findings).parameters) == ["plan", "runs", "options"]


@pytest.mark.parametrize("name", catalog.SUITES.names())
def test_a_suite_is_a_spec_its_shards_and_a_card(name):
    suite = load_suite(name)
    spec = suite.spec()
    assert spec.spec()["suite"] == suite.name == name
    assert suite.spec.of(spec.spec()) == spec
    assert sum(spec.jobs().values()) > 0
    assert pickle.loads(pickle.dumps(suite)).name == name
    assert suite.about.title and suite.help
    assert "For example" in import_module(f"shiftscope.suites.{name}").__doc__


@pytest.mark.parametrize("name", catalog.WORLDS.names())
def test_a_world_samples_scenes_of_its_schema(name):
    world = load_world(name)
    scene = world.sample(world.rules(size=(160, 112)), 0, "test", 3)
    assert scene.schema == world.schema
    assert {s for o in scene.objects for s in o.values("shape")} <= {*world.shapes}
