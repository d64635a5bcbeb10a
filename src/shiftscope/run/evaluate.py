"""Evaluate: ask a model every question of a split, under each condition, and keep every response.

A run that was stopped resumes; responses of an endpoint are kept as they arrive.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from .. import model as model_api
from ..errors import UserError, unknown
from ..executor import ONE_PROCESS, Executor
from ..files import find_cache_folder
from ..model import Model, ModelError, ModelOptions, ModelSetting, Response, ServedModel
from ..prompt import join_action
from ..question import Question
from ..questions.answer_space import infer_expected
from ..response import Unread, read_response
from ..result import AS_IS, CONDITIONS_PART_FIELD, Prediction, QuestionRecord, RunLog, build_question_record
from ..schema import OPEN
from ..store.question_part import QuestionPart
from ..store.response_cache import DiskResponseCache
from ..store.run_log import JUDGE_FIELD, PLACES_FIELD, SERVER_FIELD, RunWriter, read_spec, refuse_foreign_run_folder
from .adaptation import NOT_ADAPTED, Adaptation, iter_pictures
from .choices import OptionDraw, build_option_facts, read_choice
from .cluster_replicas import PromptBatch, can_replicate, predict_batch, predict_on_replicas
from .concurrent_calls import Responses, stream_responses
from .conditions import EvalExample
from .consistency import RunPictures, require_one_server, warn_of_fingerprints
from .judge import Judge, judge_replies
from .local_replicas import ReplicaPool
from .prompt_options import ASKED_ONCE, PromptOptions, SentImages
from .question_source import QuestionSource, SplitPrompts, open_source
from .replies import combine_replies

BATCH = 64  # prompts at once, for a model that does not say
KEPT_ROWS = 512  # written together
KEPT_SECONDS = 10.0  # or after this long
LONGEST_RAW = 40_000  # characters that a run keeps of a response: its beginning and its end
KEPT_FIELDS = ("reason", "seconds", "cost", "tokens", "confidence", "program", "stored", "fingerprint", "usage")

Tell = Callable[[int, int], None]  # done, of how many
Warn = Callable[[str], None]
Rows = Iterator[tuple[QuestionRecord, Prediction] | None]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What to run: everything that the responses depend on."""

    model: str
    data: Path
    split: str = "test"
    limit: int | None = None
    conditions: tuple[str, ...] = (AS_IS,)
    mode: str = "short"
    learn_from: Path | None = None  # a dataset whose train split the model learns from; else `data`
    options: ModelOptions = model_api.DEFAULTS
    trained_on: str = ""  # what the model was trained on, for the report's comparisons
    variant: str = ""  # what the data is called there
    images: Path | None = None  # where the pictures of an audit's VQA files lie
    joined: bool = False  # an action and the question about its outcome are put in one text
    part: QuestionPart | None = None  # of the split: only its questions are asked
    learn_part: QuestionPart | None = None  # of the train split: only its questions are learned from
    allow_missing: bool = False  # ask what has no picture without it, under a condition of its own
    judge: Judge | None = None  # reads what the rules cannot
    factor: str = ""  # what the data shift, in words a reader knows; nothing where they are a base
    diagnostic: Mapping[str, Any] = field(default_factory=dict)  # the set this run is a part of: version, digest …
    conditions_part: QuestionPart | None = None  # conditions but as_is are asked of these questions only
    prompts: PromptOptions = ASKED_ONCE
    adapt: Adaptation = NOT_ADAPTED

    def spec(self, source: QuestionSource) -> dict[str, Any]:
        """The run's spec; no secret is in it, and nothing that only changes how fast it runs."""
        options, name = self.options, model_api.parse_model_name(self.model)
        self.prompts.check(self.model, name.traits, options, judged=self.judge is not None)
        learned = open_source(self.learn_from) if self.learn_from else source
        spec: dict[str, Any] = {
            "model": self.model,
            "data": str(self.data.resolve()),
            "data_id": source.data_id(),
            "split": self.split,
            "limit": self.limit,
            "conditions": list(self.conditions),
            "seed": options.seed,
        }
        spec |= self.prompts.spec(self.mode, prompted=name.traits.prompted)
        if name.traits.prompted:
            spec |= {"max_tokens": options.max_tokens, "temperature": options.temperature}
        if options.positions != model_api.DEFAULTS.positions and options.positions not in name.traits.positions:
            raise unknown("way to tell positions", options.positions, name.traits.positions, self.model)
        self.adapt.check(self.model, name.traits)
        describe = getattr(model_api.load_kind(name.kind), "describe_run", None)
        spec |= describe(name.target, options, learned.schema) if describe else {}
        spec |= self.adapt.describe(source, self.split)
        if name.traits.learns:
            spec |= {"learned_from": learned.data_id()}
            spec |= {"learned_part": self.learn_part.spec()} if self.learn_part else {}
        known = spec.get("trained_on")
        if known and self.trained_on not in ("", known):
            raise UserError(
                f"model {self.model!r} was trained on {known}, as its weights say; not on {self.trained_on}"
            )
        spec |= {"trained_on": self.trained_on} if self.trained_on else {}
        spec |= {"variant": self.variant} if self.variant else {}
        spec |= {"factor": self.factor} if self.factor else {}
        spec |= {"diagnostic": dict(self.diagnostic)} if self.diagnostic else {}
        spec |= {"joined": True} if self.joined else {}
        spec |= {"part": self.part.spec()} if self.part else {}
        spec |= {CONDITIONS_PART_FIELD: self.conditions_part.spec()} if self.conditions_part else {}
        spec |= {PLACES_FIELD: places} if (places := self._locate_files()) else {}
        if self.learn_part and "learned_part" not in spec:
            raise UserError(f"model {self.model!r} learns nothing when it is run; omit --learn-part")
        return spec

    def _locate_files(self) -> dict[str, str]:
        """Where the files are whose content the spec identifies: for the command that runs it again."""
        folders = {"images": self.images, "learn_from": self.learn_from, "prompts": self.prompts.file}
        parts = {"part": self.part, "learn_part": self.learn_part}
        places = {name: str(folder.resolve()) for name, folder in folders.items() if folder}
        return places | {name: part.place for name, part in parts.items() if part and part.place}


