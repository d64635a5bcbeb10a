"""Visual Genome region graphs become scenes and the same rows again."""

from pathlib import Path

import pytest

from shiftscope.errors import UserError
from shiftscope.formats import visual_genome
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.scene import FREE, Object, Relation, Scene
from sniffed import sniffed

TABLE = '''image_id,region_id,caption,scene_graph
7,71,large trunk through a deck,"( trunk , is , large ) , ( trunk , v:come through , deck )"
7,72,"words on paper, ""take""","( words , pv:write on , paper ) , ( paper , is , orange )"
8,81,a park,( urban park )
8,82,dark above white,"( clouds , above , clouds:1 ) , ( clouds:1 , is , white ) , ( clouds , is , dark )"
8,82,two clouds,"( clouds , is , 2 )"
'''


def stored(folder: Path, text: str) -> Path:
    path = folder / "regions.csv"
    path.write_text(text)
    return path


def test_a_row_becomes_a_scene(tmp_path):
    trunk, words, park, clouds, _ = visual_genome.read_scenes(stored(tmp_path, TABLE))
    assert (trunk.id, trunk.note("image_id")) == ("71", "7")
    assert trunk.note("caption") == "large trunk through a deck"
    assert [o.attributes for o in trunk.objects] == [(("name", "trunk"), (FREE, "large")), (("name", "deck"),)]
    assert trunk.relations == (Relation("come through", (0, 0b01)),)
    assert words.relations == (Relation("pv:write on", (0, 0b01)),)
    assert [o.attributes for o in park.objects] == [(("name", "urban park"),)]
    assert [(o.id, o.values("name")) for o in clouds.objects] == [("clouds", ("clouds",)), ("clouds:1", ("clouds",))]


def test_rows_are_written_as_they_were_read(tmp_path):
    scenes = visual_genome.read_scenes(stored(tmp_path, TABLE))
    visual_genome.write_scenes(tmp_path / "again.csv", scenes)
    assert (tmp_path / "again.csv").read_text() == TABLE


def test_a_gzipped_table_reads_the_same(tmp_path):
    scenes = list(visual_genome.read_scenes(stored(tmp_path, TABLE)))
    visual_genome.write_scenes(tmp_path / "again.csv.gz", scenes)
    assert list(visual_genome.read_scenes(tmp_path / "again.csv.gz")) == scenes


def test_a_scene_of_our_own_is_written_in_our_order():
    scene = Scene(
        objects=(Object((("name", "cup"), (FREE, "red"))), Object((("name", "table"),)), Object((("name", "dog"),))),
        relations=(Relation.of("on", [(0, 1)], 3),),
    )
    assert visual_genome.format_graph(scene) == "( dog ) , ( cup , is , red ) , ( cup , on , table )"


def test_programs_run_on_region_graphs(tmp_path):
    trunk, *_ = visual_genome.read_scenes(stored(tmp_path, TABLE))
    program = parse_program('query(unique(related(find(deck), "come through")), size)')
    assert execute(program, trunk).answer == "large"


def test_a_table_is_recognised_by_its_columns():
    assert visual_genome.sniff_scenes(sniffed(TABLE.encode()))
    assert not visual_genome.sniff_scenes(sniffed(b"image_id,caption\n"))
    assert not visual_genome.sniff_scenes(sniffed(b'{"scenes": []}'))


HEAD = "image_id,region_id,caption,scene_graph\n"


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("a,b\n", "FILE: row 0: expected the columns image_id,region_id,caption,scene_graph"),
        (HEAD, "FILE: there are no region graphs in it"),
        (HEAD + "1,2,x\n", "FILE: row 1: expected 4 columns, got 3"),
        (HEAD + "1,2,x,sky\n", "FILE: row 1: expected triples such as ( sky , is , blue ), got 'sky'"),
        (
            HEAD + '1,2,x,"( sky , is )"\n',
            "FILE: row 1: expected three parts as in ( sky , is , blue ), got ( sky , is )",
        ),
        (HEAD + '1,2,x,"( sky', "FILE: row 1: not a CSV row (unexpected end of data)"),
    ],
)
def test_a_broken_table_is_refused_in_one_sentence(tmp_path, text, complaint):
    path = stored(tmp_path, text)
    with pytest.raises(UserError) as caught:
        list(visual_genome.read_scenes(path))
    assert str(caught.value).replace(str(path), "FILE") == complaint


def test_a_table_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"not UTF-8 text \(byte 0\)"):
        list(visual_genome.read_scenes(path))
