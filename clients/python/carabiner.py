"""Carabiner for agents in Python: the hooks of this machine around the tool calls and model calls of your agent.

Copy this file into your project. It needs Python 3.9 and the `carabiner` program, and nothing else. It starts
`carabiner serve --stdio` and speaks its protocol. `Carabiner` is for threads, `AsyncCarabiner` for asyncio.

An error while hooks judge a call is raised, so the tool does not run. Nothing here turns an error into an allow.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import queue
import subprocess
import threading
import weakref
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import (
    Any,
    Awaitable,
    Callable,
    Dict,
    Generic,
    Iterator,
    List,
    Literal,
    Mapping,
    Optional,
    Sequence,
    TypedDict,
    TypeVar,
    Union,
    cast,
)

PROTOCOL = 1
"""The version of the protocol that this file speaks."""

DEADLINE = 900.0
"""Seconds that a request waits for its answer, unless you say otherwise. Hooks and questions have shorter limits."""

_CLOSING = 15.0
"""Seconds that the engine gets to end its hooks, before it is killed."""

_ENDING = 1.0
"""Seconds that may pass between the end of the engine and the end of its pipes."""

Json = Any
Data = Dict[str, Any]
_log = logging.getLogger("carabiner")


# ---- errors -------------------------------------------------------------------------------------------------------


class CarabinerError(Exception):
    """A request failed, so the call must not run. `code` is a code of docs/reference/errors.md, or one of this file:
    ENGINE_MISSING, ENGINE_ENDED, ENGINE_INVALID, DEADLINE, CLOSED."""

    def __init__(self, code: str, message: str, hint: str = "", data: Optional[Data] = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.data: Data = data or {}


class EngineGone(CarabinerError):
    """The engine is missing, has ended, or does not speak the protocol."""


class DeadlineExceeded(CarabinerError, TimeoutError):
    """The answer did not come in time. The engine was told to stop."""


class TurnAborted(CarabinerError):
    """A hook ends the turn: stop the loop and show the message."""


class AgentAborted(TurnAborted):
    """A hook ends the agent."""


def _error(reply: Json) -> CarabinerError:
    if not isinstance(reply, dict):
        return _invalid(f"the error {reply!r}")
    data = reply.get("data")
    about: Data = data if isinstance(data, dict) else {}
    code = about.get("code")
    if not isinstance(code, str):
        code = "ENGINE_INVALID"
    kinds = {"TURN_ABORTED": TurnAborted, "AGENT_ABORTED": AgentAborted}
    kind = kinds.get(code, CarabinerError)
    return kind(code, str(reply.get("message", "The request failed")), str(about.get("hint", "")), about)


def _invalid(what: str) -> EngineGone:
    hint = "Use the carabiner.py that came with your carabiner."
    return EngineGone("ENGINE_INVALID", f"carabiner sent an answer that this client does not understand: {what}", hint)


# ---- what the engine says -----------------------------------------------------------------------------------------


class _Injection(TypedDict):
    text: str
    role: Literal["system", "user", "assistant"]
    ephemeral: bool
    source: str


class Injection(_Injection, total=False):
    appendToLastToolResult: bool


class Message(TypedDict):
    """A message for the user."""

    text: str
    level: Literal["info", "warning", "error"]
    source: str


class _Prompt(TypedDict):
    hook: str
    prompt: str


class Ask(_Prompt, total=False):
    reason: str


class Question(TypedDict):
    id: str
    event: str
    session: str
    call: Data
    asks: List[Ask]
    options: List[str]
    timeout: float
    default: Literal["allow", "deny"]
    expires: str


class _Outcome(TypedDict):
    action: str
    modified: bool
    injections: List[Injection]
    messages: List[Message]
    hooks: List[Data]
    diagnostics: List[Data]


class Outcome(_Outcome, total=False):
    """What the hooks decided. Only the action "continue" lets an operation go on."""

    reason: str
    permission: str
    data: Data
    response: Json
    host: Data
    approval: Data


class WakeMessage(TypedDict):
    role: str
    content: str
    metadata: Data


class Wake(TypedDict):
    """A background hook found something that cannot wait: begin a turn with the message."""

    session: str
    message: WakeMessage


class Hello(TypedDict):
    version: int
    carabiner: str
    projectDir: str
    hooks: int
    untrusted: List[Data]
    diagnostics: List[Data]


class _Option(TypedDict):
    option: str


class Answer(_Option, total=False):
    """What a person chose, with more than the option."""

    reason: str
    by: str
    data: Data
    expires: str


Reply = Union[str, Answer]
"""One of the options of the question, alone or with more."""


@dataclass(frozen=True)
class Asked:
    """A question for a person, while the call waits."""

    question: Question
    session: str
    call: Optional[str]
    withdrawn: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set when nobody waits for the answer any more: close the dialog."""

    @property
    def prompt(self) -> str:
        return "\n".join(ask["prompt"] for ask in self.question["asks"])

    @property
    def options(self) -> List[str]:
        return self.question["options"]


