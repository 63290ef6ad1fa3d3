// package-lock.json: what `npm ci` needs on every platform, and nothing about where it was written.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { missingEntries } from '../../scripts/complete-lock.mjs'

const file = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const text = file('package-lock.json')
const lock = JSON.parse(text)

describe('the lock file', () => {
  it('names no host', () => {
    expect(text).not.toMatch(/"resolved"|https?:\/\/[^"]*\.tgz/)
  })

  it('fits package.json', () => {
    const { name, version, dependencies, devDependencies, peerDependencies } = JSON.parse(
      file('package.json'),
    )
    expect(lock.packages['']).toMatchObject({
      name,
      version,
      dependencies,
      devDependencies,
      peerDependencies,
    })
    for (const [name, wanted] of Object.entries<string>({ ...dependencies, ...devDependencies })) {
      const { version } = lock.packages[`node_modules/${name}`]
      expect(`${name} ${wanted}`).toMatch(/\^/.test(wanted) ? / \^/ : new RegExp(` ${version}$`))
    }
  })

  it('has the packages of every platform', () => {
    expect(missingEntries(lock.packages)).toEqual({})
  })
})

describe('missingEntries', () => {
  const packages = (optionalDependencies: Record<string, string>, more = {}) => ({
    'node_modules/tool': { dev: true, optionalDependencies },
    ...more,
  })

  it('says which platform a package is for, by its name', () => {
    expect(
      missingEntries(
        packages({
          '@tool/linux-arm64-musl': '1.2.3',
          'tool-darwin-x64': '1.2.3',
          '@tool/binding-linux-arm-gnueabihf': '1.2.3',
          '@tool/wasm32-wasi': '1.2.3',
        }),
      ),
    ).toEqual({
      'node_modules/@tool/linux-arm64-musl': {
        ...{ version: '1.2.3', dev: true, optional: true },
        ...{ os: ['linux'], cpu: ['arm64'], libc: ['musl'] },
      },
      'node_modules/tool-darwin-x64': {
        ...{ version: '1.2.3', dev: true, optional: true, os: ['darwin'], cpu: ['x64'] },
      },
      'node_modules/@tool/binding-linux-arm-gnueabihf': {
        ...{ version: '1.2.3', dev: true, optional: true },
        ...{ os: ['linux'], cpu: ['arm'], libc: ['glibc'] },
      },
      'node_modules/@tool/wasm32-wasi': { version: '1.2.3', dev: true, optional: true, cpu: ['wasm32'] },
    })
  })

  it('leaves alone what is there, in the folder of the package or above it', () => {
    const there = { 'node_modules/tool-win32-x64': {}, 'node_modules/tool/node_modules/tool-aix-ppc64': {} }
    expect(missingEntries(packages({ 'tool-win32-x64': '1.0.0', 'tool-aix-ppc64': '1.0.0' }, there))).toEqual(
      {},
    )
  })

  it('refuses what it would have to guess', () => {
    expect(() => missingEntries(packages({ 'tool-linux-x64': '^1.0.0' }))).toThrow(
      'which is not an exact version',
    )
    expect(() => missingEntries(packages({ fast: '1.0.0' }))).toThrow('does not say which platform')
  })
})
