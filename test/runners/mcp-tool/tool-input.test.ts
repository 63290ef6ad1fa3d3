// The placeholders of an input.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../src/core/base/errors.js'
import { toolInput } from '../../../src/runners/mcp-tool/mcp-tool-hook.js'

const PAYLOAD = {
  tool_name: 'Bash',
  tool_input: { command: 'ls', timeout: 5, nested: { on: true }, nothing: null, trick: '${tool_name}' },
  tool_calls: [{ tool_name: 'Read' }],
}

function filled(text: string): { readonly text: unknown; readonly notes: readonly Diagnostic[] } {
  const notes: Diagnostic[] = []
  const { text: made } = toolInput({ text }, PAYLOAD, (d) => notes.push(d))
  return { text: made, notes }
}

describe('a placeholder', () => {
  it.each([
    ['${tool_name}', 'Bash'],
    ['${tool_name}${tool_name}', 'BashBash'],
    ['a ${tool_input.command} b', 'a ls b'],
    ['${tool_input.timeout}', '5'],
    ['${tool_input.nested}', '{"on":true}'],
    ['${tool_input.nothing}', 'null'],
    ['${tool_calls.0.tool_name}', 'Read'],
    ['$tool_name ${} ${ tool_name } $${tool_name}', '$tool_name ${} ${ tool_name } $Bash'],
  ])('%s is %s', (text, expected) => {
    expect(filled(text)).toEqual({ text: expected, notes: [] })
  })

  it('is not looked for in what was put in', () => {
    expect(filled('${tool_input.trick}').text).toBe('${tool_name}')
  })

  it.each([
    'missing',
    'tool_input.missing',
    'tool_name.length',
    'tool_name.0',
    'tool_calls.length',
    'tool_calls.-1',
    '__proto__',
    'constructor.name',
    'tool_input.__proto__.toString',
    'tool_input.toString',
  ])('${%s} finds nothing, and says so', (path) => {
    const { text, notes } = filled(`<\${${path}}>`)
    expect(text).toBe('<>')
    expect(notes).toMatchObject([{ code: 'placeholder-empty', text: expect.stringContaining(`\${${path}}`) }])
  })

  it('is replaced in values alone, also of a key called __proto__', () => {
    const input = JSON.parse('{"__proto__": {"${tool_name}": "${tool_name}"}}') as Record<string, unknown>
    const made = toolInput(input, PAYLOAD, () => undefined)
    expect(JSON.stringify(made)).toBe('{"__proto__":{"${tool_name}":"Bash"}}')
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype)
  })
})

describe('an input', () => {
  it('cannot grow without end', () => {
    const payload = { big: 'x'.repeat(1024) }
    const input = { text: '${big}'.repeat(2000) }
    expect(() => toolInput(input, payload, () => undefined)).toThrow(/larger than 1048576 bytes/)
  })

  it('cannot be nested without end', () => {
    let input: Record<string, unknown> = {}
    for (let i = 0; i < 40; i++) input = { input }
    expect(() => toolInput(input, PAYLOAD, () => undefined)).toThrow(/nested deeper than 32/)
  })
})
