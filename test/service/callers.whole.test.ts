// Callers of every kind meet the service: each gets what the cold path gives it, and so do its hooks.

import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { ended, programFile, programWithPackages, type Run, withProgram } from '../cli/program.js'
import { printing, quoted } from '../conformance/shell-project.js'
import { type ClipCall, eventually, isServable, NO_NODE, Scene, steady } from './scene.js'

withProgram('own')

let scene: Scene | undefined
afterEach(async () => {
  await scene?.remove()
  scene = undefined
})

type Call = (call: Partial<ClipCall> & { readonly mayBeCold?: true }) => Promise<Run>
type Play = (scene: Scene, call: Call, way: Way) => Promise<unknown>

const BASH = {
  hook_event_name: 'PreToolUse',
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: 'ls -la' },
}

type Way = 'cold' | 'warm'

/** Of each way, for cases that can meet a service that has answered others before. */
const shared = new Map<Way, Scene>()
afterAll(async () => {
  for (const [way, now] of shared) await ends(now, way)
})

async function opened(script: string, way: Way): Promise<Scene> {
  scene = new Scene(script)
  if (way === 'warm') await scene.startService()
  return scene
}

async function ends(now: Scene, way: Way): Promise<void> {
  await now.stopServices()
  await eventually(`the ${way} path leaves no process`, () => now.left().length === 0)
  await now.remove()
}

interface Stage {
  readonly script?: () => string
  /** Has a service of its own. */
  readonly isAlone?: boolean
}

const ALONE: Stage = { isAlone: true }
const aloneIf = (mayBeCold = false): Stage => ({ isAlone: mayBeCold })

/** Plays the same on both paths, in folders of the same length, and compares everything. Returns what the cold path gave. */
async function both<T = readonly Run[]>(play: Play, stage: Stage = {}): Promise<T> {
  const { script = programFile, isAlone = false } = stage
  const results: unknown[] = []
  for (const way of ['cold', 'warm'] as const) {
    const now = (isAlone ? undefined : shared.get(way)) ?? (await opened(script(), way))
    scene = now
    // It is shared again when the case has succeeded.
    if (!isAlone) shared.delete(way)
    const before = now.left()
    const call: Call = ({ mayBeCold, env, ...rest }) =>
      now.call({
        args: ['fire', '--as', 'claude-code'],
        input: BASH,
        env: { ...env, ...switched(way) },
        ...(way === 'warm' && !mayBeCold && { node: NO_NODE }),
        ...rest,
      })
    const result = await play(now, call, way)
    results.push(JSON.parse(steady(JSON.stringify(result)).replaceAll(now.base, 'BASE')))
    if (isAlone) await ends(now, way)
    else {
      await eventually('only the service is left', () => now.left().every((pid) => before.includes(pid)))
      now.clear()
      shared.set(way, now)
    }
    scene = undefined
  }
  const [cold, warm] = results
  expect(warm).toEqual(cold)
  return cold as T
}

function switched(way: Way): Record<string, string> {
  return way === 'cold' ? { CARABINER_SERVICE: 'off' } : {}
}

const handlers = (...all: readonly object[]) => ({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: all }] } })
const command = (text: string, more: object = {}) => ({ type: 'command', command: text, ...more })
/** The user's own hooks. */
const own = (now: Scene, ...all: readonly object[]) =>
  now.file('home/.amplifier/hooks/hooks.json', handlers(...all))
const answer = (more: object) => printing({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } })
const DENY = `echo 'not allowed' >&2; exit 2`

