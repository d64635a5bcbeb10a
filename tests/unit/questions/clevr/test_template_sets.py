"""Templates: official-format files load as they are, and what is wrong with one is said in a sentence."""

import json
from collections import Counter

import pytest

from shiftscope.errors import UserError
from shiftscope.questions.clevr.compiled_templates import compile_templates
from shiftscope.questions.clevr.template import TemplateNode, TemplateSlot, check_template
from shiftscope.questions.clevr.template_sets import (
    builtin_part_templates,
    builtin_templates,
    load_templates,
    template_from_json,
)
from shiftscope.registry import SCHEMAS
from shiftscope.schema import OPEN, Attribute, Schema
from shiftscope.schemas import clevr, superclevr
from toy import template_to_json

ONE_HOP = {
    "text": ["What color is the <S2> [that is] <R> the <C> <S>?"],
    "nodes": [
        {"inputs": [], "type": "scene"},
        {"side_inputs": ["<C>", "<S>"], "inputs": [0], "type": "filter_unique"},
        {"side_inputs": ["<R>", "<C2>", "<S2>"], "inputs": [1], "type": "relate_filter_unique"},
        {"inputs": [2], "type": "query_color"},
    ],
    "params": [
        {"type": "Color", "name": "<C>"},
        {"type": "Shape", "name": "<S>"},
        {"type": "Relation", "name": "<R>"},
        {"type": "Color", "name": "<C2>"},
        {"type": "Shape", "name": "<S2>"},
    ],
    "constraints": [{"params": ["<C2>"], "type": "NULL"}],
}


def changed(**fields):
    return json.loads(json.dumps(ONE_HOP)) | fields


def nodes(**last):
    return [*ONE_HOP["nodes"][:3], ONE_HOP["nodes"][3] | last]


def test_a_file_is_read_as_it_is(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps([ONE_HOP]))
    (template,) = load_templates(tmp_path / "mine.json").templates
    assert (template.file, template.family) == ("mine.json", 0)
    assert template.params[2] == TemplateSlot("<R>", "Relation")
    assert template.nodes[2] == TemplateNode("relate_filter_unique", (1,), ("<R>", "<C2>", "<S2>"))
    assert template.empty_slots == {3}
    assert template_to_json(template) == ONE_HOP


