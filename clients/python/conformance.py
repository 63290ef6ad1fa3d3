"""Plays cases of clients/conformance: each line of standard input is the file of a case, and is answered with a line that
says what each step came to. `asyncio` as the argument plays them with AsyncCarabiner."""

import asyncio
import inspect
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import carabiner as c

is_async = sys.argv[1:] == ["asyncio"]


class Seen:
    """What callbacks were told. A step may wait for a number of them."""

    def __init__(self):
        self.lists, self.changed = {}, threading.Condition()

    def add(self, kind, value):
        with self.changed:
            self.lists.setdefault(kind, []).append(value)
            self.changed.notify_all()

    def wait(self, kind, count):
        with self.changed:
            self.changed.wait_for(lambda: len(self.lists.get(kind, [])) >= count)
            return self.lists.get(kind, [])


class Game:
    """A case, and what its callbacks were told."""

    def __init__(self, case):
        self.case, self.seen, self.how = case, Seen(), case.get("approver")
        self.options = {
            "program": case["program"],
            "deadline": case.get("deadline", 60),
            "on_message": lambda message: self.seen.add("messages", message["text"]),
            "on_wake": lambda wake: self.seen.add("wakes", wake["message"]["content"]),
        }
        if self.how:
            self.options["approver"] = self.async_approver if is_async else self.approver

    def reply(self, asked):
        self.seen.add("asked", asked.prompt)
        if self.how.get("fails"):
            raise RuntimeError("no terminal")
        return None if self.how.get("unanswered") else self.how["reply"]

    def approver(self, asked):
        if self.how.get("waits"):
            self.seen.add("asked", asked.prompt)
            asked.withdrawn.wait()
            self.seen.add("withdrawn", 1)
            return None
        return self.reply(asked)

    async def async_approver(self, asked):
        if not self.how.get("waits"):
            return self.reply(asked)
        self.seen.add("asked", asked.prompt)
        try:
            await asyncio.Event().wait()
        finally:
            self.seen.add("withdrawn", 1)

    async def opened(self):
        return await c.AsyncCarabiner(**self.options).open() if is_async else c.Carabiner(**self.options)

    async def reopen(self):
        client = await self.opened()
        await got((await got(client.session())).close())
        await got(client.close())

    async def play(self):
        try:
            client = await self.opened()
        except c.CarabinerError as error:
            return {"open": error.code}
        player = Player(self, client, await got(client.session()))
        results = [await player.play(step) for step in self.case["steps"]]
        await got(client.close())
        return results


def shown(value):
    status = value.status
    if status == "run" and value.kind == "tool":
        return {"status": status, "name": value.name, "input": value.input}
    if status == "run":
        return {"status": status, "request": value.request, "held": value.held}
    if status == "needs_approval":
        question = value.question
        told = {"prompt": question["asks"][0]["prompt"], "options": question["options"]}
        return {"status": status, "reason": value.reason, **told}
    if status in ("denied", "failed"):
        return {"status": status, "reason": value.reason}
    injected = [one["text"] for one in getattr(value, "after", {}).get("injections", [])]
    return {"status": status, "result": value.result, **({"injected": injected} if injected else {})}


def shown_outcome(outcome):
    injected = [one["text"] for one in outcome["injections"]]
    told = {"reason": outcome["reason"]} if "reason" in outcome else {}
    return {"action": outcome["action"], **told, **({"injected": injected} if injected else {})}


