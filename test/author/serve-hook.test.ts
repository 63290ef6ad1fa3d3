// serveHook: a hook in a process of its own, bundled from the sources, spoken to over its pipes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as author from '../../src/author/index.js'
import { proceed, type ResidentHook, serveHook } from '../../src/author/index.js'
import { read } from '../systems/picoclaw/asked.js'
import { Wire } from './wire.js'

let dir: string
let metafile: Metafile
const wires: Wire[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'author-test-'))
  const built = await build({
    entryPoints: [fileURLToPath(new URL('./everything-hook.ts', import.meta.url))],
    outfile: join(dir, 'hook.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Loaded late, and never by a hook.
    external: ['./setup.js', './proof.js'],
    metafile: true,
  })
  metafile = built.metafile
})
afterAll(() => {
  for (const wire of wires) wire.kill()
  rmSync(dir, { recursive: true })
})

function start(): Wire {
  const wire = new Wire([process.execPath, join(dir, 'hook.mjs')], { cwd: dir, env: process.env })
  wires.push(wire)
  return wire
}

const META = { TurnID: 'turn-1' }
const call = (tool: string) => ({ meta: META, tool, arguments: { text: 'a' }, channel: '', chat_id: '' })
const AFTER = 'served, and 0 under way'

describe('a served hook', { concurrent: true, timeout: 60_000 }, () => {
  it('refuses a configuration that it has no handler for: it would let everything pass', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const served = serveHook(
      { name: 'watcher', onEvent: () => undefined, afterTool: () => proceed() },
      { input, output },
    )
    const hello = (id: number, modes: string[]) =>
      JSON.stringify({ id, method: 'hook.hello', params: { modes } })
    input.end(`${hello(1, ['observe', 'tool'])}\n${hello(2, ['observe', 'llm', 'approve'])}\n`)
    await served
    const answers = String(output.read())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toMatchObject([
      { id: 1, result: { ok: true } },
      {
        id: 2,
        error: {
          code: -32602,
          message: 'watcher is configured for "llm", "approve" but has no handler for it',
        },
      },
    ])
  })

  it('says hello with its name', async () => {
    const wire = start()
    expect(await wire.ask('hook.hello', { name: 'configured', version: 1, modes: ['tool'] })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { ok: true, name: 'everything' },
    })
    expect(await wire.end()).toEqual({ code: 0, stderr: '', noise: [AFTER] })
  })

  it.for([
    ['hook.before_tool', call('deny'), { action: 'deny_tool', reason: 'not in turn-1' }],
    [
      'hook.before_tool',
      call('change'),
      { action: 'modify', call: { tool: 'changed', arguments: { text: 'a', more: 1 } } },
    ],
    [
      'hook.before_tool',
      call('respond'),
      { action: 'respond', result: { for_llm: 'done', is_error: false } },
    ],
    ['hook.before_tool', call('abort'), { action: 'abort_turn', reason: 'enough' }],
    ['hook.before_tool', call('go'), { action: 'continue' }],
    ['hook.before_tool', call('any other'), { action: 'continue' }],
    ['hook.before_llm', { model: 'stop' }, { action: 'hard_abort', reason: 'no more of this' }],
    [
      'hook.before_llm',
      { model: 'm', tools: [] },
      { action: 'modify', request: { tools: [{ type: 'function', function: { name: 'mine' } }] } },
    ],
    [
      'hook.after_llm',
      { model: 'm', response: { role: 'assistant', content: 'words' } },
      { action: 'modify', response: { role: 'assistant', content: 'other words' } },
    ],
    [
      'hook.after_tool',
      { ...call('x'), result: { for_llm: 'text' }, duration: 1 },
      { action: 'modify', result: { for_llm: 'TEXT' } },
    ],
    ['hook.approve_tool', call('bash'), { approved: false, reason: 'no bash' }],
    ['hook.approve_tool', call('ls'), { approved: true }],
  ] as const)('answers %s %j', async ([method, params, result]) => {
    const wire = start()
    expect(await wire.ask(method, params)).toEqual({ jsonrpc: '2.0', id: 1, result })
  })

  it.for([
    ['throw', 'it is broken'],
    ['throw text', 'a text'],
    ['nonsense', 'beforeTool of everything answered 7, not an object'],
  ] as const)('tells the engine what went wrong (%s), logs it, and goes on', async ([tool, message]) => {
    const wire = start()
    expect(await wire.ask('hook.before_tool', call(tool))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32000, message },
    })
    expect(await wire.ask('hook.before_tool', call('go'))).toMatchObject({ result: { action: 'continue' } })
    const { code, stderr } = await wire.end()
    expect(code).toBe(0)
    expect(stderr).toContain('everything: hook.before_tool failed: ')
  })

  it('has an error for an answer that is no JSON, and for params that are none', async () => {
    const wire = start()
    expect(await wire.ask('hook.before_tool', call('circle'))).toMatchObject({ error: { code: -32603 } })
    expect(await wire.ask('hook.before_tool', 'x')).toMatchObject({
      error: { code: -32602, message: 'hook.before_tool arrived without params' },
    })
  })

  it('has an error for an approver that does not answer, never an approval', async () => {
    const wire = start()
    const { error, result } = await wire.ask('hook.approve_tool', call('nothing'))
    expect(error).toEqual({
      code: -32000,
      message: 'approveTool of everything answered undefined, not an object',
    })
    expect(result).toBeUndefined()
  })

  it('answers while others wait, in any order', async () => {
    const wire = start()
    const order: string[] = []
    const waits = ['a', 'b'].map(async (id) => {
      const reply = await wire.ask('hook.before_tool', call('wait'), id)
      order.push(id)
      return reply
    })
    await wire.ask('hook.before_tool', call('go'))
    order.push('go')
    await wire.ask('hook.before_tool', call('release'))
    for (const reply of await Promise.all(waits))
      expect(reply).toMatchObject({ result: { reason: 'waited' } })
    expect(order[0]).toBe('go')
  })

  it('finishes running calls when its input ends, and then ends', async () => {
    const wire = start()
    const slow = wire.ask('hook.before_tool', call('slow'))
    const ended = wire.end()
    expect(await slow).toMatchObject({ result: { action: 'deny_tool', reason: 'slow' } })
    expect(await ended).toEqual({ code: 0, stderr: '', noise: [AFTER] })
  })

  it('finishes its work on events as well', async () => {
    const wire = start()
    wire.notify('hook.event', { Kind: 'turn_end', Meta: META, Payload: { Status: 'completed' } })
    const stderr = 'observed turn_end {"Status":"completed"}\n'
    expect(await wire.end()).toEqual({ code: 0, stderr, noise: [AFTER] })
  })

  it('ends when nothing reads its answers any more, although its input is open', async () => {
    const wire = start()
    await wire.ask('hook.hello', {})
    const ended = wire.hangUp()
    const lost = wire.ask('hook.before_tool', call('go'))
    await expect(lost).rejects.toThrow('did not answer')
    expect((await ended).code).toBe(0)
  })

  it('keeps stdout for the protocol, whatever prints there', async () => {
    const wire = start()
    expect(await wire.ask('hook.before_tool', call('print'))).toMatchObject({ result: { reason: 'printed' } })
    const { noise, stderr } = await wire.end()
    expect(noise).toEqual([AFTER])
    for (const printed of ['log\n', 'info\n', 'debug\n', '{ dir: 1 }\n', 'table', 'write\n']) {
      expect(stderr).toContain(printed)
    }
  })

  it('takes events, also with an id, and survives bad ones and noise', async () => {
    const wire = start()
    wire.notify('hook.event', { Kind: 'bad', Meta: META, Payload: {} })
    wire.notify('hook.event', null)
    wire.notify('hook.what', {})
    for (const line of ['noise', '[]', '{"id":7}', 'null']) wire.send(line)
    await wire.ask('hook.event', { Kind: 'with_id', Meta: META, Payload: {} }, 0)
    expect(await wire.ask('hook.hello', {})).toMatchObject({ result: { ok: true } })
    const { code, stderr, noise } = await wire.end()
    expect({ code, noise }).toEqual({ code: 0, noise: [AFTER] })
    expect(stderr).toContain('everything: onEvent failed: Error: bad event')
    expect(stderr).toContain('observed with_id')
    expect(stderr).toMatch(/^everything: A line was skipped.*: noise$/m)
    expect(stderr).toContain('everything: hook.event arrived without params')
  })

  it('does not know other methods', async () => {
    const wire = start()
    expect(await wire.ask('hook.what', {})).toMatchObject({
      error: { code: -32601, message: 'everything has no handler for hook.what' },
    })
  })

  it('reads a conversation of several MiB', async () => {
    const wire = start()
    const response = { role: 'assistant', content: 'x'.repeat(3_000_000), more: 'ü' }
    expect(await wire.ask('hook.after_llm', { model: 'm', response })).toMatchObject({
      result: { response: { content: 'other words', more: 'ü' } },
    })
  })
})

