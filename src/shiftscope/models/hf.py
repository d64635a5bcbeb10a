"""A Hugging Face model that reads images and text, `hf:ORG/MODEL` or a folder; run here with transformers."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from ..errors import UserError, unknown
from ..files import remember_file_digest
from ..model import ModelError, ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ..result import TRUNCATED
from ..rng import seed_of
from ..schema import Schema
from ..token_usage import CallUsage
from ..trained_folder import NEEDS
from ..trust_remote_code import AUTO_MAP, load_options, refuse_untrusted, weight_load_options

TRAITS = ModelTraits(target="hf:ORG/MODEL or hf:FOLDER", prompted=True, replicable=True)
HUB_SECONDS = 10.0  # to wait for the hub
THREADS = 4  # that digest files
DIGITS = 32  # of a digest
WINDOW = 4  # batches whose prompts are sorted by length together: the shorter the padding, the less is computed
SPREAD = "all"  # as a device: over all GPUs, and main memory where these are full
ATTENTION = {"auto": "", "flash": "flash_attention_2", "sdpa": "sdpa", "eager": "eager"}
TRAINING = ("optimizer", "scheduler", "rng_state", "scaler", "trainer_state", "training_args")  # a training's state
_HUB = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")
_TRUE = ("1", "true", "yes", "on")
TRUST = "add --trust-remote-code if you trust it"


class HuggingFaceModel:
    """Greedy generation unless the temperature is above 0; a batch that does not fit in memory is halved.

    `batch` is how many prompts it takes to sort; they are generated `ModelOptions.batch` at a time.
    """

    def __init__(self, model: Any, processor: Any, options: ModelOptions, content: Mapping[str, str]) -> None:
        self._model, self._processor, self._options, self._content = model, processor, options, dict(content)
        self.batch = WINDOW * options.batch

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": self._content} if self._content else {}

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        import torch

        responses: dict[int, Response] = {}
        for rows in group_by_length(batch, self._options.batch):
            if self._options.temperature > 0:  # what is drawn does not depend on how often the run was stopped
                first = batch[rows[0]]
                path = first.question.id, first.condition, first.phrasing, first.sample or 0
                torch.manual_seed(seed_of("hf", self._options.seed, *path) % (1 << 63))
            try:
                with torch.inference_mode():
                    responses |= dict(zip(rows, self._generate([batch[k] for k in rows]), strict=True))
            except Exception as error:  # its own code, its chat template, or weights that do not fit it
                why = " ".join(str(error).split())
                raise ModelError(f"the model stopped with {type(error).__name__}: {why}") from error
        return [responses[k] for k in range(len(batch))]

    def _generate(self, batch: Sequence[Prompt]) -> list[Response]:
        import torch

        start = time.perf_counter()
        try:
            inputs = self._prepare_inputs(batch)
            sampling = {"temperature": self._options.temperature} if self._options.temperature > 0 else {}
            limits = {"max_new_tokens": self._options.max_tokens, "do_sample": bool(sampling)}
            written = self._model.generate(**inputs, **limits, **sampling)
        except torch.OutOfMemoryError:
            if len(batch) == 1:
                return [Response(status="failed", reason="out of memory")]
            torch.cuda.empty_cache()
            half = len(batch) // 2
            return self._generate(batch[:half]) + self._generate(batch[half:])
        written = self._cut_prompt(written, inputs["input_ids"])
        texts = self._processor.batch_decode(written, skip_special_tokens=True)
        read = [int(n) for n in inputs["attention_mask"].sum(1).tolist()]
        each = (time.perf_counter() - start) / len(batch)
        responses = []
        for text, r, row in zip(texts, read, written.tolist(), strict=True):
            wrote, ended = self._count_written(row)
            reason = "" if ended or wrote < self._options.max_tokens else TRUNCATED
            usage = (CallUsage("", r, wrote),)
            responses.append(Response(text.strip(), reason=reason, seconds=each, tokens=r + wrote, usage=usage))
        return responses

    def _cut_prompt(self, written: Any, read: Any) -> Any:
        """Without the decoder's first token, of an encoder and a decoder; else without the prompt, if that is there.

        Models that are given the prompt as vectors return what they wrote and nothing else.
        """
        if self._model.config.is_encoder_decoder:
            return written[:, 1:]
        size = read.shape[1]
        repeated = written.shape[1] >= size and bool((written[:, :size] == read.to(written.device)).all())
        return written[:, size:] if repeated else written

    def _count_written(self, row: Sequence[int]) -> tuple[int, bool]:
        """The tokens that were written, up to the one that ends the text, and whether there is one."""
        config = self._model.generation_config
        ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
        for k, token in enumerate(row):
            if token in ends:
                return k + 1, True
        size = len(row)
        while size and row[size - 1] == config.pad_token_id:
            size -= 1
        return size, False

    def _prepare_inputs(self, batch: Sequence[Prompt]) -> Any:
        from PIL import Image

        pictures = [[Image.fromarray(picture.pixels()) for picture in prompt.pictures] for prompt in batch]
        if getattr(self._processor, "chat_template", None):
            chats = []
            for prompt, images in zip(batch, pictures, strict=True):
                content: list[dict[str, Any]] = [{"type": "image", "image": image} for image in images]
                system = [{"role": "system", "content": [{"type": "text", "text": prompt.system}]}]
                user = {"role": "user", "content": [*content, {"type": "text", "text": prompt.text}]}
                chats.append([*(system if prompt.system else []), user])
            inputs = self._processor.apply_chat_template(
                chats,
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                processor_kwargs={"padding": True, "return_tensors": "pt"},
            )
        else:
            given: dict[str, Any] = {"images": pictures} if pictures[0] else {}
            texts, how = self._write_texts(batch)
            inputs = self._processor(text=texts, padding=True, return_tensors="pt", **how, **given)
        return inputs.to(self._model.device, dtype=self._model.dtype)

    def _write_texts(self, batch: Sequence[Prompt]) -> tuple[list[str], dict[str, Any]]:
        """The prompts for a processor without a chat template: by its tokenizer's, or as they are; and how to read."""
        mark = str(getattr(self._processor, "image_token", "") or "")
        tokenizer = getattr(self._processor, "tokenizer", self._processor)
        if not getattr(tokenizer, "chat_template", None):
            before = [f"{p.system}\n" if p.system else "" for p in batch]
            return [mark * len(p.pictures) + b + p.text for p, b in zip(batch, before, strict=True)], {}
        texts = []
        for prompt in batch:
            system = [{"role": "system", "content": prompt.system}] if prompt.system else []
            user = {"role": "user", "content": mark * len(prompt.pictures) + prompt.text}
            texts.append(tokenizer.apply_chat_template([*system, user], tokenize=False, add_generation_prompt=True))
        return texts, {"add_special_tokens": False}  # the template has written them


