// The screen Plugins and rules: what it shows, what is switched and updated there, and by whom.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type {
  GroupView,
  PluginHookView,
  PluginsView,
  ShadowsView,
  UpdatesView,
} from '../../src/page/view/plugins.js'
import { writeApprovers } from '../../src/store/approvers.js'
import { type Passkey, passkey } from '../approvals/passkey.js'
import { Project, withProgram } from '../cli/program.js'
import { approversFile, type Served, servePage } from './served-page.js'
import { fireBash, shopHooks } from './shop.js'
import { type Ask, tabOf } from './visitor.js'

withProgram()

const isRoot = process.getuid?.() === 0

let project: Project
let served: Served
let ask: Ask
beforeEach(async () => {
  project = new Project()
  vi.stubEnv('HOME', project.home)
  shopHooks(project)
  served = await servePage(project)
  ask = await tabOf(served)
})
afterEach(async () => {
  await served.close()
  vi.unstubAllEnvs()
  project.remove()
})

const groups = async () => ((await ask('GET', 'api/plugins')).answer as PluginsView).groups
const groupOf = async (name: string) => (await groups()).find((one) => one.name === name) as GroupView
const rulesFile = (content: object) => {
  const file = join(project.home, '.amplifier/rules.json')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(content, null, 2))
}
const offFor = (name: string, more: object = {}) => ({
  ...{ what: 'switch', to: 'off', plugin: name, from: 'user', hook: '', where: 'here', for: '1h' },
  ...more,
})
const disabled = async () =>
  JSON.parse((await project.call(['disable', '--json'])).stdout).disabled as { plugin: string }[]

describe('the list', () => {
  it('has every plugin and hook with its place, command and state', async () => {
    const guard = await groupOf('bash-guard')
    expect(guard).toMatchObject({ from: 'user', target: { plugin: 'bash-guard', from: 'user' } })
    expect(guard.hooks).toMatchObject([
      {
        name: 'bash-guard:PreToolUse#1',
        on: 'PreToolUse Bash',
        standing: 'ready',
        place: expect.stringMatching(/^~\/\.amplifier\/hooks\/bash-guard\/hooks\.json:\d+$/),
        command: expect.stringContaining('grep -q'),
      },
    ])
  })

  it('has every rule with its line or preset, what follows, its state and its end', async () => {
    rulesFile({
      preset: 'relaxed',
      rules: [
        { id: 'no-push', effects: ['git'], where: { operation: 'push' }, then: 'deny', until: '2999-01-31' },
        { id: 'trial', effects: ['delete'], then: 'ask', mode: 'shadow' },
        { id: 'over', effects: ['delete'], then: 'ask', until: '2020-01-31' },
      ],
    })
    const [file] = (await groupOf('user')).hooks as readonly [PluginHookView]
    const rule = (id: string) => file.rules.find((one) => one.id === id)
    expect(rule('no-push')).toMatchObject({
      follows: 'deny',
      state: 'in force',
      until: '2999-01-31',
      about: expect.stringContaining('git'),
      place: '~/.amplifier/rules.json:4',
    })
    expect(rule('trial')).toMatchObject({ follows: 'ask', state: 'in shadow mode' })
    expect(rule('over')).toMatchObject({ state: 'ended' })
    expect(file.rules.some(({ id, place }) => id.startsWith('relaxed/') && place === 'preset relaxed')).toBe(
      true,
    )
  })

  it('says who switched something off, until when, and how to undo it', async () => {
    await project.call(['disable', 'bash-guard', '--for', '1h', '--reason', 'release day'])
    expect(await groupOf('bash-guard')).toMatchObject({
      switched: {
        where: 'here',
        text: expect.stringMatching(/switched off by .+, until .+: release day/),
        undo: 'carabiner enable bash-guard --here',
        onlyTightens: false,
      },
      hooks: [{ standing: 'disabled' }],
    })
  })
})

describe('shadow results', () => {
  it('are counted and listed by hook and by rule', async () => {
    rulesFile({ rules: [{ id: 'trial', effects: ['delete'], then: 'ask', mode: 'shadow' }] })
    await project.call(['disable', 'bash-guard', '--shadow'])
    await fireBash(project, 'rm -rf ~/*')
    await fireBash(project, 'rm -rf ~/*')
    const { results } = (await ask('GET', 'api/shadows')).answer as ShadowsView
    expect(results.map(({ name, count }) => [name, count])).toEqual(
      expect.arrayContaining([
        ['user:rules trial', 2],
        ['bash-guard:PreToolUse#1', 2],
      ]),
    )
    const texts = results.flatMap(({ newest }) => newest.map(({ text }) => text))
    for (const text of texts) expect(text).toMatch(/^would /)
  })
})

