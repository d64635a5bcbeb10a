"""Models and adapters, one file each: what `shiftscope run --model NAME` can name.

A file has `build(target, setting)`, which returns a Model, and may have
- `TRAITS`, a ModelTraits: how the model is named, what it reads, whether it learns, how it is trained
  (a Trainable, see trainable.py);
- `describe_run(target, options, schema)`: fields that a run's spec records of it;
- `claims(text)`: whether a model string that begins with no model's name is for it;
- `digest_target(target)`: what its target holds, for an endpoint that serves it.
"""
