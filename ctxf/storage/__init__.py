"""What any file of ours needs: made privately, opened with care, locked, durable, copied while in use."""
