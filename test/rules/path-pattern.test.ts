import { describe, expect, it } from 'vitest'
import type { Place } from '../../src/effects/effect.js'
import { pathPattern } from '../../src/rules/path-pattern.js'
import { alternatives, textPattern } from '../../src/rules/text-pattern.js'

const ROOTS = { project: '/home/ann/shop', home: '/home/ann' }

function place(path: string, more: Partial<Place> = {}): Place {
  return { path, known: true, wild: false, deep: false, ...more }
}

function may(pattern: string, at: Place): boolean {
  return pathPattern(pattern, ROOTS)(at, 'may')
}

function must(pattern: string, at: Place): boolean {
  return pathPattern(pattern, ROOTS)(at, 'must')
}

describe('a pattern for paths', () => {
  it.each([
    ['src', '/home/ann/shop/src', true],
    ['src', '/home/ann/shop/src/a/b.ts', true],
    ['./src', '/home/ann/shop/src/a.ts', true],
    ['src', '/home/ann/shop/srcs', false],
    ['src/*.ts', '/home/ann/shop/src/a.ts', true],
    ['src/*.ts', '/home/ann/shop/src/deep/a.ts', false],
    ['src/**/*.ts', '/home/ann/shop/src/a.ts', true],
    ['src/**/*.ts', '/home/ann/shop/src/x/y/a.ts', true],
    ['**/.env', '/home/ann/shop/.env', true],
    ['**/.env', '/home/ann/shop/api/.env', true],
    ['**/.env', '/home/ann/other/.env', false],
    ['/**/.env', '/home/ann/other/.env', true],
    ['~/.ssh', '/home/ann/.ssh/id_ed25519', true],
    ['~', '/home/ann/notes', true],
    ['/etc', '/etc/passwd', true],
    ['/', '/anything', true],
    ['.', '/home/ann/shop', true],
    ['**', '/home/ann/shop', false],
    ['**', '/home/ann/shop/a', true],
    ['build/**', '/home/ann/shop/build', false],
    ['build/**', '/home/ann/shop/build/x', true],
    ['../other', '/home/ann/other/x', true],
    ['a?c', '/home/ann/shop/abc', true],
    ['app/[id]', '/home/ann/shop/app/[id]/page.tsx', true],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(may(pattern, place(path))).toBe(expected)
    expect(must(pattern, place(path))).toBe(expected)
  })

  it('may mean something inside a folder that is affected as a whole, but need not cover it', () => {
    const home = place('/home/ann', { deep: true })
    expect(may('~/.ssh', home)).toBe(true)
    expect(must('~/.ssh', home)).toBe(false)
    expect(may('~/.ssh', place('/home/ann'))).toBe(false)
    expect(may('/etc', home)).toBe(false)
    expect(may('src/**/*.key', place('/home/ann/shop', { deep: true }))).toBe(true)
  })

  it('is not looked for in every folder if it could be in any', () => {
    expect(may('**/.env', place('/home/ann/shop/dist', { deep: true }))).toBe(false)
    expect(may('/**/.env', place('/home/ann', { deep: true }))).toBe(false)
  })

  it('covers a wild place only if it covers every name, and forbids one if it may be meant', () => {
    const all = place('/home/ann/shop/build/*', { wild: true })
    expect(must('build', all)).toBe(true)
    expect(must('build/**', all)).toBe(true)
    expect(must('build/*.o', all)).toBe(false)
    expect(may('build/*.o', all)).toBe(true)
    expect(may('build/main.o', all)).toBe(true)
    const logs = place('/home/ann/shop/*.log', { wild: true })
    expect(may('.env', logs)).toBe(false)
    expect(may('*.txt', logs)).toBe(false)
    expect(may('debug.log', logs)).toBe(true)
    expect(may('a.log', place('/home/ann/shop/[abc].log', { wild: true }))).toBe(true)
    expect(may('.env', place('/home/ann/shop/*', { wild: true }))).toBe(false)
    expect(may('.env', place('/home/ann/shop/.*', { wild: true }))).toBe(true)
    expect(may('x/y/z.log', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(true)
    expect(may('x/y/*.log', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(true)
    expect(may('**/z.log', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(true)
    expect(may('x/y', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(false)
    expect(may('~/.ssh', place('/home/ann/**/*', { wild: true }))).toBe(true)
    expect(may('/etc', place('/home/ann/**/*', { wild: true }))).toBe(false)
    expect(must('x', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(false)
    expect(must('**', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(true)
    expect(must('**/*.log', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(true)
    expect(must('*/z.log', place('/home/ann/shop/**/z.log', { wild: true }))).toBe(false)
  })

  it('knows a place that depends on the shell by its names alone, and never takes it for an exception', () => {
    const key = place('$DIR/.ssh/id_rsa', { known: false })
    expect(may('~/.ssh', key)).toBe(true)
    expect(must('~/.ssh', key)).toBe(false)
    expect(may('~/.aws', key)).toBe(false)
    expect(may('**/*.pem', place('$D/a.pem', { known: false }))).toBe(true)
    expect(may('~/.ssh', place('$F', { known: false }))).toBe(false)
    expect(must('**', place('$F', { known: false }))).toBe(false)
    // The names of the home folder itself say nothing.
    expect(may('~/.ssh', place('$X/ann/notes', { known: false }))).toBe(false)
  })

  it('forbids without regard to case, because some file systems have none, but permits exactly', () => {
    expect(may('~/.ssh', place('/home/ann/.SSH/id_rsa'))).toBe(true)
    expect(must('~/.ssh', place('/home/ann/.SSH/id_rsa'))).toBe(false)
  })

  it('takes linear time, however many stars there are', () => {
    const pattern = `${'**/a*a*a*/'.repeat(25)}x`
    const path = `/home/ann/shop/${'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab/'.repeat(400)}y`
    expect(may(pattern, place(path))).toBe(false)
    expect(textPattern('*a'.repeat(100))(`${'a'.repeat(50_000)}b`, true)).toBe(false)
  })
})

describe('braces', () => {
  it.each([
    ['a', ['a']],
    ['*.{pem,key}', ['*.pem', '*.key']],
    ['{a,b}/{c,d}', ['a/c', 'b/c', 'a/d', 'b/d']],
    ['{a,{b,c}}', ['a', 'b', 'a', 'c']],
    ['{a', undefined],
    ['a}', undefined],
    ['{a,b}'.repeat(40), undefined],
  ])('%s', (pattern, expected) => {
    expect(alternatives(pattern, 64)).toEqual(expected)
  })
})
