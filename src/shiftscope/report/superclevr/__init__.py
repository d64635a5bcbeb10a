"""The results of a Super-CLEVR study as tables, as a page of Markdown and as a page of HTML."""
