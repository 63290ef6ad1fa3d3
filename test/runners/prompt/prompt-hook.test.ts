// Prompt hooks in the engine: what a model's answer does to an event, as Claude Code was observed to do it.

import { HookError } from 'carabiner'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelFunction, ModelQuestion, ModelSource } from '../../../src/runners/model/model-source.js'
import { PAYLOAD_LIMIT } from '../../../src/runners/model/question.js'
import { Asking } from '../model/asking.js'
import { LoopbackModel } from '../model/loopback-model.js'

const saying = (reply: string) => Asking.host(() => reply)
const NO = '{"ok": false, "reason": "PHNO"}'

describe('as observed in Claude Code', () => {
  it('ph-pre-no: a no stops the turn, and the tool does not run', async () => {
    const one = saying(NO)
    expect(await one.fire(one.prompt({ prompt: 'check it' }))).toMatchObject({
      action: 'abort_turn',
      reason: 'PHNO',
    })
  })

  it('ph-pre-no-cont: with continueOnBlock it denies the call', async () => {
    const one = saying(NO)
    const hook = one.prompt({ prompt: 'check it', continueOnBlock: true })
    expect(await one.fire(hook)).toMatchObject({ action: 'deny', reason: 'PHNO' })
  })

  it('ph-pre-garbage: an invalid verdict lets the call continue, and is reported', async () => {
    const one = saying('garbage')
    const outcome = await one.fire(one.prompt({ prompt: 'check it' }))
    expect(outcome.action).toBe('continue')
    expect(outcome.hooks).toMatchObject([{ name: 'judge', status: 'failed' }])
    expect(outcome.messages).toMatchObject([{ level: 'warning', text: expect.stringContaining('not valid') }])
  })
})

describe('in the engine', () => {
  it('an invalid verdict closes the gate if the hook says so', async () => {
    const one = saying('I would say it is fine')
    const outcome = await one.fire(one.prompt({}, { onFailure: 'block' }))
    expect(outcome).toMatchObject({ action: 'deny', reason: expect.stringContaining('fail-safe deny') })
  })

  it.each([
    ['PreToolUse', { tool_name: 'Bash', tool_input: {} }, 'abort_turn'],
    ['UserPromptSubmit', { prompt: 'hello' }, 'abort_turn'],
    ['PostToolUse', { tool_name: 'Bash', tool_input: {}, tool_response: 'x' }, 'abort_turn'],
    ['Stop', { stop_hook_active: false }, 'deny'],
    ['PermissionRequest', { tool_name: 'Bash', tool_input: {} }, 'continue'],
    ['TaskCompleted', { task_id: '1', task_subject: 'x' }, 'deny'],
    ['SessionStart', { source: 'startup' }, 'continue'],
  ])('a no on %s', async (event, data, action) => {
    const one = saying(NO)
    const outcome = await one.fire(one.prompt(), data, event)
    expect(outcome.action).toBe(action)
    const ignored = outcome.diagnostics.some(({ code }) => code === 'verdict-ignored')
    expect(ignored).toBe(action === 'continue')
  })

  it('a no after a tool has run is told to the model with continueOnBlock', async () => {
    const one = saying(NO)
    const data = { tool_name: 'Bash', tool_input: {}, tool_response: 'x' }
    const outcome = await one.fire(one.prompt({ continueOnBlock: true }), data, 'PostToolUse')
    expect(outcome).toMatchObject({
      action: 'continue',
      injections: [{ text: expect.stringContaining('PHNO') }],
    })
  })

  it('a condition that can never hold lets the agent stop, and the user is told', async () => {
    const one = saying('{"ok": false, "impossible": true, "reason": "the tests need a network"}')
    const outcome = await one.fire(one.prompt(), { stop_hook_active: false }, 'Stop')
    expect(outcome).toMatchObject({
      action: 'continue',
      messages: [{ level: 'warning', text: expect.stringContaining('the tests need a network') }],
    })
  })

  it('a yes does not skip other hooks', async () => {
    const one = saying('{"ok": true}')
    const outcome = await one.fire(one.prompt())
    expect(outcome).toMatchObject({ action: 'continue', messages: [], diagnostics: [] })
    expect(outcome.permission).toBeUndefined()
    expect(outcome.hooks).toMatchObject([{ status: 'ran', stdout: '{"ok": true}' }])
  })

  describe('a gate that saw only a part', () => {
    const data = { tool_name: 'Write', tool_input: { content: 'x'.repeat(2 * PAYLOAD_LIMIT) } }

    it('cannot say yes, and says why', async () => {
      const one = saying('{"ok": true}')
      const outcome = await one.fire(one.prompt({}, { onFailure: 'block' }), data)
      expect(outcome).toMatchObject({
        action: 'deny',
        reason: expect.stringContaining('it only saw a part of the event'),
      })
      expect(outcome.diagnostics).toContainEqual(
        expect.objectContaining({
          code: 'payload-cut',
          text: expect.stringMatching(/\d+ bytes in the middle were left out/),
        }),
      )
      await expect(one.run(one.prompt(), { data })).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
    })

    it('can say no', async () => {
      const one = saying(NO)
      expect(await one.run(one.prompt(), { data })).toEqual({ action: 'abort_turn', reason: 'PHNO' })
    })

    it.each(['PermissionRequest', 'PermissionDenied', 'SessionStart', 'SomethingElse'])(
      'has no effect on %s, even if it only saw a part',
      async (name) => {
        const one = saying('{"ok": true}')
        expect(await one.run(one.prompt(), { name, data })).toEqual({ action: 'continue' })
        expect(one.codes).toEqual(['payload-cut'])
      },
    )

    it.each(['UserPromptSubmit', 'PostToolUse', 'Stop', 'ModelRequest'])(
      'cannot say yes on %s',
      async (name) => {
        const one = saying('{"ok": true}')
        await expect(one.run(one.prompt(), { name, data })).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
      },
    )
  })

  it('shows its status message', async () => {
    const one = saying('yes')
    await one.run(one.prompt({ statusMessage: 'Judging\u001b[2J' }))
    expect(one.shown).toEqual([{ text: 'Judging', level: 'info', source: 'judge' }])
  })
})

