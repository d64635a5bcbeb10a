"""Super-CLEVR: sheets of all 21 vehicles, of their parts, and of sampled scenes.

Each vehicle is shown in each colour at each size, one of them rubber and the other metal; in each material at
each size, from two sides; and in each texture on each material at each size. Not shown are all products of
these: no texture is seen in every colour.
"""

from collections.abc import Sequence
from colorsys import hsv_to_rgb
from dataclasses import replace
from io import BytesIO
from itertools import product
from typing import Any

import numpy as np

from ...geometry.camera import BASE_POSITION, FOCAL, SIZE, Camera
from ...geometry.mesh import Body, SurfaceLook, build_scene_mesh
from ...geometry.shapes.clevr import COLORS, MATERIALS
from ...geometry.shapes.superclevr import SIZES, TEXTURES, body, load_vehicle
from ...geometry.visibility import list_parts, measure_visibility
from ...questions.clevr.generator import generate_questions
from ...questions.clevr.template_sets import builtin_part_templates, builtin_templates
from ...render.image import GAP, PALE, Picture, draw_grid, load_font
from ...render.lighting import LAMPS, SUN
from ...render.paint import Canvas, describe_scenes, paint_image
from ...render.raster import render
from ...scene import Object
from ...schemas.superclevr import CATEGORIES, SHAPE
from ...store.grounding_picture import draw_question
from ...world import superclevr as world
from ..scene_images import render_stored_images

FRONT, BACK = 176.0, -4.0  # turns that show the front and the left side, the back and the right side
CATEGORY = {model: category for category, models in CATEGORIES for model in models}
FACING = {"bicycle": 90.0}  # unturned, bicycles face +x and all others +y


def place_vehicle(shape: str, size: str, color: str, material: str, texture: str = "", turn: float = FRONT) -> Body:
    """A vehicle on the ground at the origin."""
    bottom = float(load_vehicle(shape).vertices[:, 2].min())
    attributes = (("size", size), ("color", color), ("material", material), ("shape", shape))
    rotation = turn + FACING.get(CATEGORY[shape], 0.0)
    return body(Object(attributes, position=(0.0, 0.0, -bottom * SIZES[size]), rotation=rotation, texture=texture))


def fit_camera(shown: Body, size: tuple[int, int], share: float = 0.9) -> Camera:
    """The usual camera, turned and zoomed so that the body fills that share of the picture."""
    points = build_scene_mesh((shown,)).vertices
    camera = Camera(BASE_POSITION, (0.0, 0.0, float(points[:, 2].mean())))
    for _ in range(3):  # turning changes what is seen a little
        seen = camera.project(points, size)[:, :2]
        low, high = seen.min(0), seen.max(0)
        wide, tall = (high - low).tolist()
        focal = camera.focal * share * min(size[0] / wide, size[1] / tall)
        right, up, _ = camera.frame()
        x, y = ((low + high) / 2 - np.array(size) / 2).tolist()
        unit = float(np.linalg.norm(camera.position)) / (camera.focal * size[0])
        tx, ty, tz = (t + unit * (x * r - y * u) for t, r, u in zip(camera.target, right, up, strict=True))
        camera = replace(camera, target=(tx, ty, tz), focal=focal)
    return camera


def render_portrait(shown: Body, camera: Camera, size: tuple[int, int]) -> Picture:
    out = np.empty((size[1], size[0], 3), np.uint8)
    (looks,) = describe_scenes([(shown,)], [camera], [(*LAMPS, SUN)], size)
    paint_image(build_scene_mesh((shown,)), looks, Canvas(size), out)
    return out


# Parts of each vehicle: all named, each in a colour of its own, numbered where a view shows enough of it.

VIEW = (330, 230)
PANELS = 3  # in a row
COLUMNS = 4  # of names under a panel
LINE = 16
TITLE = 26
LEAST = 12  # pixels a part must show to be numbered in a view


def draw_parts(shapes: Sequence[str]) -> Any:
    """A panel a model: from the front, from behind, and the names."""
    from PIL import Image

    panels = [_draw_panel(shape) for shape in shapes]
    rows = [panels[k : k + PANELS] for k in range(0, len(panels), PANELS)]
    tall = [max(p.height for p in row) for row in rows]
    step = 2 * VIEW[0] + 4 * GAP
    sheet = Image.new("RGB", (min(PANELS, len(panels)) * step - 3 * GAP, sum(tall)), "white")
    for r, row in enumerate(rows):
        for c, panel in enumerate(row):
            sheet.paste(panel, (c * step, sum(tall[:r])))
    return sheet


