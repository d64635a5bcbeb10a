"""Images of scenes: a batched triangle rasteriser with soft shadows and reflections."""
