// The pieces of the review screen: text made visible, and what changed between two texts.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineDiff } from '../../src/cli/print/diff.js'
import { visible, visibleLines, visibleName } from '../../src/core/base/text.js'
import { runs } from '../property/runs.js'

describe('visible text', () => {
  it.each([
    ['plain text', 'plain text'],
    ['a\nb', 'a⟨U+000A⟩b'],
    ['\u001b[31mred', '⟨U+001B⟩[31mred'],
    ['a\u202eb\u200bc\ufeff', 'a⟨U+202E⟩b⟨U+200B⟩c⟨U+FEFF⟩'],
    ['a\u00a0b\u3000', 'a⟨U+00A0⟩b⟨U+3000⟩'],
    ['\u2800', '⟨U+2800⟩'],
    ['\u{e0041}\u3164\u00ad', '⟨U+E0041⟩⟨U+3164⟩⟨U+00AD⟩'],
    ['\ud800', '⟨U+D800⟩'],
    ['\ufff9\u0600', '⟨U+FFF9⟩⟨U+0600⟩'],
    ['⟨U+001B⟩', '⟨U+27E8⟩U+001B⟩'],
    ['\u009b2J\u007f', '⟨U+009B⟩2J⟨U+007F⟩'],
  ])('%j', (text, expected) => {
    expect(visible(text)).toBe(expected)
  })

  it('two texts never look the same, and none has a line or a control of its own', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(visible(a)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        expect(visible(a) === visible(b)).toBe(a === b)
        expect(visibleName(a) === visibleName(b)).toBe(a === b)
      }),
    )
  })

  it('lines stay lines, tabs stay tabs', () => {
    expect(visibleLines('a\tb\n\u001bc\r')).toEqual(['a\tb', '⟨U+001B⟩c⟨U+000D⟩'])
  })
})

describe('what changed between two texts', () => {
  it.each([
    ['', '', []],
    ['a\n', 'a\n', []],
    ['', 'a\n', ['@@ -0,0 +1,1 @@', '+a']],
    ['a\n', '', ['@@ -1,1 +0,0 @@', '-a']],
    ['a\nb\n', 'a\nc\n', ['@@ -1,2 +1,2 @@', ' a', '-b', '+c']],
    ['a', 'a\n', ['@@ -1,1 +1,1 @@', '-a (no newline at the end)', '+a']],
  ])('%j and %j', (before, after, expected) => {
    expect(lineDiff(before, after)).toEqual(expected)
  })

  it('changes far from each other have a hunk each', () => {
    const lines = Array.from({ length: 40 }, (_, i) => `${i}\n`)
    const after = [...lines]
    after[2] = 'x\n'
    after[35] = 'y\n'
    const heads = lineDiff(lines.join(''), after.join('')).filter((line) => line.startsWith('@@'))
    expect(heads).toEqual(['@@ -1,6 +1,6 @@', '@@ -33,7 +33,7 @@'])
  })

  it('patch makes the one of the other', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carabiner-diff-'))
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 25 })
      .map((lines) => lines.map((one) => `${one}\n`).join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const file = join(folder, 'file')
        writeFileSync(file, before)
        const diff = lineDiff(before, after)
        if (diff.length === 0) return before === after
        const input = ['--- file', '+++ file', ...diff, ''].join('\n')
        return execFileSync('patch', ['-s', '-o', '-', file], { input, encoding: 'utf8' }) === after
      }),
      { numRuns: runs(60) },
    )
    rmSync(folder, { recursive: true })
  })

  it('texts too long to compare line by line are shown as replaced', () => {
    const [before, after] = ['a\n'.repeat(3000), 'b\n'.repeat(3000)]
    const diff = lineDiff(before, after)
    expect(diff).toHaveLength(6001)
    expect([diff[1], diff[3001]]).toEqual(['-a', '+b'])
  })
})
