"""Forms a dataset can be exported to, one file each: `write(dataset, out, progress)`."""