def test_a_folder_has_synonyms_in_it_or_beside_it(tmp_path):
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "b.json").write_text(json.dumps([ONE_HOP, ONE_HOP]))
    (folder / "a.json").write_text(json.dumps([ONE_HOP]))
    (folder / "metadata.json").write_text("{}")
    assert [(t.file, t.family) for t in load_templates(folder).templates] == [
        ("a.json", 0),
        ("b.json", 0),
        ("b.json", 1),
    ]
    assert load_templates(folder).synonyms == ()
    (tmp_path / "synonyms.json").write_text('{"sphere": ["sphere", "ball"]}')
    assert load_templates(folder).synonyms == (("sphere", ("sphere", "ball")),)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({}, "mine.json: template 0 is malformed: there is no 'text' in it"),
        ("text", "mine.json: template 0 is malformed: a template is an object"),
        (changed(text=None), "'text' in it must be a list of texts, got null"),
        (changed(text={"a": 1}), "'text' in it must be a list of texts, got {\"a\": 1}"),
        (changed(text=["what?", 3]), "'text' in it must be a list of texts, and has 3 in it"),
        (changed(params=None), "'params' in it must be a list of objects, got null"),
        (changed(params=["<C>"]), 'param 0 must be an object, got "<C>"'),
        (changed(params=[{"name": "<C>"}]), "there is no 'type' in param 0"),
        (changed(nodes={}), "'nodes' in it must be a list of objects, got {}"),
        (changed(nodes=nodes(type=None)), "'type' in node 3 must be a text, got null"),
        (changed(nodes=nodes(inputs=None)), "'inputs' in node 3 must be a list of node numbers, got null"),
        (changed(nodes=nodes(inputs=[True])), "expected the number of a node, got true"),
        (changed(nodes=nodes(side_inputs="<C>")), "'side_inputs' in node 3 must be a list of texts"),
        (changed(constraints=[{"type": "NULL"}]), "there is no 'params' in constraint 0"),
        (
            changed(constraints=[{"type": "NULL", "params": [1.5]}]),
            "'params' in constraint 0: expected a slot or the number of a node, got 1.5",
        ),
        (
            changed(nodes=[ONE_HOP["nodes"][0], ONE_HOP["nodes"][1] | {"type": "filter_uniq"}]),
            "takes one attribute slot, got <C> <S>; did you mean 'filter_unique'?",
        ),
        (changed(text=[]), "mine.json: template 0: it needs at least one node and one text"),
        (changed(text=["the <Q>?"]), "the text 'the <Q>?' mentions <Q>, which is not among the params"),
        (changed(text=["what [is <C>?"]), "square brackets do not match"),
        (changed(text=["[hello]"]), "the text '[hello]' has no word that is always there"),
        (changed(text=["?"]), "the text '?' has no word that is always there"),
        (changed(text=["[] ?"]), "the text '[] ?' has no word that is always there"),
        (changed(text=["Other ?"]), "the text 'Other ?' has no word that is always there"),
        (changed(text=["<C>"]), "the text '<C>' has no word that is always there"),
        (changed(text=["[a] <S>s?"]), "the text '[a] <S>s?' has no word that is always there"),
        (changed(text=["how <C many"]), "the text 'how <C many' has a < or > too many"),
        (changed(text=["is <C>> so"]), "the text 'is <C>> so' has a < or > too many"),
        (changed(text=["the <C><S>"]), "has a slot stuck to what is before or after it: '<C><S>'"),
        (changed(text=["the <C>/<S>"]), "has a slot stuck to what is before or after it: '<C>/<S>'"),
        (changed(text=["non<C>"]), "has a slot stuck to what is before or after it: 'non<C>'"),
        (changed(nodes=nodes(type="less_than", inputs=[1, 2])), "its program does not fit together: node 8 (less)"),
        (changed(nodes=nodes(type="quary_color")), "node 3: there is no function 'quary_color'; did you mean"),
        (changed(nodes=nodes(inputs=[7])), "node 3 (query_color) needs 1 earlier nodes as inputs, got [7]"),
        (changed(nodes=nodes(side_inputs=["<C>"])), "node 3 (query_color) takes no slots, got <C>"),
        (
            changed(nodes=nodes(type="count", inputs=["2"])),
            "'inputs' in node 3: expected the number of a node, got \"2\"",
        ),
        (changed(nodes=ONE_HOP["nodes"][:3]), "it ends in Object, which is not an answer"),
        (changed(nodes=nodes(inputs=[0])), "expected Object"),
        (changed(constraints=[{"type": "NULL", "params": ["<X>"]}]), "NULL takes one declared slot"),
        (changed(constraints=[{"type": "NEQ", "params": [1]}]), "there is no constraint 'NEQ'"),
        (changed(constraints=[{"type": "OUT_NEQ", "params": [1, 9]}]), "OUT_NEQ takes the numbers of two nodes"),
        (changed(constraints=[{"type": "APART", "params": [1, 3]}]), "APART takes two nodes that describe"),
        (changed(constraints=[{"type": "UNLIKE", "params": [1]}]), "UNLIKE takes the numbers of two nodes, got [1]"),
        (changed(constraints=[{"type": "MANY", "params": [1, 2]}]), "MANY takes the number of a node, got [1, 2]"),
        (changed(params=[*ONE_HOP["params"], {"type": "Size", "name": "Z"}]), "'Z' must be written like <Z>"),
    ],
)
def test_a_malformed_template_is_refused(tmp_path, refuses, raw, sentence):
    (tmp_path / "mine.json").write_text(json.dumps([raw]))
    with refuses(sentence):
        load_templates(tmp_path / "mine.json")


def test_messages_name_the_file_as_it_was_given(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "mine.json").write_text(json.dumps([changed(text=None)]))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"^inner/mine\.json: template 0 is malformed: 'text' in it must"):
        load_templates("inner")
    (tmp_path / "inner" / "mine.json").write_text(json.dumps([changed(text=[])]))
    with pytest.raises(UserError, match=r"^inner/mine\.json: template 0: it needs at least one node"):
        load_templates("inner/mine.json")