Approver = Callable[[Asked], Optional[Reply]]
"""Asks a person. None leaves the question open: the call then comes back as NeedsApproval."""

AsyncApprover = Callable[[Asked], Awaitable[Optional[Reply]]]

# ---- the engine ---------------------------------------------------------------------------------------------------


@dataclass
class _Request:
    number: int
    method: str
    answer: "Future[Json]" = field(default_factory=Future)
    abandoned: bool = False


class _Engine:
    """One `carabiner serve --stdio`: threads that write, read and watch it, and the requests that wait."""

    def __init__(
        self,
        command: Sequence[str],
        env: Optional[Mapping[str, str]],
        ask: Optional[Callable[[int, Asked], None]],
        tell: Callable[[str, Data], None],
    ) -> None:
        self._ask, self._tell = ask, tell
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: Dict[int, _Request] = {}
        self._questions: Dict[int, Asked] = {}
        self._end: Optional[CarabinerError] = None
        self.is_end_known = False
        """Whether a request of the host has failed because the engine has ended."""
        self._lines: "queue.SimpleQueue[Optional[bytes]]" = queue.SimpleQueue()
        self._has_read = threading.Event()
        self._owner = os.getpid()
        try:
            # A session of its own: Ctrl+C at the terminal is for the agent.
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=None if env is None else dict(env),
                start_new_session=True,
            )
        except OSError as error:
            hint = "Put it on the path with `npm link` in a clone of Carabiner, or name it with `program`."
            raise EngineGone("ENGINE_MISSING", f"{command[0]} cannot be started: {error}", hint) from error
        _engines.add(self)
        for work in (self._write, self._read, self._watch):
            threading.Thread(target=work, name="carabiner", daemon=True).start()

    def request(self, method: str, params: Data) -> _Request:
        if os.getpid() != self._owner:  # its threads are not in a fork, and its lock may be held for ever
            raise CarabinerError("CLOSED", "The client belongs to another process. Start one after the fork.")
        request = _Request(next(self._ids), method)
        request.answer.set_running_or_notify_cancel()  # asyncio must not cancel what the reader answers
        try:
            line = _line({"id": request.number, "method": method, "params": params})
        except (TypeError, ValueError, RecursionError) as error:
            raise CarabinerError("PAYLOAD_INVALID", f"{method} cannot be written as JSON: {error}") from error
        with self._lock:
            if self._end:
                raise self._gone(self._end)
            self._waiting[request.number] = request
        self._lines.put(line)
        return request

    def abandon(self, request: _Request) -> None:
        """Nobody waits any more: its hooks end, and what it still begins is ended."""
        with self._lock:
            request.abandoned = True
            is_open = request.number in self._waiting
        if is_open:
            self._lines.put(_line({"method": "cancel", "params": {"id": request.number}}))
        else:  # the answer comes at this moment
            request.answer.add_done_callback(lambda came: self._end_late(request, came))

    def reply(self, number: int, result: Optional[Reply], error: Optional[BaseException] = None) -> None:
        if self._questions.pop(number, None) is None:
            return  # nobody waits for it any more
        told = {"unanswered": "The host has no answer"} if result is None else result
        try:
            if error is not None:
                raise error
            line = _line({"id": number, "result": told})
        except BaseException as problem:
            line = _line({"id": number, "error": {"code": -32000, "message": f"The approver failed: {problem!r}"}})
        self._lines.put(line)

    def close(self) -> None:
        if os.getpid() != self._owner:
            return
        self._finish(CarabinerError("CLOSED", "The client is closed"))
        self._lines.put(None)
        try:
            self._process.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def leave(self) -> None:
        """In a fork, whose copies of the pipes would hide from the engine that its host has closed them."""
        nothing = os.open(os.devnull, os.O_RDWR)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe and not pipe.closed:
                os.dup2(nothing, pipe.fileno(), inheritable=False)
        os.close(nothing)

    # The threads.

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        is_lost = False
        try:
            while True:
                line = self._lines.get()
                if line is None:
                    break
                stdin.write(line)
                stdin.flush()
        except OSError:
            is_lost = True
        try:
            stdin.close()
        except OSError:
            pass
        if is_lost:
            self._lost("standard input")

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        problem: Optional[CarabinerError] = None
        try:
            for line in stdout:
                self._take(line)
        except CarabinerError as error:
            problem = error
        except Exception as error:
            problem = _invalid(repr(error))
        if problem is not None:
            self._finish(problem)
            self._process.kill()
        self._has_read.set()
        self._lost("standard output")
        stdout.close()

    def _watch(self) -> None:
        """The reader cannot find the end of the engine while a child of it keeps the pipe open."""
        status = self._process.wait()
        self._has_read.wait(_ENDING)
        said = f"carabiner has ended with status {status}"
        self._finish(EngineGone("ENGINE_ENDED", said, "What it printed to standard error says why."))
        self._lines.put(None)

    def _lost(self, pipe: str) -> None:
        """An engine that lives on without a pipe answers nothing more. If it has ended, _watch says how."""
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._finish(EngineGone("ENGINE_ENDED", f"carabiner has closed its {pipe}"))
            self.close()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode())
        except ValueError as error:
            raise _invalid("a line that is not JSON") from error
        if not isinstance(message, dict):
            raise _invalid("a line that is not an object")
        if "method" in message:
            self._told(message)
        elif type(message.get("id")) is int:  # True would be 1
            self._answered(message["id"], message)
        else:
            raise _invalid(str(message.get("error", "an answer without an id")))

    def _answered(self, number: int, message: Data) -> None:
        with self._lock:
            request = self._waiting.pop(number, None)
            is_late = request is not None and request.abandoned
        if request is None:
            return
        if "error" in message:
            request.answer.set_exception(_error(message["error"]))
            return
        request.answer.set_result(message.get("result"))
        if is_late:
            self._end_late(request, request.answer)

    def _end_late(self, request: _Request, answer: "Future[Json]") -> None:
        """A call that began although nobody waits has to end, too."""
        kind, _, verb = request.method.partition(".")
        result = None if answer.exception() else answer.result()
        if verb not in ("begin", "answer") or not isinstance(result, dict) or result.get("status") != "run":
            return
        try:
            self.request(f"{kind}.fail", {"call": result.get("call"), "error": "The host no longer waits for it"})
        except CarabinerError:
            pass  # the engine is gone, and ends every call itself

    def _told(self, message: Data) -> None:
        method, number = message["method"], message.get("id")
        params: Data = message.get("params") or {}
        if method == "approve" and type(number) is int and self._ask:
            asked = Asked(params["question"], params["session"], params.get("call"))
            self._questions[number] = asked
            self._ask(number, asked)
        elif number is not None:
            self._lines.put(_line({"id": number, "error": {"code": -32601, "message": f"There is no {method} here"}}))
        elif method == "cancel":
            withdrawn = self._questions.pop(params.get("id", 0), None)
            if withdrawn:
                withdrawn.withdrawn.set()
                self._tell("withdrawn", {"id": params["id"]})
        else:
            self._tell(method, params)

    def _finish(self, error: CarabinerError) -> None:
        with self._lock:
            if self._end is None:
                self._end = error
            waiting, self._waiting = list(self._waiting.values()), {}
            questions, self._questions = list(self._questions.items()), {}
        for request in waiting:
            request.answer.set_exception(self._gone(self._end))
        for number, asked in questions:
            asked.withdrawn.set()
            self._tell("withdrawn", {"id": number})

    def _gone(self, error: CarabinerError) -> CarabinerError:
        """A new one for each request: a traceback belongs to one raise."""
        self.is_end_known = True
        return type(error)(error.code, str(error), error.hint, error.data)