describe.skipIf(!isServable)('what hooks say and do', () => {
  it.each<[string, number, readonly object[]]>([
    ['allows', 0, [command('exit 0')]],
    ['denies', 2, [command(DENY)]],
    [
      'denies in JSON',
      2,
      [command(answer({ permissionDecision: 'deny', permissionDecisionReason: 'nej ö' }))],
    ],
    ['rewrites', 0, [command(answer({ permissionDecision: 'allow', updatedInput: { command: 'ls' } }))]],
    ['injects', 0, [command(answer({ additionalContext: 'context 日本 🧗' }))]],
    [
      'asks, where the agent has a dialog',
      0,
      [command(answer({ permissionDecision: 'ask', permissionDecisionReason: 'sure?' }))],
    ],
    ['stops', 0, [command(printing({ continue: false, stopReason: 'enough' }))]],
    ['crashes', 0, [command('echo oops >&2; exit 1')]],
    ['crashes, and blocks then', 2, [command('exit 1', { onFailure: 'block' })]],
    ['is killed', 0, [command('kill -9 $$')]],
    ['is killed, and blocks then', 2, [command('kill -SEGV $$', { onFailure: 'block' })]],
    ['takes too long', 0, [command('sleep 60', { timeout: 0.3 })]],
    ['takes too long, and blocks then', 2, [command('sleep 60', { timeout: 0.3, onFailure: 'block' })]],
    ['ignores TERM', 2, [command(`trap '' TERM; sleep 60`, { timeout: 0.3, onFailure: 'block' })]],
    ['is missing', 0, [command('/nowhere/hook')]],
    ['is missing, and blocks then', 2, [command('/nowhere/hook', { args: ['x'], onFailure: 'block' })]],
    ['is not a program', 2, [command('/etc/passwd', { args: ['x'], onFailure: 'block' })]],
    [
      'prints garbage',
      0,
      [command('head -c 3000 /dev/urandom | tr -d "\\0" > /dev/null; printf "\\377\\376 {{{"')],
    ],
    ['prints broken JSON', 0, [command(`printf '{"decision": "block"'`)]],
    ['prints five megabytes', 0, [command('head -c 5000000 /dev/zero | tr "\\0" x')]],
    ['complains with five megabytes', 2, [command('head -c 5000000 /dev/zero | tr "\\0" y >&2; exit 2')]],
    ['reads nothing', 2, [command(`exec <&-; ${DENY}`)]],
    ['leaves a process that holds its output', 2, [command(`sleep 30 & ${DENY}`)]],
    ['leaves a process in a session of its own', 2, [command(`setsid sleep 1 & ${DENY}`)]],
    ['runs with others', 2, [command('sleep 0.2'), command(DENY), command('echo {}'), command('exit 1')]],
    ['is async', 0, [command('sleep 0.3; echo late > "$HOME/late"', { async: true })]],
    ['has an exec form', 2, [command('sh', { args: ['-c', `${DENY} # \${CLAUDE_PROJECT_DIR} a b`] })]],
  ])('%s', async (_, exit, all) => {
    const [first, second] = await both(async (now, call) => {
      own(now, ...all)
      return [await call({}), await call({}), now.read('home/late')]
    })
    expect([first?.code, second?.code]).toEqual([exit, exit])
  })
})