def test_broken_files_are_refused(tmp_path, refuses):
    file = tmp_path / "mine.json"
    file.write_text("{}")
    with refuses("a template file is a list of templates"):
        load_templates(file)
    file.write_text("[]")
    with refuses("there are no templates in it"):
        load_templates(file)
    file.write_text(json.dumps([ONE_HOP]))
    (tmp_path / "synonyms.json").write_text('{"cube": "block"}')
    with refuses("synonyms are an object of word: [ways to say it]"):
        load_templates(file)


def test_a_template_needs_its_schema(refuses):
    template = template_from_json(ONE_HOP, "mine.json", 4)
    plain = Schema("plain", (Attribute("color", ("red",)), Attribute("shape", ("cube",))))
    with refuses("mine.json: template 4: node 2 relates objects, and schema plain has no relations"):
        compile_templates((template,), plain)
    with refuses("mine.json: template 4: node 1 uses the attribute 'color', not in schema shapes"):
        compile_templates((template,), Schema("shapes", (Attribute("shape", ("cube",)),), relations=("left",)))
    uniq = [*ONE_HOP["nodes"][:2], ONE_HOP["nodes"][3] | {"type": "filter_uniq", "side_inputs": ["<S>"]}]
    with refuses("uses the attribute 'uniq', not in schema clevr; did you mean 'filter_unique'?"):
        compile_templates((template_from_json(changed(nodes=uniq), "mine.json", 4),), clevr.SCHEMA)
    with refuses("questions are searched over closed vocabularies; open is open"):
        compile_templates((template,), OPEN)


def test_our_own_are_90_in_nine_groups():
    for schema in (clevr.SCHEMA, superclevr.SCHEMA):
        templates = builtin_templates(schema).templates
        assert Counter(t.file for t in templates) == {
            "zero_hop.json": 6,
            "one_hop.json": 6,
            "two_hop.json": 6,
            "three_hop.json": 6,
            "same_relate.json": 28,
            "single_and.json": 5,
            "single_or.json": 8,
            "compare_integer.json": 9,
            "comparison.json": 16,
        }
        assert len({(t.file, t.family) for t in templates}) == 90
        assert all(len(t.texts) > 1 and len(set(t.texts)) == len(t.texts) for t in templates)


def test_our_own_are_in_order_for_our_schemas_and_checked_for_any_other(refuses):
    for name in SCHEMAS.names():
        schema = SCHEMAS.load(name).SCHEMA
        for t in builtin_templates(schema).templates if schema.closed and schema.attributes else ():
            assert check_template(t) is t
        for t in builtin_part_templates(schema).templates if schema.closed and schema.part_attributes else ():
            assert check_template(t) is t
    crowded = Schema("crowded", tuple(Attribute(f"a{k}", ("x", "y")) for k in range(40)))
    with refuses("it has more than"):
        builtin_templates(crowded)


def test_our_own_adapt_to_any_schema(refuses):
    pets = Schema("pets", (Attribute("texture", ("furry", "bald")), Attribute("name", ("cat", "fish"))))
    templates = builtin_templates(pets).templates
    assert {t.file for t in templates} == {
        "zero_hop.json",
        "same_relate.json",
        "single_or.json",
        "compare_integer.json",
        "comparison.json",
    }
    assert templates[0].params[0] == TemplateSlot("<TEXTURE>", "Texture")
    assert builtin_templates(clevr.SCHEMA) == builtin_templates(clevr.SCHEMA)
    with refuses("schema open has no closed attributes to ask about"):
        builtin_templates(OPEN)


def test_our_own_can_be_written_as_files_and_read_back(tmp_path):
    groups = {}
    for t in builtin_templates(clevr.SCHEMA).templates:
        groups.setdefault(t.file, []).append(template_to_json(t))
    for name, listed in groups.items():
        (tmp_path / name).write_text(json.dumps(listed))
    back = load_templates(tmp_path).templates
    assert set(back) == set(builtin_templates(clevr.SCHEMA).templates)
