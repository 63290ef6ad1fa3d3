// Payloads as the seeds' systems really send them, by their own names of events and fields.

import { HookRegistry, modify, type Outcome } from 'carabiner/core'
import { describe, expect, it } from 'vitest'

/** The data that a hook saw, and the outcome. */
async function fired(name: string, data: object, answer?: object): Promise<readonly [object, Outcome]> {
  const registry = new HookRegistry()
  let seen: object = {}
  registry.register(name, (_, data) => {
    seen = data
    return answer as never
  })
  const outcome = await registry.emit(name, data)
  return [seen, outcome]
}

describe('S5: BeamAgent’s post_tool_use', () => {
  it('need not carry the call', async () => {
    const [seen] = await fired('post_tool_use', { tool_name: 'Bash', content: 'done' })
    expect(seen).toMatchObject({
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      content: 'done',
      tool_input: {},
    })
  })

  it('still needs the tool, and PostToolUse its input', async () => {
    await expect(fired('post_tool_use', { content: 'done' })).rejects.toThrow('tool_name is missing')
    await expect(fired('PostToolUse', { tool_name: 'Bash' })).rejects.toThrow('tool_input is missing')
  })
})

describe('S9: Amplifier’s own payloads', () => {
  const CALL = {
    tool_name: 'bash',
    tool_input: { command: 'ls' },
    tool_call_id: 'c1',
    parallel_group_id: 'g',
  }

  it('tool:post has the result and the id under the names of hooks', async () => {
    const [seen] = await fired('tool:post', { ...CALL, result: { output: 'x' } })
    expect(seen).toMatchObject({
      ...CALL,
      result: { output: 'x' },
      tool_use_id: 'c1',
      tool_response: { output: 'x' },
      tool_result: { output: 'x' },
    })
  })

  it('tool:pre and tool:error have the id', async () => {
    expect((await fired('tool:pre', CALL))[0]).toMatchObject({ tool_use_id: 'c1' })
    const failed = { ...CALL, error: { type: 'E', msg: 'm' } }
    expect((await fired('tool:error', failed))[0]).toMatchObject({ tool_use_id: 'c1', error: { type: 'E' } })
  })

  it('a name of hooks counts more than another', async () => {
    const [seen] = await fired('tool:post', { ...CALL, result: 'a', tool_result: 'b' })
    expect(seen).toMatchObject({ tool_response: 'b', tool_result: 'b', result: 'a' })
  })

  it('a change of the result changes it under every name', async () => {
    const [, outcome] = await fired('tool:post', { ...CALL, result: 'a' }, modify({ result: 'b' }))
    expect(outcome.data).toMatchObject({ result: 'b', tool_response: 'b', tool_result: 'b' })
  })

  it('provider:request needs neither model nor messages', async () => {
    const [seen] = await fired('provider:request', { provider: 'anthropic', iteration: 1 })
    expect(seen).toMatchObject({
      hook_event_name: 'ModelRequest',
      provider: 'anthropic',
      model: '',
      messages: [],
    })
    await expect(fired('ModelRequest', { provider: 'anthropic' })).rejects.toThrow('model is missing')
  })
})
