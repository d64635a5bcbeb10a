"""Prompt options: what moves a model's score besides the model, and is part of a run's spec for that reason.

Several phrasings of the instruction, several samples of each response, a system prompt, options to choose from, and
the size of the images that are sent.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import read_bytes
from ..model import ModelOptions, ModelTraits
from ..picture import Picture, fit_pixels
from ..prompt import MODES, build_prompt_spec, list_options
from .choices import OptionDraw
from .conditions import EvalExample

CHOICE_MODES = {
    "short": "Answer with the letter of the right option and nothing else.",
    "free": 'Reason step by step. End with a line "Answer: X", where X is the letter of the right option.',
}
LARGEST_FILE = 1 << 20  # bytes of a file of prompts
LARGEST_SIDE = 8192  # pixels
ENCODING = "PNG"


@dataclass(frozen=True, slots=True)
class ImageSize:
    """A size that images are brought to, undistorted: both sides (the rest is filled), or the longer side alone."""

    width: int
    height: int = 0  # 0: `width` is the longer side

    def __str__(self) -> str:
        return f"{self.width}x{self.height}" if self.height else str(self.width)

    def resize(self, picture: Picture) -> Picture:
        return _resize(picture, self)


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How often and in which words each question is put; by default once, in the words of the mode."""

    samples: int = 1
    instructions: tuple[str, ...] = ()  # instead of the mode's own
    system: str = ""
    choices: int = 0  # options of a multiple choice; 0: an open answer
    resize: ImageSize | None = None
    file: Path | None = None  # that the instructions are from

    @property
    def replies(self) -> int:
        """How many replies a question gets."""
        return self.samples * max(1, len(self.instructions))

    def check(self, model: str, traits: ModelTraits, options: ModelOptions, *, judged: bool) -> None:
        """Refuse what would have no meaning."""
        given = {"samples": self.samples > 1, "prompts": self.instructions, "system": self.system}
        given |= {"choices": self.choices}
        named = [f"--{name}" for name, value in given.items() if value]
        if named and not traits.prompted:
            raise UserError(f"model {model!r} reads no prompts; omit {', '.join(named)}")
        temperature = options.parameters.get("temperature", options.temperature)
        if self.samples > 1 and temperature == 0:
            raise UserError("at temperature 0 all samples are the same; add --temperature 0.7, or omit --samples")
        if judged and (self.replies > 1 or self.choices):
            several = "--samples, --prompts and --choices"
            raise UserError(f"a judge reads one open reply per question; omit --judge, or {several}")

    def spec(self, mode: str, *, prompted: bool) -> dict[str, Any]:
        """What a run's spec says of its prompts; nothing that is as it was before there were these options."""
        spec: dict[str, Any] = {"resize": str(self.resize)} if self.resize else {}
        if not prompted:
            return spec
        prompt = build_prompt_spec(mode)
        if self.choices:
            prompt |= {"instruction": CHOICE_MODES[mode], "choices": self.choices}
        if self.instructions:
            del prompt["instruction"]
            prompt |= {"instructions": list(self.instructions)}
        prompt |= {"system": self.system} if self.system else {}
        return spec | {"prompt": prompt} | ({"samples": self.samples} if self.samples > 1 else {})

    def iter_prompts(self, items: Iterator[EvalExample], mode: str, draw: OptionDraw | None) -> Iterator[EvalExample]:
        """Every example as often as it is asked, by phrasing and then by sample."""
        if self == ASKED_ONCE:
            yield from items
            return
        instructions = self.instructions or ((CHOICE_MODES if self.choices else MODES)[mode],)
        for item in items:
            options = draw.draw_options(item) if draw else ()
            prompt = item.prompt
            body = prompt.text.removesuffix(MODES[mode]) + list_options(options)
            if self.resize:
                prompt = replace(prompt, pictures=tuple(map(self.resize.resize, prompt.pictures)))
            for number, instruction in enumerate(instructions):
                instruction = instruction if options or self.instructions else MODES[mode]
                for sample in range(self.samples):
                    changed: dict[str, Any] = {"text": body + instruction, "system": self.system, "phrasing": number}
                    changed |= {"sample": sample} if self.samples > 1 else {}
                    yield replace(item, prompt=replace(prompt, **changed), options=options)


