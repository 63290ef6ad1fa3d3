// Codex: setup writes only what Codex will run, and tells what keeps Codex from running it.

import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, it, onTestFinished } from 'vitest'
import { setup } from '../../src/hosts/codex/setup.js'
import { packEntries } from '../../src/hosts/entries.js'
import type { Form } from '../../src/hosts/host-setup.js'
import { HOSTS, type KnownHost } from '../../src/hosts/hosts.js'
import { removeAll } from '../trust/hostile-project.js'

const host = HOSTS.find(({ name }) => name === 'codex') as KnownHost
const ENTRIES = packEntries({ node: '/n/node', script: '/c/carabiner.js' }, undefined, {
  host,
  events: Object.keys(setup.events),
})
const [hooks, trust] = setup.files.map(({ form }) => form) as [Form, Form]

/** Both files after setup. */
function installed(folder = '/h/.codex', before: { hooks?: string; config?: string } = {}) {
  const [hooksFile, config] = [join(folder, 'hooks.json'), join(folder, 'config.toml')]
  const hooksText = hooks.put(before.hooks, ENTRIES, { file: hooksFile, earlier: new Map() })
  const earlier = new Map([[hooksFile, hooksText]])
  return new Map([
    [hooksFile, hooksText],
    [config, trust.put(before.config, ENTRIES, { file: config, earlier })],
  ])
}

function told(files: ReadonlyMap<string, string>, project = '/p'): readonly string[] {
  const read = (path: string) => files.get(path)
  const scene = { home: '/h', folder: '/h/.codex', project, env: {}, read }
  return (setup.problems?.(scene) ?? []).map(({ severity, text }) => `${severity}: ${text}`)
}

const CONFIG = '/h/.codex/config.toml'
const changed = (change: (config: string) => string) => {
  const files = installed()
  return files.set(CONFIG, change(files.get(CONFIG) ?? ''))
}

describe('hooks.json that Codex rejects as a whole', () => {
  const OK = '"PreToolUse": [{ "hooks": [{ "type": "command", "command": "x" }] }]'
  it.each([
    [
      '{"version": 1, "hooks": {}}',
      /hooks\.json:1: it has the key "version", so Codex rejects the whole file/,
    ],
    ['{\n  // mine\n  "hooks": {}\n}', /comments or trailing commas/],
    ['{"hooks": {},}', /comments or trailing commas/],
    ['\uFEFF{"hooks": {}}', /byte order mark/],
    ['{"description": 3}', /"description" is not a string/],
    ['{"hooks": null}', /"hooks" is not an object/],
    [`{"hooks": {${OK}, "Stop": [{ "hooks": [{ "type": "http" }] }]}}`, /Stop: "type" is "http"/],
    [`{"hooks": {${OK}, "Stop": [{ "hooks": [{ "command": "x" }] }]}}`, /Stop: a hook has no "type"/],
    [
      '{"hooks": {"Stop": [{ "hooks": [{ "type": "command", "command": "x", "timeout": 1.5 }] }]}}',
      /timeout/,
    ],
    [`{"hooks": {${OK}, ${OK}}}`, /"PreToolUse" is there twice/],
  ])('is left alone, and told: %s', (text, why) => {
    expect(() => installed('/h/.codex', { hooks: text })).toThrow(why)
    expect(told(installed().set('/h/.codex/hooks.json', text))).toEqual([
      expect.stringMatching(/^broken: .*so Codex rejects the whole file$/),
    ])
  })

  it.each([
    `{"description": "mine", "hooks": {${OK}, "Unknown": [1]}}`,
    '{"hooks": {"Stop": [{ "command": "x" }, { "hooks": [{ "type": "prompt", "prompt": "x" }] }]}}',
    '{}',
    '',
  ])('is not one that it reads: %s', (text) => {
    expect(told(installed('/h/.codex', { hooks: text }))).toEqual([])
  })
})

describe('config.toml', () => {
  it('trusts the hooks that setup wrote', () => {
    expect(told(installed())).toEqual([])
  })

  it('trusts none if the tables are comments, or belong to another hook', () => {
    const skipped = [
      `broken: Codex does not trust ${ENTRIES.length} of its hooks, and skips them without a word`,
    ]
    expect(told(changed((text) => text.replaceAll(/^(?=[[t])/gm, '# ')))).toEqual(skipped)
    expect(told(changed((text) => text.replaceAll('sha256:', 'sha256:0')))).toEqual(skipped)
  })

  it('disables hooks one by one, until setup comes again', () => {
    const files = changed((text) => text.replaceAll('trusted_hash', 'enabled = false\ntrusted_hash'))
    expect(told(files)).toEqual([
      `broken: ${ENTRIES.length} of its hooks are disabled in Codex, which skips them`,
    ])
    expect(told(installed('/h/.codex', { config: files.get(CONFIG) ?? '' }))).toEqual([])
  })

  it.each(['hooks', 'codex_hooks'])('switches all hooks off by the feature %s', (key) => {
    const off = (where: string) => `broken: "${key}" is false in [features], so Codex runs no hook ${where}`
    expect(told(installed('/h/.codex', { config: `[features]\n${key} = false\n` }))).toEqual([off('at all')])
    const trusted = installed('/h/.codex', { config: '[projects."/p"]\ntrust_level = "trusted"\n' })
    const local = ['/p/.codex/config.toml', `features.${key} = false\n`] as const
    expect(told(new Map([...trusted, local]))).toEqual([off('in this project')])
    expect(told(new Map([...installed(), local]))).toEqual([])
  })

  it('may have hooks of its own, about which Codex warns', () => {
    const config = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n'
    expect(told(installed('/h/.codex', { config }))).toEqual([expect.stringMatching(/^note: .*warns/)])
  })

  it('keeps Codex from starting if it is broken', () => {
    expect(told(changed(() => 'a = ['))).toEqual(['broken: it is not valid TOML, so Codex does not start'])
  })
})

it('trusts hooks by both paths if the folder is a link', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-codex-')))
  onTestFinished(() => removeAll(root))
  mkdirSync(join(root, 'real'))
  symlinkSync('real', join(root, 'link'))
  const config = installed(join(root, 'link')).get(join(root, 'link', 'config.toml')) ?? ''
  const { state } = parse(config).hooks as { readonly state: object }
  const paths = new Set(Object.keys(state).map((key) => key.split(':')[0]))
  expect(paths).toEqual(new Set([join(root, 'link', 'hooks.json'), join(root, 'real', 'hooks.json')]))
})

describe('hooks that somebody wrote by hand', () => {
  const by = (command: string, more: object = {}) =>
    JSON.stringify({ hooks: { PreToolUse: [{ ...more, hooks: [{ type: 'command', command }] }] } })
  const key = '/h/.codex/hooks.json:pre_tool_use:0:0'
  const untrusted = ['broken: Codex does not trust 1 of its hooks, and skips them without a word']

  it.each([
    by('carabiner fire --as codex PreToolUse'),
    by('carabiner fire --as codex PreToolUse', { matcher: 'Bash' }),
    by('cd /x && carabiner hook pre-tool-use'),
  ])('are told until Codex trusts them: %s', (text) => {
    const files = new Map([['/h/.codex/hooks.json', text]])
    expect(told(files)).toEqual(untrusted)
    files.set(CONFIG, `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "sha256:abc"\n`)
    expect(told(files)).toEqual([])
  })

  it('that call somebody else are not our concern', () => {
    expect(told(new Map([['/h/.codex/hooks.json', by('theirs')]]))).toEqual([])
  })
})
