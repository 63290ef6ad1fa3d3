"""Amplifier's hook module, over carabiner.py: put both files into your project. `Hooks` takes the place of Amplifier's
HookRegistry, and `mount` is the entry point of a module for a host that keeps its registry.

An error while hooks judge an event is a deny. Nothing here turns an error into an allow.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from importlib import import_module
from typing import Any, Awaitable, Callable, Dict, List, Literal, Optional, Tuple, cast

from carabiner import AsyncCarabiner, AsyncSession, Data, Outcome, Question

@dataclass
class HookResult:
    """Amplifier's result of a hook."""

    action: Literal["continue", "deny", "modify", "inject_context", "ask_user"] = "continue"
    data: Optional[Data] = None
    reason: Optional[str] = None
    context_injection: Optional[str] = None
    context_injection_role: Literal["system", "user", "assistant"] = "system"
    ephemeral: bool = False
    approval_prompt: Optional[str] = None
    approval_options: Optional[List[str]] = None
    approval_timeout: float = 300.0
    approval_default: Literal["allow", "deny"] = "deny"
    suppress_output: bool = False
    user_message: Optional[str] = None
    user_message_level: Literal["info", "warning", "error"] = "info"


Handler = Callable[[str, Data], Awaitable[Any]]


@dataclass(eq=False)  # a handler may be registered twice, and each has its own unregister()
class _Registered:
    event: str
    handler: Handler
    priority: int
    name: str


class Hooks:
    """Amplifier's HookRegistry. Handlers in Python run first, in the order of their priority; the hooks of this machine
    run last, so they judge the final data. emit() never raises: an error is a deny."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._handlers: List[_Registered] = []
        self._defaults: Data = {}

    def register(
        self, event: str, handler: Handler, priority: int = 0, name: Optional[str] = None
    ) -> Callable[[], None]:
        """Returns the function that unregisters it."""
        known = _Registered(event, handler, priority, name or str(getattr(handler, "__name__", "handler")))
        self._handlers.append(known)

        def unregister() -> None:
            if known in self._handlers:
                self._handlers.remove(known)

        return unregister

    on = register

    def set_default_fields(self, **defaults: Any) -> None:
        """Fields that every event gets."""
        self._defaults = defaults

    def list_handlers(self, event: Optional[str] = None) -> Dict[str, List[str]]:
        found: Dict[str, List[str]] = {}
        for known in sorted(self._handlers, key=lambda one: one.priority):
            if event in (None, known.event):
                found.setdefault(known.event, []).append(known.name)
        return found

    async def emit(self, event: str, data: Optional[Data] = None) -> HookResult:
        """One result of all hooks: deny wins, then ask_user, inject_context, modify. `data`, if there is any, is what to
        go on with, whatever the action: a hook may change a call that another one asks about."""
        current: Data = {**self._defaults, **(data or {})}
        results: List[HookResult] = []
        ordered = sorted((one for one in self._handlers if one.event == event), key=lambda one: one.priority)
        for known in ordered:
            try:
                result = _hook_result(await known.handler(event, dict(current)))
            except Exception as error:
                return HookResult("deny", reason=f"The hook {known.name} failed: {_named(error)}")
            if result.action == "deny":
                return result
            if result.data is not None and result.action != "continue":
                current = result.data
            results.append(result)
        results.append(await judge(self._session, event, current))
        return _merged(results)


async def judge(session: AsyncSession, event: str, data: Data) -> HookResult:
    """What the hooks of this machine say of an event. Never raises: an error is a deny."""
    try:
        return _result_of(await session.fire(event, data))
    except Exception as error:
        return HookResult("deny", reason=f"Hooks could not judge this: {_named(error)}", user_message=str(error),
                          user_message_level="error")


def _hook_result(result: Any) -> HookResult:
    """Of any class with Amplifier's fields."""
    known = {one.name: getattr(result, one.name) for one in fields(HookResult) if hasattr(result, one.name)}
    if known.get("action") not in ("continue", "deny", "modify", "inject_context", "ask_user"):
        raise TypeError(f"it returned {type(result).__name__}, not a HookResult")
    return HookResult(**known)


def _result_of(outcome: Outcome) -> HookResult:
    action = outcome["action"]
    result = HookResult(reason=outcome.get("reason"))
    messages, injections = outcome.get("messages", []), outcome.get("injections", [])
    if messages:
        order = ["info", "warning", "error"]
        result.user_message = "\n".join(one["text"] for one in messages)
        result.user_message_level = max((one["level"] for one in messages), key=order.index)
    if outcome.get("modified"):
        result.action, result.data = "modify", outcome.get("data")
    if injections:
        result.action = "inject_context"
        result.context_injection = "\n".join(one["text"] for one in injections)
        result.context_injection_role = injections[0].get("role", "system")
        result.ephemeral = all(one.get("ephemeral", False) for one in injections)
    if action == "ask_user":
        question = cast(Question, outcome.get("approval", {})["question"])
        result.action = "ask_user"
        result.approval_prompt = "\n".join(ask["prompt"] for ask in question["asks"])
        result.approval_options = question["options"]
        result.approval_timeout = question["timeout"]
        result.approval_default = question["default"]
    elif action == "respond":
        # Amplifier has no answer in place of a call, so the model reads it as the reason.
        given = outcome.get("response")
        result.action, result.reason = "deny", given if isinstance(given, str) else json.dumps(given)
    elif action != "continue":
        result.action = "deny"
    return result