_engines: "weakref.WeakSet[_Engine]" = weakref.WeakSet()


def _leave_all() -> None:
    for engine in list(_engines):
        engine.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)


def _line(message: Data) -> bytes:
    # ASCII, so that a lone surrogate can be sent.
    return json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _params(**given: Any) -> Data:
    return {key: value for key, value in given.items() if value is not None}


# ---- calls --------------------------------------------------------------------------------------------------------

T = TypeVar("T")
Ended = TypeVar("Ended")
Begun = TypeVar("Begun")


@dataclass(frozen=True)
class Responded:
    """A hook gave the result. Do not run the call."""

    result: Json
    outcome: Outcome
    status: Literal["responded"] = "responded"

    @property
    def for_model(self) -> Json:
        """What the model reads as the result of the call."""
        return self.result


@dataclass(frozen=True)
class Denied:
    reason: str
    """For the model."""
    outcome: Outcome
    status: Literal["denied"] = "denied"

    @property
    def for_model(self) -> Json:
        """What the model reads as the result of the call."""
        return self.reason


@dataclass(frozen=True)
class Finished:
    """The call has run, or has failed."""

    status: Literal["ok", "responded", "failed"]
    result: Json
    """The result to use: yours, unless a hook replaced it."""
    reason: str
    """Of a failure."""
    outcome: Outcome
    after: Outcome
    """What the hooks of the event after the call decided."""

    @property
    def for_model(self) -> Json:
        """What the model reads as the result of the call."""
        return self.reason if self.status == "failed" else self.result


@dataclass(frozen=True)
class _Run:
    kind: Literal["tool", "model"]
    name: str
    """Of the tool."""
    input: Data
    """Of the tool; for a model call, the request."""
    held: bool
    """Of a model call: a hook may still refuse the response, so show none of it before finish() returns."""
    call: str
    outcome: Outcome
    _link: Any = field(repr=False, compare=False)
    status: Literal["run"] = "run"

    @property
    def request(self) -> Data:
        """The same as input, under the name that it has for a model."""
        return self.input

    def _finish(self, result: Json) -> "_Ask[Any]":
        params = {"call": self.call, _RESULT[self.kind]: result}
        return _Ask(f"{self.kind}.finish", params, lambda told: _ended(self.kind, told, result, self._link))

    def _fail(self, error: Union[str, BaseException]) -> "_Ask[Any]":
        params = {"call": self.call, "error": _text(error)}
        return _Ask(f"{self.kind}.fail", params, lambda told: _finished(_Read(told), None, ""))


