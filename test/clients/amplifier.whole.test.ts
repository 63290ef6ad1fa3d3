// An Amplifier host in Python replaces its hook module with the client: registry, results, mount.

import { describe, expect, it } from 'vitest'
import { withProgram } from '../cli/program.js'
import { ROOT } from '../docs/markdown.js'
import { newcomer, typed } from '../docs/newcomer.js'
import { isInstalled, LANGUAGES } from './languages.js'

withProgram()

const HOOKS = `mkdir -p ~/.amplifier/hooks
cp node_modules/carabiner/clients/conformance/hooks/* ~/.amplifier/hooks/
`

const START = `
import asyncio, sys, threading, types
sys.path.insert(0, ${JSON.stringify(`${ROOT}clients/python`)})
import amplifier
from amplifier import HookResult, Hooks
from carabiner import AsyncCarabiner

def pre(command):
    return {"tool_name": "Bash", "tool_input": {"command": command}}
`

/**
 * The parts of amplifier_core that a module meets, with the rules of its registry: handlers by priority; one that fails or
 * returns something else is skipped; the first deny ends it; a change replaces the data; the first question wins over all
 * context. Early registries keep neither questions nor context. The real package needs PyPI and a Rust wheel.
 */
const AMPLIFIER = `
class Theirs:
    strict = False
    def __init__(self, **fields):
        if self.strict and "approval_timeout" in fields:
            raise ValueError("not a field")
        self.reason, self.data, self.context_injection = None, None, None
        self.__dict__.update(fields)
models = types.ModuleType("amplifier_core.models")
models.HookResult = Theirs
sys.modules["amplifier_core"] = types.ModuleType("amplifier_core")
sys.modules["amplifier_core.models"] = models

class Registry:
    def __init__(self, specials=()):
        self.handlers, self.specials = {}, specials
    def register(self, event, handler, priority=0, name=None):
        one, handlers = (priority, handler), self.handlers.setdefault(event, [])
        handlers.append(one)
        handlers.sort(key=lambda known: known[0])
        return lambda: handlers.remove(one) if one in handlers else None
    async def emit(self, event, data):
        handlers = list(self.handlers.get(event, []))
        current, asked, injected = {**data, "timestamp": "2026-01-01T00:00:00Z"}, [], []
        for _, handler in handlers:
            try:
                result = await handler(event, current)
            except Exception:
                continue
            if not isinstance(result, Theirs):
                continue
            if result.action == "deny":
                return result
            if result.action == "modify" and result.data is not None:
                current = result.data
            elif result.action == "ask_user":
                asked.append(result)
            elif result.action == "inject_context" and result.context_injection:
                injected.append(result)
        if asked and "ask_user" in self.specials:
            return asked[0]
        if injected and "inject_context" in self.specials:
            text = "\\n\\n".join(one.context_injection for one in injected)
            return injected[0] if len(injected) == 1 else Theirs(action="inject_context", context_injection=text)
        return Theirs(action="continue", data=current if handlers else data)
`

async function python(code: string): Promise<readonly string[]> {
  const someone = newcomer()
  const printed = await typed(`${HOOKS}python3 - <<'PY'\n${START}${code}\nPY\n`, someone)
  someone.remove()
  return printed.trimEnd().split('\n')
}

const [language] = LANGUAGES as [(typeof LANGUAGES)[0]]