def group_by_length(batch: Sequence[Prompt], size: int) -> list[list[int]]:
    """The numbers of the prompts in groups to generate together: as many images each, and as long as can be alike."""

    def measure(prompt: Prompt) -> tuple[int, int, int]:
        area = sum(width * height for width, height in (picture.size() for picture in prompt.pictures))
        return len(prompt.pictures), area, len(prompt.system) + len(prompt.text)

    order = sorted(range(len(batch)), key=lambda k: (measure(batch[k]), k))
    groups: list[list[int]] = []
    for k in order:
        alike = groups and len(batch[groups[-1][0]].pictures) == len(batch[k].pictures)
        if alike and len(groups[-1]) < size:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def claims(text: str) -> bool:
    return (Path(text) / "config.json").is_file()


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    """What a run's spec says of the model besides its name and prompt."""
    spec: dict[str, Any] = {"dtype": options.dtype}
    spec |= {"attention": options.attention} if options.attention != "auto" else {}
    return spec | ({"trust_remote_code": True} if options.trust_remote_code else {})


def build(target: str, setting: ModelSetting) -> HuggingFaceModel:
    """The model on its device; the first use of an ORG/MODEL downloads it."""
    if not Path(target).is_dir() and not _HUB.fullmatch(target):
        raise UserError(f"model hf:{target}: no such folder")
    if not setting.options.trust_remote_code:
        refuse_untrusted(target, TRUST)
    try:
        import torch
        import transformers
        from transformers.utils.import_utils import is_flash_attn_2_available
    except ImportError as error:
        raise UserError(f"model hf:{target} {NEEDS} ({error})") from None
    options = setting.options
    if options.attention not in ATTENTION:
        raise unknown("attention", options.attention, ATTENTION)
    device, dtype = options.device, options.dtype
    if device == "auto":
        other = "mps" if torch.backends.mps.is_available() else "cpu"
        device = "cuda" if torch.cuda.is_available() else other
    on_gpu = device.startswith("cuda") or (device == SPREAD and torch.cuda.is_available())
    if dtype == "auto":
        dtype = "bfloat16" if on_gpu else "float32"
    if not isinstance(getattr(torch, dtype, None), torch.dtype):
        raise UserError(f"no dtype {dtype!r}; write float32, bfloat16, float16 or auto")
    how: dict[str, Any] = {"dtype": getattr(torch, dtype)} | ({"device_map": "auto"} if device == SPREAD else {})
    fits = on_gpu and dtype != "float32"  # what flash attention needs
    if options.attention == "flash" and not fits:
        setting.warn(f"model hf:{target} runs without flash attention: it needs a GPU, and bfloat16 or float16")
    elif ATTENTION[options.attention]:
        how["attn_implementation"] = ATTENTION[options.attention]
    elif fits and is_flash_attn_2_available():
        how["attn_implementation"] = ATTENTION["flash"]
    processor, model = _load_with_attention(transformers, target, how, setting)
    tokenizer = getattr(processor, "tokenizer", processor)
    tokenizer.padding_side = "left"  # what is generated follows the prompt directly
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if model.generation_config.pad_token_id is None:
        model.generation_config.pad_token_id = tokenizer.pad_token_id
    torch.manual_seed(options.seed)
    model = model if device == SPREAD else model.to(device)
    return HuggingFaceModel(model.eval(), processor, options, _describe_content(target))


