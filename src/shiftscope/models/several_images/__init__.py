"""What models share that answer questions about several images; each has a folder of its own beside this one."""