describe('a switch', () => {
  it('needs a passkey, to off, to shadow mode and on again', async () => {
    for (const act of [offFor('bash-guard'), offFor('bash-guard', { to: 'shadow' })]) {
      expect((await ask('POST', 'api/act/challenge', act)).status).toBe(403)
      expect((await ask('POST', 'api/act/tighten', act)).status).toBe(403)
    }
    expect(await disabled()).toEqual([])
    await project.call(['disable', 'bash-guard'])
    const on = offFor('bash-guard', { to: 'on', for: '' })
    expect((await ask('POST', 'api/act/tighten', on)).status).toBe(403)
    expect(await disabled()).toMatchObject([{ plugin: 'bash-guard' }])
  })

  it('needs no passkey where rules are switched on that can only refuse or ask', async () => {
    rulesFile({ rules: [{ id: 'no-delete', effects: ['delete'], then: 'deny' }] })
    await project.call(['disable', 'user:rules'])
    expect((await groupOf('user')).hooks).toMatchObject([{ switched: { onlyTightens: true } }])
    const on = offFor('user', { to: 'on', hook: 'user:rules', for: '' })
    expect(await ask('POST', 'api/act/tighten', on)).toMatchObject({ status: 200, answer: { by: 'tester' } })
    expect(await disabled()).toEqual([])
  })

  it.each([
    { preset: 'standard', rules: [] },
    { rules: [{ id: 'reads', effects: ['read'], then: 'allow' }] },
    { rules: [{ id: 'hint', effects: ['read'], then: 'tell', say: 'x' }] },
    { rules: [{ id: 'guard/recursive-delete', off: true }] },
  ])('needs one where they might do anything else: %j', async (content) => {
    rulesFile(content)
    await project.call(['disable', 'user:rules'])
    const on = offFor('user', { to: 'on', hook: 'user:rules', for: '' })
    expect((await ask('POST', 'api/act/tighten', on)).status).not.toBe(200)
  })

  it('is refused for a body that makes no sense', async () => {
    if (isRoot) writeApprovers([passkey('ann').approver], approversFile(project))
    const wrong = [{ to: 'up' }, { where: '/' }, { for: 'ever' }, { for: '0h' }, { for: 1 }, { plugin: null }]
    const status = async (act: object) => (await ask('POST', 'api/act/challenge', act)).status
    const refused = isRoot ? 400 : 403
    for (const more of wrong)
      expect([more, await status(offFor('bash-guard', more))]).toEqual([more, refused])
    for (const act of [offFor('bash-guard', { from: 'x' }), offFor('nobody')])
      expect(await status(act)).toBe(isRoot ? 409 : 403)
  })
})

describe.runIf(isRoot)('with a passkey', () => {
  let ann: Passkey
  beforeEach(() => {
    ann = passkey('ann')
    writeApprovers([ann.approver], approversFile(project))
  })
  const act = async (asked: object) => {
    const given = await ask('POST', 'api/act/challenge', asked)
    const { challenge, nonce } = given.answer as { challenge: string; nonce: string }
    const { id, ...signature } = ann.signChallenge(challenge, nonce, { origin: served.origin })
    return ask('POST', 'api/act', { passkey: id, ...signature })
  }

  it('a person switches off for an hour, and on again, on record with their name', async () => {
    expect((await act(offFor('bash-guard'))).status).toBe(200)
    const [off] = (await disabled()) as unknown as [{ by: string; until: string; since: string }]
    expect(off.by).toBe('ann')
    expect(Date.parse(off.until) - Date.parse(off.since)).toBeGreaterThan(3_500_000)
    expect(Date.parse(off.until) - Date.parse(off.since)).toBeLessThanOrEqual(3_600_000)
    expect((await act(offFor('bash-guard', { to: 'on', for: '' }))).status).toBe(200)
    expect(await disabled()).toEqual([])
    const { rows } = (await ask('GET', 'api/rows?kind=change')).answer as { rows: object[] }
    expect(rows).toMatchObject([
      { said: 'switched on', gist: 'bash-guard by ann' },
      { said: 'switched off', gist: expect.stringContaining('bash-guard by ann, until') },
    ])
  })

  it('a person updates a plugin to exactly what was shown', async () => {
    const source = join(project.base, 'stopper')
    const write = (name: string, text: string) => writeFileSync(join(source, name), text)
    mkdirSync(source)
    const command = 'sh "${' + 'CLAUDE_PLUGIN_ROOT}/stop.sh"'
    write(
      'hooks.json',
      JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command, timeout: 9 }] }] } }),
    )
    write('stop.sh', 'exit 0\n')
    expect((await project.call(['install', source, '--yes'])).code).toBe(0)
    write('stop.sh', 'exit 0 # two\n')
    const looked = (await ask('POST', 'api/updates', {})).answer as UpdatesView
    const [update] = looked.plugins
    expect(update).toMatchObject({ name: 'stopper', where: 'user', state: 'outdated' })
    // The hooks that the digest covers are shown, whether they changed or not.
    expect(update?.hooks).toEqual([
      { name: expect.any(String), on: 'Stop', command: `${command}\nwith timeout 9` },
    ])
    expect(update?.differences.flatMap(({ diff }) => diff)).toContain('+exit 0 # two')
    const asked = { what: 'update', name: 'stopper', where: 'user', digest: update?.digest }
    const installed = () => readFileSync(join(project.home, '.amplifier/hooks/stopper/stop.sh'), 'utf8')
    write('stop.sh', 'exit 0 # three\n')
    expect((await act(asked)).status).toBe(409)
    expect(installed()).toBe('exit 0\n')
    write('stop.sh', 'exit 0 # two\n')
    expect(await act(asked)).toMatchObject({ status: 200, answer: { by: 'ann' } })
    expect(installed()).toBe('exit 0 # two\n')
    for (const more of [{ name: '--overwrite' }, { where: 'there' }, { digest: 'x' }])
      expect((await ask('POST', 'api/act/challenge', { ...asked, ...more })).status).toBe(400)
  })
})