class Run(_Run, Generic[Ended]):
    """Run the tool, or ask the model, with exactly this input. Then call finish() or fail()."""

    def finish(self, result: Json) -> Ended:
        return cast(Ended, self._link.ask(self._finish(result)))

    def fail(self, error: Union[str, BaseException]) -> Finished:
        return cast(Finished, self._link.ask(self._fail(error)))

    def _through(self, run: Callable[[Data], Json]) -> Ended:
        try:
            result = run(self.input)
            json.dumps(result, allow_nan=False)
        except BaseException as error:
            with _unless_aborted():
                self.fail(error)
            raise
        return self.finish(result)


class AsyncRun(_Run, Generic[Ended]):
    """Run the tool, or ask the model, with exactly this input. Then await finish() or fail()."""

    async def finish(self, result: Json) -> Ended:
        return cast(Ended, await self._link.ask(self._finish(result)))

    async def fail(self, error: Union[str, BaseException]) -> Finished:
        return cast(Finished, await self._link.ask(self._fail(error)))

    async def _through(self, run: Callable[[Data], Awaitable[Json]]) -> Ended:
        try:
            result = await run(self.input)
            json.dumps(result, allow_nan=False)
        except BaseException as error:
            with _unless_aborted():
                await self.fail(error)
            raise
        return await self.finish(result)


@contextmanager
def _unless_aborted() -> Iterator[None]:
    """The error of the tool is the one to raise, unless a hook ends the turn because of it."""
    try:
        yield
    except TurnAborted:
        raise
    except CarabinerError as error:
        _log.warning("Hooks were not told that a call has failed: %s", error)


@dataclass(frozen=True)
class _NeedsApproval:
    kind: Literal["tool", "model"]
    reason: str
    question: Question
    call: str
    outcome: Outcome
    _given: Json = field(repr=False, compare=False)
    _link: Any = field(repr=False, compare=False)
    status: Literal["needs_approval"] = "needs_approval"

    @property
    def for_model(self) -> Json:
        """What the model reads as the result of the call."""
        return self.reason

    def _answer(self, reply: Reply) -> "_Ask[Any]":
        def read(told: Json) -> Any:
            has_run = isinstance(told, dict) and "after" in told
            return _ended(self.kind, told, self._given, self._link) if has_run else _begun(self.kind, told, self._link)

        params = {"call": self.call, "question": self.question["id"], "reply": reply}
        return _Ask(f"{self.kind}.answer", params, read)


class NeedsApproval(_NeedsApproval, Generic[Begun]):
    """Ask a person, and call answer() with one of the options. The hooks do not run again."""

    def answer(self, reply: Reply) -> Begun:
        return cast(Begun, self._link.ask(self._answer(reply)))


class AsyncNeedsApproval(_NeedsApproval, Generic[Begun]):
    """Ask a person, and await answer() with one of the options. The hooks do not run again."""

    async def answer(self, reply: Reply) -> Begun:
        return cast(Begun, await self._link.ask(self._answer(reply)))


ToolRun = Run[Finished]
ToolNeedsApproval = NeedsApproval["ToolBegun"]
ToolBegun = Union[ToolRun, Responded, Denied, ToolNeedsApproval]
ToolCalled = Union[Finished, Responded, Denied, ToolNeedsApproval]
ModelRun = Run["ModelEnded"]
ModelNeedsApproval = NeedsApproval["Union[ModelBegun, ModelEnded]"]
ModelBegun = Union[ModelRun, Responded, Denied, ModelNeedsApproval]
ModelEnded = Union[Finished, Denied, ModelNeedsApproval]
ModelCalled = Union[Finished, Responded, Denied, ModelNeedsApproval]

AsyncToolRun = AsyncRun[Finished]
AsyncToolNeedsApproval = AsyncNeedsApproval["AsyncToolBegun"]
AsyncToolBegun = Union[AsyncToolRun, Responded, Denied, AsyncToolNeedsApproval]
AsyncToolCalled = Union[Finished, Responded, Denied, AsyncToolNeedsApproval]
AsyncModelRun = AsyncRun["AsyncModelEnded"]
AsyncModelNeedsApproval = AsyncNeedsApproval["Union[AsyncModelBegun, AsyncModelEnded]"]
AsyncModelBegun = Union[AsyncModelRun, Responded, Denied, AsyncModelNeedsApproval]
AsyncModelEnded = Union[Finished, Denied, AsyncModelNeedsApproval]
AsyncModelCalled = Union[Finished, Responded, Denied, AsyncModelNeedsApproval]