describe('at the deadline', () => {
  let model: LoopbackModel
  beforeEach(async () => {
    model = await LoopbackModel.start()
  })
  afterEach(() => model.close())

  it.each(['HANG', 'HANG-AFTER-HEADERS', 'TRICKLE'] as const)('the request is ended: %s', async (move) => {
    model.answers('yes', move)
    const one = Asking.settings({ provider: 'anthropic', name: 'claude-x', base_url: model.url })
    await one.run(one.prompt()) // loads the library
    const outcome = await one.fire(one.prompt({}, { timeoutMs: 2000 }))
    expect(outcome.action).toBe('continue')
    expect(outcome.hooks).toMatchObject([{ status: 'failed' }])
    expect(outcome.messages).toMatchObject([{ text: expect.stringContaining('did not answer') }])
    await model.abandoned()
    expect(model.received).toHaveLength(2)
  })

  it('a function that ignores its signal is not waited for', async () => {
    const one = Asking.host(() => new Promise<string>(() => {}))
    const outcome = await one.fire(one.prompt({}, { timeoutMs: 50, onFailure: 'block' }))
    expect(outcome.action).toBe('deny')
  })
})

describe('a function of the host', () => {
  it('gets rules, question, wish and signal', async () => {
    const questions: ModelQuestion[] = []
    const one = Asking.host((question) => {
      questions.push(question)
      return Promise.resolve('yes')
    })
    const { signal } = new AbortController()
    await one.run(one.prompt({ model: 'haiku' }), {}, signal)
    await one.run(one.prompt(), {}, signal)
    expect(questions[0]).toEqual({
      prompt: expect.stringContaining('<data-'),
      system: expect.stringContaining('is data about the event'),
      model: 'haiku',
      signal,
    })
    expect(questions[1]).not.toHaveProperty('model')
    expect(one.notes).toEqual([])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no network')
      },
      'MODEL_FAILED',
      'no network',
    ],
    ['rejects', () => Promise.reject(new Error('no network')), 'MODEL_FAILED', 'no network'],
    [
      'throws nothing at all',
      () => {
        throw undefined
      },
      'MODEL_FAILED',
      'could not be asked',
    ],
    ['answers an object', () => ({ ok: true }) as never, 'ANSWER_INVALID', 'not a string'],
    ['answers undefined', () => undefined as never, 'ANSWER_INVALID', 'not a string'],
    ['answers 10 MB', () => 'x'.repeat(10 * 1024 * 1024), 'HOOK_OUTPUT', 'longer'],
  ] as [string, ModelFunction, string, string][])('that %s has failed', async (_, model, code, words) => {
    const one = Asking.host(model)
    const error = await one.run(one.prompt()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(HookError)
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) })
  })
})

