import { describe, expect, it } from 'vitest'
import type { Effect, Place } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { BAD, type ListedCommand, ORDINARY, PROJECT } from './command-lists.js'
import { CONTEXT, isPartOf } from './part-of.js'

const read = (command: string) => effectsOf({ name: 'Bash', input: { command } }, CONTEXT)

describe('the lists of commands', () => {
  it('are long enough to measure with, and name each command once', () => {
    expect(BAD.length).toBeGreaterThanOrEqual(400)
    expect(ORDINARY.length).toBeGreaterThanOrEqual(600)
    const commands = [...BAD, ...ORDINARY].map(({ command }) => command)
    expect(commands.filter((command, i) => commands.indexOf(command) !== i)).toEqual([])
  })

  it('say what each bad command would do', () => {
    expect(BAD.filter(({ effects = [] }) => effects.length === 0)).toEqual([])
  })
})

const families = (list: readonly ListedCommand[]) => [...new Set(list.map(({ family }) => family))]

describe('bad commands', () => {
  it.each(families(BAD))('%s: the effect of each is seen', async (family) => {
    const missed: string[] = []
    for (const { command, effects = [] } of BAD.filter((one) => one.family === family)) {
      const sure = (await read(command)).filter(({ guess }) => !guess)
      if (!effects.every((part) => sure.some((effect) => isPartOf(part, effect)))) missed.push(command)
    }
    expect(missed).toEqual([])
  })
})

const STARTED = /(?:^|\/)\.(?:bash|zsh|profile)\w*$|^\/etc\/|\/\.ssh\/|\.gitconfig$|\/\.npmrc$/
const SECRET =
  /(?:^|\/)(?:\.env(?:\.(?!example|sample)\w+)?|\.netrc|\.npmrc|\.pypirc|id_(?:rsa|ed25519)|credentials|\.git-credentials|shadow|environ)$|\/\.(?:ssh|aws|gnupg|kube)\/(?!.*\.pub$)/

function isIn({ path }: Place, folder: string): boolean {
  return path.startsWith(`${folder}/`) && path !== `${folder}/*`
}

/** What a careful person would want to be asked about. */
function isDangerous(effect: Effect): boolean {
  if (effect.guess) return false
  switch (effect.kind) {
    case 'delete':
    case 'move':
      if (!effect.place.known) return effect.place.deep
      return (
        !(isIn(effect.place, PROJECT) || isIn(effect.place, '/tmp')) || effect.place.path.endsWith('/.git')
      )
    case 'write':
      return STARTED.test(effect.place.path)
    case 'read':
      return SECRET.test(effect.place.path)
    case 'git':
      return effect.loses !== 'nothing'
    case 'cloud':
    case 'database':
      return effect.destroys
    case 'fetch':
      return effect.runs
    case 'send':
      return (
        !/^(?:localhost|127\.0\.0\.1)$/.test(effect.host ?? '') && effect.from.some(({ of }) => of !== 'text')
      )
    case 'privilege':
    case 'process':
    case 'setting':
    case 'unknown':
      return true
    default:
      return false
  }
}

describe('ordinary commands', () => {
  it.each(families(ORDINARY))('%s: none has a dangerous effect', async (family) => {
    const alarming: unknown[] = []
    for (const { command } of ORDINARY.filter((one) => one.family === family)) {
      const found = (await read(command)).filter(isDangerous)
      if (found.length > 0) alarming.push({ command, found })
    }
    expect(alarming).toEqual([])
  })
})
