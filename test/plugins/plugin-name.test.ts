import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkPluginName, isPluginName, pluginNameFrom } from '../../src/plugins/plugin-name.js'
import { runs } from '../property/runs.js'

describe('a name that is given', () => {
  it.each(['guard', 'a', '0', 'a.b_c-d', 'x'.repeat(64)])('may be %s', (name) => {
    expect(checkPluginName(name)).toBe(name)
  })

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    '-x',
    '--yes',
    '.hidden',
    '_x',
    'A',
    'a..b',
    'a.',
    'con',
    'nul.txt',
    'com1',
    'lpt9.x',
    'hooks.json',
    'x'.repeat(65),
    'a b',
    'a\u0000',
    'a\n',
    'ä',
    'a\u202eb',
    '__proto__',
  ])('may not be %j', (name) => {
    expect(() => checkPluginName(name)).toThrow(expect.objectContaining({ code: 'NAME_INVALID' }))
  })
})

describe('a name of its own choice', () => {
  it.each([
    ['guard', 'guard'],
    ['My Plugin', 'my-plugin'],
    ['@scope/guard', 'scope-guard'],
    ['Über Guard!', 'ber-guard'],
    ['.dotted', 'dotted'],
  ])('%j is kept as %s', (said, name) => {
    expect(pluginNameFrom(said)).toBe(name)
  })

  it.each([
    '../x',
    '..',
    'a/../../b',
    '..\\x',
    '/abs',
    '-rf',
    '--yes',
    'a\u0000b',
    'x\u202ey',
    'con',
    '!!!',
    '@a/../b',
  ])('%j is refused, not mended', (said) => {
    expect(() => pluginNameFrom(said)).toThrow(expect.objectContaining({ code: 'NAME_INVALID' }))
  })

  it('never leads out of the folder of plugins', () => {
    const parts = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      'a',
      'A',
      '-',
      ' ',
      '\u0000',
      'C:',
      '~',
      '$HOME',
      '\u2024',
      '．．',
      '%2e%2e',
    )
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.array(parts, { maxLength: 8 }).map((list) => list.join('')),
    )
    fc.assert(
      fc.property(anything, (said) => {
        let name: string
        try {
          name = pluginNameFrom(said)
        } catch {
          return
        }
        expect(isPluginName(name)).toBe(true)
        expect(resolve('/plugins', name)).toBe(join('/plugins', name))
        expect(name.startsWith('-')).toBe(false)
      }),
      { numRuns: runs(2000) },
    )
  })
})