# ---- requests, and how their answers are read -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Ask(Generic[T]):
    """A request. `read` makes a value of its answer, or raises."""

    method: str
    params: Data
    read: Callable[[Json], T]


_RESULT = {"tool": "result", "model": "response"}


class _Read:
    """An answer of the engine. What is missing or of the wrong type is an error, and so never an allow."""

    def __init__(self, answer: Json) -> None:
        if not isinstance(answer, dict):
            raise _invalid("an answer that is not an object")
        self.answer: Data = answer

    def text(self, key: str) -> str:
        value = self.answer.get(key)
        if not isinstance(value, str):
            raise _invalid(f"{key} is not a text")
        return value

    def object(self, key: str) -> Any:
        value = self.answer.get(key)
        if not isinstance(value, dict):
            raise _invalid(f"{key} is not an object")
        return value

    def value(self, key: str) -> Json:
        if key not in self.answer:
            raise _invalid(f"{key} is missing")
        return self.answer[key]


def _begun(kind: Literal["tool", "model"], answer: Json, link: "_Link") -> Any:
    read = _Read(answer)
    status, outcome = read.text("status"), read.object("outcome")
    if status == "run" and kind == "tool":
        return link.run(kind, read.text("name"), read.object("input"), False, read.text("call"), outcome, link)
    if status == "run":
        held = read.answer.get("held") is not False
        return link.run(kind, "", read.object("request"), held, read.text("call"), outcome, link)
    if status == "responded":
        return Responded(read.value(_RESULT[kind]), outcome)
    if status in ("denied", "needs_approval"):
        return _refused(kind, read, None, link)
    raise _invalid(f"the status {status!r}")


def _ended(kind: Literal["tool", "model"], answer: Json, given: Json, link: "_Link") -> Any:
    read = _Read(answer)
    if kind == "model" and read.text("status") in ("denied", "needs_approval"):
        return _refused(kind, read, given, link)
    return _finished(read, given, _RESULT[kind])


def _refused(kind: Literal["tool", "model"], read: _Read, given: Json, link: "_Link") -> Any:
    reason, outcome = read.text("reason"), read.object("outcome")
    if read.text("status") == "denied":
        return Denied(reason, outcome)
    return link.question(kind, reason, read.object("question"), read.text("call"), outcome, given, link)


def _finished(read: _Read, given: Json, key: str) -> Finished:
    status, outcome = read.text("status"), read.object("outcome")
    after = read.object("after") if "after" in read.answer else outcome
    if status == "ok":
        return Finished("ok", read.answer.get(key, given), "", outcome, after)
    if status == "responded":
        return Finished("responded", read.value(key), "", outcome, after)
    if status == "failed":
        return Finished("failed", None, read.text("reason"), outcome, after)
    raise _invalid(f"the status {status!r}")


def _outcome(answer: Json) -> Outcome:
    outcome = _Read(answer).object("outcome")
    _Read(outcome).text("action")
    return cast(Outcome, outcome)


def _hello(answer: Json) -> Hello:
    if not isinstance(answer, dict) or answer.get("version") != PROTOCOL:
        raise _invalid("another version of the protocol")
    return cast(Hello, answer)


def _as_it_is(answer: Json) -> Json:
    return answer


def _text(error: Union[str, BaseException]) -> str:
    return error if isinstance(error, str) else f"{type(error).__name__}: {error}"


# ---- what is the same for threads and for asyncio -------------------------------------------------------------------


class _Link:
    """Sends a request and waits for the answer."""

    run: Any
    question: Any

    def __init__(self, engine: _Engine, deadline: Optional[float]) -> None:
        self.engine, self.deadline = engine, deadline

    def seconds(self, deadline: Optional[float]) -> Optional[float]:
        return self.deadline if deadline is None else deadline


class _Threads(_Link):
    run, question = Run, NeedsApproval

    def ask(self, ask: _Ask[T], deadline: Optional[float] = None) -> T:
        seconds = self.seconds(deadline)
        request = self.engine.request(ask.method, ask.params)
        try:
            if not wait([request.answer], seconds).done:
                raise _late(ask.method, seconds)
        except BaseException:
            self.engine.abandon(request)
            raise
        return ask.read(request.answer.result())


class _Asyncio(_Link):
    run, question = AsyncRun, AsyncNeedsApproval

    async def ask(self, ask: _Ask[T], deadline: Optional[float] = None) -> T:
        seconds = self.seconds(deadline)
        request = self.engine.request(ask.method, ask.params)
        answer = asyncio.wrap_future(request.answer)
        try:
            done, _ = await asyncio.wait({answer}, timeout=seconds)
            if not done:
                raise _late(ask.method, seconds)
        except BaseException:
            self.engine.abandon(request)
            answer.add_done_callback(lambda late: late.cancelled() or late.exception())
            raise
        return ask.read(answer.result())


def _late(method: str, seconds: Optional[float]) -> DeadlineExceeded:
    return DeadlineExceeded("DEADLINE", f"{method} was not answered within {seconds} s")


