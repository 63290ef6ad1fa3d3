// Switching on the page, with the same switches as `carabiner disable` and `carabiner enable`.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import type { ListedHook } from '../../hooks.js'
import type { PreparedAct } from '../../page/act-answers.js'
import { NotAnswered, textIn } from '../../page/answers.js'
import { projectKey, type Switch, SwitchStore, type SwitchTarget } from '../../plugins/switches.js'
import type { Rules } from '../../rules/rule.js'
import { lengthOf, switchTargets, turnOff, usable } from '../plugins/switch-target.js'
import { listedHooks, sourcesOf, specOf, specsIn } from '../sources.js'

export async function switchAct(project: string, body: unknown): Promise<PreparedAct> {
  const [to, plugin, from] = ['to', 'plugin', 'from'].map((name) => textIn(body, name)) as [
    string,
    string,
    string,
  ]
  const [hook, where, length] = ['hook', 'where', 'for'].map((name) => textIn(body, name)) as [
    string,
    string,
    string,
  ]
  if (!['off', 'shadow', 'on'].includes(to)) throw new NotAnswered(400, 'Switch it to off, shadow or on')
  if (!['here', 'user'].includes(where)) throw new NotAnswered(400, 'Switch it here or for the user')
  const key = where === 'here' ? projectKey(project) : undefined
  const isMeant = (one: SwitchTarget) =>
    one.plugin === plugin && one.from === from && (one.hook?.name ?? '') === hook
  if (to === 'on') {
    const meant = new SwitchStore().inForce(Date.now()).find((one) => isMeant(one) && one.project === key)
    if (!meant) throw new NotAnswered(409, 'It is not switched off there any more')
    return switchOn(meant, project)
  }
  const target = switchTargets(await listedHooks(sourcesOf(project))).find(isMeant)
  if (!target) throw new NotAnswered(409, 'There is no such plugin or hook any more')
  const now = Date.now()
  const until = length === '' ? undefined : new Date(now + msIn(length)).toISOString()
  const isShadow = to === 'shadow'
  return {
    signed: { what: 'switch', to, target: { ...target }, project: key ?? null, until: until ?? null },
    onlyTightens: false,
    run: async (by) => {
      const off: Switch = {
        ...target,
        ...(isShadow && { mode: 'shadow' as const }),
        ...(key !== undefined && { project: key }),
        since: new Date().toISOString(),
        ...(until !== undefined && { until }),
        by,
      }
      turnOff(off, project, Date.now())
      return {
        change: isShadow ? 'in shadow mode' : 'switched off',
        hook: target.hook?.name ?? plugin,
        ...(key !== undefined && { project: key }),
        ...(until !== undefined && { until }),
      }
    },
  }
}

function msIn(length: string): number {
  try {
    return lengthOf(length)
  } catch (error) {
    throw new NotAnswered(400, visible(textOf(error)))
  }
}

async function switchOn(meant: Switch, project: string): Promise<PreparedAct> {
  const [listed, specs] = await Promise.all([listedHooks(sourcesOf(project)), specsIn(sourcesOf(project))])
  const { plugin, from, hook, project: key } = meant
  return {
    signed: { what: 'switch', to: 'on', target: { ...meant } },
    onlyTightens: tightensOn(meant, listed, specs),
    run: async () => {
      const wanted = JSON.stringify(meant)
      const isMeant = (one: Switch) => JSON.stringify(one) === wanted
      const gone = usable(() => new SwitchStore().turnOn(isMeant, Date.now()))
      if (gone.length === 0) throw new NotAnswered(409, `${plugin} of ${from} was switched meanwhile`)
      return {
        change: 'switched on',
        hook: hook?.name ?? plugin,
        ...(key !== undefined && { project: key }),
      }
    },
  }
}

/**
 * Whether all that would run again are rules that only refuse or ask. Programs may do anything, and a rule may also allow,
 * rewrite, tell the model something, or change a rule of the guard.
 */
export function tightensOn(
  { plugin, from, hook }: SwitchTarget,
  listed: readonly ListedHook[],
  specs: readonly ConfiguredHook[],
): boolean {
  const meant = listed.filter((one) =>
    hook ? hook.ids.includes(one.id) : one.source === plugin && one.scope === from,
  )
  return (
    meant.length > 0 &&
    meant.every((one) => {
      const spec = specOf(specs, one)
      return spec?.type === 'rules' && onlyRefuses(spec.handler as unknown as Rules)
    })
  )
}

const REFUSING: readonly unknown[] = ['deny', 'ask', 'end_turn']

function onlyRefuses({ preset, rules }: Rules): boolean {
  return (
    preset === undefined &&
    rules.length > 0 &&
    rules.every(({ id, then, off }) => !id.includes('/') && !off && REFUSING.includes(then))
  )
}
