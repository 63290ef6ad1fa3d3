// A machine with the fleet's policy in its real /etc, and a user who wants to be rid of it.

import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { filesBelow, fromNow, HOUR_MS, putPolicyAt } from '../config/fleet-place.js'
import { hasNamespaces, Namespace, type Ran, type User } from './namespace.js'

const PLACE = '/etc/carabiner'
const rules = (then: string, say: string, effects: unknown = ['delete']) => ({
  rules: [{ id: 'files', effects, then, say }],
})
const RULES = rules('deny', 'Files stay.')
const TELLS = rules('tell', 'Mind the files.')

describe.runIf(hasNamespaces)('a machine with the policy of its fleet', () => {
  let folder: string
  let machine: Namespace
  let user: User

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-policy-'))
    chmodSync(folder, 0o755)
    cpSync(dirname(inject('programBundle').alone), join(folder, 'alone'), { recursive: true })
    user = { name: 'ann', id: 64_001, home: join(folder, 'ann') }
    machine = await Namespace.start(join(folder, 'etc'), [user])
  })
  beforeEach(() => {
    rmSync(join(folder, 'etc', 'carabiner'), { recursive: true, force: true })
    rmSync(user.home, { recursive: true, force: true })
    for (const path of [user.home, join(user.home, 'project'), join(user.home, '.amplifier')]) {
      mkdirSync(path)
      chownSync(path, user.id, user.id)
    }
    mkdirSync(join(folder, 'etc', 'carabiner'))
    put({ 'rules.json': RULES })
  })
  afterAll(async () => {
    await machine?.end()
    rmSync(folder, { recursive: true, force: true })
  })

  const inEtc = (...names: string[]) => join(folder, 'etc', 'carabiner', 'fleet-policy', ...names)
  const put = (enforced: object, more: object = {}) =>
    putPolicyAt(inEtc(), { enforced: enforced as Record<string, unknown>, ...more })

  const carabiner = (words: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Ran> =>
    machine.run([process.execPath, join(folder, 'alone', 'bin', 'carabiner.js'), ...words], {
      user,
      env: { PATH: process.env.PATH, HOME: user.home, NO_COLOR: '1', ...env },
      cwd: join(user.home, 'project'),
      input,
    })
  const fire = (
    words: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
    tool_input: object = { command: 'rm a.txt' },
  ) =>
    carabiner(
      ['fire', 'PreToolUse', ...words],
      env,
      JSON.stringify({ session_id: 's', tool_name: 'Bash', tool_input }),
    )

  it('denies, whatever the user sets, switches, removes or moves', async () => {
    expect(await fire()).toMatchObject({ code: 2, out: expect.stringContaining('Files stay.') })
    const loose = { hooks: { enabled: false, bypass: true, allow_user_hooks: false, trust_missing: 'tell' } }
    writeFileSync(join(user.home, '.amplifier', 'settings.json'), JSON.stringify(loose))
    writeFileSync(join(user.home, '.amplifier', 'rules.json'), JSON.stringify(rules('allow', 'x', '*')))
    for (const name of ['fleet', 'fleet:rules']) await carabiner(['disable', name])
    for (const env of [
      {},
      { CARABINER_OFF: '1' },
      { CARABINER_HOME: join(user.home, 'elsewhere') },
      { XDG_DATA_HOME: join(user.home, 'elsewhere'), HOME: join(user.home, 'project') },
    ])
      expect(await fire(['--trust-all'], env), JSON.stringify(env)).toMatchObject({ code: 2 })
  })

  it('is not for the user to change', async () => {
    for (const words of [
      ['rm', '-f', `${PLACE}/fleet-policy/in-force.json`],
      ['mv', `${PLACE}/fleet-policy`, `${PLACE}/away`],
      ['rm', '-rf', `${PLACE}/fleet-policy/bundles`],
      ['touch', `${PLACE}/fleet-policy/other`],
    ]) {
      const options = { user, env: { PATH: process.env.PATH }, cwd: '/' }
      expect((await machine.run(words, options)).code, words.join(' ')).not.toBe(0)
    }
    expect(await fire()).toMatchObject({ code: 2, out: expect.stringContaining('Files stay.') })
  })

  it('counts without a marker, which somebody may have removed', async () => {
    expect(filesBelow(join(folder, 'etc', 'carabiner')).some((path) => path.endsWith('fleet.json'))).toBe(
      false,
    )
    expect(await fire()).toMatchObject({ code: 2, out: expect.stringContaining('Files stay.') })
  })

  it.each<[string, () => void, string]>([
    ['without in-force.json', () => rmSync(inEtc('in-force.json')), 'in-force.json is missing'],
    ['without its bundle', () => rmSync(inEtc('bundles'), { recursive: true }), 'bundles'],
    [
      'with a byte more in its files',
      () => {
        for (const path of filesBelow(inEtc('bundles')))
          if (path.endsWith('rules.json')) appendFileSync(path, ' ')
      },
      'is not as it was signed',
    ],
    [
      'with a clock that was set back',
      () => put({ 'rules.json': TELLS }, { time: fromNow(HOUR_MS), expires: fromNow(2 * HOUR_MS) }),
      'the clock of this machine is behind',
    ],
    ['after it expired', () => put({ 'rules.json': TELLS }, { expires: fromNow(-1000) }), 'it expired at'],
    ['owned by the user', () => chownSync(inEtc('in-force.json'), user.id, user.id), 'belongs to user'],
  ])('refuses every tool call %s', async (_, spoil, why) => {
    put({ 'rules.json': TELLS })
    expect(await fire([], {}, { command: 'ls' })).toMatchObject({ code: 0 })
    spoil()
    const { code, out } = await fire([], { CARABINER_OFF: '1' }, { command: 'ls' })
    expect(code).toBe(2)
    expect(out).toContain(why)
    expect(out).toContain('carabiner fleet policy fetch')
  })
})
