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

from ..errors import UserError
from ..files import remember_file_digest
from ..model import ModelError, ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ..schema import Schema
from ..trust_remote_code import AUTO_MAP, load_options, refuse_untrusted, weight_load_options

TRAITS = ModelTraits(target="hf:ORG/MODEL or hf:FOLDER", prompted=True)
HUB_SECONDS = 10.0  # to wait for the hub
THREADS = 4  # that digest files
DIGITS = 32  # of a digest
TRAINING = ("optimizer", "scheduler", "rng_state", "scaler", "trainer_state", "training_args")  # a training's state
_HUB = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")
_TRUE = ("1", "true", "yes", "on")
NEEDS = "needs torch and transformers: pip install 'shiftscope[models]'"
TRUST = "add --trust-remote-code if you trust it"


class HuggingFaceModel:
    """Greedy generation unless the temperature is above 0; a batch that does not fit in memory is halved."""

    def __init__(self, model: Any, processor: Any, options: ModelOptions, content: Mapping[str, str]) -> None:
        self._model, self._processor, self._options, self._content = model, processor, options, dict(content)
        self.batch = options.batch

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": self._content} if self._content else {}

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        import torch

        responses: dict[int, Response] = {}
        for count in sorted({len(p.pictures) for p in batch}):  # one batch has one number of images a prompt
            alike = [k for k, p in enumerate(batch) if len(p.pictures) == count]
            try:
                with torch.inference_mode():
                    responses |= dict(zip(alike, self._generate([batch[k] for k in alike]), strict=True))
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
        if not self._model.config.is_encoder_decoder:
            written = written[:, inputs["input_ids"].shape[1] :]
        texts = self._processor.batch_decode(written, skip_special_tokens=True)
        pad = self._model.generation_config.pad_token_id
        read = inputs["attention_mask"].sum(1).tolist()
        wrote = [(row != pad).sum().item() for row in written]
        each = (time.perf_counter() - start) / len(batch)
        return [
            Response(raw=text.strip(), seconds=each, tokens=int(r + w))
            for text, r, w in zip(texts, read, wrote, strict=True)
        ]

    def _prepare_inputs(self, batch: Sequence[Prompt]) -> Any:
        from PIL import Image

        pictures = [[Image.fromarray(picture.pixels()) for picture in prompt.pictures] for prompt in batch]
        if getattr(self._processor, "chat_template", None):
            chats = []
            for prompt, images in zip(batch, pictures, strict=True):
                content: list[dict[str, Any]] = [{"type": "image", "image": image} for image in images]
                chats.append([{"role": "user", "content": [*content, {"type": "text", "text": prompt.text}]}])
            inputs = self._processor.apply_chat_template(
                chats,
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                processor_kwargs={"padding": True, "return_tensors": "pt"},
            )
        else:
            mark = getattr(self._processor, "image_token", "") or ""
            texts = [mark * len(i) + p.text for p, i in zip(batch, pictures, strict=True)]
            given: dict[str, Any] = {"images": pictures} if pictures[0] else {}
            inputs = self._processor(text=texts, padding=True, return_tensors="pt", **given)
        return inputs.to(self._model.device, dtype=self._model.dtype)


def claims(text: str) -> bool:
    return (Path(text) / "config.json").is_file()


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    """What a run's spec says of the model besides its name and prompt."""
    return {"dtype": options.dtype} | ({"trust_remote_code": True} if options.trust_remote_code else {})


def build(target: str, setting: ModelSetting) -> HuggingFaceModel:
    """The model on its device; the first use of an ORG/MODEL downloads it."""
    if not Path(target).is_dir() and not _HUB.fullmatch(target):
        raise UserError(f"model hf:{target}: no such folder")
    if not setting.options.trust_remote_code:
        refuse_untrusted(target, TRUST)
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UserError(f"model hf:{target} {NEEDS} ({error})") from None
    options = setting.options
    device = options.device
    if device == "auto":
        other = "mps" if torch.backends.mps.is_available() else "cpu"
        device = "cuda" if torch.cuda.is_available() else other
    dtype = options.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
    if not isinstance(getattr(torch, dtype, None), torch.dtype):
        raise UserError(f"no dtype {dtype!r}; write float32, bfloat16, float16 or auto")
    processor, model = _load_model(transformers, target, getattr(torch, dtype), options.trust_remote_code)
    tokenizer = getattr(processor, "tokenizer", processor)
    tokenizer.padding_side = "left"  # what is generated follows the prompt directly
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if model.generation_config.pad_token_id is None:
        model.generation_config.pad_token_id = tokenizer.pad_token_id
    torch.manual_seed(options.seed)
    return HuggingFaceModel(model.to(device).eval(), processor, options, _describe_content(target))


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


def _load_model(transformers: Any, target: str, dtype: Any, trusted: bool) -> tuple[Any, Any]:
    """Processor and model: from the folder, or the cache, or, once the hub is known to be up, from it."""

    def load_parts(**where: bool) -> tuple[Any, Any]:
        config = transformers.AutoConfig.from_pretrained(target, **load_options(trusted), **where)
        if getattr(config, AUTO_MAP, None) and not trusted:
            raise UserError(f"model hf:{target} wants to run code of its own; {TRUST}")
        processor = transformers.AutoProcessor.from_pretrained(target, **load_options(trusted), **where)
        return processor, transformers.AutoModelForImageTextToText.from_pretrained(
            target, dtype=dtype, **weight_load_options(trusted), **where
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