describe.skipIf(!isServable)('hooks that stay warm', () => {
  const RESIDENT = `import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    result = {"ok": True, "name": "gate"}
    if asked["method"] == "hook.before_tool":
        bad = "bad" in asked["params"]["arguments"].get("command", "")
        if "throw" in asked["params"]["arguments"].get("command", ""): result = 7
        if "crash" in asked["params"]["arguments"].get("command", ""): sys.exit(3)
        if "hang" in asked["params"]["arguments"].get("command", ""): import time; time.sleep(60)
        result = {"action": "deny_tool", "reason": "WORD"} if bad else {"action": "continue"}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
`
  const MODULE = `export default (event, data) => {
  const { command } = data.tool_input
  if (command.includes('crash')) process.exit(3)
  if (command.includes('throw')) throw new Error('thrown')
  if (command.includes('hang')) for (;;);
  if (command.includes('print')) console.log('printed')
  if (command.includes('bad')) return { action: 'deny', reason: 'WORD' }
}
`
  /** Processes stay warm only if their files are so old that a change would be noticed. */
  const ofAge = (path: string) => eventually('it is old', () => Date.now() - statSync(path).ctimeMs > 2500)
  const asking = (text: string) => ({ input: { ...BASH, tool_input: { command: text } } })
  const resident = (now: Scene, word: string) => {
    const script = now.file('home/.amplifier/hooks/gate/gate.py', RESIDENT.replace('WORD', word))
    const gate = {
      command: ['python3', script],
      intercept: ['before_tool'],
      timeouts: { intercept: 2 },
    }
    now.file('home/.amplifier/hooks/gate/hooks.json', { processes: { gate } })
  }
  const moduleHook = (now: Scene, word: string, folder = 'home') => {
    now.file(`${folder}/.amplifier/hooks/gate/gate.mjs`, MODULE.replace('WORD', word))
    const hook = { type: 'module', module: './gate.mjs', timeout: 2 }
    now.file(`${folder}/.amplifier/hooks/gate/hooks.json`, handlers(hook))
  }

  it.each([
    // It fails open, but the next call is judged again.
    ['a resident process', [0, 0, 0, 2, 0, 0], resident],
    ['a module', [2, 2, 2, 2, 2, 0], moduleHook],
  ] as const)('%s crashes, hangs and answers again', async (_, codes, write) => {
    const runs = await both(async (now, call) => {
      write(now, 'no')
      await ofAge(now.path('home/.amplifier/hooks/gate/hooks.json'))
      const all: Run[] = []
      for (const text of ['crash', 'crash', 'hang', 'bad', 'throw', 'ls']) all.push(await call(asking(text)))
      return all
    }, ALONE)
    expect(runs.map(({ code }) => code)).toEqual(codes)
  })

  it('a resident process that worked for others and then crashes or hangs has not judged', async () => {
    const now = new Scene()
    scene = now
    await now.startService()
    resident(now, 'no')
    await ofAge(now.path('home/.amplifier/hooks/gate/hooks.json'))
    const call = (text: string) => now.warm({ args: ['fire', '--as', 'claude-code'], ...asking(text) })
    const runs: Run[] = []
    for (const text of ['ls', 'crash', 'crash', 'ls', 'hang', 'hang', 'bad']) runs.push(await call(text))
    expect(runs.map(({ code }) => code)).toEqual([0, 2, 0, 0, 2, 0, 2])
    expect(runs[1]?.stderr).toContain('judging was interrupted; try again')
  })

  it.each([
    ['a resident process', resident],
    ['a module', moduleHook],
  ])('%s whose file was edited answers as the new one', async (_, write) => {
    const runs = await both(async (now, call) => {
      write(now, 'first')
      await ofAge(now.path('home/.amplifier/hooks/gate/hooks.json'))
      const before = await call(asking('bad'))
      write(now, 'second')
      return [before, await call(asking('bad')), await call(asking('bad'))]
    }, ALONE)
    expect(runs.map(({ stderr }) => /first|second/.exec(stderr)?.[0])).toEqual(['first', 'second', 'second'])
  })

  it('a trusted module is asked until trust is withdrawn, and its process ends then', async () => {
    const [untrusted, trusted, edited, withdrawn] = await both(async (now, call, way) => {
      moduleHook(now, 'no', 'project')
      const untrusted = await call(asking('bad'))
      expect((await now.carabiner(['trust', '--yes'])).code).toBe(0)
      const trusted = await call(asking('bad'))
      now.file('project/.amplifier/hooks/gate/gate.mjs', MODULE.replace('WORD', 'edited'))
      const edited = await call(asking('bad'))
      if (way === 'warm') expect((await now.service()).status.warm).toBeGreaterThan(0)
      expect((await now.carabiner(['untrust', '--all'])).code).toBe(0)
      const withdrawn = await call(asking('bad'))
      if (way === 'warm') {
        await eventually('its process ended', () => now.left().length === 1)
        expect(now.left()).toEqual([(await now.service()).status.pid])
      }
      return [untrusted, trusted, edited, withdrawn]
    }, ALONE)
    expect([untrusted, trusted, edited, withdrawn].map((run) => run?.code)).toEqual([0, 2, 2, 0])
    expect(edited?.stderr).toContain('no')
  })

  it('an MCP server and an HTTP server are asked', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      request.resume()
      const deny = JSON.stringify({ decision: 'block', reason: 'http says no' })
      response.writeHead(request.url === '/broken' ? 500 : 200).end(request.url === '/deny' ? deny : '')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      const runs = await both(
        async (now, call) => {
          now.file('home/policy.mjs', MCP_SERVER)
          const mcp = { command: process.execPath, args: ['policy.mjs'] }
          const settings = { mcp_servers: { policy: mcp }, allowed_private_hosts: ['127.0.0.1'] }
          now.file('home/.amplifier/settings.json', { hooks: settings })
          const all: Run[] = []
          for (const hooks of [
            [
              {
                type: 'mcp_tool',
                server: 'policy',
                tool: 'check',
                input: { command: `$\{tool_input.command}` },
              },
            ],
            [{ type: 'mcp_tool', server: 'absent', tool: 'check', input: {}, onFailure: 'block' }],
            [{ type: 'http', url: `${origin}/deny` }],
            [{ type: 'http', url: `${origin}/broken`, onFailure: 'block' }],
            [{ type: 'http', url: 'http://127.0.0.1:1/closed', onFailure: 'block' }],
          ]) {
            own(now, ...hooks)
            for (const text of ['ls', 'bad']) all.push(await call(asking(text)))
          }
          return all
        },
        { ...ALONE, script: programWithPackages },
      )
      expect(runs.map(({ code }) => code)).toEqual([0, 2, 2, 2, 2, 2, 2, 2, 2, 2])
      expect(asked.filter((url) => url === '/deny')).toHaveLength(4)
    } finally {
      server.close()
    }
  })

  const MCP_SERVER = `import { createInterface } from 'node:readline'
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'policy', version: '1' } })
  else if (method === 'tools/list') say(id, { tools: [{ name: 'check', inputSchema: { type: 'object' } }] })
  else if (method === 'tools/call') {
    const bad = params.arguments.command.includes('bad')
    say(id, { content: [{ type: 'text', text: bad ? JSON.stringify({ decision: 'block', reason: 'mcp says no' }) : '' }] })
  }
}
`
})

