import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonText, type Spot, under } from '../../../src/files/json-text.js'
import { appended, edited, layoutOf, prepended, pushed, removed } from '../../../src/hosts/forms/json-edit.js'

const KEY = under(null, 'a')

function spotIn(json: JsonText, path: Parameters<JsonText['spotOf']>[0]): Spot {
  return json.spotOf(path) as Spot
}

function prepend(text: string, ...items: unknown[]): string {
  const json = new JsonText(text)
  return edited(text, prepended(text, spotIn(json, KEY), items, layoutOf(text, spotIn(json, null))))
}

function push(text: string, ...items: unknown[]): string {
  const json = new JsonText(text)
  return edited(text, pushed(text, spotIn(json, KEY), items, layoutOf(text, spotIn(json, null))))
}

function append(text: string, ...entries: [string, unknown][]): string {
  const root = spotIn(new JsonText(text), null)
  return edited(text, appended(text, root, entries, layoutOf(text, root)))
}

/** The children of `a` with these keys. */
function remove(text: string, ...keys: (string | number)[]): string {
  const container = spotIn(new JsonText(text), KEY)
  return edited(
    text,
    removed(text, container, new Set(keys.map((key) => container.inside?.get(key) as Spot))),
  )
}

describe('items at the end of a list', () => {
  it.each([
    ['its own indentation', '{\n\t"a": [\n\t\t1\n\t]\n}', '{\n\t"a": [\n\t\t1,\n\t\t"x"\n\t]\n}'],
    ['line ends', '{\r\n "a": [\r\n  1\r\n ]\r\n}', '{\r\n "a": [\r\n  1,\r\n  "x"\r\n ]\r\n}'],
    ['an empty list', '{\n  "a": []\n}\n', '{\n  "a": [\n    "x"\n  ]\n}\n'],
    ['a list on one line', '{\n  "a": [ 1, 2 ]\n}', '{\n  "a": [ 1, 2, "x" ]\n}'],
    ['a trailing comma', '{\n  "a": [\n    1,\n  ]\n}', '{\n  "a": [\n    1,\n    "x",\n  ]\n}'],
    ['a text without blanks', '{"a":[1]}', '{"a":[1,"x"]}'],
    [
      'a remark on the last',
      '{\n  "a": [\n    1 // one\n  ]\n}',
      '{\n  "a": [\n    1, // one\n    "x"\n  ]\n}',
    ],
  ])('keep %s', (_, before, after) => {
    expect(push(before, 'x')).toBe(after)
  })
})

describe('items at the front of a list', () => {
  it.each([
    ['its own indentation', '{\n\t"a": [\n\t\t1\n\t]\n}', '{\n\t"a": [\n\t\t"x",\n\t\t1\n\t]\n}'],
    ['line ends', '{\r\n "a": [\r\n  1\r\n ]\r\n}', '{\r\n "a": [\r\n  "x",\r\n  1\r\n ]\r\n}'],
    ['an empty list', '{\n  "a": []\n}\n', '{\n  "a": [\n    "x"\n  ]\n}\n'],
    ['a list of blanks', '{\n  "a": [\n\n  ]\n}', '{\n  "a": [\n    "x"\n  ]\n}'],
    ['a list on one line', '{\n  "a": [ 1, 2 ]\n}', '{\n  "a": [ "x", 1, 2 ]\n}'],
    ['a text without blanks', '{"a":[1]}', '{"a":["x",1]}'],
    ['an empty list without blanks', '{"a":[]}', '{"a":["x"]}'],
    [
      'a remark on the list',
      '{\n  "a": [ // mine\n    1\n  ]\n}',
      '{\n  "a": [ // mine\n    "x",\n    1\n  ]\n}',
    ],
    [
      'a remark on the first',
      '{\n  "a": [\n    // one\n    1\n  ]\n}',
      '{\n  "a": [\n    "x",\n    // one\n    1\n  ]\n}',
    ],
    ['nothing but a remark', '{\n  "a": [ /* none */ ]\n}', '{\n  "a": [\n    "x"\n   /* none */ ]\n}'],
  ])('keep %s', (_, before, after) => {
    expect(prepend(before, 'x')).toBe(after)
  })

  it('are laid out like the rest', () => {
    expect(prepend('{\n\t"a": [\n\t\t1\n\t]\n}', { b: [2] })).toBe(
      '{\n\t"a": [\n\t\t{\n\t\t\t"b": [\n\t\t\t\t2\n\t\t\t]\n\t\t},\n\t\t1\n\t]\n}',
    )
  })
})