/** Over streams of the test's own, up to the end of the input. */
async function replies(hook: ResidentHook, ...lines: readonly object[]): Promise<readonly unknown[]> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const served = serveHook(hook, { input, output })
  for (const line of lines) input.write(`${JSON.stringify(line)}\n`)
  input.end()
  const printed = await text(output)
  await served
  return printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('a method without a handler', () => {
  it('is answered with continue, but an approval with an error', async () => {
    const methods = ['before_llm', 'after_llm', 'before_tool', 'after_tool', 'approve_tool']
    const requests = methods.map((name, i) => ({
      jsonrpc: '2.0',
      id: i + 1,
      method: `hook.${name}`,
      params: {},
    }))
    const answers = await replies({ name: 'empty' }, ...requests, { method: 'hook.event', params: {} })
    const proceeds = [1, 2, 3, 4].map((id) => ({ jsonrpc: '2.0', id, result: { action: 'continue' } }))
    const message = 'empty has no handler for hook.approve_tool'
    expect(answers).toEqual([...proceeds, { jsonrpc: '2.0', id: 5, error: { code: -32601, message } }])
  })

  it('keeps `this` for those that are there', async () => {
    class Gate implements ResidentHook {
      readonly name = 'gate'
      readonly beforeTool = () => ({ action: 'deny_tool', reason: this.name }) as const
      approveTool() {
        return { approved: false, reason: this.name }
      }
    }
    const asked = { id: 1, method: 'hook.approve_tool', params: {} }
    expect(await replies(new Gate(), asked)).toMatchObject([{ result: { approved: false, reason: 'gate' } }])
  })
})