def evaluate(
    run: RunSpec,
    out: Path,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    executor: Executor = ONE_PROCESS,
    tell: Tell = lambda done, total: None,
    warn: Warn = lambda sentence: None,
    count: Tell = lambda new, before: None,
) -> RunLog:
    """Run it; the same call again resumes, and repeats what failed.

    `count` is called at the end with how many rows are new, and how many were there before. Responses of
    endpoints are kept in `cache`, else in the user's; without `use_cache` none is read or kept. On a cluster each CPU
    or GPU has a replica of the model.
    """
    refuse_foreign_run_folder(out)
    source = open_source(run.data, run.images)
    prompts = source.prompts(run.split, run.mode, run.joined, run.part.ids if run.part is not None else None)
    every = prompts.ids()
    ids = every if run.limit is None else every[: run.limit]
    if run.part is not None:
        run.part.check(source.data_id(), run.split, every)
    if run.conditions_part is not None:
        run.conditions_part.check(source.data_id(), run.split, ids)
    if not ids:
        raise UserError(f"{run.data}: there are no questions in split {run.split!r}")
    spec = run.spec(source)
    pictures = RunPictures(prompts, run.conditions, run.limit, allow_missing=run.allow_missing)
    pictures.require_pictures(_reads_images(model_api.get_reads(run.model)), run.model)
    with ExitStack() as held:
        memory = None
        named = [run.model, *([run.judge.model] if run.judge else [])]
        if use_cache and any(model_api.parse_model_name(name).traits.cached for name in named):
            memory = held.enter_context(closing(DiskResponseCache(cache or find_cache_folder())))
        model: Model
        if run.options.replicas > 1:
            if not executor.shares_disk:
                raise UserError("--replicas are processes of one machine; omit it, or --cluster")
            model = held.enter_context(closing(ReplicaPool(run.model, run.options, warn)))
        else:
            model = build_run_model(run, source, memory, warn)
        reads = model_api.get_reads(run.model, model)
        reads = model_api.EVERYTHING if reads is None else reads
        pictures.require_pictures(_reads_images(reads), run.model)
        spec |= model_api.get_identity(model, read_spec(out)) | pictures.spec()
        model, adapted = run.adapt.apply(model, source)
        spec |= adapted
        server = model.identify() if isinstance(model, ServedModel) else None
        spec |= {SERVER_FIELD: server} if server else {}
        if hasattr(model, "check_questions"):
            where = f"split {run.split!r} of {run.data}"
            model.check_questions(list(source.questions(run.split)), frozenset(ids), where, warn)
        judge = run.judge and run.judge.build(run.options, schema=source.schema(), memory=memory, warn=warn)
        if run.judge and judge:
            spec |= {JUDGE_FIELD: run.judge.spec(judge)}
        whole = every if run.part is None else source.prompts(run.split, run.mode).ids()
        writer = held.enter_context(
            RunWriter(out, spec, len(ids), population=len(whole), lineage=source.lineage(), beside=pictures.to_files())
        )
        pictures.refuse_changed(writer, len(ids))
        before = len(writer.done)
        if before and writer.unrecorded:
            begun = "was begun by an earlier version, which did not record by content what its responses depend on"
            unseen = ": questions whose picture was missing were asked without it; to be sure, choose another --out"
            assumed = "; it is assumed that nothing has changed since"
            warn(f"{out} {begun}{unseen if 'images_id' in writer.unrecorded else assumed}")
        items = pictures.iter_examples(_iter_pending(run, prompts, writer), writer, run.mode)
        if isinstance(model, ServedModel):
            items = require_one_server(model, server, writer, items)
        draw = None
        if run.prompts.choices:
            questions = partial(source.questions, run.split)
            draw = OptionDraw(run.prompts.choices, run.options.seed, questions, source.schema())
        items = run.prompts.iter_prompts(items, run.mode, draw)
        if model_api.IMAGES in reads and ("prompt" in spec or run.prompts.resize):
            sent = SentImages(writer.images_sent)
            items = sent.note(items)
            writer.describe_images = sent.to_json
        try:
            if can_replicate(model, executor):
                responses = predict_on_replicas(run, _iter_batches(model, items, run.model, reads), executor)
            else:
                responses = _predict(model, items, run.model, reads)
            total = pictures.count_prompts(len(ids), len(run.conditions))
            if run.conditions_part is not None:
                spared = len(ids) - len(run.conditions_part.ids)
                total -= spared * sum(condition != AS_IS for condition in run.conditions)
            _write_predictions(writer, model, _iter_rows(responses, run.prompts.replies), tell, total)
            if run.judge is not None:
                ask = partial(_predict, judge, name=run.judge.model, reads=frozenset((model_api.TEXT,)))
                if failed := judge_replies(run.judge, ask, prompts, run.limit, writer):
                    warn(f"{failed:,} calls to the judge failed; run the same command again to repeat them")
        except ModelError as error:
            resume = "the responses so far are kept, run the same command again to resume"
            raise UserError(f"{error}; {resume}") from error
        if isinstance(model, ServedModel):
            warn_of_fingerprints(model, writer, warn)
        pictures.record_counts(writer, len(ids))
        _record_sources(writer, model)
        log = writer.finish(ids)
        count(writer.added, before)
        return log


