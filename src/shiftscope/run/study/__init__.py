"""Study: a grid of trainings and test sets, evaluated entry by entry; a suite's `study.py` defines the grid."""
