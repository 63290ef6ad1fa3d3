// Tools of a real server as hooks: what they are called with, and what their answers mean.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failureOf, tell } from '../process/hall.js'
import { Lobby, PROMPT, texts } from './lobby.js'

let lobby: Lobby
beforeAll(() => {
  lobby = new Lobby()
})
afterAll(() => lobby.close())

const ASK =
  '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}'
const DENY = '{"decision":"block","reason":"no"}'
const ALLOW = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'

describe('what a tool is called with', () => {
  it('its input, with fields of the payload', async () => {
    const input = { command: '$ ${tool_input.command}!', deep: [{ tool: '${tool_name}' }], number: 5 }
    expect(JSON.parse(await lobby.reason('echo', { input }))).toEqual({
      command: '$ ls!',
      deep: [{ tool: 'Bash' }],
      number: 5,
    })
  })

  it('nothing if it has no input', async () => {
    expect(await lobby.reason('echo')).toBe('{}')
  })
})

describe('what its text means', () => {
  it('a JSON object is an answer', async () => {
    expect(await lobby.answering(texts(DENY)).answer).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('nothing is no objection', async () => {
    expect(await lobby.answering(texts()).answer).toMatchObject({ action: 'continue' })
    expect(await lobby.answering(texts('  ')).answer).toMatchObject({ action: 'continue' })
  })

  it('other text is context where plain text is, and nothing elsewhere', async () => {
    const hook = lobby.hook('say', { input: { text: 'mind the step' } })
    expect(await tell(hook, PROMPT)).toMatchObject({
      action: 'inject_context',
      contextInjection: 'mind the step',
    })
    const { answer } = lobby.ask('say', { input: { text: 'mind the step' } })
    expect(await answer).toMatchObject({ action: 'continue' })
  })

  it('invalid JSON is a failure', async () => {
    const { code, message } = await failureOf(lobby.answering(texts('{"decision": block}')))
    expect(code).toBe('ANSWER_INVALID')
    expect(message).toMatch(/^the tool's text looks like a JSON object/)
  })

  it('an answer that wants to be waited for is a failure', async () => {
    const failure = await failureOf(lobby.answering(texts('{"async": true}')))
    expect(failure).toMatchObject({ code: 'ANSWER_INVALID', message: expect.stringContaining('async') })
  })
})

describe('an error of the tool', () => {
  it('is a failure in its words', async () => {
    const failure = await failureOf(lobby.answering({ ...texts('no disk'), isError: true }))
    expect(failure).toMatchObject({ code: 'HOOK_FAILED', message: expect.stringContaining('no disk') })
  })

  it('is also one if it says allow', async () => {
    const failure = await failureOf(lobby.answering({ ...texts(ALLOW), isError: true }))
    expect(failure.code).toBe('HOOK_FAILED')
  })

  it('does not take back a deny', async () => {
    const { answer } = lobby.answering({ ...texts(DENY), isError: true })
    expect(await answer).toMatchObject({ action: 'deny', reason: 'no' })
  })
})

describe('an answer in parts', () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }

  it('may be one JSON object in several texts', async () => {
    const { answer, notes } = lobby.answering(texts('{"decision":"block",', '"reason":"no"}'))
    expect(await answer).toMatchObject({ action: 'deny', reason: 'no' })
    expect(notes).toEqual([])
  })

  it('may have text next to it, which is reported', async () => {
    const { answer, notes } = lobby.answering(texts('I looked at it:', ALLOW))
    expect(await answer).toMatchObject({ permission: 'allow' })
    expect(notes).toMatchObject([{ code: 'content-ignored', text: expect.stringContaining('text next to') }])
  })

  it('that denies once denies', async () => {
    const { answer, notes } = lobby.answering(texts(ALLOW, DENY, '{broken}'))
    expect(await answer).toMatchObject({ action: 'deny', reason: 'no' })
    expect(notes).toContainEqual(expect.objectContaining({ code: 'content-ignored' }))
  })

  it.each([
    ['beside one that allows', texts(ALLOW, ASK)],
    ['beside data that allows', { ...texts(ASK), structuredContent: JSON.parse(ALLOW) }],
    ['beside an error', { ...texts(ASK), isError: true }],
    ['in a resource', { content: [{ type: 'resource', resource: { uri: 'file:///a', text: ASK } }] }],
  ])('that asks is asked: %s', async (_, result) => {
    expect(await lobby.answering(result).answer).toMatchObject({ action: 'ask_user', reason: 'sure?' })
  })

  it('that is two different answers is invalid', async () => {
    const failure = await failureOf(lobby.answering(texts(ALLOW, '{"systemMessage":"hm"}')))
    expect(failure).toMatchObject({ code: 'ANSWER_INVALID', message: expect.stringContaining('2 different') })
  })

  const resource = (text: string) => ({ type: 'resource', resource: { uri: 'file:///a', text } })

  it.each([
    ['an image', [image]],
    ['an image and a blank text', [image, { type: 'text', text: ' ' }]],
    ['a resource', [resource('{}')]],
    ['a resource that allows', [resource(ALLOW)]],
    ['a link', [{ type: 'resource_link', uri: 'file:///a', name: 'a' }]],
  ])('without anything readable is invalid: %s', async (_, content) => {
    const failure = await failureOf(lobby.answering({ content }))
    expect(failure).toMatchObject({ code: 'ANSWER_INVALID', message: expect.stringContaining('not text') })
  })

  it.each([
    ['alone', [resource(DENY)]],
    ['beside a text that allows', [{ type: 'text', text: ALLOW }, resource(` ${DENY}\n`)]],
    ['beside an image', [image, resource('{broken}'), resource(DENY)]],
  ])('may deny in a resource: %s', async (_, content) => {
    expect(await lobby.answering({ content }).answer).toMatchObject({ action: 'deny', reason: 'no' })
    expect(await lobby.answering({ content, isError: true }).answer).toMatchObject({ action: 'deny' })
  })

  it('may have images, which are noted', async () => {
    const { answer, notes } = lobby.answering({ content: [image, { type: 'text', text: DENY }] })
    expect(await answer).toMatchObject({ action: 'deny' })
    expect(notes).toMatchObject([{ code: 'content-ignored', text: expect.stringContaining('image') }])
  })
})

describe('structured content', () => {
  it('is the answer if there is no text', async () => {
    const { answer } = lobby.answering({ content: [], structuredContent: JSON.parse(DENY) })
    expect(await answer).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('is the answer if the text is not one', async () => {
    const { answer, notes } = lobby.answering({ ...texts('Denied.'), structuredContent: JSON.parse(DENY) })
    expect(await answer).toMatchObject({ action: 'deny', reason: 'no' })
    expect(notes).toEqual([])
  })

  it('that says the same as the text is no second answer', async () => {
    const { answer, notes } = lobby.answering({ ...texts(ALLOW), structuredContent: JSON.parse(ALLOW) })
    expect(await answer).toMatchObject({ permission: 'allow' })
    expect(notes).toEqual([])
  })

  it('denies also where the text allows', async () => {
    const { answer } = lobby.answering({ ...texts(ALLOW), structuredContent: JSON.parse(DENY) })
    expect(await answer).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('that is data of the tool leaves the text alone', async () => {
    const { answer, notes } = lobby.answering({ ...texts('3 files'), structuredContent: { files: 3 } })
    expect(await answer).toMatchObject({ action: 'continue' })
    expect(notes).toEqual([])
  })
})
