"""Annotation: people answer questions, judge the stored answers and reword the questions, as COVR was validated."""
