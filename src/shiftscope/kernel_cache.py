"""Where compiled kernels are kept: in the user's folder for caches, by what they are made from.

That is the content of their files, and the values of the constants that they take from any other.

Numba keeps them beside the source files, and imports all that it needs to compile before it loads one. What is kept
here outlives an upgrade, a new clone and a new environment, and is loaded without what only compiling needs
(docs/decisions/036-start-up.md). Of several processes that need a kernel at once, one compiles it.
"""

import fcntl
import sys
import time
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from types import CodeType, ModuleType
from typing import IO, Any

import numba
import numba.core.caching
import numba.core.codegen
import numba.core.runtime._nrt_python
import numba.core.typing.typeof
import numba.np.linalg
import numpy as np

from .files import find_cache_folder
from .kernels import Kernel

caching: Any = numba.core.caching  # most of what follows has no types there
codegen: Any = numba.core.codegen
binding: Any = codegen.ll
linalg: Any = numba.np.linalg
runtime: Any = numba.core.runtime._nrt_python
typing: Any = numba.core.typing.typeof

FOLDER = find_cache_folder() / "kernels"
KEPT_SECONDS = 90 * 86400.0  # since a folder was last written to; its kernels would be compiled again
WAIT_SECONDS = 300.0  # for another process that compiles the same kernel; one that was suspended holds nobody up


def _spare_linear_algebra() -> None:
    """Let Numba look for SciPy where it would import its linear algebra, only to know whether it is there.

    That takes as long as importing Numba, and no kernel uses it; who compiles an `np.dot` imports it then.
    """
    import_blas, asked = linalg.ensure_blas, "numba.np.arraymath" in sys.modules

    def ensure_blas() -> None:
        nonlocal asked
        if asked or find_spec("scipy") is None:
            import_blas()
        asked = True

    linalg.ensure_blas = ensure_blas


def _spare_masked_arrays() -> None:
    """Let Numba ask whether an array is one of `numpy.ma`, which that imports, only of what is no plain array."""
    type_any_array = typing.typeof_impl.dispatch(np.ndarray)

    def type_array(array: Any, context: Any) -> Any:
        if type(array) is not np.ndarray or array.dtype.hasobject or array.dtype.fields:
            return type_any_array(array, context)
        kind, layout = typing.numpy_support.from_dtype(array.dtype), typing.numpy_support.map_layout(array)
        return numba.types.Array(kind, array.ndim, layout, readonly=not array.flags.writeable)

    typing.typeof_impl.register(np.ndarray)(type_array)


_spare_linear_algebra()
_spare_masked_arrays()


_WRITABLE: set[str] = set()  # folders in which this process could make a file


class KernelLocator(caching.UserWideCacheLocator):  # type: ignore[misc]
    """A folder for each version of a source file: processes with different ones do not disturb each other."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._stamp = _digest_sources(_list_sources(function))
        self._cache_path = str(FOLDER / self._stamp[:20])

    def get_source_stamp(self) -> str:
        return self._stamp

    def ensure_cache_path(self) -> None:
        """Numba tries for every kernel whether a file can be written."""
        if self._cache_path not in _WRITABLE or not Path(self._cache_path).is_dir():
            super().ensure_cache_path()
            _WRITABLE.add(self._cache_path)


class KeptLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A kernel's machine code; its bitcode, which only a kernel that calls it needs to be compiled, is read then."""

    bitcode = b""
    _module: Any = None

    @property
    def _shared_module(self) -> Any:
        if self._module is None and self.bitcode:
            self._module = binding.parse_bitcode(self.bitcode)
            self._codegen._engine._load_defined_symbols(self._module)
        return self._module

    @_shared_module.setter
    def _shared_module(self, module: Any) -> None:
        self._module = module


class KernelCacheFiles(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's files of a kernel, in our folder unless $NUMBA_CACHE_DIR names another, or where ours is not writable."""

    first, *rest = caching.CompileResultCacheImpl._locator_classes
    _locator_classes = (first, KernelLocator, *rest)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, _, (code, bitcode)), described, *_ = payload
        own = target_context.codegen()

        def load_library(_: Any) -> KeptLibrary:
            library = KeptLibrary(own, name)
            library.enable_object_caching()
            library._set_compiled_object(code)
            library._finalize_final_module()
            library.bitcode = bitcode
            own._engine._defined_symbols |= {described.llvm_func_name, described.llvm_cpython_wrapper_name}
            return library

        own.unserialize_library = load_library  # nobody else loads: this thread holds the compiler's lock
        try:
            return super().rebuild(target_context, payload)
        finally:
            del own.unserialize_library


