"""What the end-to-end tests share."""

import pytest

from browser import launch_chromium


@pytest.fixture(scope="module")
def browser():
    yield from launch_chromium()