describe.skipIf(!isServable)('where callers stand', () => {
  const TELL = `cat > /dev/null
{ umask; pwd; ulimit -n; ulimit -f; locale 2>/dev/null | head -1; date -d @0 +%Z; nice
  echo "$PATH|$HOME|$LANG|$LC_ALL|$TZ|$TERM|$ODD|$EMPTY|\${UNSET-none}"
  env | cut -d= -f1 | grep -v CARABINER_SERVICE | sort | tr '\\n' ' '; command -v helper; id -u; } > "$HOME/told" 2>&1
: > "$HOME/made"; stat -c %a "$HOME/made" >> "$HOME/told"
exit 2`

  it.each<[string, Partial<ClipCall> & { readonly mayBeCold?: true }]>([
    ['usual', {}],
    ['umask', { through: 'umask 027; exec "$@"' }],
    ['an open umask', { through: 'umask 0; exec "$@"' }],
    ['limits', { through: 'ulimit -n 200; ulimit -f 1000; exec "$@"' }],
    ['nice', { through: 'exec nice -n 5 "$@"' }],
    ['a locale', { env: { LANG: 'C.UTF-8', LC_ALL: 'POSIX' } }],
    ['a time zone', { env: { TZ: 'Asia/Tokyo' }, mayBeCold: true }],
    ['options for Node', { env: { NODE_OPTIONS: '--no-warnings' }, mayBeCold: true }],
    ['odd variables', { env: { ODD: 'a=b\nc "d" $e ö 日本', EMPTY: '', TERM: 'dumb' } }],
    ['a variable that is not UTF-8', { through: `ODD=$(printf 'a\\377b'); export ODD; exec "$@"` }],
    ['closed streams', { through: 'exec "$@" 2>&-' }],
    ['no session', { through: 'exec setsid -w "$@"' }],
    ['ignored signals', { through: `trap '' HUP INT TERM; exec "$@"` }],
  ])('%s', async (_, given) => {
    const { run } = await both<{ run: Run; told: string }>(async (now, call) => {
      own(now, command(TELL))
      const run = await call(given)
      return { run, told: now.read('home/told') }
    }, aloneIf(given.mayBeCold))
    expect(run.code).toBe(2)
  })

  it('another PATH', async () => {
    const { told } = await both<{ told: string }>(async (now, call) => {
      own(now, command(TELL))
      now.file('tools/helper', '#!/bin/sh\n', 0o755)
      const run = await call({ env: { PATH: `${now.path('tools')}:/usr/bin:/bin` } })
      return { run, told: now.read('home/told') }
    })
    expect(told).toContain('BASE/tools/helper')
  })

  it('another HOME', async () => {
    await both(async (now, call) => {
      own(now, command(DENY))
      now.file('other/.amplifier/hooks/hooks.json', handlers(command('echo other >&2; exit 2')))
      const other = { env: { HOME: now.path('other') }, mayBeCold: true } as const
      return [await call({}), await call(other), await call({})]
    }, ALONE)
  })

  it('a folder that is deleted', async () => {
    const runs = await both(async (now, call) => {
      own(now, command(DENY))
      mkdirSync(now.path('gone'))
      const through = 'rmdir "$PWD"; exec "$@"'
      const first = await call({ cwd: now.path('gone'), through, mayBeCold: true })
      mkdirSync(now.path('gone'))
      const input = { ...BASH, cwd: now.project }
      return [first, await call({ cwd: now.path('gone'), through, input, mayBeCold: true })]
    }, ALONE)
    expect(runs.map(({ code }) => code)).toEqual([2, 2])
  })

  it('a folder that its hook deletes', async () => {
    await both(async (now, call) => {
      own(now, command('rmdir "$PWD"; exit 2'))
      mkdirSync(now.path('gone'))
      return [await call({ cwd: now.path('gone'), input: { ...BASH, cwd: now.path('gone') } })]
    })
  })

  it('a payload that names a folder that is gone', async () => {
    await both(async (now, call) => {
      own(now, command(DENY))
      return [await call({ input: { ...BASH, cwd: now.path('never') } })]
    })
  })
})