def _record_sources(writer: RunWriter, model: Model) -> None:
    """Add what a class of the user's has loaded by now; a file stays as it was first recorded."""
    sources = model_api.get_identity(model, writer.spec).get("sources")
    if sources:
        writer.spec["sources"] = {**sources, **writer.spec.get("sources", {})}


def build_run_model(
    run: RunSpec, source: QuestionSource, memory: DiskResponseCache | None = None, warn: Warn = lambda sentence: None
) -> Model:
    """The run's model, with what it may learn from and be chosen by."""
    learned = open_source(run.learn_from) if run.learn_from else source
    if run.learn_part is not None:
        run.learn_part.check(learned.data_id(), "train", (q.id for q in learned.questions("train")))

    def read(split: str) -> Iterator[Question]:
        questions = learned.questions(split) if split in learned.splits else iter(())
        if run.learn_part is not None:
            questions = run.learn_part.select(split, questions)
        return map(join_action, questions) if run.joined else questions

    setting = ModelSetting(
        train=partial(read, "train"),
        schema=learned.schema(),
        options=run.options,
        memory=memory,
        choosing=partial(read, "val"),
        scenes=learned.scenes,
        shown=lambda: ((picture.name, picture.png()) for picture in iter_pictures(source, run.split, run.mode)),
        warn=warn,
    )
    return model_api.build_model(run.model, setting)


