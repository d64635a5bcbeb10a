"""Datasets on disk: Parquet shards with a manifest, built resumably, opened by anyone, exported."""
