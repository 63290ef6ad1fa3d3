// What only the Python client has to show: its types, every version of Python that is here, a fork, and an engine that has ended.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withProgram } from '../cli/program.js'
import { ROOT } from '../docs/markdown.js'
import { newcomer, typed } from '../docs/newcomer.js'

withProgram()

const FOLDER = join(ROOT, 'clients/python')
const VERSIONS = ['3.9', '3.10', '3.11', '3.12', '3.13', '3.14']

/** On the path, or where pyenv puts it. */
function pythonOf(version: string): string | undefined {
  if (spawnSync(`python${version}`, ['-c', '']).status === 0) return `python${version}`
  const folder = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const known = existsSync(folder) ? readdirSync(folder) : []
  const found = known.find((name) => name.startsWith(`${version}.`))
  return found === undefined ? undefined : join(folder, found, 'bin/python')
}

const EXAMPLE = `import asyncio, sys
sys.path.insert(0, ${JSON.stringify(FOLDER)})
import amplifier
from carabiner import AsyncCarabiner, Carabiner

with Carabiner() as client, client.session() as session:
    print(session.call_tool("Bash", {"command": "rewritten"}, lambda given: given["command"]).for_model)
    begun = session.begin_tool("Bash", {"command": "deploy"})
    print(begun.status, session.resume_tool(begun.answer("Allow"), lambda given: "live").for_model)

async def main():
    async def bash(given):
        return given["command"]
    async with AsyncCarabiner() as client, await client.session() as session:
        print((await session.call_tool("Bash", {"command": "rewritten"}, bash)).for_model)
        task = asyncio.ensure_future(session.call_tool("Bash", {"command": "slow"}, bash))
        await asyncio.sleep(0)
        task.cancel()
        print(type((await asyncio.gather(task, return_exceptions=True))[0]).__name__)
        print((await amplifier.Hooks(session).emit("prompt:submit", {"prompt": "homework"})).action)
asyncio.run(main())
`

const FORK = `import os, sys
sys.path.insert(0, ${JSON.stringify(FOLDER)})
from carabiner import Carabiner, CarabinerError
client = Carabiner()
session = client.session()
reads, writes = os.pipe()
child = os.fork()
if child == 0:
    try:
        session.fire("Stop")
    except CarabinerError as error:
        print("in the fork:", error.code, flush=True)
    client.close()
    os.close(writes)
    os.read(reads, 1)
    sys.exit(0)
os.close(reads)
print("the engine of the host still answers:", session.fire("Stop")["action"], flush=True)
client.close()
print("closed with", client._engine._process.returncode, "while the fork lives:", os.waitpid(child, os.WNOHANG)[0] == 0)
os.close(writes)
print("the fork ends with", os.waitpid(child, 0)[1])
`

const ENGINE = JSON.stringify([process.execPath, join(ROOT, 'clients/conformance/engine.mjs')])

const GONE = `import asyncio, sys
sys.path.insert(0, ${JSON.stringify(FOLDER)})
from carabiner import AsyncCarabiner, Carabiner, EngineGone

with Carabiner(program=${ENGINE} + ["dies"]) as client:
    with client.session() as session:
        try:
            session.call_tool("Bash", {"command": "ls"}, lambda given: "ran")
        except EngineGone as error:
            print("the call:", error.code)
    print("the session closes quietly")

async def main():
    async with AsyncCarabiner(program=${ENGINE} + ["dies"]) as client:
        async with await client.session() as session:
            try:
                await session.call_tool("Bash", {"command": "ls"}, lambda given: "ran")
            except EngineGone as error:
                print("the call:", error.code)
        print("the session closes quietly")
asyncio.run(main())

client = Carabiner(program=${ENGINE} + ["dies"])
try:
    with client.session():
        client._engine._process.kill()
        client._engine._process.wait()
except EngineGone as error:
    print("nobody was told before:", error.code)
client.close()
`

async function python(program: string, code: string): Promise<readonly string[]> {
  const someone = newcomer()
  const hooks = `mkdir -p ~/.amplifier/hooks\ncp ${ROOT}clients/conformance/hooks/* ~/.amplifier/hooks/\n`
  const printed = await typed(`${hooks}${program} -W ignore - <<'PY'\n${code}PY\n`, someone)
  someone.remove()
  return printed.trimEnd().split('\n')
}

describe('the client in Python', { timeout: 120_000 }, () => {
  it.for(VERSIONS)('runs with Python %s', async (version, { skip }) => {
    const program = pythonOf(version)
    if (program === undefined) console.error(`SKIPPED: Python ${version}, which is not here`)
    skip(program === undefined, 'it is not here')
    expect(await python(program as string, EXAMPLE)).toEqual([
      'ls -l',
      'needs_approval live',
      'ls -l',
      'CancelledError',
      'deny',
    ])
  })

  it('refuses to work in a fork, which does not keep the engine alive either', async ({ skip }) => {
    skip(spawnSync('python3', ['-c', '']).status !== 0, 'needs python3')
    const lines = await python('python3', FORK)
    expect(lines.toSorted()).toEqual([
      'closed with 0 while the fork lives: True',
      'in the fork: CLOSED',
      'the engine of the host still answers: continue',
      'the fork ends with 0',
    ])
  })

  it('tells once that the engine has ended', async ({ skip }) => {
    skip(spawnSync('python3', ['-c', '']).status !== 0, 'needs python3')
    const told = ['the call: ENGINE_ENDED', 'the session closes quietly']
    expect(await python('python3', GONE)).toEqual([...told, ...told, 'nobody was told before: ENGINE_ENDED'])
  })

  it('has types that hold in strict mode', ({ skip }) => {
    const isThere = spawnSync('mypy', ['--version']).status === 0
    if (!isThere) console.error('SKIPPED: the types of the client in Python, because there is no mypy')
    skip(!isThere, 'needs mypy')
    const files = ['carabiner.py', 'amplifier.py', 'example.py']
    const printed = execFileSync('mypy', ['--strict', '--cache-dir=/dev/null', ...files], { cwd: FOLDER })
    expect(`${printed}`).toContain('no issues found')
  })
})
