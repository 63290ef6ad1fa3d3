import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hooksOff } from '../../src/hosts/claude-code/hooks-off.js'

let base = ''
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-off-')))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function write(name: string, settings: object): string {
  const file = join(base, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(settings, null, 2))
  return file
}

const look = (env: NodeJS.ProcessEnv = {}) =>
  hooksOff({
    home: join(base, 'home'),
    project: join(base, 'project'),
    env,
    managed: join(base, 'managed.json'),
  })

it('nothing keeps hooks from running by default', () => {
  write('home/.claude/settings.json', { allowManagedHooksOnly: true, disableAllHooks: 'yes' })
  expect(look()).toBeUndefined()
})

it.each([
  [{ allowManagedHooksOnly: true }, '"allowManagedHooksOnly"'],
  [{ strictPluginOnlyCustomization: true }, '"strictPluginOnlyCustomization"'],
  [{ strictPluginOnlyCustomization: ['hooks'] }, '"strictPluginOnlyCustomization"'],
  [{ disableAllHooks: true }, '"disableAllHooks"'],
])('the company decides with %j', (settings, key) => {
  const file = write('managed.json', settings)
  write('project/.claude/settings.local.json', { disableAllHooks: false })
  expect(look()).toMatchObject({
    file,
    line: 2,
    text: expect.stringContaining(key),
    fix: expect.stringContaining('Ask the administrator'),
  })
})

it('a company that allows hooks wins over a project that does not', () => {
  write('managed.json', { disableAllHooks: false })
  write('project/.claude/settings.json', { disableAllHooks: true })
  expect(look()).toBeUndefined()
})

it('a variable of the shell does, and CLAUDE_CONFIG_DIR is where the user has the settings', () => {
  expect(look({ CLAUDE_CODE_SIMPLE: '1' })).toMatchObject({ fix: 'unset CLAUDE_CODE_SIMPLE' })
  const file = write('moved/settings.json', { disableAllHooks: true })
  expect(look({ CLAUDE_CONFIG_DIR: dirname(file) })).toMatchObject({ file })
})
