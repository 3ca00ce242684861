"""How each client calls a hook and reads its answer, as Claude Code 2.1, Codex 0.171 and Gemini CLI 0.61 do.

None of these answers grants anything. Codex takes a changed input only with the decision `allow`, which there
says that the hook has no objection: its own approval and sandbox come after it and hold as before.
"""

from typing import TYPE_CHECKING, Any, Final

from ctxf.conversations.clients import CLAUDE_CODE, CODEX, GEMINI

if TYPE_CHECKING:
    from ctxf.agents.hooks.guard import Verdict

__all__ = [
    "CLIENTS",
    "OTHER_NAMES",
    "READ_TOOLS",
    "START_EVENTS",
    "TOOL_EVENTS",
    "context_answer",
    "verdict_answer",
]

CLIENTS: Final = (CLAUDE_CODE, CODEX, GEMINI)
OTHER_NAMES: Final = {"claude": CLAUDE_CODE}
"""As `ctxf setup` calls them."""

START_EVENTS: Final = ("SessionStart", "SubagentStart")
TOOL_EVENTS: Final = ("PreToolUse", "BeforeTool")

READ_TOOLS: Final = {
    CLAUDE_CODE: "mcp__ctxf__context_read",
    CODEX: "mcp__ctxf__context_read",
    GEMINI: "mcp_ctxf_context_read",
}
"""What the clients call our reading tool."""


def context_answer(event: str, context: str) -> dict[str, Any]:
    """The answer that adds text to the model's context."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


def verdict_answer(client: str, event: str, verdict: "Verdict") -> dict[str, Any] | None:
    """The answer to a tool about to run; None where there is nothing to say."""
    if verdict.denial:
        if client == GEMINI:
            return {"decision": "deny", "reason": verdict.denial}
        return {
            "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": verdict.denial,
            }
        }
    answer: dict[str, Any] = {"hookEventName": event}
    if verdict.tool_input is not None:
        answer["tool_input" if client == GEMINI else "updatedInput"] = verdict.tool_input
        if client == CODEX:
            answer["permissionDecision"] = "allow"
    if verdict.note:
        answer["additionalContext"] = verdict.note
    return {"hookSpecificOutput": answer} if len(answer) > 1 else None