describe.skipIf(!isServable)('what callers send', () => {
  const long = (bytes: number) => ({ ...BASH, tool_input: { command: 'ö'.repeat(bytes / 2) } })

  it.each<[string, ClipCall['input'], true?]>([
    ['unicode', { ...BASH, tool_input: { command: 'echo 日本 🧗 \u2028 \u0007 é' } }],
    ['lone surrogates', JSON.stringify({ ...BASH, tool_input: { command: '\ud800 x' } })],
    ['a megabyte', long(1_000_000)],
    ['nearly four megabytes', long(4_000_000)],
    ['five megabytes', long(5_000_000), true],
    ['a byte order mark', `\ufeff${JSON.stringify(BASH)}`, true],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), true],
    ['NUL', '{"hook_event_name":"PreToolUse\0"}'],
    ['nothing', ''],
    ['half of it', JSON.stringify(BASH).slice(0, 40)],
    ['the same key twice', '{"hook_event_name":"Stop","hook_event_name":"PreToolUse","tool_name":"Bash"}'],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('%s', async (_, input, mayBeCold) => {
    await both(async (now, call) => {
      own(now, command('cat > "$HOME/got"; wc -c < "$HOME/got" >&2; exit 2'))
      const run = await call({ ...(input !== undefined && { input }), ...(mayBeCold && { mayBeCold }) })
      return [run, now.read('home/got').slice(0, 1000)]
    }, aloneIf(mayBeCold))
  })

  it('standard input that never ends is the cold path', async () => {
    await both(async (now, call, way) => {
      own(now, command(DENY))
      const env = switched(way)
      const child = now.start({ args: ['fire', '--as', 'claude-code'], env })
      child.stdin.write(JSON.stringify(BASH))
      setTimeout(() => child.stdin.end(), 1500)
      return [await ended(child), await call({})]
    }, ALONE)
  })

  it('standard input from a file is read from where it is', async () => {
    await both(async (now, call) => {
      own(now, command(DENY))
      writeFileSync(now.path('input'), `skipped\n${JSON.stringify(BASH)}`)
      const through = `exec < ${quoted(now.path('input'))}; read -r line; exec "$@"`
      return [await call({ through })]
    })
  })
})

