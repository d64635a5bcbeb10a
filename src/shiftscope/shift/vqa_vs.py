"""VQA-VS: nine out-of-distribution test sets, one a shortcut, each the rare answers of imbalanced groups.

The shortcuts' concepts (QT, KW, QT+KW, …) are labelled in `shortcuts/concepts.py`, grouped in `shortcuts/groups.py`
and audited in `shortcuts/audit.py`; this file names the sets made of them.

Si et al., "Language Prior Is Not the Only Shortcut" (Findings of EMNLP 2022), §3. Every OOD test set is part
of the IID test, so a model answers the IID test once and is scored on all ten. For example, of the questions
with the keyword "banana", most of whose answers are "yellow", the OOD set holds those answered "green".
"""

from collections.abc import Iterable

import numpy as np

from ..question_table import QuestionTable, Rows, SampleSet
from ..shortcuts.audit import TEST, TRAIN, VAL, AuditSettings, SetRule, ShortcutAudit, audit_shortcuts
from ..shortcuts.groups import HEAD, TAIL

WHOLE_SETS = (("Training", TRAIN), ("Val", VAL), ("IID-Test", TEST))


def sets(samples: QuestionTable, settings: AuditSettings | None = None) -> tuple[SampleSet, ...]:
    """The split and all OOD test, OOD val and head sets, under the names of their folders."""
    return build_audit_sets(audit_shortcuts(samples, settings))


def build_audit_sets(found: ShortcutAudit) -> tuple[SampleSet, ...]:
    """The sets of an audit."""
    groups = {VAL: found.val, TEST: found.test}

    def find_rows(rule: SetRule) -> Rows:
        if not rule.shortcut:
            return found.split.rows(rule.split)
        mine = groups[rule.split][rule.shortcut]
        return np.asarray(mine.rows[mine.part == rule.part])

    return tuple(SampleSet(rule.name, find_rows(rule)) for rule in list_set_rules(found.labels))


def list_set_rules(shortcuts: Iterable[str]) -> tuple[SetRule, ...]:
    """Training, Val, IID-Test, then OOD-Test/QT, …, OOD-Val/QT, …, Head/QT, …"""
    names = list(shortcuts)
    return (
        *(SetRule(name, split) for name, split in WHOLE_SETS),
        *(SetRule(f"OOD-Test/{shortcut}", TEST, shortcut, TAIL) for shortcut in names),
        *(SetRule(f"OOD-Val/{shortcut}", VAL, shortcut, TAIL) for shortcut in names),
        *(SetRule(f"Head/{shortcut}", TEST, shortcut, HEAD) for shortcut in names),
    )