def _describe_content(target: str) -> dict[str, str]:
    """The files of a folder with their digests, or the commit of what the hub gave."""
    folder = Path(target)
    if folder.is_dir():
        visible = [p for p in sorted(folder.iterdir()) if p.is_file() and not p.name.startswith(".")]
        files = [p for p in visible if p.suffix != ".md" and p.stem not in TRAINING]  # what responses may depend on
        with ThreadPoolExecutor(THREADS) as threads:
            return {p.name: d[:DIGITS] for p, d in zip(files, threads.map(remember_file_digest, files), strict=True)}
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(target, "config.json")
    return {"commit": Path(config).parent.name} if isinstance(config, str) else {}


def _load_with_attention(
    transformers: Any, target: str, how: Mapping[str, Any], setting: ModelSetting
) -> tuple[Any, Any]:
    """Processor and model; without flash attention, and a sentence, where it cannot be had."""
    trusted = setting.options.trust_remote_code
    if how.get("attn_implementation") != ATTENTION["flash"]:
        return _load_model(transformers, target, how, trusted)
    try:
        return _load_model(transformers, target, how, trusted)
    except UserError as error:
        plain = {name: value for name, value in how.items() if name != "attn_implementation"}
        parts = _load_model(transformers, target, plain, trusted)  # where it fails again, attention is not why
        why = str(error).partition("cannot be loaded: ")[2] or str(error)
        setting.warn(f"model hf:{target} runs without flash attention: {why}")
        return parts


def _load_model(transformers: Any, target: str, how: Mapping[str, Any], trusted: bool) -> tuple[Any, Any]:
    """Processor and model: from the folder, or the cache, or, once the hub is known to be up, from it."""

    def load_parts(**where: bool) -> tuple[Any, Any]:
        config = transformers.AutoConfig.from_pretrained(target, **load_options(trusted), **where)
        if getattr(config, AUTO_MAP, None) and not trusted:
            raise UserError(f"model hf:{target} wants to run code of its own; {TRUST}")
        processor = transformers.AutoProcessor.from_pretrained(target, **load_options(trusted), **where)
        return processor, transformers.AutoModelForImageTextToText.from_pretrained(
            target, **how, **weight_load_options(trusted), **where
        )

    try:
        return load_parts(local_files_only=True)
    except UserError:
        raise
    except Exception as error:  # of a library that meets a folder it was not made for
        cause = error
    if not Path(target).is_dir():
        _require_hub(target)
        try:
            return load_parts()
        except UserError:
            raise
        except Exception as error:
            cause = error
    why = (str(cause).strip() or type(cause).__name__).splitlines()[0]
    known = isinstance(cause, OSError | ValueError | ImportError)
    hint = f"; {TRUST}" if "trust_remote_code" in str(cause) else ""
    why = why if known else f"{type(cause).__name__}: {why}"
    raise UserError(f"model hf:{target} cannot be loaded: {why}{hint}") from None


def _require_hub(target: str) -> None:
    """One short look, for the hub's own client tries for a minute."""
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    why = "HF_HUB_OFFLINE is set" if os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE else ""
    try:
        if not why:
            with urlopen(Request(hub, method="HEAD"), timeout=HUB_SECONDS):
                return
    except HTTPError:
        return  # it answers
    except (OSError, ValueError, HTTPException) as error:
        why = f"{hub} cannot be reached: {getattr(error, 'reason', None) or error}"
    raise UserError(f"model hf:{target} is neither a folder nor downloaded already, and {why}")
