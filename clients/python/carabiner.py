"""Carabiner for agents in Python: the hooks of this machine around the tool calls and model calls of your agent.

Copy this file into your project. It needs Python 3.9 and the `carabiner` program, and nothing else. It starts
`carabiner serve --stdio` and speaks its protocol. `Carabiner` is for threads, `AsyncCarabiner` for asyncio; `Hooks` and
`mount` have the form of Amplifier's hook module.

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
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import asdict, dataclass, field, fields, replace
from types import TracebackType
from typing import (
    Any,
    Awaitable,
    Callable,
    Dict,
    Generic,
    List,
    Literal,
    Mapping,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
    Type,
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


class Injection(TypedDict, total=False):
    text: str
    role: Literal["system", "user", "assistant"]
    ephemeral: bool
    source: str
    appendToLastToolResult: bool


class Message(TypedDict, total=False):
    """A message for the user."""

    text: str
    level: Literal["info", "warning", "error"]
    source: str


class Ask(TypedDict, total=False):
    hook: str
    prompt: str
    reason: str


class Question(TypedDict, total=False):
    id: str
    event: str
    session: str
    call: Data
    asks: List[Ask]
    options: List[str]
    timeout: float
    default: Literal["allow", "deny"]
    expires: str


class Outcome(TypedDict, total=False):
    """What the hooks decided. Only the action "continue" lets an operation go on."""

    action: str
    reason: str
    permission: str
    data: Data
    modified: bool
    injections: List[Injection]
    messages: List[Message]
    response: Json
    host: Data
    approval: Data
    hooks: List[Data]
    diagnostics: List[Data]


class WakeMessage(TypedDict, total=False):
    role: str
    content: str
    metadata: Data


class Wake(TypedDict, total=False):
    """A background hook found something that cannot wait: begin a turn with the message."""

    session: str
    message: WakeMessage


class Hello(TypedDict, total=False):
    version: int
    carabiner: str
    projectDir: str
    hooks: int
    untrusted: List[Data]
    diagnostics: List[Data]


class Answer(TypedDict, total=False):
    """What a person chose, with more than the option."""

    option: str
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
    method: str
    answer: "Future[Json]"
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
            hint = "Install it with `npm install -g carabiner`, or name it with `program`."
            raise EngineGone("ENGINE_MISSING", f"{command[0]} cannot be started: {error}", hint) from error
        for work in (self._write, self._read, self._watch):
            threading.Thread(target=work, name="carabiner", daemon=True).start()

    def request(self, method: str, params: Data) -> _Request:
        if os.getpid() != self._owner:  # its threads are not in a fork, and its lock may be held for ever
            raise CarabinerError("CLOSED", "The client belongs to another process. Start one after the fork.")
        request = _Request(method, Future())
        request.answer.set_running_or_notify_cancel()  # asyncio must not cancel what the reader answers
        with self._lock:
            if self._end:
                raise self._gone(self._end)
            number = next(self._ids)
            line = _line({"id": number, "method": method, "params": params})
            self._waiting[number] = request
        self._lines.put(line)
        return request

    def abandon(self, request: _Request) -> None:
        """Nobody waits any more: its hooks end, and what it still begins is ended."""
        with self._lock:
            request.abandoned = True
            number = next((key for key, value in self._waiting.items() if value is request), None)
        if number is not None:
            self._lines.put(_line({"method": "cancel", "params": {"id": number}}))

    def reply(self, number: int, result: Optional[Reply], error: Optional[BaseException] = None) -> None:
        if self._questions.pop(number, None) is None:
            return  # nobody waits for it any more
        try:
            told = {"unanswered": "The host has no answer"} if result is None else result
            line = _line({"id": number, "result": told})
        except (TypeError, ValueError) as unsendable:
            error = unsendable
        if error is not None:
            line = _line({"id": number, "error": {"code": -32000, "message": f"The approver failed: {error!r}"}})
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
            message = json.loads(line)
        except ValueError as error:
            raise _invalid("a line that is not JSON") from error
        if not isinstance(message, dict):
            raise _invalid("a line that is not an object")
        if "method" in message:
            self._told(message)
        elif _is_id(message.get("id")):
            self._answered(message["id"], message)
        else:
            raise _invalid(str(message.get("error", "an answer without an id")))

    def _answered(self, number: int, message: Data) -> None:
        with self._lock:
            request = self._waiting.pop(number, None)
        if request is None:
            return
        if "error" in message:
            request.answer.set_exception(_error(message["error"]))
            return
        result = message.get("result")
        if request.abandoned:
            self._end_late(request.method, result)
        request.answer.set_result(result)

    def _end_late(self, method: str, result: Json) -> None:
        """A call that began although nobody waits has to end, too."""
        if not method.endswith((".begin", ".answer")) or not isinstance(result, dict) or result.get("status") != "run":
            return
        kind = method.split(".")[0]
        try:
            self.request(f"{kind}.fail", {"call": result.get("call"), "error": "The host no longer waits for it"})
        except CarabinerError:
            pass  # the engine is gone, and ends every call itself

    def _told(self, message: Data) -> None:
        method, number = message["method"], message.get("id")
        params: Data = message.get("params") or {}
        if method == "approve" and _is_id(number) and self._ask:
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

    @staticmethod
    def _gone(error: CarabinerError) -> CarabinerError:
        """A new one for each request: a traceback belongs to one raise."""
        return type(error)(error.code, str(error), error.hint, error.data)


def _is_id(value: Json) -> bool:
    return type(value) is int  # True would be 1


def _line(message: Data) -> bytes:
    # ASCII, so that a lone surrogate can be sent.
    return json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _params(**given: Any) -> Data:
    return {key: value for key, value in given.items() if value is not None}


# ---- calls --------------------------------------------------------------------------------------------------------


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
class ToolRun:
    """Run the tool with exactly this input, then call finish() or fail()."""

    name: str
    input: Data
    call: str
    outcome: Outcome
    _link: "_Link" = field(repr=False, compare=False)
    status: Literal["run"] = "run"

    def finish(self, result: Json) -> Finished:
        return _finished(self._link.wait("tool.finish", {"call": self.call, "result": result}), result)

    def fail(self, error: Union[str, BaseException]) -> Finished:
        return _finished(self._link.wait("tool.fail", {"call": self.call, "error": _text(error)}), None)


@dataclass(frozen=True)
class ModelRun:
    """Ask the model with exactly this request, then call finish() or fail()."""

    request: Data
    held: bool
    """A hook may still refuse the response: show none of it before finish() returns."""
    call: str
    outcome: Outcome
    _link: "_Link" = field(repr=False, compare=False)
    status: Literal["run"] = "run"

    def finish(self, response: Json) -> "ModelEnded":
        answer = self._link.wait("model.finish", {"call": self.call, "response": response})
        return _model_ended(answer, response, self._link)

    def fail(self, error: Union[str, BaseException]) -> Finished:
        return _finished(self._link.wait("model.fail", {"call": self.call, "error": _text(error)}), None)


@dataclass(frozen=True)
class ToolNeedsApproval:
    """Ask a person, and call answer() with one of the options. The hooks do not run again."""

    reason: str
    question: Question
    call: str
    outcome: Outcome
    _link: "_Link" = field(repr=False, compare=False)
    status: Literal["needs_approval"] = "needs_approval"

    @property
    def for_model(self) -> Json:
        """What the model reads as the result of the call."""
        return self.reason

    def answer(self, reply: Reply) -> "ToolBegun":
        params = {"call": self.call, "question": self.question["id"], "reply": reply}
        return _tool_begun(self._link.wait("tool.answer", params), self._link)


@dataclass(frozen=True)
class ModelNeedsApproval:
    """The same, about a request or a response of the model."""

    reason: str
    question: Question
    call: str
    outcome: Outcome
    _link: "_Link" = field(repr=False, compare=False)
    _response: Json = field(repr=False, compare=False)
    status: Literal["needs_approval"] = "needs_approval"

    @property
    def for_model(self) -> Json:
        """What the model reads as the result of the call."""
        return self.reason

    def answer(self, reply: Reply) -> "Union[ModelBegun, ModelEnded]":
        params = {"call": self.call, "question": self.question["id"], "reply": reply}
        return _model_answered(self._link.wait("model.answer", params), self._response, self._link)


ToolBegun = Union[ToolRun, Responded, Denied, ToolNeedsApproval]
ModelBegun = Union[ModelRun, Responded, Denied, ModelNeedsApproval]
ModelEnded = Union[Finished, Denied, ModelNeedsApproval]
ToolCalled = Union[Finished, Responded, Denied, ToolNeedsApproval]
ModelCalled = Union[Finished, Responded, Denied, ModelNeedsApproval]


class _Read:
    """An answer of the engine. What is missing or of the wrong type is an error, and so never an allow."""

    def __init__(self, answer: Json) -> None:
        if not isinstance(answer, dict):
            raise _invalid("an answer that is not an object")
        self.answer: Data = answer
        self.status = self.text("status")

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

    def unknown(self) -> NoReturn:
        raise _invalid(f"the status {self.status!r}")


def _tool_begun(answer: Json, link: "_Link") -> ToolBegun:
    read = _Read(answer)
    if read.status == "run":
        return ToolRun(read.text("name"), read.object("input"), read.text("call"), read.object("outcome"), link)
    if read.status == "responded":
        return Responded(read.value("result"), read.object("outcome"))
    if read.status == "denied":
        return Denied(read.text("reason"), read.object("outcome"))
    if read.status == "needs_approval":
        question = read.object("question")
        return ToolNeedsApproval(read.text("reason"), question, read.text("call"), read.object("outcome"), link)
    read.unknown()


def _model_begun(answer: Json, link: "_Link") -> ModelBegun:
    read = _Read(answer)
    if read.status == "run":
        held = read.answer.get("held") is not False
        return ModelRun(read.object("request"), held, read.text("call"), read.object("outcome"), link)
    if read.status == "responded":
        return Responded(read.value("response"), read.object("outcome"))
    if read.status == "denied":
        return Denied(read.text("reason"), read.object("outcome"))
    if read.status == "needs_approval":
        return _model_question(read, None, link)
    read.unknown()


def _model_question(read: _Read, response: Json, link: "_Link") -> ModelNeedsApproval:
    question, outcome = read.object("question"), read.object("outcome")
    return ModelNeedsApproval(read.text("reason"), question, read.text("call"), outcome, link, response)


def _finished(answer: Json, given: Json, key: str = "result") -> Finished:
    read = _Read(answer)
    outcome = read.object("outcome")
    after = read.object("after") if "after" in read.answer else outcome
    if read.status == "ok":
        return Finished("ok", read.answer.get(key, given), "", outcome, after)
    if read.status == "responded":
        return Finished("responded", read.value(key), "", outcome, after)
    if read.status == "failed":
        return Finished("failed", None, read.text("reason"), outcome, after)
    read.unknown()


def _model_ended(answer: Json, given: Json, link: "_Link") -> ModelEnded:
    read = _Read(answer)
    if read.status == "denied":
        return Denied(read.text("reason"), read.object("outcome"))
    if read.status == "needs_approval":
        return _model_question(read, given, link)
    return _finished(answer, given, "response")


def _model_answered(answer: Json, given: Json, link: "_Link") -> Union[ModelBegun, ModelEnded]:
    return _model_ended(answer, given, link) if "after" in _Read(answer).answer else _model_begun(answer, link)


def _text(error: Union[str, BaseException]) -> str:
    return error if isinstance(error, str) else f"{type(error).__name__}: {error}"


# ---- for threads --------------------------------------------------------------------------------------------------


class _Link:
    """Sends a request and waits. Any thread may use it."""

    def __init__(self, engine: _Engine, deadline: Optional[float]) -> None:
        self.engine, self.deadline = engine, deadline

    def wait(self, method: str, params: Data, deadline: Optional[float] = None) -> Json:
        seconds = self.deadline if deadline is None else deadline
        request = self.engine.request(method, params)
        try:
            return request.answer.result(seconds)
        except FutureTimeout as error:
            if request.answer.done():
                raise
            self.engine.abandon(request)
            raise _late(method, seconds) from error
        except BaseException:
            self.engine.abandon(request)
            raise


def _late(method: str, seconds: Optional[float]) -> DeadlineExceeded:
    return DeadlineExceeded("DEADLINE", f"{method} was not answered within {seconds} s")


def _hello(answer: Json) -> Hello:
    if not isinstance(answer, dict) or answer.get("version") != PROTOCOL:
        raise _invalid("another version of the protocol")
    return cast(Hello, answer)


def _log_message(message: Message) -> None:
    levels = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
    level = levels.get(message.get("level", "error"), logging.ERROR)
    _log.log(level, "%s: %s", message.get("source", "carabiner"), message.get("text", ""))


class Session:
    """One conversation of one agent. Any thread may use it. Close it, or use it as a context manager."""

    def __init__(self, link: _Link, name: str, id: str) -> None:
        self._link = link
        self.name = name
        self.id = id
        """The id that hooks see."""

    def fire(
        self, event: str, data: Optional[Data] = None, *, timeout: Optional[float] = None,
        custom: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> Outcome:
        """Fires an event, such as UserPromptSubmit or Stop. `timeout` is for the hooks of each event, in seconds."""
        params = _params(session=self.name, event=event, data=data, timeout=timeout, custom=custom)
        return _outcome(self._link.wait("session.fire", params, deadline))

    def begin_tool(
        self, name: str, input: Data, *, id: Optional[str] = None, timeout: Optional[float] = None,
        renames: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> ToolBegun:
        """Fires PreToolUse. Run the tool only if the status is "run"."""
        params = _params(session=self.name, name=name, input=input, id=id, timeout=timeout, renames=renames)
        return _tool_begun(self._link.wait("tool.begin", params, deadline), self._link)

    def call_tool(
        self, name: str, input: Data, run: Callable[[Data], Json], *, id: Optional[str] = None,
        timeout: Optional[float] = None, deadline: Optional[float] = None,
    ) -> ToolCalled:
        """Runs the tool if hooks let it, with the input that they judged. Raises what `run` raises."""
        begun = self.begin_tool(name, input, id=id, timeout=timeout, deadline=deadline)
        return self.resume_tool(begun, run)

    def resume_tool(self, begun: ToolBegun, run: Callable[[Data], Json]) -> ToolCalled:
        """The second half of call_tool(): after an answer, for instance."""
        if begun.status != "run":
            return begun
        try:
            result = run(begun.input)
            json.dumps(result, allow_nan=False)
        except BaseException as error:
            begun.fail(error)
            raise
        return begun.finish(result)

    def begin_model(
        self, request: Data, *, timeout: Optional[float] = None, deadline: Optional[float] = None
    ) -> ModelBegun:
        """Fires ModelRequest. Ask the model only if the status is "run"."""
        params = _params(session=self.name, request=request, timeout=timeout)
        return _model_begun(self._link.wait("model.begin", params, deadline), self._link)

    def call_model(
        self, request: Data, run: Callable[[Data], Json], *, timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> ModelCalled:
        """Asks the model if hooks let it, with the request that they judged. Raises what `run` raises."""
        begun = self.begin_model(request, timeout=timeout, deadline=deadline)
        if begun.status != "run":
            return begun
        try:
            response = run(begun.request)
            json.dumps(response, allow_nan=False)
        except BaseException as error:
            begun.fail(error)
            raise
        return begun.finish(response)

    def start_turn(self, prompt: Optional[str] = None) -> str:
        return _text_of(self._link.wait("session.startTurn", _params(session=self.name, prompt=prompt)), "turnId")

    def end_turn(self, status: Optional[Literal["completed", "error", "aborted"]] = None) -> None:
        self._link.wait("session.endTurn", _params(session=self.name, status=status))

    def child(self, agent_id: str, agent_type: Optional[str] = None, cwd: Optional[str] = None) -> "Session":
        """The session of a subagent."""
        params = _params(parent=self.name, agentId=agent_id, agentType=agent_type, cwd=cwd)
        answer = self._link.wait("session.open", params)
        return Session(self._link, _text_of(answer, "session"), _text_of(answer, "id"))

    def close(self) -> None:
        """Calls that were not finished fail as interrupted."""
        self._link.wait("session.close", {"session": self.name})

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.close()
        except EngineGone:
            if error is None:
                raise


class Carabiner:
    """The hooks of this machine, for threads. Use it as a context manager, or call close().

    approver    asks a person; it is called in a thread of its own
    on_message  shows a message to the user; without it, messages go to the logger "carabiner"
    on_wake     begins a turn with the message of a background hook
    settings    tighten the user's settings; they cannot loosen them
    program     how to start Carabiner
    args        for the command line, such as ["--plugin", "policies"]
    deadline    seconds that each request waits for its answer
    """

    def __init__(
        self,
        project: Optional[str] = None,
        *,
        host: str = "python",
        approver: Optional[Approver] = None,
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
        self._callbacks: "queue.SimpleQueue[Optional[Callable[[], None]]]" = queue.SimpleQueue()
        self._on = {"message": on_message, "wake": on_wake}
        self._engine = _Engine(
            [*program, "serve", "--stdio", *args], env, self._ask if approver else None, self._tell
        )
        self._link = _Link(self._engine, deadline)
        threading.Thread(target=self._call_back, name="carabiner", daemon=True).start()
        try:
            folders = None if work_folders is None else list(work_folders)
            self.hello = _hello(self._link.wait("hello", _greeting(project, host, approver, settings, folders)))
        except BaseException:
            self.close()
            raise

    def session(
        self, *, id: Optional[str] = None, cwd: Optional[str] = None, transcript_path: Optional[str] = None,
        permission_mode: Optional[str] = None, channel: Optional[str] = None, chat_id: Optional[str] = None,
    ) -> Session:
        params = _params(
            id=id, cwd=cwd, transcriptPath=transcript_path, permissionMode=permission_mode, channel=channel,
            chatId=chat_id,
        )
        answer = self._link.wait("session.open", params)
        return Session(self._link, _text_of(answer, "session"), _text_of(answer, "id"))

    def list_hooks(self) -> Data:
        return cast(Data, self._link.wait("hooks.list", {}))

    def explain(self, event: str, data: Optional[Data] = None) -> Data:
        """Which hooks would run, and why the others would not. Runs nothing."""
        return cast(Data, self._link.wait("hooks.explain", _params(event=event, data=data)))

    def reload(self) -> Data:
        return cast(Data, self._link.wait("hooks.reload", {}))

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
            self._callbacks.put(lambda: cast(Any, on)(params))

    def _call_back(self) -> None:
        while True:
            callback = self._callbacks.get()
            if callback is None:
                return
            try:
                callback()
            except Exception:
                _log.exception("A callback failed")


def _greeting(
    project: Optional[str], host: str, approver: object, settings: Optional[Data], folders: Optional[List[str]]
) -> Data:
    approves = True if approver else None
    return _params(
        version=PROTOCOL, host=host, projectDir=project, workFolders=folders, settings=settings, approves=approves
    )


def _text_of(answer: Json, key: str) -> str:
    value = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(value, str):
        raise _invalid(f"{key} is not a text")
    return value


def _outcome(answer: Json) -> Outcome:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    if not isinstance(outcome, dict) or not isinstance(outcome.get("action"), str):
        raise _invalid("outcome has no action")
    return cast(Outcome, outcome)


# ---- for asyncio --------------------------------------------------------------------------------------------------

Began = TypeVar("Began")


class _AsyncLink:
    def __init__(self, engine: _Engine, deadline: Optional[float]) -> None:
        self.engine, self.deadline = engine, deadline
        self.threads = _Link(engine, deadline)

    async def wait(self, method: str, params: Data, deadline: Optional[float] = None) -> Json:
        seconds = self.deadline if deadline is None else deadline
        request = self.engine.request(method, params)
        answer = asyncio.wrap_future(request.answer)
        try:
            done, _ = await asyncio.wait({answer}, timeout=seconds)
        except BaseException:
            self.engine.abandon(request)
            raise
        if not done:
            self.engine.abandon(request)
            answer.add_done_callback(lambda late: late.cancelled() or late.exception())
            raise _late(method, seconds)
        return answer.result()


@dataclass(frozen=True)
class AsyncToolRun:
    """Run the tool with exactly this input, then await finish() or fail()."""

    name: str
    input: Data
    call: str
    outcome: Outcome
    _link: _AsyncLink = field(repr=False, compare=False)
    status: Literal["run"] = "run"

    async def finish(self, result: Json) -> Finished:
        return _finished(await self._link.wait("tool.finish", {"call": self.call, "result": result}), result)

    async def fail(self, error: Union[str, BaseException]) -> Finished:
        return _finished(await self._link.wait("tool.fail", {"call": self.call, "error": _text(error)}), None)


@dataclass(frozen=True)
class AsyncModelRun:
    """Ask the model with exactly this request, then await finish() or fail()."""

    request: Data
    held: bool
    call: str
    outcome: Outcome
    _link: _AsyncLink = field(repr=False, compare=False)
    status: Literal["run"] = "run"

    async def finish(self, response: Json) -> "AsyncModelEnded":
        answer = await self._link.wait("model.finish", {"call": self.call, "response": response})
        return _async_model_ended(_model_ended(answer, response, self._link.threads), self._link)

    async def fail(self, error: Union[str, BaseException]) -> Finished:
        return _finished(await self._link.wait("model.fail", {"call": self.call, "error": _text(error)}), None)


@dataclass(frozen=True)
class AsyncNeedsApproval(Generic[Began]):
    """Ask a person, and await answer() with one of the options. The hooks do not run again."""

    reason: str
    question: Question
    call: str
    outcome: Outcome
    _answer: Callable[[Reply], Awaitable[Began]] = field(repr=False, compare=False)
    status: Literal["needs_approval"] = "needs_approval"

    @property
    def for_model(self) -> Json:
        """What the model reads as the result of the call."""
        return self.reason

    async def answer(self, reply: Reply) -> Began:
        return await self._answer(reply)


AsyncToolBegun = Union[AsyncToolRun, Responded, Denied, "AsyncNeedsApproval[Any]"]
AsyncModelBegun = Union[AsyncModelRun, Responded, Denied, "AsyncNeedsApproval[Any]"]
AsyncModelEnded = Union[Finished, Denied, "AsyncNeedsApproval[Any]"]
AsyncCalled = Union[Finished, Responded, Denied, "AsyncNeedsApproval[Any]"]


def _async_tool(begun: ToolBegun, link: _AsyncLink) -> AsyncToolBegun:
    if isinstance(begun, ToolRun):
        return AsyncToolRun(begun.name, begun.input, begun.call, begun.outcome, link)
    if isinstance(begun, ToolNeedsApproval):
        asked = begun

        async def answer(reply: Reply) -> AsyncToolBegun:
            params = {"call": asked.call, "question": asked.question["id"], "reply": reply}
            return _async_tool(_tool_begun(await link.wait("tool.answer", params), link.threads), link)

        return AsyncNeedsApproval(asked.reason, asked.question, asked.call, asked.outcome, answer)
    return begun


def _async_model(begun: ModelBegun, link: _AsyncLink) -> AsyncModelBegun:
    if isinstance(begun, ModelRun):
        return AsyncModelRun(begun.request, begun.held, begun.call, begun.outcome, link)
    return _async_model_question(begun, link) if isinstance(begun, ModelNeedsApproval) else begun


def _async_model_ended(ended: ModelEnded, link: _AsyncLink) -> AsyncModelEnded:
    return _async_model_question(ended, link) if isinstance(ended, ModelNeedsApproval) else ended


def _async_model_question(asked: ModelNeedsApproval, link: _AsyncLink) -> "AsyncNeedsApproval[Any]":
    async def answer(reply: Reply) -> Union[AsyncModelBegun, AsyncModelEnded]:
        params = {"call": asked.call, "question": asked.question["id"], "reply": reply}
        told = await link.wait("model.answer", params)
        if "after" in _Read(told).answer:
            return _async_model_ended(_model_ended(told, asked._response, link.threads), link)
        return _async_model(_model_begun(told, link.threads), link)

    return AsyncNeedsApproval(asked.reason, asked.question, asked.call, asked.outcome, answer)


class AsyncSession:
    """One conversation of one agent, for asyncio. A cancelled task stops the hooks that it waits for."""

    def __init__(self, link: _AsyncLink, name: str, id: str) -> None:
        self._link = link
        self.name = name
        self.id = id

    async def fire(
        self, event: str, data: Optional[Data] = None, *, timeout: Optional[float] = None,
        custom: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> Outcome:
        params = _params(session=self.name, event=event, data=data, timeout=timeout, custom=custom)
        return _outcome(await self._link.wait("session.fire", params, deadline))

    async def begin_tool(
        self, name: str, input: Data, *, id: Optional[str] = None, timeout: Optional[float] = None,
        renames: Optional[bool] = None, deadline: Optional[float] = None,
    ) -> AsyncToolBegun:
        params = _params(session=self.name, name=name, input=input, id=id, timeout=timeout, renames=renames)
        answer = await self._link.wait("tool.begin", params, deadline)
        return _async_tool(_tool_begun(answer, self._link.threads), self._link)

    async def call_tool(
        self, name: str, input: Data, run: Callable[[Data], Awaitable[Json]], *, id: Optional[str] = None,
        timeout: Optional[float] = None, deadline: Optional[float] = None,
    ) -> AsyncCalled:
        begun = await self.begin_tool(name, input, id=id, timeout=timeout, deadline=deadline)
        return await self.resume_tool(begun, run)

    async def resume_tool(self, begun: AsyncToolBegun, run: Callable[[Data], Awaitable[Json]]) -> AsyncCalled:
        if not isinstance(begun, AsyncToolRun):
            return begun
        try:
            result = await run(begun.input)
            json.dumps(result, allow_nan=False)
        except BaseException as error:
            await begun.fail(error)
            raise
        return await begun.finish(result)

    async def begin_model(
        self, request: Data, *, timeout: Optional[float] = None, deadline: Optional[float] = None
    ) -> AsyncModelBegun:
        params = _params(session=self.name, request=request, timeout=timeout)
        answer = await self._link.wait("model.begin", params, deadline)
        return _async_model(_model_begun(answer, self._link.threads), self._link)

    async def call_model(
        self, request: Data, run: Callable[[Data], Awaitable[Json]], *, timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> AsyncCalled:
        begun = await self.begin_model(request, timeout=timeout, deadline=deadline)
        if not isinstance(begun, AsyncModelRun):
            return begun
        try:
            response = await run(begun.request)
            json.dumps(response, allow_nan=False)
        except BaseException as error:
            await begun.fail(error)
            raise
        return await begun.finish(response)

    async def start_turn(self, prompt: Optional[str] = None) -> str:
        answer = await self._link.wait("session.startTurn", _params(session=self.name, prompt=prompt))
        return _text_of(answer, "turnId")

    async def end_turn(self, status: Optional[Literal["completed", "error", "aborted"]] = None) -> None:
        await self._link.wait("session.endTurn", _params(session=self.name, status=status))

    async def child(self, agent_id: str, agent_type: Optional[str] = None, cwd: Optional[str] = None) -> "AsyncSession":
        params = _params(parent=self.name, agentId=agent_id, agentType=agent_type, cwd=cwd)
        answer = await self._link.wait("session.open", params)
        return AsyncSession(self._link, _text_of(answer, "session"), _text_of(answer, "id"))

    async def close(self) -> None:
        await self._link.wait("session.close", {"session": self.name})

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            await self.close()
        except EngineGone:
            if error is None:
                raise


class AsyncCarabiner:
    """The hooks of this machine, for asyncio: `async with AsyncCarabiner() as carabiner`, or open() and close().
    The arguments are those of Carabiner; the approver is a coroutine function, and is cancelled when nobody waits."""

    hello: Hello

    def __init__(
        self,
        project: Optional[str] = None,
        *,
        host: str = "python",
        approver: Optional[AsyncApprover] = None,
        on_message: Callable[[Message], None] = _log_message,
        on_wake: Optional[Callable[[Wake], None]] = None,
        settings: Optional[Data] = None,
        work_folders: Optional[Sequence[str]] = None,
        program: Sequence[str] = ("carabiner",),
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        deadline: Optional[float] = DEADLINE,
    ) -> None:
        folders = None if work_folders is None else list(work_folders)
        self._greeting = _greeting(project, host, approver, settings, folders)
        self._command, self._env, self._deadline = [*program, "serve", "--stdio", *args], env, deadline
        self._approver = approver
        self._on = {"message": on_message, "wake": on_wake}
        self._asking: Dict[int, "asyncio.Task[None]"] = {}
        self._engine: Optional[_Engine] = None

    async def open(self) -> "AsyncCarabiner":
        self._loop = asyncio.get_running_loop()
        self._engine = _Engine(self._command, self._env, self._ask if self._approver else None, self._tell)
        self._link = _AsyncLink(self._engine, self._deadline)
        try:
            self.hello = _hello(await self._link.wait("hello", self._greeting))
        except BaseException:
            await self.close()
            raise
        return self

    async def session(
        self, *, id: Optional[str] = None, cwd: Optional[str] = None, transcript_path: Optional[str] = None,
        permission_mode: Optional[str] = None, channel: Optional[str] = None, chat_id: Optional[str] = None,
    ) -> AsyncSession:
        params = _params(
            id=id, cwd=cwd, transcriptPath=transcript_path, permissionMode=permission_mode, channel=channel,
            chatId=chat_id,
        )
        answer = await self._link.wait("session.open", params)
        return AsyncSession(self._link, _text_of(answer, "session"), _text_of(answer, "id"))

    async def list_hooks(self) -> Data:
        return cast(Data, await self._link.wait("hooks.list", {}))

    async def explain(self, event: str, data: Optional[Data] = None) -> Data:
        return cast(Data, await self._link.wait("hooks.explain", _params(event=event, data=data)))

    async def reload(self) -> Data:
        return cast(Data, await self._link.wait("hooks.reload", {}))

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
            self._on_loop(lambda: cast(Any, on)(params))

    def _withdraw(self, number: int) -> None:
        task = self._asking.pop(number, None)
        if task:
            task.cancel()

    def _on_loop(self, work: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:
            pass  # the loop has ended


# ---- Amplifier ----------------------------------------------------------------------------------------------------


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


@dataclass
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
                return HookResult("deny", reason=f"The hook {known.name} failed: {_text(error)}")
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
        return HookResult("deny", reason=f"Hooks could not judge this: {_text(error)}", user_message=str(error),
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
        question = cast(Question, outcome["approval"]["question"])
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
    merged = HookResult(**asdict(first))
    changes = [one.data for one in results if one.data is not None]
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
    given = dict(config or {})
    events = given.pop("events", AMPLIFIER_EVENTS)
    client = await AsyncCarabiner(**{"host": "amplifier", **given}).open()
    try:
        session = await client.session(id=getattr(coordinator, "session_id", None))
        asks = await _can_ask(coordinator.hooks)
        late: List[HookResult] = []

        async def handler(event: str, data: Data) -> Any:
            return _for_amplifier(_one_action(event, await judge(session, event, data), asks, late))

        off = [coordinator.hooks.register(event, handler, priority=1000, name="carabiner") for event in events]
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


_CARRIES_CONTEXT = ("prompt:submit", "provider:request", "tool:pre", "tool:post")


def _for_amplifier(result: HookResult) -> Any:
    """Amplifier ignores a result that is not of its own class, and an ignored deny would be an allow."""
    try:
        from amplifier_core.models import HookResult as Theirs  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return result
    try:
        return Theirs(**asdict(result))
    except Exception as error:  # Amplifier would log it, and go on
        return Theirs(action="deny", reason=f"The result of the hooks is not one of Amplifier's: {_text(error)}")
