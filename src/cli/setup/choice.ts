// Which hooks of the pack the user wants: named in options, picked from a list, or those that are registered already.

import { dirname, isAbsolute, join } from 'node:path'
import { didYouMean, quoted } from '../../core/base/text.js'
import { userHome } from '../../files/homes.js'
import { realOf } from '../../files/within.js'
import {
  ALL_CHOICES,
  CHOICES,
  type Choice,
  choicesOf,
  completed,
  needsOf,
  PACK_TABLE,
  USUAL_CHOICES,
} from '../../hosts/entries.js'
import type { FormCommand, HostSetup } from '../../hosts/host-setup.js'
import type { KnownHost } from '../../hosts/hosts.js'
import type { OwnCommand } from '../../hosts/own-command.js'
import { packName } from '../../hosts/pack-names.js'
import { ownIn } from '../../hosts/registrations.js'
import type { SettingsPlace } from '../../hosts/settings-file.js'
import type { OptionTable } from '../command.js'
import { answerTo, isLeaving } from '../confirm.js'
import type { Output } from '../output.js'
import { fitted } from '../print/fit.js'
import { columns, counted } from '../print/lines.js'
import { type Paint, painter } from '../print/terminal.js'
import { Refusal, usage } from '../refusal.js'

export const CHOICE_OPTIONS = {
  only: { type: 'string', value: 'NAMES', completes: ALL_CHOICES, help: 'Exactly these hooks: guard,stop.' },
  with: { type: 'string', value: 'NAMES', completes: ALL_CHOICES, help: 'Add hooks: memory,reminder.' },
  without: { type: 'string', value: 'NAMES', completes: ALL_CHOICES, help: 'Remove these hooks: stop.' },
} as const satisfies OptionTable

export interface NamedChoices {
  readonly only: string | undefined
  readonly with: string | undefined
  readonly without: string | undefined
}

export function namesChoices(named: NamedChoices): boolean {
  return (named.only ?? named.with ?? named.without) !== undefined
}

interface Choosing {
  /** The entries that run the hooks of projects are registered, too. */
  readonly engine: boolean
  /** The command that makes further changes to the same file. */
  readonly again: string
}

/** What is registered stays, unless options say otherwise; a first time, the usual ones come. */
export function chosenBy(
  named: NamedChoices,
  commands: Commands,
  { engine, again }: Choosing,
): readonly Choice[] {
  const { only, with: more = '', without: fewer = '' } = named
  if (only !== undefined && (named.with ?? named.without) !== undefined)
    throw usage('--only names all hooks; leave out --with and --without')
  const present = choicesIn(commands)
  const isFirst = present.length === 0 && !engine
  const begin = only === undefined ? (isFirst ? USUAL_CHOICES : present) : choicesCalled(only)
  const dropped = choicesCalled(fewer)
  const wanted = [...begin, ...choicesCalled(more)].filter((choice) => !dropped.includes(choice))
  const chosen = completed(wanted)
  const kept = chosen.find((choice) => dropped.includes(choice))
  const needing = wanted.find((choice) => kept !== undefined && needsOf(choice).includes(kept))
  if (needing !== undefined)
    throw usage(
      `${needing} does not work without ${kept}`,
      `Add ${needing} to --without ${dropped.join(',')}.`,
    )
  if (chosen.length === 0 && !engine)
    throw usage('No hook would be left', `${again} --remove removes all of them.`)
  return chosen
}

/** Names of choices or of hooks, separated by commas or blanks. */
function choicesCalled(names: string): readonly Choice[] {
  return names
    .split(/[\s,]+/)
    .filter((name) => name !== '')
    .flatMap((name) => {
      if (name === 'all') return ALL_CHOICES
      const choice = ALL_CHOICES.find((one) => one === name)
      const found = choice ? [choice] : choicesOf([name])
      if (found.length > 0) return found
      throw usage(
        `There is no hook ${JSON.stringify(name)}${didYouMean(name, ALL_CHOICES)}`,
        `Choose from ${ALL_CHOICES.join(', ')}, or all.`,
      )
    })
}

/** The commands in the settings of an agent, ours and others. */
export type Commands = readonly FormCommand[]

function choicesIn(commands: Commands): readonly Choice[] {
  return choicesOf(ownIn(commands).flatMap(({ call, name }) => (call === 'hook' ? [name] : [])))
}

function hasGuard(commands: Commands): boolean {
  return ownIn(commands).some(({ call, name }) => call === 'hook' && packName(name) === 'pre-tool-use')
}

export function hasEngine(commands: Commands): boolean {
  return ownIn(commands).some(({ call }) => call === 'fire')
}

