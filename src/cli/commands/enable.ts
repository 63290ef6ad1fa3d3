// `carabiner enable`: switches on again what disable switched off.

import { visibleName } from '../../core/base/text.js'
import { nameCarried } from '../../plugins/plugin-name.js'
import { projectKey, type Switch, SwitchStore, undoing } from '../../plugins/switches.js'
import type { Command, Options } from '../command.js'
import {
  ambiguous,
  called,
  checkScope,
  guess,
  isPlugin,
  SWITCH_OPTIONS,
  switchTargets,
  switchTerms,
  switchTitle,
  usable,
} from '../plugins/switch-target.js'
import { nextLines } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { Refusal, usage } from '../refusal.js'
import { listedHooks, projectOf, sourcesOf } from '../sources.js'

const OPTIONS = {
  hook: { type: 'string', value: 'HOOK', help: 'One hook of the plugin, by its name in list or its id.' },
  ...SWITCH_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'enable',
  summary: 'Switch a plugin or hook back on.',
  positionals: ['NAME'],
  completes: ['plugins'],
  about:
    'NAME is a plugin, which is switched on with all its hooks, or one hook as list shows it. Hooks that wait for trust ' +
    'still wait. Uses the record of what you switched off, so it works even if the plugin is gone.',
  options: OPTIONS,
  exits: [
    [0, 'switched on'],
    [1, 'you did not switch it off, or not there'],
  ],
  examples: [
    { does: 'In this project again.', line: 'carabiner enable my-plugin', needs: 'a switch' },
    { does: 'In all projects again.', line: 'carabiner enable my-plugin --user', needs: 'a switch' },
  ],
  async run({ options, positionals: [name] }, output) {
    checkScope(options)
    if (name === undefined) {
      throw usage(
        'Give the NAME of the plugin or hook to switch on',
        'carabiner disable shows what is switched off.',
      )
    }
    const now = Date.now()
    const store = new SwitchStore()
    const here = options.user ? undefined : projectKey(projectOf(options))
    const off = usable(() => store.inForce(now))
    const own = off.filter(({ project }) => project === here)
    const byName = meantBy(own, name, options.hook)
    const meant =
      byName.length > 0
        ? byName
        : meantBy(own, nameCarried(name, await listedHooks(sourcesOf(options.project))), options.hook)
    if (meant.length === 0) throw await notOff(name, options, off)
    const enabled = usable(() => store.turnOn((one) => meant.some((other) => isEqual(one, other)), now))
    return output.result({ enabled }, (paint) => [
      ...enabled.map((one) => `switched on ${switchTitle(one)} ${switchTerms({ project: one.project })}`),
      ...nextLines([typed(['list'], { project: options.project })], paint),
    ])
  },
}

/** A plugin's switch, and those of its hooks. */
function meantBy(off: readonly Switch[], name: string, hook: string | undefined): readonly Switch[] {
  const meant =
    hook === undefined
      ? off.filter((one) => called([one], name).length > 0 || isPlugin(one, name))
      : called(off, name, hook)
  const plugins = new Map(meant.map(({ plugin, from }) => [`${from}:${plugin}`, { plugin, from }]))
  if (plugins.size > 1) throw ambiguous([...plugins.values()], name)
  return meant
}

function isEqual(a: Switch, b: Switch): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

type Asked = Options<typeof OPTIONS>

/** Also says what else keeps it from running. */
async function notOff(name: string, asked: Asked, off: readonly Switch[]): Promise<Refusal> {
  const { hook, user } = asked
  const what = visibleName(hook ?? name)
  const here = user ? undefined : projectKey(projectOf(asked))
  const where = user ? 'for all projects' : 'for this project'
  const message = `You did not switch off ${what} ${where}`
  const whole =
    hook !== undefined && off.find((one) => !one.hook && isPlugin(one, name) && one.project === here)
  if (whole) {
    return new Refusal('NOT_SWITCHED_OFF', `All of ${visibleName(name)} is switched off, not only ${what}`, {
      hint: `${undoing(whole)} switches all of it on.`,
    })
  }
  const elsewhere = meantBy(off, name, hook)[0]
  if (elsewhere) {
    return new Refusal('NOT_SWITCHED_OFF', `${message}, but ${switchTerms(elsewhere)}`, {
      hint: `${undoing(elsewhere)}${elsewhere.project === undefined ? '' : ', in that project,'} switches it on.`,
    })
  }
  const why = await otherReason(name, asked)
  return new Refusal(
    'NOT_SWITCHED_OFF',
    why === undefined ? `${message}${guess(off, name, hook)}` : `${message}, but it does not run: ${why}`,
    {
      hint: 'carabiner disable shows what is switched off; carabiner list shows the state of every hook.',
    },
  )
}

/** Its file may switch it off, or it may wait for trust. */
async function otherReason(name: string, asked: Asked): Promise<string | undefined> {
  const { hook } = asked
  const listed = await listedHooks(sourcesOf(asked.project))
  const ids = called(switchTargets(listed), name, hook).flatMap((one) => one.hook?.ids ?? [])
  return listed.find((one) => ids.includes(one.id) || (hook === undefined && one.source === name && one.why))
    ?.why
}