class _Session:
    """What a session sends, and how it reads the answers."""

    def __init__(self, link: Any, opened: Data) -> None:
        self._link = link
        self.name: str = _Read(opened).text("session")
        self.id: str = _Read(opened).text("id")
        """The id that hooks see."""

    def _fire(self, event: str, data: Optional[Data], **more: Any) -> _Ask[Outcome]:
        return _Ask("session.fire", _params(session=self.name, event=event, data=data, **more), _outcome)

    def _begin(self, kind: Literal["tool", "model"], **given: Any) -> _Ask[Any]:
        params = _params(session=self.name, **given)
        return _Ask(f"{kind}.begin", params, lambda told: _begun(kind, told, self._link))

    def _start_turn(self, prompt: Optional[str]) -> _Ask[str]:
        params = _params(session=self.name, prompt=prompt)
        return _Ask("session.startTurn", params, lambda told: _Read(told).text("turnId"))

    def _end_turn(self, status: Optional[str]) -> _Ask[Json]:
        return _Ask("session.endTurn", _params(session=self.name, status=status), _as_it_is)

    def _child(self, agent_id: str, agent_type: Optional[str], cwd: Optional[str]) -> _Ask[Data]:
        params = _params(parent=self.name, agentId=agent_id, agentType=agent_type, cwd=cwd)
        return _Ask("session.open", params, _as_it_is)

    def _close(self) -> _Ask[Json]:
        return _Ask("session.close", {"session": self.name}, _as_it_is)


Asking = TypeVar("Asking")


def _log_message(message: Message) -> None:
    levels = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
    level = levels.get(message.get("level", "error"), logging.ERROR)
    _log.log(level, "%s: %s", message.get("source", "carabiner"), message.get("text", ""))


class _Client(Generic[Asking]):
    """What a client is told, and what it sends."""

    hello: Hello

    def __init__(
        self,
        project: Optional[str] = None,
        *,
        host: str = "python",
        approver: Optional[Asking] = None,
        on_message: Callable[[Message], None] = _log_message,
        on_wake: Optional[Callable[[Wake], None]] = None,
        settings: Optional[Data] = None,
        work_folders: Optional[Sequence[str]] = None,
        program: Sequence[str] = ("carabiner",),
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        deadline: Optional[float] = DEADLINE,
    ) -> None:
        self._approver = approver
        self._on: Dict[str, Any] = {"message": on_message, "wake": on_wake}
        self._command, self._env, self._deadline = [*program, "serve", "--stdio", *args], env, deadline
        folders = None if work_folders is None else list(work_folders)
        greeting = _params(
            version=PROTOCOL, host=host, projectDir=project, workFolders=folders, settings=settings,
            approves=True if approver else None,
        )
        self._greeting = _Ask("hello", greeting, _hello)
        self._begin()

    def _begin(self) -> None:
        """For a client that opens at once."""

    def _start(self) -> _Engine:
        return _Engine(self._command, self._env, self._ask if self._approver else None, self._tell)

    def _ask(self, number: int, asked: Asked) -> None:
        raise NotImplementedError

    def _tell(self, method: str, params: Data) -> None:
        raise NotImplementedError

    @staticmethod
    def _open_session(
        id: Optional[str], cwd: Optional[str], transcript_path: Optional[str], permission_mode: Optional[str],
        channel: Optional[str], chat_id: Optional[str],
    ) -> _Ask[Data]:
        params = _params(
            id=id, cwd=cwd, transcriptPath=transcript_path, permissionMode=permission_mode, channel=channel,
            chatId=chat_id,
        )
        return _Ask("session.open", params, _as_it_is)

    @staticmethod
    def _hooks(method: str, **params: Any) -> _Ask[Data]:
        return _Ask(f"hooks.{method}", _params(**params), _as_it_is)


# ---- for threads --------------------------------------------------------------------------------------------------