/** The first hook that can block a call or keep the agent working, and that `after` lacks or runs with another program. */
export function lostGate(before: Commands, after: Commands): 'guard' | 'gate' | undefined {
  const left = gatesIn(after)
  // Without clip, the same program answers.
  const isLeft = ({ gate, clip }: Gate) =>
    left.some((one) => one.gate === gate && (one.clip === undefined || one.clip === clip))
  if (gatesIn(before).every(isLeft)) return undefined
  return hasGuard(before) && !hasGuard(after) ? 'guard' : 'gate'
}

interface Gate {
  /** The event, the hook and the program, as one text. */
  readonly gate: string
  readonly clip: string | undefined
}

function gatesIn(commands: Commands): readonly Gate[] {
  const program = (path = '') => (isAbsolute(path) ? realOf(path) : path)
  return ownIn(commands)
    .filter(({ call, name }) => call === 'fire' || ['pre-tool-use', 'stop'].includes(packName(name) ?? ''))
    .map(({ call, name, event, node, script, clip }) => {
      const hook = call === 'hook' ? packName(name) : name
      return { gate: JSON.stringify([event, call, hook, program(node), program(script)]), clip }
    })
}

/** The clips that commands of ours start through. */
export function clipsIn(commands: Commands): readonly string[] {
  return ownIn(commands).flatMap(({ clip }) => (clip === undefined ? [] : [clip]))
}

/** An agent whose settings have our entries. */
interface Registration {
  readonly host: KnownHost
  readonly setup: HostSetup
  readonly place: SettingsPlace
  readonly commands: Commands
}

/** The commands that register the same hooks again, as words. None if setup knows none of them. */
export function setupAgain({ host, setup, place, commands }: Registration): readonly Words[] {
  const [folder = ''] = place.within
  const home = userHome()
  const isIn = (base: string, { folder: own, files }: Pick<HostSetup, 'folder' | 'files'>) =>
    files.some(({ name }) => place.path === join(base, own, name))
  const isProject = setup.project !== undefined && folder !== home && isIn(folder, setup.project)
  const isUsual = isProject || setup.variable === undefined || isIn(home, setup)
  const where = isUsual ? [] : ['env', `${setup.variable}=${namedFolder(setup, place.path)}`]
  const words = [...where, 'carabiner', 'setup', host.name, ...(isProject ? ['--project'] : [])]
  const names = choicesIn(commands).join(',')
  if (hasEngine(commands)) words.push('--engine', ...(names === '' ? [] : ['--with', names]))
  else if (names === '') return []
  else words.push('--only', names)
  return [...(isProject ? [['cd', folder]] : []), words]
}

type Words = readonly string[]

/** What the agent's variable has to name for it to have this file. */
function namedFolder({ files, folder, isVariableHome }: HostSetup, path: string): string {
  const below = files.map(({ name }) => join(isVariableHome ? folder : '', name))
  const end = below.find((one) => path.endsWith(join('/', one)))
  return end === undefined ? dirname(path) : path.slice(0, -end.length - 1)
}

// ---- asking ---------------------------------------------------------------------------------------------------

interface Picking {
  readonly title: string
  readonly mayBeEmpty: boolean
}

/** Shows the list until the user accepts it. */
export async function pickedFrom(
  begin: readonly Choice[],
  { title, mayBeEmpty }: Picking,
  output: Output,
): Promise<readonly Choice[]> {
  const paint = painter(1)
  let chosen = begin
  let said: readonly string[] = []
  for (;;) {
    await output.print([paint.bold(title), ...listLines(chosen, paint), ...said])
    const typed = await answerTo(
      'Type numbers to switch hooks on or off. Press Enter to accept, or q to leave: ',
      output,
    )
    if (typed === undefined || isLeaving(typed))
      throw new Refusal('NOT_ANSWERED', 'Nothing was written: the list was not accepted')
    if (typed === '' && (chosen.length > 0 || mayBeEmpty)) return chosen
    said = typed === '' ? ['Switch on at least one hook.'] : notOffered(typed)
    chosen = switched(chosen, typed)
  }
}

/** Words that name no hook of the list. */
function notOffered(typed: string): readonly string[] {
  const known = new Set<string>([...ALL_CHOICES, ...ALL_CHOICES.map((_, i) => String(i + 1))])
  const odd = typed.split(/[\s,]+/).filter((word) => word !== '' && !known.has(word))
  if (odd.length === 0) return []
  return [`${odd.map(quoted).join(', ')}: not on the list. Type numbers from 1 to ${ALL_CHOICES.length}.`]
}

