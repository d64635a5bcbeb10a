"""An audit that streams: passes over parts of the samples, each a pure task, with what they count kept on disk.

`scan` reads the files once and keeps small columns of numbers. `keys` finds repeated ids and where the split is cut.
`label` chooses every sample's concepts, `reduce` merges what the parts counted, one range of groups at a time, and
`write` reads the files again and writes marks and sets. All figures are those of `audit_shortcuts`, to the last digit:
whatever is summed in floating point is summed in the same order (docs/decisions/042-audits-that-stream.md).
"""