describe.skipIf(!isInstalled(language))('an Amplifier host', { timeout: 120_000 }, () => {
  it('gets one HookResult for the hooks of the machine', async () => {
    const lines = await python(`
async def main():
    async with AsyncCarabiner() as client, await client.session() as session:
        hooks = Hooks(session)
        for command in ["ls", "forbidden", "rewritten", "deploy", "cached", "enough"]:
            r = await hooks.emit("tool:pre", pre(command))
            print(command, r.action, r.reason, r.data and r.data["tool_input"], r.approval_prompt, r.approval_options)
        r = await hooks.emit("tool:post", {**pre("lint"), "tool_result": "x"})
        print("post", r.action, r.context_injection, r.context_injection_role, r.user_message, r.user_message_level)
        r = await hooks.emit("prompt:submit", {"prompt": "homework"})
        print("prompt", r.action, r.reason)
        r = await hooks.emit("my:event", {})
        print("own", r.action)
        r = await hooks.emit("tool:pre", {"tool_name": "Bash"})
        print("malformed", r.action)
        r = await hooks.emit("tool:pre", pre(object()))
        print("unsendable", r.action)
    r = await hooks.emit("tool:pre", pre("ls"))
    print("closed", r.action, r.user_message_level)
asyncio.run(main())
`)
    expect(lines).toEqual([
      'ls continue None None None None',
      'forbidden deny forbidden here None None None',
      "rewritten modify None {'command': 'ls -l'} None None",
      "deploy ask_user Deploy now? None Deploy now? ['Allow', 'Allow always', 'Deny']",
      'cached deny {"stdout": "from the cache"} None None None',
      'enough deny enough for today None None None',
      'post inject_context two warnings system linted info',
      'prompt deny no homework',
      'own continue',
      'malformed deny',
      'unsendable deny',
      'closed deny error',
    ])
  })

  it('unregisters one of two equal handlers, however often it says so', async () => {
    const lines = await python(`
async def handler(event, data):
    return HookResult()
hooks = Hooks(None)
first, second = [hooks.register("tool:pre", handler, name="twice") for _ in range(2)]
first()
first()
print(hooks.list_handlers())
second()
print(hooks.list_handlers())
`)
    expect(lines).toEqual(["{'tool:pre': ['twice']}", '{}'])
  })

  it('keeps its handlers: by priority, before the hooks of the machine, and a failure is a deny', async () => {
    const lines = await python(`
async def main():
    async with AsyncCarabiner() as client, await client.session() as session:
        hooks, order = Hooks(session), []
        def handler(name, result=None):
            async def run(event, data):
                order.append(name)
                return result or HookResult()
            return run
        hooks.register("tool:pre", handler("late"), priority=20, name="late")
        off = hooks.register("tool:pre", handler("early"), priority=-5, name="early")
        print((await hooks.emit("tool:pre", pre("ls"))).action, order, hooks.list_handlers())
        off()
        changes = hooks.register("tool:pre", handler("m", HookResult("modify", data=pre("forbidden"))))
        print((await hooks.emit("tool:pre", pre("ls"))).reason)
        changes()
        echoes = hooks.register("tool:pre", handler("e", HookResult("continue", data=pre(threading.Lock()))))
        r = await hooks.emit("tool:pre", pre("ls"))
        print(r.action, r.data)
        echoes()
        asks = hooks.register("tool:pre", handler("a", HookResult("ask_user", approval_prompt="Sure?")))
        r = await hooks.emit("tool:pre", pre("rewritten"))
        print(r.action, r.approval_prompt, r.data["tool_input"])
        print((await hooks.emit("tool:pre", pre("forbidden"))).action)
        asks()
        async def broken(event, data):
            raise ValueError("oops")
        hooks.register("tool:pre", broken)
        print((await hooks.emit("tool:pre", pre("ls"))).reason)
asyncio.run(main())
`)
    expect(lines).toEqual([
      "continue ['early', 'late'] {'tool:pre': ['early', 'late']}",
      'forbidden here',
      'continue None',
      "ask_user Sure? {'command': 'ls -l'}",
      'deny',
      'The hook broken failed: ValueError: oops',
    ])
  })

  it('mounts the file in a stand-in for amplifier_core, and gets results of its own class', async () => {
    const lines = await python(`
${AMPLIFIER}
async def main():
    coordinator = types.SimpleNamespace(hooks=Registry(), session_id="s-1")
    unmount = await amplifier.mount(coordinator, {})
    handler = coordinator.hooks.handlers["tool:pre"][0][1]
    r = await handler("tool:pre", pre("forbidden"))
    print(type(r).__name__, r.action, r.reason)
    await unmount()
    print(any(coordinator.hooks.handlers.values()), (await handler("tool:pre", pre("ls"))).action)
asyncio.run(main())
`)
    expect(lines).toEqual(['Theirs deny forbidden here', 'False deny'])
  })

  it('loses no change, question or context to a stand-in for its registry, which takes one of them from a result', async () => {
    const lines = await python(`${AMPLIFIER}
async def main():
    for specials in [("ask_user", "inject_context"), ()]:
        registry = Registry(specials)
        unmount = await amplifier.mount(types.SimpleNamespace(hooks=registry), {})
        for command in ["noted", "doubted", "deploy"]:
            r = await registry.emit("tool:pre", pre(command))
            print(command, r.action, r.reason, r.data and r.data["tool_input"])
            r = await registry.emit("tool:post", {**pre("ls"), "tool_result": "x"})
            print("post", r.action, getattr(r, "context_injection", None))
        async def own(event, data):
            return Theirs(action="modify", data=pre("forbidden"))
        off = registry.register("tool:pre", own, priority=50)
        print((await registry.emit("tool:pre", pre("ls"))).reason)
        off()
        Theirs.strict = True
        print((await registry.emit("tool:pre", pre("deploy"))).action)
        Theirs.strict = False
        await unmount()
asyncio.run(main())
`)
    expect(lines).toEqual([
      "noted continue None {'command': 'ls -n'}",
      'post inject_context numbers only',
      'doubted deny Amplifier cannot ask together with a change of the call: Sure? None',
      'post continue None',
      'deploy ask_user Deploy now? None',
      'post continue None',
      'forbidden here',
      'deny',
      "noted continue None {'command': 'ls -n'}",
      'post continue None',
      'doubted deny Amplifier cannot ask in this version: Sure? None',
      'post continue None',
      'deploy deny Amplifier cannot ask in this version: Deploy now? None',
      'post continue None',
      'forbidden here',
      'deny',
    ])
  })

  it('denies a call whose change the registry would drop, because another module asks or adds context', async () => {
    const lines = await python(`${AMPLIFIER}
class Fixed(Registry):
    """emit cannot be replaced, as in a class in Rust."""
    def __setattr__(self, name, value):
        if name == "emit":
            raise AttributeError(name)
        super().__setattr__(name, value)
    def register(self, event, handler, priority=0, name=None):
        self.names = [*getattr(self, "names", []), (event, name)]
        return super().register(event, handler, priority, name)
    def list_handlers(self, event):
        return {event: [name for known, name in self.names if known == event]}

def other(**fields):
    async def run(event, data):
        return Theirs(**fields)
    return run

async def main():
    for kind in [Registry, Fixed]:
        for fields in [
            None,
            {"action": "continue"},
            {"action": "inject_context", "context_injection": "today is Monday"},
            {"action": "ask_user", "approval_prompt": "Sure?"},
        ]:
            registry = kind(("ask_user", "inject_context"))
            if fields:
                registry.register("tool:pre", other(**fields), priority=10, name="other")
            emit = registry.emit
            unmount = await amplifier.mount(types.SimpleNamespace(hooks=registry), {})
            for command in ["ls", "rewritten"]:
                r = await registry.emit("tool:pre", pre(command))
                print(r.action, r.reason and r.reason[:40], r.data and r.data["tool_input"])
            await unmount()
            print(registry.emit == emit)
asyncio.run(main())
`)
    const changed = "continue None {'command': 'ls -l'}"
    const lost = 'deny A hook changed this, and Amplifier would None'
    const ls = "continue None {'command': 'ls'}"
    const others = ['inject_context None None', lost, 'True', 'ask_user None None', lost, 'True']
    expect(lines).toEqual([
      ...[ls, changed, 'True', ls, changed, 'True', ...others],
      // Without a look at the result, every other handler could have added something.
      ...[ls, changed, 'True', ls, lost, 'True', ...others],
    ])
  })

  it('leaves an emit alone that another module has put in since, and goes on without the hooks', async () => {
    const lines = await python(`${AMPLIFIER}
async def main():
    registry = Registry()
    unmount = await amplifier.mount(types.SimpleNamespace(hooks=registry), {})
    watched, told = registry.emit, []
    async def later(event, data):
        told.append(event)
        return await watched(event, data)
    registry.emit = later
    print((await registry.emit("tool:pre", pre("forbidden"))).action)
    await unmount()
    print(registry.emit is later)
    print((await registry.emit("tool:pre", pre("forbidden"))).action, told)
asyncio.run(main())
`)
    expect(lines).toEqual(['deny', 'True', "continue ['tool:pre', 'tool:pre']"])
  })
})