function listLines(chosen: readonly Choice[], paint: Paint): readonly string[] {
  const rows = columns(
    ALL_CHOICES.map((choice, i) => [
      `  ${i + 1} ${chosen.includes(choice) ? '[x]' : '[ ]'}`,
      choice,
      CHOICES[choice].does,
    ]),
  )
  return fitted(rows.map(([box, name = '', does]) => `${box}  ${paint.cyan(name)}  ${does}`))
}

/** Ignores unknown words. Switching off a hook that memory needs also switches off memory. */
export function switched(chosen: readonly Choice[], typed: string): readonly Choice[] {
  const named = new Set(typed.split(/[\s,]+/))
  const isNamed = (choice: Choice, i: number) => named.has(String(i + 1)) || named.has(choice)
  const toggled = ALL_CHOICES.filter((choice, i) => chosen.includes(choice) !== isNamed(choice, i))
  const isNew = (choice: Choice) => !chosen.includes(choice)
  const hasItsNeeds = (choice: Choice) => needsOf(choice).every((need) => toggled.includes(need))
  return completed(toggled.filter((choice) => isNew(choice) || hasItsNeeds(choice)))
}

// ---- what changes ---------------------------------------------------------------------------------------------

type Sign = '+' | '-' | '~' | ' '

interface Changed {
  readonly sign: Sign
  readonly name: string
  readonly events: string
  readonly does: string
}

/** A line for each hook: added, taken out, changed, or there as it should be. */
export function changedLines(before: Commands, after: Commands, paint: Paint): readonly string[] {
  const colours: Partial<Record<Sign, (text: string) => string>> = {
    '+': paint.green,
    '-': paint.red,
    '~': paint.yellow,
  }
  const changed = changedIn(before, after)
  const rows = columns(changed.map(({ sign, name, events, does }) => [`  ${sign} ${name}`, events, does]))
  return fitted(
    rows.map(([name = '', events, does], i) => {
      const colour = colours[changed[i]?.sign ?? ' '] ?? ((text: string) => text)
      return `${colour(name)}  ${paint.dim(events ?? '')}  ${does}`.trimEnd()
    }),
  )
}

/** The same in a few words: `+ guard, stop; - memory`. */
export function changedWords(before: Commands, after: Commands): string {
  const changed = changedIn(before, after)
  return (['+', '-', '~', ' '] as const)
    .map((sign) => [sign, changed.filter((one) => one.sign === sign).map(({ name }) => name)] as const)
    .filter(([, names]) => names.length > 0)
    .map(([sign, names]) => `${sign} ${names.join(', ')}`.trim())
    .join('; ')
}

/** What hooks do, a line each. */
export function choiceLines(
  chosen: readonly Choice[],
  hasEngineEntries: boolean,
  paint: Paint,
): readonly string[] {
  const rows = [
    ...chosen.map((choice) => [choice, CHOICES[choice].does]),
    ...(hasEngineEntries ? [['engine', ENGINE_DOES]] : []),
  ]
  return fitted(columns(rows).map(([name = '', does]) => `  ${paint.cyan(name)}  ${does}`))
}

const ENGINE_DOES = 'Runs your own hooks, and those of the project you work in.'

function changedIn(before: Commands, after: Commands): readonly Changed[] {
  const [old, fresh] = [ownIn(before), ownIn(after)]
  const meantIn = (own: typeof old, isMeant: (one: OwnCommand) => boolean) =>
    own.filter(isMeant).map(({ command }) => command)
  const compared = (isMeant: (one: OwnCommand) => boolean) =>
    signOf(meantIn(old, isMeant), meantIn(fresh, isMeant))
  const fired = Math.max(...[old, fresh].map((own) => own.filter(({ call }) => call === 'fire').length))
  const engine = compared(({ call }) => call === 'fire')
  return [
    ...ALL_CHOICES.flatMap((choice): readonly Changed[] => {
      const rows = PACK_TABLE.filter((row) => row.choice === choice)
      const sign = compared(
        ({ call, name }) => call === 'hook' && rows.some(({ hook }) => hook === packName(name)),
      )
      if (sign === undefined) return []
      const events = rows.map(({ event }) => event).join(', ')
      return [{ sign, name: choice, events, does: CHOICES[choice].does }]
    }),
    ...(engine === undefined
      ? []
      : [
          {
            sign: engine,
            name: 'engine',
            events: counted(fired, 'event'),
            does: ENGINE_DOES,
          },
        ]),
  ]
}

function signOf(before: readonly string[], after: readonly string[]): Sign | undefined {
  if (before.length + after.length === 0) return undefined
  if (before.length === 0) return '+'
  if (after.length === 0) return '-'
  return before.join('\0') === after.join('\0') ? ' ' : '~'
}
