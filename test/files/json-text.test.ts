import fc from 'fast-check'
import { findNodeAtLocation, type ParseError, parse as parseJsonc, parseTree } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { type JsonPath, JsonText, under } from '../../src/files/json-text.js'
import { isLarge, runs } from '../property/runs.js'

const path = (...keys: (string | number)[]) => keys.reduce<JsonPath>(under, null)
const read = (text: string): unknown => {
  const parsed = new JsonText(text).parse()
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.value
}

describe('parse', () => {
  it('reads plain JSON', () => {
    expect(read('{"a": [1, true, null, "x"]}')).toEqual({ a: [1, true, null, 'x'] })
  })

  it('drops a byte-order mark', () => {
    expect(read('\uFEFF{"a": 1}')).toEqual({ a: 1 })
  })

  it('accepts comments and trailing commas', () => {
    const text = `// head
      { "a": [1, 2, /* two */ ], // rest
        /* "b": 1, */ "c": "http://x/*y*/", }`
    expect(read(text)).toEqual({ a: [1, 2], c: 'http://x/*y*/' })
  })

  it.each([
    ['{ "a": 1 "b" : 2 }', 1, 'unexpected "\\"b\\""'],
    ['{\n"a": 1,\n,}', 3, 'unexpected ",}"'],
    ['{\n"a": tru\n}', 2, 'unexpected "tru"'],
    ['{\r\n"a": 01\r\n}', 2, 'unexpected "01"'],
    ['{"a": "x\ny"}', 1, 'unexpected "\\"x"'],
    ['{"a": "\\q"}', 1, 'unexpected "\\"\\\\q\\"}"'],
    ['{\n"a": [1,\n2', 3, 'the text ends too early'],
    ['', 1, 'the text ends too early'],
    ['  \n ', 2, 'the text ends too early'],
    ['{} {}', 1, 'unexpected "{}"'],
    ['{}\n/* no end', 2, 'unexpected "/*"'],
    ['[,]', 1, 'unexpected ",]"'],
    ['[1,,]', 1, 'unexpected ",]"'],
    ['{"a":}', 1, 'unexpected "}"'],
    ['{a: 1}', 1, 'unexpected "a:"'],
    ['[1]]', 1, 'unexpected "]"'],
    ['{]', 1, 'unexpected "]"'],
  ])('says where %j breaks', (text, line, problem) => {
    expect(new JsonText(text).parse()).toMatchObject({ problem, line })
  })

  it('keeps __proto__ a key like any other', () => {
    const value = read('{"__proto__": {"polluted": true}, "a": 1, /* */ }') as object
    expect(Object.keys(value)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it.runIf(isLarge)('takes nesting of any depth', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    expect('value' in new JsonText(deep).parse()).toBe(true)
    expect('value' in new JsonText(`// c\n${deep}`).parse()).toBe(true)
    expect(new JsonText(`${deep.slice(0, -1)}`).parse()).toMatchObject({ line: 1 })
    expect(new JsonText(deep).lineOf(path(0, 0, 0))).toBe(1)
  })

  it('keeps positions of the outer levels only, and all that follow', () => {
    const deep = `${'{"a": ['.repeat(5000)}1, {"b": 2}${']}'.repeat(5000)}`
    const text = new JsonText(`{"deep": ${deep},\n"after": [1,\n2]}`)
    expect('value' in text.parse()).toBe(true)
    let levels = 0
    for (let spot = text.spotOf(null); spot?.inside; spot = [...spot.inside.values()][0]) levels++
    expect(levels).toBeLessThan(600)
    expect(text.spotOf(path('deep'))?.end).toBe('{"deep": '.length + deep.length)
    expect(text.lineOf(path('after', 1))).toBe(3)
    expect(text.doubleKeys()).toEqual([])
  })

  it.each([
    ['comments without an end', '/*'.repeat(400_000)],
    ['a string of escapes', `["${'\\n'.repeat(400_000)}", x]`],
    ['quotes', '"'.repeat(800_000)],
    ['slashes', '/'.repeat(800_000)],
    ['commas', ','.repeat(800_000)],
  ])('is done with a megabyte of %s', (_, text) => {
    expect('problem' in new JsonText(text).parse()).toBe(true)
  })
})

describe('lineOf', () => {
  const text = new JsonText(`// one
{
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command" },
        { "type":
            "prompt" } ] }
    ]
  }, "caf\\u00e9": 1
}`)

  it.each([
    [[], 2],
    [['hooks'], 3],
    [['hooks', 'Stop', 0, 'hooks', 1], 6],
    [['hooks', 'Stop', 0, 'hooks', 1, 'type'], 7],
    [['café'], 9],
  ])('finds %j', (keys, line) => {
    expect(text.lineOf(path(...keys))).toBe(line)
  })

  it('answers with what is around a value that is not there', () => {
    expect(text.lineOf(path('hooks', 'Stop', 0, 'matcher'))).toBe(5)
    expect(text.lineOf(path('nothing', 'at', 'all'))).toBe(2)
  })

  it('means the last of a key that stands twice, as JSON.parse does', () => {
    expect(new JsonText('{"a": 1,\n"a": 2}').lineOf(path('a'))).toBe(2)
  })

  it('counts lines after \\r\\n', () => {
    expect(new JsonText('{\r\n\r\n"a": 1}').lineOf(path('a'))).toBe(3)
  })
})

describe('doubleKeys', () => {
  it('names the ones that are lost', () => {
    const text = new JsonText('{"a": 1,\n"b": {"c": 1,\n"c": 2}, "d": [{"a": 1}, {"a": 1}],\n"a": 3}')
    expect(text.doubleKeys()).toEqual([
      { key: 'c', line: 2 },
      { key: 'a', line: 1 },
    ])
  })
})

describe('for any JSON', () => {
  const json = fc.jsonValue({ maxDepth: 4 })

  /** The same value, written in some other way. */
  const styled = fc
    .tuple(json, fc.array(fc.constantFrom(' ', '\n', '\r\n', '\t', '// x\n', '/* y */')))
    .map(([value, gaps]) => {
      let at = 0
      const gap = () => gaps[at++ % Math.max(1, gaps.length)] ?? ''
      const write = (one: unknown): string => {
        if (Array.isArray(one)) return `[${gap()}${one.map((item) => write(item) + gap()).join(`,${gap()}`)}]`
        if (typeof one !== 'object' || one === null) return JSON.stringify(one)
        const fields = Object.entries(one).map(
          ([key, item]) => `${JSON.stringify(key)}${gap()}:${gap()}${write(item)}`,
        )
        return `{${gap()}${fields.join(`,${gap()}`)}${fields.length > 0 && gaps.length % 2 ? ',' : ''}${gap()}}`
      }
      return { value, text: gap() + write(value) + gap() }
    })

  it('reads what was written', () => {
    fc.assert(
      fc.property(styled, ({ value, text }) => {
        expect(read(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: runs(500) },
    )
  })

  it('finds every value where jsonc-parser finds it', () => {
    fc.assert(
      fc.property(styled, ({ value, text }) => {
        const ours = new JsonText(text)
        const theirs = parseTree(text, [], { allowTrailingComma: true })
        const visit = (one: unknown, keys: (string | number)[]): void => {
          const node = theirs && findNodeAtLocation(theirs, keys)
          expect(ours.lineOf(path(...keys))).toBe(text.slice(0, node?.offset).split('\n').length)
          if (typeof one !== 'object' || one === null) return
          for (const key of Object.keys(one)) {
            visit((one as Record<string, unknown>)[key], [...keys, Array.isArray(one) ? Number(key) : key])
          }
        }
        visit(value, [])
      }),
      { numRuns: runs(500) },
    )
  })

  it('refuses what jsonc-parser refuses, and says so without throwing', () => {
    const broken = fc
      .tuple(
        styled,
        fc.nat(),
        fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', '/', 'x', '\u00a0', '1', '-'),
      )
      .map(([{ text }, at, insert]) => {
        const cut = at % (text.length + 1)
        return text.slice(0, cut) + insert + text.slice(insert === '' ? cut + 1 : cut)
      })
    fc.assert(
      fc.property(fc.oneof(broken, fc.string()), (text) => {
        const errors: ParseError[] = []
        const theirs = parseJsonc(text, errors, { allowTrailingComma: true })
        const parsed = new JsonText(text).parse()
        if ('problem' in parsed) {
          const lines = text.split('\n').length
          expect(parsed.line).toBeGreaterThanOrEqual(1)
          expect(parsed.line).toBeLessThanOrEqual(lines)
          expect(parsed.problem).toMatch(/^unexpected "|^the text ends too early$/)
        } else if (errors.length === 0 && !text.includes('__proto__')) {
          // With that key jsonc-parser sets the prototype, and the key is gone.
          expect(JSON.stringify(theirs)).toBe(JSON.stringify(parsed.value))
        }
        // jsonc-parser is the more lenient of the two in places (numbers such as 01), never the stricter one.
        if (errors.length > 0) expect('problem' in parsed).toBe(true)
      }),
      { numRuns: runs(2000) },
    )
  })
})
