"""The rasteriser on a GPU: whole batches at once, the images left on the device. Needs torch and Triton."""