ASKED_ONCE = PromptOptions()


@lru_cache(maxsize=256)  # questions about one image come one after the other
def _resize(picture: Picture, size: ImageSize) -> Picture:
    from PIL import Image

    pixels = picture.pixels()
    height, width = pixels.shape[:2]
    wanted = size.width, size.height
    if not size.height:
        scale = size.width / max(width, height)
        wanted = max(1, round(width * scale)), max(1, round(height * scale))
    if wanted == (width, height):
        return picture
    buffer = BytesIO()
    Image.fromarray(fit_pixels(pixels, wanted)).save(buffer, ENCODING)
    return Picture(buffer.getvalue(), name=picture.name)


class SentImages:
    """The sizes of the images that a run's prompts show, for the run's description."""

    def __init__(self, before: Any = None) -> None:
        known = before if isinstance(before, dict) else {}
        ends = [known.get(name) for name in ("smallest", "largest")]
        self._sizes: set[tuple[int, int]] = {(e[0], e[1]) for e in ends if isinstance(e, list) and len(e) == 2}

    def note(self, items: Iterator[EvalExample]) -> Iterator[EvalExample]:
        for item in items:
            for picture in item.prompt.pictures:
                self._sizes.add(picture.size())
            yield item

    def to_json(self) -> dict[str, Any] | None:
        """Encoding, smallest and largest by area: width and height; None where no image was shown."""
        if not self._sizes:
            return None
        order = sorted(self._sizes, key=lambda size: (size[0] * size[1], size))
        return {"encoding": ENCODING, "smallest": list(order[0]), "largest": list(order[-1])}


def parse_size(text: str) -> ImageSize | None:
    """`336` or `640x480`; nothing is no size."""
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,5})(?:x(\d{1,5}))?", text.strip().lower())
    sides = [int(side) for side in found.groups() if side] if found else []
    if not sides or not all(1 <= side <= LARGEST_SIDE for side in sides):
        raise UserError(f"--resize takes the longer side or both in pixels, as in 336 or 640x480, not {text!r}")
    return ImageSize(*sides)


def read_system(text: str) -> str:
    """A system prompt, or the file that holds it."""
    try:
        path = Path(text)
        is_file = bool(text) and len(text) < 4096 and path.is_file()
    except (OSError, ValueError):
        is_file = False
    return _read_text(path).strip() if is_file else text.strip()


def read_instructions(path: Path) -> tuple[str, ...]:
    """The phrasings in a file: one per line, or a list in JSON or YAML."""
    text = _read_text(path)
    if path.suffix.lower() in PARSERS:
        try:
            listed = PARSERS[path.suffix.lower()](text)
        except UserError:
            raise
        except Exception as error:  # whatever a parser raises
            raise UserError(f"{path}: cannot be read ({' '.join(str(error).split())[:120]})") from None
    else:
        listed = [line for line in text.splitlines() if line.strip()]
    if not isinstance(listed, list) or not listed or not all(isinstance(one, str) and one.strip() for one in listed):
        raise UserError(f"{path}: expected a list of instructions, one per line or as a JSON or YAML list of texts")
    made = tuple(one.strip() for one in listed)
    if len(set(made)) < len(made):
        raise UserError(f"{path}: the instruction {next(one for one in made if made.count(one) > 1)!r} is there twice")
    return made


def _parse_yaml(text: str) -> Any:
    try:
        yaml = import_module("yaml")
    except ImportError:
        raise UserError("a YAML file needs PyYAML (pip install pyyaml); or write one instruction per line") from None
    return yaml.safe_load(text)


PARSERS: dict[str, Callable[[str], Any]] = {".json": json.loads, ".yaml": _parse_yaml, ".yml": _parse_yaml}


def _read_text(path: Path) -> str:
    if path.is_file() and path.stat().st_size > LARGEST_FILE:
        raise UserError(f"{path}: a file of prompts has {LARGEST_FILE >> 20} MB at the most")
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
