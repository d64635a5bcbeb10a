"""The rasteriser on a GPU: whole batches at once, the images left on the device. Needs torch and Triton.

Its kernels are those of `render/` in files of the same names, written for many points at a time; where a function
has the name of one there, it does the same, and is explained there.
"""