describe.skipIf(!isServable)('signals and edits', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends the call and its hooks', async (signal) => {
    const [run] = await both(async (now, _, way) => {
      own(
        now,
        command('echo $$ > "$HOME/started"; trap "echo ended > $HOME/ended; exit 0" TERM; sleep 60 & wait'),
      )
      const env = switched(way)
      const args = ['fire', '--as', 'claude-code']
      const child = now.start({ args, env, input: BASH, ...(way === 'warm' && { node: NO_NODE }) })
      await eventually('the hook runs', () => now.read('home/started') !== '')
      child.kill(signal)
      const run = await ended(child)
      await eventually('the hook ended', () => now.read('home/ended') !== '')
      return [run]
    })
    expect(run?.code).not.toBe(0)
  })

  it('a hook that is edited, switched off, and deleted between calls', async () => {
    const runs = await both(async (now, call) => {
      own(now, command(DENY))
      const all = [await call({})]
      own(now, command('echo edited >&2; exit 2'))
      all.push(await call({}))
      own(now)
      all.push(await call({}))
      own(now, command(DENY))
      all.push(await call({}))
      now.file('home/.amplifier/settings.json', { hooks: { disableAllHooks: true }, disableAllHooks: true })
      all.push(await call({}))
      rmSync(now.path('home/.amplifier'), { recursive: true })
      all.push(await call({}))
      now.file('home/.amplifier/hooks/hooks.json', '{ broken')
      all.push(await call({}))
      return all
    })
    expect(runs.map(({ code }) => code).slice(0, 4)).toEqual([2, 2, 0, 2])
  })

  it('CARABINER_OFF lets the event pass, and records it', async () => {
    await both(async (now, call) => {
      own(now, command(DENY))
      return [await call({ env: { CARABINER_OFF: '1' } }), await call({})]
    })
  })

  it('a session remembers from call to call', async () => {
    await both(async (now, call) => {
      own(now, command(`echo x >> "$HOME/ran"; echo '{"systemMessage":"hello"}'`, { once: true }))
      return [await call({}), await call({}), now.read('home/ran')]
    })
  })

  it('an approval counts for the next call', async () => {
    const runs = await both(async (now, call) => {
      own(now, command(answer({ permissionDecision: 'ask', permissionDecisionReason: 'sure?' })))
      // It has no dialog of its own.
      const args = ['fire', '--as', 'kimi', 'PreToolUse']
      const asked = await call({ args })
      const id = /allow ([0-9a-z]{4}-[0-9a-z]{4})/.exec(asked.stderr)?.[1] ?? ''
      const allowed = await now.carabiner(['approvals', 'allow', id])
      return [asked, allowed, await call({ args }), await call({ args })]
    })
    expect(runs.map(({ code }) => code)).toEqual([2, 0, 0, 2])
  })
})

it.skipIf(isServable)('there is no C compiler: clip was not called', () => {})
