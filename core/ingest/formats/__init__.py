"""Readers: bytes of files to tables of text. The format is found by content, not by the name of a file."""
