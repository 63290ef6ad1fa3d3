import { describe, expect, it } from 'vitest'
import { withoutExamples } from '../../scripts/without-examples.mjs'

describe('a table without its examples', () => {
  it('keeps everything else', () => {
    const entry = (examples: string) =>
      `export const T: readonly P[] = [{ names: ['é'], examples: ${examples} }]`
    const written = "[{ command: `rm ']' \\`x\\``, effects: [del('x')] }, // don't\n]"
    expect(withoutExamples(`${entry(written)}\n${entry('[]')}`)).toBe(`${entry('[]')}\n${entry('[]')}`)
  })

  it('keeps lists with the same name that are not written down there', () => {
    const code = 'const { examples } = entry; export const x = { examples, y: examples.length }'
    expect(withoutExamples(code)).toBe(code)
  })
})
