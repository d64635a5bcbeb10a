"""Charts as inline SVG: they follow the page's colours, print sharply and read aloud as one sentence."""