def _merged(results: List[HookResult]) -> HookResult:
    ranks = ["continue", "modify", "inject_context", "ask_user", "deny"]
    first = max(results, key=lambda one: ranks.index(one.action))
    merged = replace(first)
    # As in emit(): the hooks of this machine did not judge what came with a "continue".
    changes = [one.data for one in results if one.data is not None and one.action != "continue"]
    merged.data = changes[-1] if changes else None
    if merged.action == "deny":
        return merged
    injected = [one for one in results if one.context_injection]
    if injected:
        merged.context_injection = "\n".join(str(one.context_injection) for one in injected)
        merged.ephemeral = all(one.ephemeral for one in injected)
    messages = [one for one in results if one.user_message]
    if messages:
        levels = ["info", "warning", "error"]
        merged.user_message = "\n".join(str(one.user_message) for one in messages)
        merged.user_message_level = max((one.user_message_level for one in messages), key=levels.index)
    return merged


AMPLIFIER_EVENTS: Tuple[str, ...] = (
    "session:start", "session:resume", "session:end", "prompt:submit", "prompt:complete", "provider:request",
    "provider:response", "tool:pre", "tool:post", "tool:error", "context:pre_compact", "context:post_compact",
    "approval:required", "approval:denied", "user:notification", "task:post", "orchestrator:stop",
)


async def mount(coordinator: Any, config: Optional[Data] = None) -> Callable[[], Awaitable[None]]:
    """Amplifier's entry point of a module: registers the hooks of this machine with the coordinator, behind all others.
    Returns the function that unmounts them. `config` has the arguments of AsyncCarabiner, and `events`."""
    given: Data = {"host": "amplifier", **(config or {})}
    events = given.pop("events", AMPLIFIER_EVENTS)
    client = await AsyncCarabiner(**given).open()
    try:
        session = await client.session(id=getattr(coordinator, "session_id", None))
        registry = coordinator.hooks
        asks = await _can_ask(registry)
        late: List[HookResult] = []

        async def handler(event: str, data: Data) -> Any:
            result = _one_action(event, await judge(session, event, data), asks, late)
            return _for_amplifier(_kept(registry, event, result) if result.action == "modify" else result)

        off = [registry.register(event, handler, priority=1000, name="carabiner") for event in events]
        off.append(_watch(registry))
    except BaseException:
        await client.close()
        raise

    async def unmount() -> None:
        for unregister in off:
            if callable(unregister):
                unregister()
        await client.close()

    return unmount


async def _can_ask(registry: Any) -> bool:
    """Early registries of Amplifier drop ask_user and let the call run."""

    async def ask(event: str, data: Data) -> Any:
        return _for_amplifier(HookResult("ask_user", approval_prompt="?"))

    off = registry.register("carabiner:can_ask", ask, name="carabiner")
    try:
        return bool((await registry.emit("carabiner:can_ask", {})).action == "ask_user")
    finally:
        if callable(off):
            off()


def _one_action(event: str, result: HookResult, asks: bool, late: List[HookResult]) -> HookResult:
    """Amplifier's registry takes data only with modify, a question only with ask_user, and context only with
    inject_context. Context that comes with a change waits in `late` for the next event that can carry it."""
    if result.action == "ask_user" and (result.data is not None or not asks):
        why = "together with a change of the call" if asks else "in this version"
        return HookResult("deny", reason=f"Amplifier cannot ask {why}: {result.approval_prompt}")
    if result.action == "inject_context" and result.data is not None:
        late.append(replace(result, data=None, user_message=None))
        return replace(result, action="modify", context_injection=None)
    if late and result.action in ("continue", "inject_context") and event in _CARRIES_CONTEXT:
        result = _merged([*late, result])
        late.clear()
    return result


_LOST = "A hook changed this, and Amplifier would drop the change: another module asks or adds context at the same event"

_changes: ContextVar[Optional[List[Data]]] = ContextVar("carabiner_changes", default=None)
"""What the hooks of this machine made of the event that is being emitted. None if nobody watches its end."""


def _watch(registry: Any) -> Optional[Callable[[], None]]:
    """Amplifier's registry returns a question or context of another module in place of changed data, and the call would
    run unchanged. Such a result becomes a deny. Returns None if the registry's emit cannot be replaced."""
    emit = registry.emit

    async def watched(*args: Any, **named: Any) -> Any:
        changes: List[Data] = []
        outer = _changes.set(changes)
        try:
            result = await emit(*args, **named)
        finally:
            _changes.reset(outer)
        if changes and result.action != "deny" and getattr(result, "data", None) != changes[-1]:
            return _for_amplifier(HookResult("deny", reason=_LOST))
        return result

    def unwatch() -> None:
        # Another module may have replaced it since, and then calls `watched`, which changes nothing without our hooks.
        if registry.emit is watched:
            registry.emit = emit

    try:
        registry.emit = watched
    except (AttributeError, TypeError):  # a class in Rust
        return None
    return unwatch


def _kept(registry: Any, event: str, result: HookResult) -> HookResult:
    """The change, or a deny if it may get lost and nobody would see that."""
    changes = _changes.get()
    if changes is not None:
        changes.append(cast(Data, result.data))
        return result
    try:
        others = [name for names in registry.list_handlers(event).values() for name in names if name != "carabiner"]
    except Exception as error:
        return HookResult("deny", reason=f"{_LOST} ({_named(error)})")
    return HookResult("deny", reason=f"{_LOST} ({', '.join(others)})") if others else result


_CARRIES_CONTEXT = ("prompt:submit", "provider:request", "tool:pre", "tool:post")


def _for_amplifier(result: HookResult) -> Any:
    """Amplifier ignores a result that is not of its own class, and an ignored deny would be an allow."""
    try:
        Theirs = import_module("amplifier_core.models").HookResult
    except ImportError:
        return result
    try:
        return Theirs(**asdict(result))
    except Exception as error:  # Amplifier would log it, and go on
        return Theirs(action="deny", reason=f"The result of the hooks is not one of Amplifier's: {_named(error)}")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
