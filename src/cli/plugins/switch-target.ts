// Finds the plugin or hook that a name means, and switches it off, for enable, disable and the page.

import { textOf } from '../../core/base/errors.js'
import { didYouMean, visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { ListedHook } from '../../hooks.js'
import {
  checkOutside,
  SWITCHED_SCOPES,
  type Switch,
  SwitchStore,
  type SwitchTarget,
} from '../../plugins/switches.js'
import { choiceOf } from '../command.js'
import { Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS } from '../sources.js'

export const SWITCH_OPTIONS = {
  here: { type: 'boolean', help: 'In this project: the default.' },
  user: { type: 'boolean', help: 'In all of your projects.' },
  project: PLACE_OPTIONS.project,
} as const

export function checkScope({ here, user }: { readonly here: boolean; readonly user: boolean }): void {
  if (here && user) throw usage('Give --here or --user, not both')
}

/** Everything that can be switched off. */
export function switchTargets(hooks: readonly ListedHook[]): readonly SwitchTarget[] {
  const plugins = new Map<string, SwitchTarget>()
  const single = new Map<string, { readonly plugin: SwitchTarget; readonly ids: string[] }>()
  for (const { id, name, scope, source } of hooks) {
    const from = SWITCHED_SCOPES.find((one) => one === scope)
    if (!from) continue
    const key = `${from}:${source}`
    const plugin = plugins.get(key) ?? { plugin: source, from }
    plugins.set(key, plugin)
    // The hooks of a process share one name, and are switched together.
    const known = single.get(`${key}\0${name}`)
    if (known) known.ids.push(id)
    else single.set(`${key}\0${name}`, { plugin, ids: [id] })
  }
  const ofHooks = [...single].map(([key, { plugin, ids }]) => ({
    ...plugin,
    hook: { name: key.slice(key.indexOf('\0') + 1), ids },
  }))
  return [...plugins.values(), ...ofHooks]
}

/** Targets with this name: that of a plugin or a hook, with or without its scope, or the id of a hook. */
export function called<T extends SwitchTarget>(
  targets: readonly T[],
  name: string,
  hook?: string,
): readonly T[] {
  if (hook === undefined) return targets.filter((one) => namesOf(one).includes(name))
  return targets.filter((one) => one.hook && isPlugin(one, name) && hookNames(one).includes(hook))
}

/** Throws if no target has this name, or several do. */
export function oneCalled<T extends SwitchTarget>(targets: readonly T[], name: string, hook?: string): T {
  const meant = called(targets, name, hook)
  const [first, ...others] = meant
  if (first && others.length === 0) return first
  if (!first) throw unknownTarget(targets, name, hook)
  throw ambiguous(meant, hook ?? name)
}

export function ambiguous(meant: readonly SwitchTarget[], name: string): Refusal {
  return new Refusal('AMBIGUOUS_NAME', `${meant.length} plugins or hooks are called ${visibleName(name)}`, {
    hint: `Say which: ${meant.map((one) => visibleName(fullName(one))).join(', ')}.`,
  })
}

function unknownTarget(targets: readonly SwitchTarget[], name: string, hook: string | undefined): Refusal {
  const own = hook === undefined ? [] : targets.filter((one) => one.hook && isPlugin(one, name))
  if (hook !== undefined && own.length > 0) {
    const names = own.flatMap((one) => one.hook?.name ?? [])
    return new Refusal(
      'UNKNOWN_HOOK',
      `${visibleName(name)} has no hook ${visibleName(hook)}${guess(own, name, hook)}`,
      { hint: `It has ${names.map(visibleName).join(', ')}.` },
    )
  }
  const plugins = targets.filter((one) => !one.hook).map(({ plugin }) => plugin)
  return new Refusal(
    'UNKNOWN_PLUGIN',
    `There is no plugin or hook ${visibleName(name)}${guess(targets, name)}`,
    {
      hint:
        plugins.length === 0
          ? 'There are no hooks here; carabiner explain PreToolUse lists the files that Carabiner looks for.'
          : `${choiceOf([...new Set(plugins)].map(visibleName))} carabiner list shows every hook.`,
    },
  )
}

/** `; did you mean …?`, or nothing. */
export function guess(targets: readonly SwitchTarget[], name: string, hook?: string): string {
  return didYouMean(hook ?? name, targets.flatMap(hook === undefined ? namesOf : hookNames))
}

export function isPlugin({ plugin, from }: SwitchTarget, name: string): boolean {
  return name === plugin || name === `${from}:${plugin}`
}

function namesOf(one: SwitchTarget): readonly string[] {
  const { plugin, from, hook } = one
  return hook ? [hook.name, `${from}:${hook.name}`, ...hook.ids] : [plugin, `${from}:${plugin}`]
}

/** Also without the plugin's name as a prefix. */
function hookNames({ plugin, hook }: SwitchTarget): readonly string[] {
  if (!hook) return []
  const short = hook.name.startsWith(`${plugin}:`) ? [hook.name.slice(plugin.length + 1)] : []
  return [hook.name, ...short, ...hook.ids]
}

/** Unique. */
function fullName({ plugin, from, hook }: SwitchTarget): string {
  return `${from}:${hook ? hook.name : plugin}`
}

export function switchTitle({ plugin, hook }: SwitchTarget): string {
  return hook ? `the hook ${visibleName(hook.name)}` : `all of ${visibleName(plugin)}`
}

/** `switched off`, as a word about its target. */
export function switchState({ mode }: Switch): string {
  return mode === 'shadow' ? 'in shadow mode:' : 'switched off'
}

/** `for this project, until …: reason`. */
export function switchTerms(one: {
  readonly project?: string | undefined
  readonly until?: string | undefined
  readonly reason?: string | undefined
}): string {
  const where = one.project === undefined ? 'for all projects' : `for ${visible(one.project)}`
  const end = one.until === undefined ? '' : `, until ${localTime(one.until)}`
  return `${where}${end}${one.reason === undefined ? '' : `: ${visible(one.reason)}`}`
}

/** Turns errors of the store into refusals. */
export function usable<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', textOf(error))
  }
}

/** Throws a Refusal if the list of switches cannot be used. */
export function turnOff(off: Switch, project: string, now: number): void {
  usable(() => {
    checkOutside(project)
    new SwitchStore().turnOff(off, now)
  })
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const LONGEST_MS = 366 * UNIT_MS.d

/** `90s`, `30m`, `1h30m`, `2d`, in milliseconds. */
export function lengthOf(typed: string): number {
  const hint = 'Give a number and s, m, h, d or w: --for 30m, --for 1h30m, --for 2d.'
  if (!/^(?:\d{1,6}[smhdw])+$/.test(typed)) {
    throw usage(`--for must be a length of time, got ${JSON.stringify(typed)}`, hint)
  }
  let ms = 0
  for (const [, count, unit] of typed.matchAll(/(\d+)([smhdw])/g)) {
    ms += Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
  }
  if (ms === 0) throw usage('--for 0 would switch nothing off', hint)
  if (ms > LONGEST_MS) throw usage('--for takes at most a year', 'Leave it out to switch off for good.')
  return ms
}