describe('an answer', () => {
  const answer = async (handler: keyof typeof METHODS, given: object) => {
    const hook = { name: 'x', [handler]: () => given }
    const [reply] = await replies(hook, { id: 1, method: METHODS[handler], params: {} })
    return reply as { readonly result?: unknown; readonly error?: { readonly message: string } }
  }
  const METHODS = {
    beforeLlm: 'hook.before_llm',
    afterLlm: 'hook.after_llm',
    beforeTool: 'hook.before_tool',
    afterTool: 'hook.after_tool',
    approveTool: 'hook.approve_tool',
  } as const

  it.for([
    ['beforeTool', author.deny('no'), { action: 'deny_tool', reason: 'no' }],
    ['approveTool', author.deny('no'), { approved: false, reason: 'no' }],
    ['afterTool', author.deny('no'), { action: 'deny_tool', reason: 'no' }],
    ['approveTool', author.proceed(), { approved: true }],
    ['approveTool', author.abortTurn('no'), { action: 'abort_turn', reason: 'no' }],
    ['beforeTool', author.modify({ tool: 'ls' }), { action: 'modify', call: { tool: 'ls' } }],
    ['beforeTool', author.proceed({ data: { tool: 'ls' } }), { action: 'continue', call: { tool: 'ls' } }],
    ['beforeLlm', author.modify({ model: 'm' }), { action: 'modify', request: { model: 'm' } }],
    ['afterLlm', author.modify({ response: { role: 'a' } }), { action: 'modify', response: { role: 'a' } }],
    [
      'afterTool',
      author.modify({ result: { for_llm: 'x' } }),
      { action: 'modify', result: { for_llm: 'x' } },
    ],
    ['beforeTool', author.respond('done'), { action: 'respond', result: { for_llm: 'done' } }],
    ['beforeTool', author.respond([1]), { action: 'respond', result: { for_llm: '[1]' } }],
    [
      'beforeTool',
      author.respond({ for_llm: 'x', silent: true }),
      { action: 'respond', result: { for_llm: 'x', silent: true } },
    ],
    // Whatever the protocol does not have is left for the engine to report.
    [
      'beforeTool',
      author.deny('no', { ephemeral: true }),
      { action: 'deny_tool', reason: 'no', ephemeral: true },
    ],
    ['approveTool', author.deny('no', { data: { a: 1 } }), { approved: false, reason: 'no', data: { a: 1 } }],
  ] as const)('of %s %j is put into the words of the protocol', async ([handler, given, result]) => {
    expect((await answer(handler, given)).result).toEqual(result)
  })

  it.for([
    author.inject('text', { contextInjectionRole: 'user', ephemeral: true }),
    author.askUser('Sure?', { approvalTimeout: 9 }),
    author.deny('no', { userMessage: 'Refused', userMessageLevel: 'warning' }),
    author.respond('done', { userMessage: 'cached' }),
  ])('D5: the engine reads %j as it was given', async (given) => {
    const { result } = await answer('beforeTool', given)
    const decoded = read('before_tool', result)
    expect(decoded.notes).toEqual([])
    const { response, ...rest } = given
    expect(decoded.result).toMatchObject({
      ...rest,
      ...(response !== undefined && { response: { for_llm: 'done' } }),
    })
  })

  it.for([{ decision: 'deny' }, { approved: false }, { permission: 'ask' }])(
    'that closes in other words closes: %j',
    async (given) => {
      const { result } = await answer('beforeTool', given as never)
      expect(read('before_tool', result).result?.action).toMatch(/deny|ask_user/)
    },
  )

  it.for([
    ['beforeTool', author.denyTool('no')],
    ['beforeTool', author.modifyCall({ tool: 'ls' })],
    ['beforeTool', author.respondWith({ for_llm: 'x' })],
    ['beforeLlm', author.modifyRequest({ model: 'm' })],
    ['afterLlm', author.modifyResponse({ role: 'a' })],
    ['afterTool', author.modifyResult({ for_llm: 'x' })],
    ['approveTool', author.approve()],
    ['approveTool', author.refuse('no')],
  ] as const)('of %s in the words of the protocol stays as it is: %j', async ([handler, given]) => {
    expect((await answer(handler, given)).result).toEqual(given)
  })
})

