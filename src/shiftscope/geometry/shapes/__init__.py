"""One file per schema: which solid, how large and of what colour the words of an object stand for."""