class Session(_Session):
    """One conversation of one agent. Any thread may use it. Close it, or use it as a context manager."""

    _link: _Threads

    def fire(
        self, event: str, data: Optional[Data] = None, *, timeout: Optional[float] = None,
        custom: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> Outcome:
        """Fires an event, such as UserPromptSubmit or Stop. `timeout` is for the hooks of each event, in seconds."""
        return self._link.ask(self._fire(event, data, timeout=timeout, custom=custom), deadline)

    def begin_tool(
        self, name: str, input: Data, *, id: Optional[str] = None, timeout: Optional[float] = None,
        renames: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> ToolBegun:
        """Fires PreToolUse. Run the tool only if the status is "run"."""
        ask = self._begin("tool", name=name, input=input, id=id, timeout=timeout, renames=renames)
        return cast(ToolBegun, self._link.ask(ask, deadline))

    def call_tool(
        self, name: str, input: Data, run: Callable[[Data], Json], *, id: Optional[str] = None,
        timeout: Optional[float] = None, deadline: Optional[float] = None,
    ) -> ToolCalled:
        """Runs the tool if hooks let it, with the input that they judged. Raises what `run` raises."""
        return self.resume_tool(self.begin_tool(name, input, id=id, timeout=timeout, deadline=deadline), run)

    def resume_tool(self, begun: ToolBegun, run: Callable[[Data], Json]) -> ToolCalled:
        """The second half of call_tool(): after an answer, for instance."""
        return begun._through(run) if begun.status == "run" else begun

    def begin_model(
        self, request: Data, *, timeout: Optional[float] = None, deadline: Optional[float] = None
    ) -> ModelBegun:
        """Fires ModelRequest. Ask the model only if the status is "run"."""
        return cast(ModelBegun, self._link.ask(self._begin("model", request=request, timeout=timeout), deadline))

    def call_model(
        self, request: Data, run: Callable[[Data], Json], *, timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> ModelCalled:
        """Asks the model if hooks let it, with the request that they judged. Raises what `run` raises."""
        begun = self.begin_model(request, timeout=timeout, deadline=deadline)
        return begun._through(run) if begun.status == "run" else begun

    def start_turn(self, prompt: Optional[str] = None) -> str:
        return self._link.ask(self._start_turn(prompt))

    def end_turn(self, status: Optional[Literal["completed", "error", "aborted"]] = None) -> None:
        self._link.ask(self._end_turn(status))

    def child(self, agent_id: str, agent_type: Optional[str] = None, cwd: Optional[str] = None) -> "Session":
        """The session of a subagent."""
        return Session(self._link, self._link.ask(self._child(agent_id, agent_type, cwd)))

    def close(self) -> None:
        """Calls that were not finished fail as interrupted."""
        self._link.ask(self._close())

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: object, error: Optional[BaseException], trace: object) -> None:
        is_known = error is not None or self._link.engine.is_end_known
        try:
            self.close()
        except EngineGone:
            if not is_known:
                raise


class Carabiner(_Client[Approver]):
    """The hooks of this machine, for threads. Use it as a context manager, or call close().

    approver    asks a person; it is called in a thread of its own
    on_message  shows a message to the user; without it, messages go to the logger "carabiner"
    on_wake     begins a turn with the message of a background hook
    settings    tighten the user's settings; they cannot loosen them
    program     how to start Carabiner
    args        for the command line, such as ["--plugin", "policies"]
    deadline    seconds that each request waits for its answer
    """

    def _begin(self) -> None:
        self._callbacks: "queue.SimpleQueue[Optional[Callable[[], None]]]" = queue.SimpleQueue()
        self._engine = self._start()
        self._link = _Threads(self._engine, self._deadline)
        threading.Thread(target=self._call_back, name="carabiner", daemon=True).start()
        try:
            self.hello = self._link.ask(self._greeting)
        except BaseException:
            self.close()
            raise

    def session(
        self, *, id: Optional[str] = None, cwd: Optional[str] = None, transcript_path: Optional[str] = None,
        permission_mode: Optional[str] = None, channel: Optional[str] = None, chat_id: Optional[str] = None,
    ) -> Session:
        ask = self._open_session(id, cwd, transcript_path, permission_mode, channel, chat_id)
        return Session(self._link, self._link.ask(ask))

    def list_hooks(self) -> Data:
        return self._link.ask(self._hooks("list"))

    def explain(self, event: str, data: Optional[Data] = None) -> Data:
        """Which hooks would run, and why the others would not. Runs nothing."""
        return self._link.ask(self._hooks("explain", event=event, data=data))

    def reload(self) -> Data:
        return self._link.ask(self._hooks("reload"))

    def close(self) -> None:
        """Requests in progress raise CLOSED, sessions close, hooks end."""
        self._engine.close()
        self._callbacks.put(None)

    def __enter__(self) -> "Carabiner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, number: int, asked: Asked) -> None:
        threading.Thread(target=self._answer, args=(number, asked), name="carabiner-approver", daemon=True).start()

    def _answer(self, number: int, asked: Asked) -> None:
        assert self._approver is not None
        try:
            reply = self._approver(asked)
        except BaseException as error:
            self._engine.reply(number, None, error)
        else:
            self._engine.reply(number, reply)

    def _tell(self, method: str, params: Data) -> None:
        on = self._on.get(method)
        if on is not None:
            self._callbacks.put(partial(on, params))

    def _call_back(self) -> None:
        while True:
            callback = self._callbacks.get()
            if callback is None:
                return
            try:
                callback()
            except Exception:
                _log.exception("A callback failed")


# ---- for asyncio --------------------------------------------------------------------------------------------------


class AsyncSession(_Session):
    """One conversation of one agent, for asyncio. A cancelled task stops the hooks that it waits for."""

    _link: _Asyncio

    async def fire(
        self, event: str, data: Optional[Data] = None, *, timeout: Optional[float] = None,
        custom: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> Outcome:
        return await self._link.ask(self._fire(event, data, timeout=timeout, custom=custom), deadline)

    async def begin_tool(
        self, name: str, input: Data, *, id: Optional[str] = None, timeout: Optional[float] = None,
        renames: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> AsyncToolBegun:
        ask = self._begin("tool", name=name, input=input, id=id, timeout=timeout, renames=renames)
        return cast(AsyncToolBegun, await self._link.ask(ask, deadline))

    async def call_tool(
        self, name: str, input: Data, run: Callable[[Data], Awaitable[Json]], *, id: Optional[str] = None,
        timeout: Optional[float] = None, deadline: Optional[float] = None,
    ) -> AsyncToolCalled:
        begun = await self.begin_tool(name, input, id=id, timeout=timeout, deadline=deadline)
        return await self.resume_tool(begun, run)

    async def resume_tool(self, begun: AsyncToolBegun, run: Callable[[Data], Awaitable[Json]]) -> AsyncToolCalled:
        return await begun._through(run) if begun.status == "run" else begun

    async def begin_model(
        self, request: Data, *, timeout: Optional[float] = None, deadline: Optional[float] = None
    ) -> AsyncModelBegun:
        ask = self._begin("model", request=request, timeout=timeout)
        return cast(AsyncModelBegun, await self._link.ask(ask, deadline))

    async def call_model(
        self, request: Data, run: Callable[[Data], Awaitable[Json]], *, timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> AsyncModelCalled:
        begun = await self.begin_model(request, timeout=timeout, deadline=deadline)
        return await begun._through(run) if begun.status == "run" else begun

    async def start_turn(self, prompt: Optional[str] = None) -> str:
        return await self._link.ask(self._start_turn(prompt))

    async def end_turn(self, status: Optional[Literal["completed", "error", "aborted"]] = None) -> None:
        await self._link.ask(self._end_turn(status))

    async def child(self, agent_id: str, agent_type: Optional[str] = None, cwd: Optional[str] = None) -> "AsyncSession":
        return AsyncSession(self._link, await self._link.ask(self._child(agent_id, agent_type, cwd)))

    async def close(self) -> None:
        await self._link.ask(self._close())

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, kind: object, error: Optional[BaseException], trace: object) -> None:
        is_known = error is not None or self._link.engine.is_end_known
        try:
            await self.close()
        except EngineGone:
            if not is_known:
                raise


class AsyncCarabiner(_Client[AsyncApprover]):
    """The hooks of this machine, for asyncio: `async with AsyncCarabiner() as carabiner`, or open() and close().
    The arguments are those of Carabiner; the approver is a coroutine function, and is cancelled when nobody waits."""

    _engine: Optional[_Engine] = None

    async def open(self) -> "AsyncCarabiner":
        self._loop = asyncio.get_running_loop()
        self._asking: Dict[int, "asyncio.Task[None]"] = {}
        self._engine = self._start()
        self._link = _Asyncio(self._engine, self._deadline)
        try:
            self.hello = await self._link.ask(self._greeting)
        except BaseException:
            await self.close()
            raise
        return self

    async def session(
        self, *, id: Optional[str] = None, cwd: Optional[str] = None, transcript_path: Optional[str] = None,
        permission_mode: Optional[str] = None, channel: Optional[str] = None, chat_id: Optional[str] = None,
    ) -> AsyncSession:
        ask = self._open_session(id, cwd, transcript_path, permission_mode, channel, chat_id)
        return AsyncSession(self._link, await self._link.ask(ask))

    async def list_hooks(self) -> Data:
        return await self._link.ask(self._hooks("list"))

    async def explain(self, event: str, data: Optional[Data] = None) -> Data:
        return await self._link.ask(self._hooks("explain", event=event, data=data))

    async def reload(self) -> Data:
        return await self._link.ask(self._hooks("reload"))

    async def close(self) -> None:
        if self._engine:
            await asyncio.get_running_loop().run_in_executor(None, self._engine.close)

    async def __aenter__(self) -> "AsyncCarabiner":
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Called by the thread that reads.

    def _ask(self, number: int, asked: Asked) -> None:
        def start() -> None:
            self._asking[number] = self._loop.create_task(self._answer(number, asked))

        self._on_loop(start)

    async def _answer(self, number: int, asked: Asked) -> None:
        assert self._approver is not None and self._engine is not None
        try:
            reply = await self._approver(asked)
        except BaseException as error:
            self._engine.reply(number, None, error)
            if not isinstance(error, Exception):
                raise
        else:
            self._engine.reply(number, reply)
        finally:
            self._asking.pop(number, None)

    def _tell(self, method: str, params: Data) -> None:
        if method == "withdrawn":
            self._on_loop(lambda: self._withdraw(params["id"]))
            return
        on = self._on.get(method)
        if on is not None:
            self._on_loop(partial(on, params))

    def _withdraw(self, number: int) -> None:
        task = self._asking.pop(number, None)
        if task:
            task.cancel()

    def _on_loop(self, work: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:
            pass  # the loop has ended
