"""Neuro-symbolic models with the shipped weights: questions a second on a processor, PNG to answer.

`python -m benchmarks.neuro_symbolic`. Loading is not counted, nor what is compiled at the first call. Both
times are told: as the clock saw it, and as the processor worked (over all threads, others do not disturb it).
"""

from __future__ import annotations

import time

from benchmarks.table import row
from shiftscope.answer import is_same_answer
from shiftscope.model import ModelOptions, ModelSetting, Prompt
from shiftscope.models import nsvqa, p_nsvqa, p_nsvqa_exact
from shiftscope.picture import Picture, fit_pixels
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.suites.superclevr.suite import SHARE, SUITE, SuperclevrSpec

IMAGES = 20
EACH = 10  # questions about vehicles, and about parts
WARM = 2  # images before the clock runs
BUDGET = "100 questions/s"


def main() -> None:
    """Print questions a second for each model, then for its stages."""
    prompts = _prompts()
    warm = len({p.images[0] for p in prompts[: 2 * EACH * WARM]})
    print(f"neuro-symbolic models on a CPU: {IMAGES - warm} images, {2 * EACH} questions each")
    setting = ModelSetting(schema=SCHEMA, options=ModelOptions(device="cpu"))
    for module in (nsvqa, p_nsvqa, p_nsvqa_exact):
        model = module.build("", setting)
        model.predict(prompts[: 2 * EACH * WARM])
        asked = prompts[2 * EACH * WARM :]
        clock, work = time.perf_counter(), time.process_time()
        said = model.predict(asked)
        clock, work = time.perf_counter() - clock, time.process_time() - work
        right = sum(
            r.answer is not None and p.question.answer is not None and is_same_answer(r.answer, p.question.answer)
            for r, p in zip(said, asked, strict=True)
        )
        name = module.__name__.rpartition(".")[2]
        row(f"{name}, {100 * right / len(asked):.1f} % right", f"{len(asked) / clock:,.0f} questions/s", BUDGET)
        row("  by CPU time", f"{len(asked) / work:,.0f} questions/s", BUDGET)
    _stages(model, asked)


def _stages(model: object, asked: list[Prompt]) -> None:
    """Where the time goes that all models share."""
    import numpy as np
    import torch

    from shiftscope.models.nsvqa.neuro_symbolic import NeuroSymbolicModel

    assert isinstance(model, NeuroSymbolicModel)
    parsers = model.parsers
    pictures = list(dict.fromkeys(p.pictures[0] for p in asked))
    start = time.process_time()
    arrays = [fit_pixels(p.pixels(), parsers.trained.size) for p in pictures]
    row("  PNG decoded", f"{len(pictures) / (time.process_time() - start):,.0f} images/s", "none")
    start = time.process_time()
    parsers.parse_images(torch.from_numpy(np.stack(arrays)))
    row("  scenes parsed", f"{len(pictures) / (time.process_time() - start):,.1f} images/s", "8 images/s")
    start = time.process_time()
    parsers.parse_questions([p.question.text for p in asked])
    row("  questions parsed", f"{len(asked) / (time.process_time() - start):,.0f} questions/s", "400 questions/s")


def _prompts() -> list[Prompt]:
    order = SuperclevrSpec(images=SHARE * IMAGES, questions=EACH, part_questions=EACH)
    images, questions = SUITE.make_shard(order.spec(), "test", 0)
    shown = {image.id: Picture(image.png, name=image.id) for image in images}
    return [Prompt(q, pictures=(shown[q.scenes[0]],)) for q in questions]


if __name__ == "__main__":
    main()
