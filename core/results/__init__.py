"""What was computed, kept for whoever asks again: in memory, and on disk, by the content it was computed from."""