def _draw_panel(shape: str) -> Any:
    from PIL import Image, ImageDraw

    names = list_parts(place_vehicle(shape, "large", "gray", "rubber").mesh)
    lines = -(-len(names) // COLUMNS)
    panel = Image.new("RGB", (2 * VIEW[0] + GAP, TITLE + VIEW[1] + lines * LINE + 18), "white")
    draw = ImageDraw.Draw(panel)
    draw.text((2, TITLE / 2), shape, "black", load_font(17), anchor="lm")
    draw.text((10 + load_font(17).getlength(shape), TITLE / 2 + 1), CATEGORY[shape], PALE, load_font(13), anchor="lm")
    for k, turn in enumerate((FRONT, BACK)):
        picture, places = _draw_view(shape, names, turn)
        left = k * (VIEW[0] + GAP)
        panel.paste(Image.fromarray(picture), (left, TITLE))
        for number, (x, y) in places.items():
            at = (left + x, TITLE + y)
            draw.text(at, str(number), "black", load_font(11), anchor="mm", stroke_width=2, stroke_fill="white")
    for k, name in enumerate(names):
        column, line = divmod(k, lines)
        x, y = column * (panel.width // COLUMNS) + 2, TITLE + VIEW[1] + 6 + line * LINE
        draw.rectangle((x, y + 2, x + 11, y + 13), fill=pick_part_color(k))
        draw.text((x + 17, y + 8), f"{k + 1} {name}", "black", load_font(12), anchor="lm")
    return panel


def _draw_view(shape: str, names: tuple[str, ...], turn: float) -> tuple[Picture, dict[int, tuple[float, float]]]:
    """The picture, and where each numbered part is seen."""
    shown = _highlight_parts(place_vehicle(shape, "large", "gray", "rubber", turn=turn), names)
    camera = fit_camera(shown, VIEW)
    labels = np.array([names.index(p) + 1 if p in names else 0 for p in shown.mesh.parts], np.uint8)
    seen = measure_visibility(build_scene_mesh((shown,)), camera, VIEW, labels)
    assert seen.parts is not None
    places = {}
    for number in range(1, len(names) + 1):
        ys, xs = np.nonzero(seen.parts == number)
        if len(ys) >= LEAST:
            # the pixel nearest to the middle of them: on the part even where that is bent
            near = int(np.argmin((xs - xs.mean()) ** 2 + (ys - ys.mean()) ** 2))
            places[number] = (float(xs[near]), float(ys[near]))
    return render_portrait(shown, camera, VIEW), places


def _highlight_parts(body: Body, names: tuple[str, ...]) -> Body:
    """The body pale, each part in its own colour, darker where the mesh is."""
    looks = []
    for name, tone, look in zip(body.mesh.parts, body.mesh.tones, body.looks, strict=True):
        if name in names:
            r, g, b = (round(c * (0.4 + 0.6 * tone)) for c in pick_part_color(names.index(name)))
            looks.append(SurfaceLook((r, g, b), "rubber"))
        else:
            looks.append(SurfaceLook((150, 150, 150), "rubber") if name == body.mesh.parts[0] else look)
    return replace(body, looks=tuple(looks))


def pick_part_color(k: int) -> tuple[int, int, int]:
    """Colours of which neighbours in the list differ plainly."""
    r, g, b = hsv_to_rgb(k * 0.381966 % 1.0, (0.9, 0.55, 0.8)[k % 3], (0.95, 0.95, 0.6)[k % 3])
    return (round(255 * r), round(255 * g), round(255 * b))


# The sheets.

CELLS = {"large": (160, 122), "small": (104, 122)}
SCENES = 6


def build_sheets(seed: int) -> dict[str, Any]:
    drawn = {"colors": draw_colors, "materials": draw_materials, "textures": draw_textures, "parts": draw_parts}
    sheets = {f"superclevr_{name}.png": draw(SHAPE.values) for name, draw in drawn.items()}
    return sheets | {"superclevr_scenes.png": draw_scenes(seed), "superclevr_grounding.png": draw_questions(seed)}


def draw_colors(shapes: Sequence[str]) -> Any:
    """Rows: models; columns: colours, large and small, the one in rubber and the other in metal by turns."""
    columns = [(k, size, c, color) for k, size in enumerate(CELLS) for c, color in enumerate(COLORS)]
    cells = [
        _draw_cell(shape, size, color, MATERIALS[(r + c + k) % 2])
        for r, shape in enumerate(shapes)
        for k, size, c, color in columns
    ]
    return _draw_rows(shapes, cells, [f"{color}\n{size}" for _, size, _, color in columns])


def draw_materials(shapes: Sequence[str]) -> Any:
    """Rows: models, each of another colour; columns: material and size, from the front and from behind."""
    columns = list(product(CELLS, MATERIALS, (FRONT, BACK)))
    cells = [
        _draw_cell(shape, size, _pick_row_color(r), material, turn=turn)
        for r, shape in enumerate(shapes)
        for size, material, turn in columns
    ]
    heads = [f"{size} {material}\n{'front' if turn == FRONT else 'back'}" for size, material, turn in columns]
    return _draw_rows(shapes, cells, heads)


def draw_textures(shapes: Sequence[str]) -> Any:
    """Rows: models, each of two other colours; columns: textures on both materials at both sizes."""
    columns = list(product(CELLS, MATERIALS, TEXTURES))
    cells = [
        _draw_cell(shape, size, _pick_row_color(r + 3 * (material == "metal")), material, texture)
        for r, shape in enumerate(shapes)
        for size, material, texture in columns
    ]
    return _draw_rows(shapes, cells, [f"{'plain' if t == 'none' else t}\n{z} {m}" for z, m, t in columns])


def _draw_rows(shapes: Sequence[str], cells: Sequence[Picture], heads: Sequence[str]) -> Any:
    return draw_grid(cells, len(heads), [f"{shape}\n{CATEGORY[shape]}" for shape in shapes], heads)


def draw_scenes(seed: int) -> Any:
    rules = [world.SuperClevrRules(visual=level) for level in world.VISUAL_LEVELS]
    drawn = [world.sample_scene(seed, "gallery", i, rule) for i in range(SCENES) for rule in rules]
    images = render(drawn, layers=("rgb",))
    assert images.rgb is not None
    heads = ("easy\nwhole vehicles", "mid\nparts of their own", "hard\ntextures too")
    return draw_grid(list(images.rgb), len(world.VISUAL_LEVELS), [], heads)


def draw_questions(seed: int) -> Any:
    """Questions under their pictures, with the boxes of what their phrases refer to: of vehicles, and of parts."""
    from PIL import Image

    scenes = [world.sample_scene(seed, "gallery", i, world.SuperClevrRules()) for i in range(SCENES)]
    images = {image.id: image for image in render_stored_images(scenes, SIZE)}
    sets = builtin_templates(scenes[0].schema), builtin_part_templates(scenes[0].schema)
    asked = [generate_questions(scenes, templates, per_image=1, seed=seed, grounding=True) for templates in sets]
    drawn = [draw_question(q, images[q.scenes[0]]) for both in zip(*asked, strict=True) for q in both]
    opened = [Image.open(BytesIO(png)) for png in drawn]
    tallest = max(picture.height for picture in opened)
    cells = []
    for picture in opened:
        cell = Image.new("RGB", (picture.width, tallest), "white")
        cell.paste(picture)
        cells.append(np.asarray(cell.resize((picture.width * 2 // 3, tallest * 2 // 3))))
    return draw_grid(cells, len(sets), [], ("vehicles", "parts"))


def _draw_cell(shape: str, size: str, color: str, material: str, texture: str = "", turn: float = FRONT) -> Picture:
    shown = place_vehicle(shape, size, color, material, texture, turn)
    heights = shown.mesh.vertices[:, 2]
    middle = shown.position[2] + shown.scale * float(heights.min() + heights.max()) / 2
    # Turned to the body: a pixel shows as much of it as in an image of the usual size.
    camera = Camera(BASE_POSITION, (0.0, 0.0, middle), FOCAL * SIZE[0] / CELLS[size][0])
    return render_portrait(shown, camera, CELLS[size])


def _pick_row_color(row: int) -> str:
    return tuple(COLORS)[row % len(COLORS)]
