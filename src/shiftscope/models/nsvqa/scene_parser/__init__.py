"""The scene parser: from images to a scene posterior. Its modules import torch."""
