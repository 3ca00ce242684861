"""Claude Code, Codex and Gemini CLI: their hooks, their plugins, and how ctxf is entered into them."""