class Player:
    def __init__(self, game, client, session):
        self.game, self.client, self.session = game, client, session
        self.named, self.running = {}, {}

    async def play(self, step):
        """Awaits what is awaitable, so that one player plays both."""
        ran = []
        try:
            told = await self.do(step, ran)
        except asyncio.CancelledError:
            told = {"error": "CANCELLED"}
        except c.CarabinerError as error:
            told = {"error": error.code}
        except Failed as error:
            told = {"raised": str(error)}
        return {**told, "ran": ran} if step["do"].startswith("call_") else told

    async def do(self, step, ran):
        do, session = step["do"], self.session
        times = {key: step[key] for key in ("timeout", "deadline") if key in step}
        if do == "hello":
            return {"version": self.client.hello["version"], "hooks": self.client.hello["hooks"]}
        if do == "begin_tool":
            return self.name(step, await got(session.begin_tool(step["name"], step["input"], **times)))
        if do == "begin_model":
            return self.name(step, await got(session.begin_model(step["request"], **times)))
        if do in ("call_tool", "call_model"):
            given = (step["name"], step["input"]) if do == "call_tool" else (step["request"],)
            return shown(await got(getattr(session, do)(*given, running(step, ran), **times)))
        if do == "finish":
            ended = await got(self.named[step["of"]].finish(step["with"]))
            return self.name({"as": step["of"]}, ended) if ended.status == "needs_approval" else shown(ended)
        if do == "fail":
            return shown(await got(self.named[step["of"]].fail(step["error"])))
        if do == "answer":
            return self.name({"as": step["of"]}, await got(self.named[step["of"]].answer(step["reply"])))
        if do == "fire":
            return shown_outcome(await got(session.fire(step["event"], step["data"])))
        if do == "end_turn":
            return await got(session.end_turn()) or {}
        if do == "child":
            child = await got(session.child(step["agent"]))
            return shown(await got(child.begin_tool(step["name"], step["input"])))
        if do in ("messages", "wakes", "asked"):
            return await in_thread(self.game.seen.wait, do, step.get("count", 0))
        if do == "withdrawn":
            return len(await in_thread(self.game.seen.wait, do, step["count"]))
        if do == "await_file":
            while not os.path.exists(step["path"]):
                await asyncio.sleep(0.02)
            return {}
        if do == "parallel":
            return await self.parallel(step)
        if do == "repeat":
            return await self.repeat(step)
        if do == "reopen":
            return {"left": await left_by(step["count"], self.game.reopen)}
        if do == "start":
            self.running[step["as"]] = start(self, step["step"])
            return {"started": step["as"]}
        if do == "cancel":
            self.running[step["of"]].cancel()
            return {"cancelled": step["of"]}
        if do == "join":
            return await self.running[step["of"]]
        if do == "close_session":
            return await got(session.close()) or {}
        if do == "close":
            return await got(self.client.close()) or {}
        raise ValueError(do)

    def name(self, step, value):
        self.named[step["as"]] = value
        return shown(value)

    async def parallel(self, step):
        text = json.dumps(step["step"])
        steps = [json.loads(text.replace("$n", str(n))) for n in range(step["count"])]
        return list(await asyncio.gather(*(start(self, one) for one in steps)))

    async def repeat(self, step):
        told = []

        async def once():
            told[:] = [await self.play(step["step"])]

        return {"left": await left_by(step["count"], once), "last": told[0]}


def held():
    with open("/proc/self/statm") as file:
        megabytes = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "memory": megabytes // 32,
    }


async def left_by(count, once):
    """What grew. A tenth of the rounds warms up; what ends soon after the last one counts as ended."""
    if not os.path.exists("/proc/self/statm"):
        return []
    for _ in range(count // 10):
        await once()
    before = held()
    for _ in range(count):
        await once()
    for _ in range(500):
        left = [name for name, value in held().items() if value > before[name] + (name == "memory")]
        if not left:
            break
        await asyncio.sleep(0.02)
    return left


class Failed(Exception):
    pass


pool = ThreadPoolExecutor(64)


def start(player, step):
    """A task of this loop; for the API of threads, a thread."""
    if is_async:
        return asyncio.get_running_loop().create_task(player.play(step))
    return in_thread(lambda: asyncio.run(player.play(step)))


def in_thread(function, *given):
    return asyncio.get_running_loop().run_in_executor(pool, function, *given)


async def got(value):
    return await value if inspect.isawaitable(value) else value


def running(step, ran):
    def run(given):
        ran.append(given)
        if "raises" in step:
            raise Failed(step["raises"])
        return step["returns"]

    async def async_run(given):
        return run(given)

    return async_run if is_async else run


for line in sys.stdin:
    with open(line.rstrip("\n"), encoding="utf-8") as file:
        case = json.load(file)
    os.chdir(case["folder"])
    os.environ["HOME"] = case["home"]
    print(json.dumps(asyncio.run(Game(case).play())), flush=True)
