"""The closed vocabularies of known families of scenes; one file each, its `SCHEMA` found by file name."""
