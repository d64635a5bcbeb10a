"""VQA-VS: nine out-of-distribution test sets, one a shortcut, each the rare answers of imbalanced groups.

The shortcuts' concepts (QT, KW, QT+KW, …) are labelled in `shortcuts/concepts.py`, grouped in `shortcuts/groups.py`
and audited in `shortcuts/audit.py`; this file names the sets made of them.

Si et al., "Language Prior Is Not the Only Shortcut" (Findings of EMNLP 2022), §3. Every OOD test set is part
of the IID test, so a model answers the IID test once and is scored on all ten. For example, of the questions
with the keyword "banana", most of whose answers are "yellow", the OOD set holds those answered "green".
"""

from ..question_table import QuestionTable, SampleSet
from ..shortcuts.audit import TEST, TRAIN, VAL, AuditSettings, ShortcutAudit, audit_shortcuts

WHOLE_SETS = (("Training", TRAIN), ("Val", VAL), ("IID-Test", TEST))


def sets(samples: QuestionTable, settings: AuditSettings | None = None) -> tuple[SampleSet, ...]:
    """The split and all OOD test, OOD val and head sets, under the names of their folders."""
    return build_audit_sets(audit_shortcuts(samples, settings))


def build_audit_sets(found: ShortcutAudit) -> tuple[SampleSet, ...]:
    """The sets of an audit: Training, Val, IID-Test, then OOD-Test/QT, …, OOD-Val/QT, …, Head/QT, …"""
    return (
        *(SampleSet(name, found.split.rows(part)) for name, part in WHOLE_SETS),
        *(SampleSet(f"OOD-Test/{shortcut}", groups.tail) for shortcut, groups in found.test.items()),
        *(SampleSet(f"OOD-Val/{shortcut}", groups.tail) for shortcut, groups in found.val.items()),
        *(SampleSet(f"Head/{shortcut}", groups.head) for shortcut, groups in found.test.items()),
    )
