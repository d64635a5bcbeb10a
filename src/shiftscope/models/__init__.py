"""Models and adapters, one file each: what `shiftscope run --model NAME` can name."""
