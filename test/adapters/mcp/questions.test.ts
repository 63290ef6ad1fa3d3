import { describe, expect, it } from 'vitest'
import { RawScene } from './raw-scene.js'

const CALL = { method: 'tools/call', params: { name: 'pay', arguments: {} } }
const question = (url: string) => ({ mode: 'url', elicitationId: url.slice(-1), url, message: 'Log in' })
const needs = (...elicitations: object[]) => ({
  error: { code: -32042, message: 'Log in first', data: { elicitations } },
})

describe('an error that wants the person to visit an address', () => {
  it.each([CALL, { method: 'prompts/get', params: { name: 'p' } }, { method: 'a/method/of/tomorrow' }])(
    'is judged as an Elicitation for each of them: $method',
    async (request) => {
      const seen: unknown[] = []
      await using scene = await RawScene.open((hooks) => {
        hooks.register('Elicitation', (_, { url, mode }) => {
          seen.push([mode, url])
          return url === 'https://evil.example/b' ? { action: 'deny', reason: 'Evil' } : undefined
        })
      })
      const asked = needs(question('https://good.example/a'), question('https://evil.example/b'))
      const { error } = await scene.asks(request, asked)
      expect(error).toMatchObject({ code: -32000, message: 'Evil' })
      expect(JSON.stringify(scene.client.lines)).not.toContain('evil.example')
      expect(seen).toEqual([
        ['url', 'https://good.example/a'],
        ['url', 'https://evil.example/b'],
      ])
    },
  )

  it('passes as it was if hooks let it, or has another address', async () => {
    await using free = await RawScene.open(() => undefined)
    const asked = needs(question('https://good.example/a'))
    expect(await free.asks(CALL, asked)).toMatchObject(asked)
    await using scene = await RawScene.open((hooks) => {
      hooks.register('Elicitation', () => ({ action: 'modify', data: { url: 'https://other.example/c' } }))
    })
    expect(await scene.asks(CALL, asked)).toMatchObject(
      needs({ ...question('https://good.example/a'), url: 'https://other.example/c' }),
    )
  })

  it('cannot pass with its code as a text, which some programs read as the number', async () => {
    await using scene = await RawScene.open((hooks) => {
      hooks.register('Elicitation', () => ({ action: 'deny', reason: 'Evil' }))
    })
    const { error } = await scene.asks(CALL, {
      error: { ...needs(question('https://x.example/')).error, code: '-32042' },
    })
    expect(error).toMatchObject({ code: -32000 })
  })

  it.each([
    { code: -32042, message: 'x', Data: { elicitations: [question('https://evil.example/')] } },
    { code: -32000, Code: -32042, message: 'x', data: { elicitations: [question('https://evil.example/')] } },
    { code: -32042, message: 'x', data: { Elicitations: [question('https://evil.example/')] } },
    { code: -32042, message: 'x', data: { elicitations: [{ mode: 'url', URL: 'https://evil.example/' }] } },
  ])('is not passed on if another program reads more in it: %j', async (error) => {
    await using scene = await RawScene.open(() => undefined)
    const { error: got } = await scene.asks(CALL, { error })
    expect(got?.message).toContain('some programs take')
    expect(JSON.stringify(scene.client.lines)).not.toContain('evil.example')
  })
})

it('questions in a result are refused if a hook would have to judge them', async () => {
  const asked = {
    result: { inputRequests: { a: { method: 'elicitation/create', params: { message: 'SECRET?' } } } },
  }
  await using scene = await RawScene.open((hooks) => {
    hooks.register('ElicitationResult', () => undefined)
  })
  expect((await scene.asks(CALL, asked)).error?.message).toContain('cannot judge the questions')
  await using free = await RawScene.open(() => undefined)
  expect(await free.asks(CALL, asked)).toMatchObject(asked)
})
