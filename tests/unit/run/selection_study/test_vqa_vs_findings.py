"""What a finding says of a method rests on epochs in which the method acted."""

import pytest

from shiftscope.models.debiasing.ssl import IrrelevantPairs, PairedExamples
from shiftscope.suites.vqa_vs.findings import begins_after


@pytest.mark.parametrize("epochs", [1, 5, 8, 12, 30])
def test_ssl_is_its_backbone_up_to_the_epoch_that_findings_go_by(epochs):
    examples = PairedExamples(None, IrrelevantPairs.settings["begin"])
    paired = [examples.lesson(epoch / epochs).paired for epoch in range(epochs)]
    assert paired == [epoch > begins_after(epochs) for epoch in range(1, epochs + 1)]
