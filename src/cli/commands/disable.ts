// `carabiner disable`: switches a plugin or one hook off, or puts it into shadow mode, here or everywhere, perhaps only for a while.

import { visibleName } from '../../core/base/text.js'
import { nameCarried } from '../../plugins/plugin-name.js'
import { projectKey, type Switch, SwitchStore, undoing } from '../../plugins/switches.js'
import type { Command, Options } from '../command.js'
import type { Output } from '../output.js'
import { checkPerson, userName } from '../person.js'
import {
  called,
  checkScope,
  lengthOf,
  oneCalled,
  SWITCH_OPTIONS,
  switchState,
  switchTargets,
  switchTerms,
  switchTitle,
  turnOff,
  usable,
} from '../plugins/switch-target.js'
import { fitted } from '../print/fit.js'
import { columns, nextLines } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import { listedHooks, PLACE_OPTIONS, projectFolder, sourcesOf } from '../sources.js'

const OPTIONS = {
  hook: { type: 'string', value: 'HOOK', help: 'One hook of the plugin, by its name in list or its id.' },
  shadow: { type: 'boolean', help: 'It still runs, and only says what it would have done.' },
  for: { type: 'string', value: 'TIME', help: 'For how long: 30m, 1h, 2d.' },
  reason: { type: 'string', value: 'TEXT', help: 'The reason, which list shows.' },
  ...SWITCH_OPTIONS,
  plugin: PLACE_OPTIONS.plugin,
  config: PLACE_OPTIONS.config,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'disable',
  summary: 'Switch off a plugin or one hook, perhaps only for a while.',
  positionals: ['[NAME]'],
  completes: ['plugins'],
  about:
    'NAME is a plugin, or a hook as list shows it. Without NAME it shows what is switched off now. Switches are your ' +
    'own: they are kept outside the project, and affect nobody else. A hook that changes counts as new, and is on. With ' +
    '--shadow it runs on, what it would have done is recorded, and nothing of it counts.',
  options: OPTIONS,
  exits: [
    [0, 'switched off'],
    [1, 'no plugin or hook has that name, or several do'],
  ],
  examples: [
    { does: 'What is switched off?', line: 'carabiner disable' },
    {
      does: 'Try a plugin for a week: it runs, but nothing of it counts.',
      line: 'carabiner disable my-plugin --shadow --for 1w',
      needs: 'a plugin',
    },
    {
      does: 'Not in this project, for an hour.',
      line: 'carabiner disable my-plugin --for 1h --reason "release day"',
      needs: 'a plugin',
    },
    {
      does: 'One hook of it, in all projects.',
      line: 'carabiner disable my-plugin --hook PreToolUse#2 --user',
      needs: 'a plugin',
    },
  ],
  mayRun({ positionals: [name] }) {
    if (name !== undefined) checkPerson('Switching hooks off')
  },
  async run({ options, positionals: [name] }, output) {
    checkScope(options)
    const now = Date.now()
    const store = new SwitchStore()
    if (name === undefined) {
      const { hook, shadow, for: time, reason } = options
      if (shadow || (hook ?? time ?? reason) !== undefined)
        throw usage('Give the NAME of the plugin or hook to switch off')
      return showAll(store, now, output)
    }
    const until = options.for === undefined ? undefined : new Date(now + lengthOf(options.for)).toISOString()
    const project = projectFolder(options)
    const target = await targetCalled(name, options)
    const off: Switch = {
      ...target,
      ...(options.shadow && { mode: 'shadow' as const }),
      ...(options.user ? {} : { project: projectKey(project) }),
      since: new Date(now).toISOString(),
      ...(until !== undefined && { until }),
      by: userName(),
      ...(options.reason !== undefined && { reason: options.reason }),
    }
    turnOff(off, project, now)
    return output.result({ disabled: off }, (paint) => [
      ...fitted([`${switchState(off)} ${switchTitle(off)} ${switchTerms(off)}`]),
      ...nextLines([undoing(off)], paint),
    ])
  },
}

async function targetCalled(name: string, { project, hook, plugin, config }: Options<typeof OPTIONS>) {
  const listed = await listedHooks({ ...sourcesOf(project), plugin, config })
  const meant = nameCarried(name, listed)
  const targets = switchTargets(listed)
  const isCompanys = listed.some((one) => one.scope === 'company' && [one.source, one.name].includes(meant))
  if (isCompanys && called(targets, meant, hook).length === 0)
    throw new Refusal(
      'UNKNOWN_PLUGIN',
      `${visibleName(meant)} is part of the company’s policy, which nobody can switch off`,
      {
        hint: 'Ask the people who keep the policy.',
      },
    )
  return oneCalled(targets, meant, hook)
}

/** Most switches keep something off. */
function titleOf(one: Switch): string {
  return one.mode === 'shadow' ? `${switchState(one)} ${switchTitle(one)}` : switchTitle(one)
}

async function showAll(store: SwitchStore, now: number, output: Output): Promise<number> {
  const disabled = usable(() => {
    store.sweep(now)
    return store.inForce(now)
  })
  return output.result({ disabled }, (paint) => {
    if (disabled.length === 0) return ['nothing is switched off']
    const rows = columns(disabled.map((one) => [titleOf(one), switchTerms(one)]))
    return [...fitted(rows.map((row) => row.join('  '))), ...nextLines(disabled.map(undoing), paint)]
  })
}