class InnerKernelCacheFiles(KernelCacheFiles):
    """Those of a kernel as other kernels call it, which Python can not."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"inner-{super().get_filename_base(fullname, abiflags)}"


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The kept versions of one kernel."""

    _impl_class = KernelCacheFiles
    _lock: IO[bytes] | None = None

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._made_from = _digest_kernel(function)

    def _index_key(self, sig: Any, target: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, target), self._made_from)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The version for these types; None where it must be compiled, which this process alone may do."""
        _name_runtime()
        found = self._find_overload(sig, target_context)
        if found is None and self._wait_for_others():
            found = self._find_overload(sig, target_context)
        if found is None:
            target_context.refresh()
        return found

    def _find_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._load_overload(sig, target_context)
        except Exception:  # a damaged file, or one that names what another version of a package no longer has
            return None

    def _wait_for_others(self) -> bool:
        """Whether another process held the lock: it may have left what was missing."""
        waited, end = False, time.monotonic() + WAIT_SECONDS
        try:
            self._impl.locator.ensure_cache_path()
            self._lock = (Path(self._cache_path) / f"{self._impl.filename_base}.lock").open("ab")
            while True:
                try:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return waited
                except BlockingIOError:
                    if time.monotonic() > end:
                        return True
                waited = True
                time.sleep(0.05)
        except OSError:  # no locks in this folder: two processes may compile the same
            return waited

    def release(self) -> None:
        """Let other processes go on."""
        held, self._lock = self._lock, None
        if held:
            fcntl.flock(held, fcntl.LOCK_UN)  # also for processes forked meanwhile
            held.close()

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        _drop_old_folders(FOLDER)


class InnerKernelCache(KernelCache):
    """The kept versions of one kernel as other kernels call it."""

    _impl_class = InnerKernelCacheFiles


def keep_kernel(compiled: Any, inner: bool) -> None:
    """Let a compiled function be loaded from here, and kept here."""
    cache = (InnerKernelCache if inner else KernelCache)(compiled.py_func)
    compile_overload = compiled.compile

    def compile_alone(sig: Any) -> Any:
        try:
            return compile_overload(sig)
        finally:
            cache.release()

    compiled._cache, compiled.compile = cache, compile_alone


@cache
def _name_runtime() -> None:
    """Tell LLVM where the functions are that handle arrays; those that are compiled, only compiling needs."""
    for name, address in runtime.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


SHARED = str(Path(__file__).with_name("kernels.py"))  # whose kernels any file may call


def _list_sources(function: Any) -> tuple[str, ...]:
    """A kernel's file, and those of the kernels that it takes from others, which take some from others in turn."""
    file, names = function.__code__.co_filename, function.__globals__
    found = {SHARED: names, file: names}
    todo = [names]
    while todo:
        for kernel in (one for one in todo.pop().values() if isinstance(one, Kernel)):
            source, own = kernel.function.__code__.co_filename, kernel.function.__globals__
            if source not in found:
                found[source] = own
                todo.append(own)
    return (SHARED, file, *sorted(found.keys() - {SHARED, file}))


def _digest_kernel(function: Any) -> str:
    """Of all that a kernel's machine code depends on, wherever it is kept: files, code, and values from other files."""
    texts = (_digest_sources(_list_sources(function)), *_list_constants(function))
    return sha256("\n".join(texts).encode()).hexdigest()


def _list_constants(function: Any) -> list[str]:
    """The values that a kernel, and those it calls, take from outside: Numba makes them part of the machine code.

    With them comes the code that they are in, since a file may have been edited after Python read it.
    """
    found: set[str] = set()
    todo, seen = [function], {function}
    while todo:
        one = todo.pop()
        for name, value in (("code", one.__code__), *_find_names(one), *enumerate(one.__defaults__ or ())):
            if isinstance(value, Kernel):
                todo += {value.function} - seen
                seen.add(value.function)
            elif not callable(value):
                found.add(f"{one.__module__} {one.__qualname__} {name}: {_describe_value(value)}")
    return sorted(found)


def _find_names(function: Any) -> Iterator[tuple[str, Any]]:
    """The globals that a function names, and what it may name of a module; a name that is none has no value there."""
    codes = [function.__code__]
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    names = {name for code in codes for name in code.co_names}
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{part}", vars(value)[part]) for part in names & vars(value).keys())
        else:
            yield name, value


def _describe_value(value: Any) -> str:
    """The same in every process, and another for another value or type."""
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype} {np.shape(value)} {sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, CodeType):
        return f"{value.co_code.hex()} {value.co_names} {_describe_value(value.co_consts)}"
    if isinstance(value, tuple | list | frozenset):
        each = [_describe_value(one) for one in value]
        return f"{type(value).__name__} ({', '.join(sorted(each) if isinstance(value, frozenset) else each)})"
    return f"{type(value).__name__} {value!r}"


@cache
def _digest_sources(files: tuple[str, ...]) -> str:
    """Of these files, and of what compiles them."""
    versions = f"{numba.__version__} {sys.version_info[:2]}"
    return sha256(b"".join([versions.encode(), *(Path(file).read_bytes() for file in files)])).hexdigest()


@cache  # once a process
def _drop_old_folders(folder: Path) -> None:
    for old in folder.iterdir() if folder.is_dir() else ():
        if time.time() - old.stat().st_mtime > KEPT_SECONDS:
            rmtree(old, ignore_errors=True)
