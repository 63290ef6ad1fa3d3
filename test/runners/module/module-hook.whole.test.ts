// Module hooks: a warm process for each plugin or file, which may do anything without harm to the engine.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, type Hooks, type Outcome } from 'carabiner'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../until.js'

/** Slow machines are no failures. */
const PATIENT = 60

class Plugin {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner module ')))
  readonly #opened: Hooks[] = []

  constructor(hooksJson: object, files: Readonly<Record<string, string>>) {
    this.write('hooks.json', JSON.stringify(hooksJson))
    for (const [name, text] of Object.entries(files)) this.write(name, text)
    onTestFinished(async () => {
      for (const hooks of this.#opened) await hooks.close()
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true })
    writeFileSync(join(this.folder, name), text)
  }

  async open() {
    const hooks = await createHooks({ plugins: [this.folder], trust: 'all', globals: false })
    this.#opened.push(hooks)
    const session = hooks.session()
    const call = (command: string, tool_name = 'Bash') =>
      session.fire('PreToolUse', { tool_name, tool_input: { command } })
    return { hooks, session, call }
  }
}

const entry = (module: string, more: object = {}) => ({ type: 'module', module, timeout: PATIENT, ...more })
const under = (...handlers: readonly object[]) => ({ hooks: { PreToolUse: [{ hooks: handlers }] } })

/** A plugin with one module under PreToolUse. */
function guard(text: string, more: object = {}): Plugin {
  return new Plugin(under(entry('./guard.mjs', more)), { 'guard.mjs': text })
}

/** The code of its failure. */
const failureOf = ({ hooks: [only] }: Outcome) => only?.why?.split(':', 1)[0]
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('answers', () => {
  test('are those of function hooks, from one warm process', async () => {
    const { call } = await guard(`
      import { deny, modify, respond } from 'carabiner/author'
      let calls = 0
      const answers = {
        deny: () => deny('no'),
        modify: (data) => modify({ tool_input: { command: data.tool_input.command + '!' } }),
        respond: () => respond({ text: 'done' }),
        inject: () => ({ action: 'inject_context', contextInjection: 'text' }),
        ask: () => ({ action: 'ask_user', approvalPrompt: 'Sure?' }),
        count: () => deny(String(calls)),
      }
      export default async (event, data, context) => {
        calls++
        context.note({ code: 'unknown-key', text: event })
        return answers[data.tool_input.command]?.(data)
      }
    `).open()
    expect(await call('nothing')).toMatchObject({ action: 'continue' })
    expect(await call('deny')).toMatchObject({ action: 'deny', reason: 'no' })
    const changed = await call('modify')
    expect(changed.data).toMatchObject({ tool_input: { command: 'modify!' } })
    expect(changed.diagnostics.map(({ text }) => text)).toContainEqual(expect.stringMatching(/: PreToolUse$/))
    expect(await call('respond')).toMatchObject({ action: 'respond', response: { text: 'done' } })
    expect((await call('inject')).injections).toMatchObject([{ text: 'text' }])
    expect((await call('ask')).action).toBe('ask_user')
    expect((await call('count')).reason).toBe('7')
  })

  test('that are none are failures, which close the gate', async () => {
    const { call } = await guard(`
      const answers = {
        text: () => 'no',
        null: () => null,
        odd: () => ({ deny: true }),
        bigint: () => ({ action: 'respond', response: 1n }),
        cycle: () => { const a = {}; a.a = a; return { action: 'modify', data: a } },
        throws: () => { throw new TypeError('broken') },
        frozen: (data) => { data.tool_input.command = 'x' },
      }
      export default (event, data) => answers[data.tool_input.command](data)
    `).open()
    const seen = []
    for (const how of ['text', 'null', 'odd', 'bigint', 'cycle', 'throws', 'frozen']) {
      const outcome = await call(how)
      seen.push([how, outcome.action, failureOf(outcome)])
    }
    const invalid = (how: string) => [how, 'deny', 'ANSWER_INVALID']
    expect(seen).toEqual([
      ...['text', 'null', 'odd', 'bigint', 'cycle'].map(invalid),
      ['throws', 'deny', 'HOOK_FAILED'],
      ['frozen', 'deny', 'HOOK_FAILED'],
    ])
    expect((await call('frozen')).messages[0]?.text).toMatch(/must return modify/)
    expect((await call('throws')).hooks[0]?.stderr).toMatch(/TypeError: broken\s+at .*guard\.mjs/)
  })
})

test('nothing that it prints or reads disturbs the protocol', async () => {
  const { call } = await guard(`
    import { execFileSync } from 'node:child_process'
    import { readFileSync, writeSync } from 'node:fs'
    export default (event, data) => {
      console.log('logged')
      console.error('complained')
      process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}')
      writeSync(1, 'written')
      execFileSync('echo', ['from a child'], { stdio: 'inherit' })
      return { action: 'deny', reason: 'read ' + readFileSync(0, 'utf8').length }
    }
  `).open()
  for (const _ of [1, 2]) {
    const outcome = await call('x')
    expect(outcome).toMatchObject({ action: 'deny', reason: 'read 0' })
    expect(outcome.diagnostics).toEqual([])
    expect(outcome.hooks[0]?.stderr).toMatch(/logged/)
  }
})

describe('a process that misbehaves', () => {
  test('is ended at the deadline of an endless loop, and the next event gets a new one', async () => {
    const { call } = await guard(
      `export default (event, data) => {
        if (data.tool_input.command === 'loop') for (;;);
        return { action: 'deny', reason: String(process.pid) }
      }`,
      { timeout: 2 },
    ).open()
    const before = Number((await call('ls')).reason)
    const outcome = await call('loop')
    expect([outcome.action, failureOf(outcome)]).toEqual(['deny', 'HOOK_TIMEOUT'])
    expect(outcome.reason).toMatch(/did not answer within its 2 s, so its process was ended/)
    const next = await call('ls')
    expect(Number(next.reason)).not.toBe(before)
    expect(next.diagnostics.map(({ code }) => code)).toEqual(['process-restarted'])
    await until('the old process is gone', () => !isAlive(before))
  })

  test('is ended with the event that was given up', async () => {
    const { session, call } = await guard(`
      export default (event, data) => {
        const pid = String(process.pid)
        return data.tool_input.command === 'wait' ? new Promise(() => {}) : { action: 'deny', reason: pid }
      }`).open()
    const before = Number((await call('ls')).reason)
    const given = { tool_name: 'Bash', tool_input: { command: 'wait' } }
    await expect(session.fire('PreToolUse', given, { signal: AbortSignal.timeout(50) })).rejects.toThrow()
    await until('the old process is gone', () => !isAlive(before))
    expect(Number((await call('ls')).reason)).not.toBe(before)
  })

  test('that loops while it is imported is ended too', async () => {
    const { call } = await guard('for (;;);', { timeout: 0.2 }).open()
    expect(failureOf(await call('ls'))).toBe('HOOK_TIMEOUT')
    expect(failureOf(await call('ls'))).toBe('HOOK_TIMEOUT')
  })

  test.each([
    ['crashes', 'await others; process.exit(3)'],
    ['hangs', 'await others; for (;;);'],
  ])('closes the gate of another call if one %s, whatever onFailure says', async (_, harm) => {
    const { call } = await guard(
      `let came
      const others = new Promise((resolve) => { came = resolve })
      export default async (event, data) => {
        if (data.tool_input.command === 'harm') { ${harm} }
        if (data.tool_input.command === 'ls') return
        came()
        return new Promise((resolve) => setTimeout(() => resolve({ action: 'deny', reason: 'no' }), 100))
      }`,
      { timeout: 2, onFailure: 'continue' },
    ).open()
    await call('ls')
    const [, judged] = await Promise.all([call('harm'), call('judge')])
    expect([judged.action, failureOf(judged)]).toEqual(['deny', 'HOOK_INTERRUPTED'])
    expect(judged.reason).toContain('judging was interrupted; try again')
    expect((await call('judge')).reason).toBe('no')
  })

  test('lets other calls that it is working on finish first', async () => {
    const quick = entry('./guard.mjs', { timeout: 0.3 })
    const plugin = new Plugin(
      {
        hooks: {
          PreToolUse: [
            { matcher: 'Slow', hooks: [quick] },
            { matcher: 'Bash', hooks: [entry('./guard.mjs')] },
          ],
        },
      },
      {
        'guard.mjs': `
          let open
          const opened = new Promise((resolve) => { open = resolve })
          export default async (event, data) => {
            if (data.tool_name === 'Slow') await new Promise(() => setTimeout(open, 900))
            await opened
            return { action: 'deny', reason: 'in peace' }
          }`,
      },
    )
    const { call } = await plugin.open()
    const [late, patient] = await Promise.all([call('ls', 'Slow'), call('ls', 'Bash')])
    expect(failureOf(late)).toBe('HOOK_INTERRUPTED')
    expect(patient.reason).toBe('in peace')
  })

  test.each([
    ['process.exit(0)', /exited with code 0 .*process\.exit\(0\) was called/],
    ["process.kill(process.pid, 'SIGKILL')", /killed by SIGKILL/],
    [
      "setTimeout(() => { throw new Error('later') }); return new Promise(() => {})",
      /exited with code 1.*later/,
    ],
  ])('%s is a failure, and the next event gets a new process', async (code, text) => {
    const { call } = await guard(
      `export default (event, data) => { if (data.tool_input.command === 'x') { ${code} } }`,
    ).open()
    const outcome = await call('x')
    expect([outcome.action, outcome.reason]).toEqual(['deny', expect.stringMatching(text)])
    expect((await call('ls')).action).toBe('continue')
  })

  test('ends with its hooks, whatever it left open', async () => {
    const { hooks, call } = await guard(`
      setInterval(() => {}, 1000)
      export default () => ({ action: 'deny', reason: String(process.pid) })
    `).open()
    const pid = Number((await call('ls')).reason)
    await hooks.close()
    expect(isAlive(pid)).toBe(false)
  })
})

describe('a module that cannot be used', () => {
  const BAD: Readonly<Record<string, readonly [text: string, why: RegExp]>> = {
    Throws: ['throw new Error("at import")', /Throws\.mjs cannot be imported: at import/],
    Syntax: ['export default', /cannot be imported: Unexpected/],
    NoFile: ['import "./missing.mjs"', /cannot be imported: Cannot find module/],
    NoPackage: ['import "no-such-package"', /cannot be imported: Cannot find package/],
    OtherEvent: ['export const Stop = () => {}', /OtherEvent\.mjs has no handler for PreToolUse/],
    Nothing: ['export const answer = 42', /Nothing\.mjs exports no handler/],
    Mod: ['export function register(on) {}', /is a mod for Claude Code/],
  }

  test('closes its gate and says why, and harms no other', async () => {
    const groups = Object.keys(BAD).map((matcher) => ({ matcher, hooks: [entry(`./${matcher}.mjs`)] }))
    const files = Object.entries(BAD).map(([name, [text]]) => [`${name}.mjs`, text])
    const plugin = new Plugin({ hooks: { PreToolUse: groups } }, Object.fromEntries(files))
    const { call } = await plugin.open()
    for (const [tool, [, why]] of Object.entries(BAD)) {
      const outcome = await call('ls', tool)
      expect([outcome.action, failureOf(outcome)]).toEqual(['deny', 'HOOK_NOT_STARTED'])
      expect(outcome.reason).toMatch(why)
    }
  })

  test('fails by its own policy', async () => {
    const { call } = await guard('throw 1', { onFailure: 'continue' }).open()
    expect(await call('ls')).toMatchObject({ action: 'continue', hooks: [{ status: 'failed' }] })
  })

  test('that is missing is named', async () => {
    const { call } = await new Plugin(under(entry('./gone.mjs')), {}).open()
    expect((await call('ls')).messages[0]?.text).toMatch(/There is no file .*gone\.mjs/)
  })
})

describe('where it runs', () => {
  test('it finds carabiner/author without node_modules, also if only an imported file names it', async () => {
    const plugin = guard('export { default } from "./inner.mjs"')
    plugin.write('inner.mjs', 'import { deny } from "carabiner/author"; export default () => deny("found")')
    expect((await (await plugin.open()).call('ls')).reason).toBe('found')
  })

  test('the modules of a plugin share a process, and see its folders', async () => {
    const say =
      'export default () => ({ action: "inject_context", contextInjection: [process.pid, process.env.CLAUDE_PLUGIN_ROOT, process.argv.length].join() })'
    const two = { 'a.mjs': say, 'b/b.mjs': say }
    const json = under(entry('./a.mjs'), entry(`\${CLAUDE_PLUGIN_ROOT}/b/b.mjs`))
    const [one, other] = [new Plugin(json, two), new Plugin(json, two)]
    const texts = await Promise.all(
      [one, other].map(async (plugin) =>
        (await (await plugin.open()).call('ls')).injections.map(({ text }) => text),
      ),
    )
    expect(texts[0]?.[0]).toBe(texts[0]?.[1])
    expect(texts[0]?.[0]).toContain(one.folder)
    expect(texts[1]?.[0]).not.toBe(texts[0]?.[0])
  })

  test('a reload reads changed files', async () => {
    const plugin = guard(
      'import { word } from "./word.mjs"; export default () => ({ action: "deny", reason: word })',
    )
    plugin.write('word.mjs', 'export const word = "first"')
    const { hooks, call } = await plugin.open()
    expect((await call('ls')).reason).toBe('first')
    plugin.write('word.mjs', 'export const word = "second"')
    expect((await call('ls')).reason).toBe('first')
    await hooks.reload()
    expect((await call('ls')).reason).toBe('second')
  })
})

describe('"modules"', () => {
  test('name their events themselves, also in lists with matchers', async () => {
    const plugin = new Plugin(
      { modules: ['./hooks.mjs', { module: './list.cjs', timeout: PATIENT }] },
      {
        'hooks.mjs': `
          import { inject } from 'carabiner/author'
          import { word } from './word.mjs'
          export const UserPromptSubmit = (event, data) => inject(event + ' ' + data.prompt + word)`,
        'word.mjs': `import { proceed } from 'carabiner/author'; export const word = proceed().action`,
        'list.cjs': `
          const callback = (context) => ['deny', 'no ' + context.event]
          exports.hooks = [
            { event: 'PreToolUse', callback, matcher: 'Bash' },
            { event: 'PreToolUse', handler: () => ({ action: 'modify', data: { tool_input: { command: 'changed' } } }), matcher: 'Read' },
            { event: 'PreToolUse', handler: (event, data) => ({ action: 'inject_context', contextInjection: data.tool_input.command }), matcher: 'Read' },
          ]`,
      },
    )
    const { hooks, session, call } = await plugin.open()
    expect(hooks.list()).toMatchObject([
      { kind: 'module', events: 'all' },
      { name: expect.stringMatching(/:modules#2$/) },
    ])
    expect((await session.fire('UserPromptSubmit', { prompt: 'x' })).injections).toMatchObject([
      { text: 'UserPromptSubmit xcontinue' },
    ])
    expect((await call('ls')).reason).toBe('no pre_tool_use')
    const read = await call('ls', 'Read')
    expect(read.data).toMatchObject({ tool_input: { command: 'changed' } })
    expect(read.injections).toMatchObject([{ text: 'changed' }])
    expect((await call('ls', 'Write')).action).toBe('continue')
  })

  test('leave out a mod of Claude Code, and say so', async () => {
    const plugin = new Plugin(
      { modules: ['./register.ts'] },
      { 'register.ts': 'export const register: Register = (on) => {}' },
    )
    const { hooks } = await plugin.open()
    expect([hooks.list(), hooks.diagnostics]).toMatchObject([
      [],
      [{ code: 'entry-unsupported', text: expect.stringMatching(/it is a mod/) }],
    ])
  })
})
