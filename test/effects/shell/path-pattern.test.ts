import { describe, expect, it } from 'vitest'
import { pathPattern } from '../../../src/effects/shell/patterns.js'

const places = { cwd: '/home/me/app', home: '/home/me' }
const matches = (pattern: string, path: string, where = places) => pathPattern(pattern)?.(path, where)

describe('a path pattern', () => {
  it.each([
    ['src/**', '/home/me/app/src/a.ts'],
    ['src/**', '/home/me/app/src/b/c.ts'],
    ['src/**', 'src/a.ts'],
    ['./src/**', 'src/a.ts'],
    ['src/**', '/home/me/app/lib/../src/a.ts'],
    ['src/**', '/home/me/app/./src//a.ts'],
    ['src/**', '/home/me/app/../app/src/a.ts'],
    ['src', 'src/a.ts'],
    ['src/', 'lib/src/a.ts'],
    ['src/*', 'src/b/c.ts'],
    ['*.ts', '/home/me/app/deep/x.ts'],
    ['.env*', 'deep/.env.local'],
    ['**/src/**', '/elsewhere/x/src/a'],
    ['src/**/x.ts', 'src/x.ts'],
    ['src/**/x.ts', 'src/a/b/x.ts'],
    ['//tmp/**', '/tmp/x/y'],
    ['~/notes/*', '/home/me/notes/x'],
    ['~/notes/*', '~/notes/x'],
    ['/src/**', '/home/me/app/src/a'],
    ['/app/src/**', '/home/me/app/src/a'],
    ['/etc/**', '/etc/passwd'],
    ['../lib/**', '/home/me/lib/x'],
    ['*.{ts,js}', 'a.js'],
    ['{a,b}/{c,d}', 'b/c'],
    ['?.[a-c]', 'x.b'],
    ['?.[!a-c]', 'x.d'],
    ['\\*.ts', '*.ts'],
    ['caf\u00e9', 'cafe\u0301'],
    ['[', '['],
    ['*.ts', '/elsewhere/x.ts'],
    ['**', '/elsewhere/x.ts'],
    ['*/x.ts', 'a/src/x.ts'],
    ['./*.ts', 'a/x.ts'],
    ['*.TS', 'x.ts'],
    ['SRC/**', 'src/a'],
    ['src/**', '/HOME/me/app/Src/a'],
    ['[A-C].md', 'b.md'],
    ['~/*.md', '/home/me/X.MD'],
  ])('%j: %j', (pattern, path) => expect(matches(pattern, path)).toBe(true))

  it.each([
    ['src/**', '/home/me/app/lib/src/a.ts'],
    ['src/**', '/src/a.ts'],
    ['src/**', '/home/me/app/src/../lib/a.ts'],
    ['src/**', 'srcs/a.ts'],
    ['*.ts', 'x.tsx'],
    ['x*.ts', '/elsewhere/x.ts'],
    ['s*/x.ts', 'a/src/x.ts'],
    ['//tmp/**', '/home/me/app/tmp/x'],
    ['~/notes/*', 'notes/x'],
    ['/src/**', '/elsewhere/src/a'],
    ['?.[a-c]', 'x.d'],
    ['\\*.ts', 'x.ts'],
    ['a*b', 'a/b'],
  ])('%j, not %j', (pattern, path) => expect(matches(pattern, path)).toBe(false))

  it('takes what it cannot judge', () => {
    expect(matches('src/**', 'x', { ...places, cwd: '' })).toBe(true)
    expect(matches('~/x', '/y', { ...places, home: 'relative' })).toBe(true)
    expect(matches('src/**', 'x'.repeat(10_000))).toBe(true)
  })

  it.each(['', '!src/**', 'x'.repeat(5000), '{a,b}'.repeat(20)])('%j is none', (pattern) => {
    expect(pathPattern(pattern)).toBeUndefined()
  })

  it('comes to an end on hostile patterns', () => {
    expect(matches(`${'*a'.repeat(2000)}b`, 'a'.repeat(4000))).toBe(false)
    expect(matches(`${'**/a/'.repeat(800)}b`, 'a/'.repeat(1900))).toBe(false)
  })
})