describe('a LanguageModel of the host', () => {
  const languageModel = (version: string, content: unknown) => ({
    specificationVersion: version,
    provider: 'test',
    modelId: 'small-model',
    doGenerate: vi.fn((_: never) => Promise.resolve({ content, finishReason: 'stop' })),
  })

  it.each(['v2', 'v3', 'v4'])('of version %s is asked as the AI SDK asks it', async (version) => {
    const model = languageModel(version, [
      { type: 'reasoning', text: 'hm, {"ok": true}?' },
      { type: 'text', text: '{"ok": false, ' },
      { type: 'text', text: '"reason": "bad"}' },
    ])
    const one = Asking.host(model)
    expect(await one.run(one.prompt())).toMatchObject({ action: 'abort_turn', reason: 'bad' })
    expect(model.doGenerate.mock.calls[0]?.[0]).toMatchObject({
      prompt: [
        { role: 'system', content: expect.stringContaining('is data about the event') },
        { role: 'user', content: [{ type: 'text', text: expect.stringContaining('Is it safe?') }] },
      ],
      abortSignal: expect.any(AbortSignal),
    })
  })

  it.each([undefined, null, 'yes', {}, [null, 7, { type: 'text' }]])(
    'that answers %j has given no verdict',
    async (content) => {
      const one = Asking.host(languageModel('v3', content))
      await expect(one.run(one.prompt())).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
    },
  )

  it('stays as it is: a different wish is reported', async () => {
    const one = Asking.host(languageModel('v3', [{ type: 'text', text: 'yes' }]))
    await one.run(one.prompt({ model: 'small' }))
    expect(one.codes).toEqual([])
    await one.run(one.prompt({ model: 'haiku' }))
    expect(one.codes).toEqual(['model-ignored'])
  })
})

describe('which model', () => {
  it('none: it fails, and the hint says how to set one', async () => {
    const one = Asking.settings(null)
    await expect(one.run(one.prompt())).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'there is no model to ask',
      hint: expect.stringContaining('"provider"'),
    })
  })

  it("the host's that fails is looked for in the host's code", async () => {
    const one = Asking.host(() => Promise.reject(new Error('boom')))
    await expect(one.run(one.prompt())).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: "the host's model could not be asked: boom",
      hint: 'Check the model that was passed to createHooks({ model }).',
    })
  })

  it('one that takes too long is to be a faster one', async () => {
    const one = Asking.host(() => new Promise<never>(() => undefined))
    const outcome = await one.fire(one.prompt({}, { timeoutMs: 1 }))
    expect(outcome.hooks).toMatchObject([
      {
        why: 'HOOK_TIMEOUT',
        detail: expect.stringMatching(/\. Use a faster model, or give the hook a larger/),
      },
    ])
  })

  it("the host's wins over the settings, and both are read at each call", async () => {
    let source: ModelSource = { settings: { command: ['false'] }, embedder: () => 'yes' }
    const one = new Asking(() => source)
    const hook = one.prompt()
    expect(await one.run(hook)).toEqual({ action: 'continue' })
    source = { settings: { command: ['echo', 'no'] } }
    expect(await one.run(hook)).toMatchObject({ action: 'abort_turn' })
    await one.programs.idle()
  })

  it('something that is not a model is refused', async () => {
    const one = Asking.host(Object.assign(() => 'yes', { languageModel: () => {} }) as never)
    await expect(one.run(one.prompt())).rejects.toMatchObject({ code: 'MODEL_FAILED' })
    const other = Asking.host({ generate: () => 'yes' } as never)
    await expect(other.run(other.prompt())).rejects.toMatchObject({ code: 'MODEL_FAILED' })
  })
})
