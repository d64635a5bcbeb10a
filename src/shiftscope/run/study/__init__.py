"""Study: models × trainings × tests, cell by cell, and the tables that stored cells make up."""