describe('a hook that is misspelt', () => {
  it.for([
    [{ name: 'x', before_tool: () => {} }, 'serveHook() has no "before_tool"; it takes name, beforeLlm,'],
    [{ name: 'x', beforeTool: 'deny' }, 'beforeTool of serveHook() must be a function, got "deny"'],
    [{ beforeTool: () => {} }, 'serveHook() needs a name'],
  ] as const)('is refused at once: %j', ([hook, message]) => {
    const write = process.stdout.write
    expect(() => serveHook(hook as never)).toThrow(message)
    expect(process.stdout.write).toBe(write)
  })

  it('is refused by the compiler as well', () => {
    const hooks: readonly ResidentHook[] = [
      // @ts-expect-error -- there is no such action
      { name: 'x', beforeTool: () => ({ action: 'refuse', reason: 'no' }) },
      // @ts-expect-error -- deny_tool is PicoClaw's word, for before_tool alone
      { name: 'x', afterTool: () => ({ action: 'deny_tool', reason: 'no' }) },
      // @ts-expect-error -- an approver must answer
      { name: 'x', approveTool: () => undefined },
      { name: 'x', beforeTool: () => {}, afterLlm: async () => {} },
    ]
    expect(hooks).toHaveLength(4)
  })
})

describe('what a hook loads', () => {
  it('is the protocol, and nothing of the engine', () => {
    const [bundle] = Object.values(metafile.outputs)
    const loaded = Object.entries(bundle?.inputs ?? {})
      .filter(([path, { bytesInOutput }]) => path.includes('src/') && bytesInOutput > 0)
      .map(([path]) => path)
    const allowed =
      /src\/(?:author|rpc)\/[\w-]+\.ts$|src\/systems\/picoclaw\/protocol\.ts$|src\/core\/(?:base|events)\/(?:abort|caller|content|deadlines|errors|json|promise|result|text|time)\.ts$/
    expect(loaded.filter((path) => !allowed.test(path))).toEqual([])
    expect(loaded.some((path) => path.endsWith('rpc/connection.ts'))).toBe(true)
  })
})
