"""Picture: one image as a model gets it, and many of them as one tensor."""

from __future__ import annotations

import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import UserError
from .files import digest_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

Pixels: TypeAlias = "npt.NDArray[np.uint8]"  # [height, width, 3]
THREADS = 4  # that decode images


class Picture:
    """One image: `png()` or `tensor(device)`, each made when it is called for.

    It is backed by PNG bytes, or by a row of a block of rendered images, which may lie on a GPU. Pictures of
    one `id` are equal; the id of a block's row is given by whoever rendered it, else computed from the pixels.
    """

    __slots__ = ("_id", "_png", "block", "name", "row")

    def __init__(self, png: bytes = b"", *, block: Any = None, row: int = 0, id: str = "", name: str = "") -> None:
        self._png, self._id = png, id
        self.block = block  # a torch tensor or NumPy array [image, height, width, 3] uint8, or None
        self.row = row
        self.name = name  # in error messages

    @property
    def id(self) -> str:
        if not self._id:
            self._id = digest_of(self._png if self.block is None else self.pixels().tobytes())
        return self._id

    def png(self) -> bytes:
        """The image as PNG bytes; of a block's row they are encoded anew by every call."""
        if self.block is None:
            return self._png
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(self.pixels()).save(buffer, "PNG")
        return buffer.getvalue()

    def pixels(self) -> Pixels:
        """[height, width, 3] uint8; an image that cannot be decoded is refused by its name."""
        import numpy as np

        if self.block is not None:
            row = self.block[self.row]
            return np.asarray(row.cpu() if hasattr(row, "cpu") else row)
        from PIL import Image, UnidentifiedImageError

        broken = (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError)
        try:
            with Image.open(io.BytesIO(self._png)) as opened:
                return np.array(opened.convert("RGB"))
        except broken as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise UserError(f"image {self.name!r} cannot be read ({why})") from None

    def size(self) -> tuple[int, int]:
        """Width and height; of PNG bytes they are read off the header."""
        if self.block is None and self._png[:8] == b"\x89PNG\r\n\x1a\n" and self._png[12:16] == b"IHDR":
            return int.from_bytes(self._png[16:20]), int.from_bytes(self._png[20:24])
        height, width = (self.pixels() if self.block is None else self.block[self.row]).shape[:2]
        return int(width), int(height)

    def tensor(self, device: str | torch.device = "cpu") -> torch.Tensor:
        """[height, width, 3] uint8 on that device."""
        import torch

        return torch.as_tensor(self.pixels() if self.block is None else self.block[self.row]).to(device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and (self is other or self.id == other.id)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Picture({self.name or self.id[:12]!r})"


def stack(
    pictures: Sequence[Picture], device: str | torch.device = "cpu", size: tuple[int, int] | None = None
) -> torch.Tensor:
    """[image, height, width, 3] uint8 on that device, in one copy.

    Of pictures that share a block it is a slice of the block where they follow each other there. With `size`,
    a width and height, every image is fitted to it (`fit_pixels`).
    """
    import numpy as np
    import torch

    if not pictures:
        raise UserError("there are no pictures to stack")
    block = pictures[0].block
    fits = block is not None and (size is None or (block.shape[2], block.shape[1]) == size)
    if fits and all(p.block is block for p in pictures):
        rows = [p.row for p in pictures]
        in_turn = slice(rows[0], rows[0] + len(rows))
        return torch.as_tensor(block[in_turn if rows == list(range(in_turn.start, in_turn.stop)) else rows]).to(device)
    with ThreadPoolExecutor(THREADS) as threads:
        read = threads.map(lambda p: p.pixels() if size is None else fit_pixels(p.pixels(), size), pictures)
        return torch.from_numpy(np.stack(list(read))).to(device)


def fit_pixels(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """The image at that width and height, whole and undistorted.

    One of another aspect ratio is centred, and its outermost pixels are repeated up to the edge.
    """
    import numpy as np
    from PIL import Image

    height, width = pixels.shape[:2]
    scale = min(size[0] / width, size[1] / height)
    inner = max(1, round(width * scale)), max(1, round(height * scale))
    if inner != (width, height):
        pixels = np.array(Image.fromarray(pixels).resize(inner, Image.Resampling.BILINEAR))
    if inner == size:
        return pixels
    left, top = (size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2
    rest = (top, size[1] - inner[1] - top), (left, size[0] - inner[0] - left), (0, 0)
    return np.pad(pixels, rest, mode="edge")
