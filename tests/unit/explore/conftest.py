"""What the tests of the explorer's pages share."""

import pytest

import explore_toys as toys


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A dataset, its variant and two runs over the first."""
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from shiftscope.explore.app import build_app
    from shiftscope.explore.collection import open_collection

    folder = tmp_path_factory.mktemp("explore")
    dataset = toys.build(folder / "data", hostile=True)
    toys.build(folder / "variant", variant="other")
    ids = [q.id for q in dataset.questions()]
    first = toys.write_run(folder / "first", dataset, "first", {ids[0]: "7", ids[1]: "[unreadable]"})
    second = toys.write_run(folder / "second", dataset, f"second {toys.HOSTILE}", {ids[0]: "8", ids[2]: "9"})
    collection = open_collection([folder / "data", folder / "variant", first, second])
    return dataset, collection, TestClient(build_app(collection), base_url=toys.BASE)