describe('keys at the end of an object', () => {
  it.each([
    ['an object on lines', '{\n  "a": 1\n}', '{\n  "a": 1,\n  "x": 2\n}'],
    ['a remark behind the last', '{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "x": 2\n}'],
    ['a trailing comma', '{\n  "a": 1,\n}', '{\n  "a": 1,\n  "x": 2,\n}'],
    ['a remark below the last', '{\n  "a": 1\n  // end\n}', '{\n  "a": 1,\n  // end\n  "x": 2\n}'],
    ['one line', '{"a": {}}', '{"a": {},"x":2}'],
    ['one line with a trailing comma', '{"a": {},}', '{"a": {}, "x":2,}'],
    ['an empty object', '{}', '{\n  "x": 2\n}'],
    [
      'a key twice',
      '{\n  "a": 1,\n  "b": 1,\n  "a": 3\n}',
      '{\n  "a": 1,\n  "b": 1,\n  "a": 3,\n  "x": 2\n}',
    ],
  ])('keep %s', (_, before, after) => {
    expect(append(before, ['x', 2])).toBe(after)
  })
})

describe('what is taken out', () => {
  it.each([
    ['the first', '{\n  "a": [\n    1,\n    2\n  ]\n}', [0], '{\n  "a": [\n    2\n  ]\n}'],
    ['the last', '{\n  "a": [\n    1,\n    2\n  ]\n}', [1], '{\n  "a": [\n    1\n  ]\n}'],
    ['the last two', '{"a":[1,2,3]}', [1, 2], '{"a":[1]}'],
    ['the first on a line', '{"a":[1, 2]}', [0], '{"a":[2]}'],
    ['one in the middle', '{"a":[1, 2, 3]}', [1], '{"a":[1, 3]}'],
    ['the last with a trailing comma', '{"a":[1, 2,]}', [1], '{"a":[1,]}'],
    ['all', '{\n  "a": [\n    1,\n    2\n  ]\n}', [0, 1], '{\n  "a": []\n}'],
    ['all but a remark', '{"a": [1 /* one */]}', [0], '{"a": [/* one */]}'],
    ['a remark before it', '{"a": [\n  // one\n  1, 2]}', [0], '{"a": [\n  // one\n  2]}'],
    ['a remark behind the one before', '{"a": [\n  0, // nil\n  1]}', [1], '{"a": [\n  0 // nil\n  ]}'],
  ])('leaves the rest: %s', (_, before, gone, after) => {
    expect(remove(before, ...gone)).toBe(after)
  })

  it('has its key with it', () => {
    expect(remove('{"a": {"b": 1, "c": 2}}', 'b')).toBe('{"a": {"c": 2}}')
  })
})

const layout = fc.constantFrom<string | undefined>(undefined, ' ', '  ', '\t', '    ')

describe('for every list', () => {
  it('what is put in and taken out again leaves no trace', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 3 }),
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 3 }),
        layout,
        (before, items, unit) => {
          const text = JSON.stringify({ a: before, b: 1 }, null, unit)
          const longer = prepend(text, ...items)
          expect(JSON.parse(longer)).toEqual(JSON.parse(JSON.stringify({ a: [...items, ...before], b: 1 })))
          expect(remove(longer, ...items.keys())).toBe(text)
        },
      ),
    )
  })

  it('any of it can be taken out', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.jsonValue(), fc.boolean()), { minLength: 1 }),
        layout,
        (items, unit) => {
          const text = JSON.stringify({ a: items.map(([item]) => item) }, null, unit)
          const gone = items.flatMap(([, isGone], i) => (isGone ? [i] : []))
          const left = items.flatMap(([item, isGone]) => (isGone ? [] : [item]))
          if (gone.length === 0) return
          expect(remove(text, ...gone)).toBe(JSON.stringify({ a: left }, null, unit))
        },
      ),
    )
  })
})