def _reads_images(reads: frozenset[str] | None) -> bool | None:
    return None if reads is None else model_api.IMAGES in reads


def _iter_pending(run: RunSpec, prompts: SplitPrompts, writer: RunWriter) -> Iterator[EvalExample]:
    for condition in run.conditions:
        done = frozenset(question for question, under in writer.done if under == condition)
        if run.conditions_part is not None and condition != AS_IS:
            done |= frozenset(prompts.ids(run.limit)) - run.conditions_part.ids
        yield from prompts.iter_examples(condition, run.limit, done)


def _iter_rows(responses: Responses, replies: int) -> Rows:
    """A row for each question that has all its replies; they may come in any order."""
    waiting: dict[tuple[str, str], list[tuple[int, int, Prediction]]] = {}
    for pair in responses:
        if pair is None:
            yield None
            continue
        item, response = pair
        one = build_prediction(item, response)
        if replies > 1:
            group = waiting.setdefault((item.question.id, item.prompt.condition), [])
            group.append((item.prompt.phrasing, item.prompt.sample or 0, one))
            if len(group) < replies:
                yield None
                continue
            del waiting[item.question.id, item.prompt.condition]
            one = combine_replies([reply for *_, reply in sorted(group, key=lambda reply: reply[:2])])
        facts = build_option_facts(item.options, item.question.answer)
        yield build_question_record(item.question, item.scenes, facts=facts, content=item.content), one


def _write_predictions(writer: RunWriter, model: Model, made: Rows, tell: Tell, total: int) -> None:
    """Ask, parse and keep; responses are kept however this ends."""
    rows: list[tuple[QuestionRecord, Prediction]] = []
    done = len(writer.done)
    last = time.monotonic()
    tell(done, total)
    try:
        for k, row in enumerate(made):
            if k == 0:  # before anything is kept
                _record_sources(writer, model)
            if row is not None:
                done += 1
                rows.append(row)
            if len(rows) >= KEPT_ROWS or (rows and time.monotonic() - last > KEPT_SECONDS):
                kept, rows = rows, []
                writer.add(kept)
                last = time.monotonic()
            tell(done, total)
    finally:
        writer.add(rows)


def build_prediction(item: EvalExample, response: Response) -> Prediction:
    """A response as the log keeps it; text is parsed as what the question expects."""
    answer, status = response.answer, response.status
    if answer is None and not status:
        schema = item.scenes[0].schema if item.scenes else OPEN
        expected = infer_expected(item.question, schema)
        read = partial(read_choice, options=item.options) if item.options else read_response
        found = read(response.raw, expected=expected)
        if isinstance(found, Unread):
            status, response = "unreadable", replace(response, reason=response.reason or found.value)
        else:
            answer = found
    status = "answered" if answer is not None else status
    kept: dict[str, Any] = {name: getattr(response, name) for name in KEPT_FIELDS}
    kept |= {"trace": shorten(response.trace), "phrasing": item.prompt.phrasing, "condition": item.prompt.condition}
    return Prediction(item.question.id, answer, shorten(response.raw), status, **kept)


def shorten(raw: str) -> str:
    """A response as a run keeps it: a very long one without its middle, and with its length."""
    if len(raw) <= LONGEST_RAW:
        return raw
    half = LONGEST_RAW // 2
    return f"{raw[:half]}\n[… the middle of a response of {len(raw):,} characters is left out …]\n{raw[-half:]}"


def _predict(model: Any, items: Iterator[EvalExample], name: str, reads: frozenset[str]) -> Responses:
    """Every item with its response, as they come; None now and then while nothing comes."""
    if hasattr(model, "ask"):
        yield from stream_responses(model, items, reads)
        return
    if isinstance(model, ReplicaPool):
        yield from model.stream(items, reads)
        return
    for batch in _iter_batches(model, items, name, reads):
        yield from zip(batch.items, predict_batch((model, name), batch), strict=True)


def _iter_batches(model: Any, items: Iterator[EvalExample], name: str, reads: frozenset[str]) -> Iterator[PromptBatch]:
    size = getattr(model, "batch", BATCH)
    if type(size) is not int or size < 1:
        raise UserError(f"model {name!r}: batch must be a whole number from 1 up, not {size!r}")
    while block := list(islice(items, size)):
        yield PromptBatch(block, [item.prompt.restrict(reads) for item in block])
