// What a tool call would do, whichever tool, agent or spelling it comes with.

import { resolve } from 'node:path'
import { RealPaths } from '../files/within.js'
import type { Effect, Place } from './effect.js'
import { HeldFolders } from './held-folders.js'
import { Links } from './links.js'
import { throughMadeLinks } from './made-links.js'
import { withMatchedFiles } from './matched-files.js'
import { absolutePath } from './paths/absolute-path.js'
import { ANYBODY, type Draft, NOT_GIT } from './program.js'
import type { Surroundings } from './script-effects.js'
import { ownerOf, type SettingFile } from './setting-places.js'
import { AmbiguousInput, parsedInput, type ToolCall, toolCall } from './tools/tool-call.js'
import { filesEffects, knownEffects, otherEffects, type ToolUse } from './tools/tool-effects.js'

export type { ToolAnnotations, ToolUse } from './tools/tool-effects.js'

export interface EffectContext extends Surroundings {
  /** Files that guards depend on. A change of one is also a `setting`. */
  readonly settings?: readonly SettingFile[]
}

/** More effects of one call are not told apart. */
const MOST_EFFECTS = 500

/** Never rejects for any name and input: what cannot be read is `unknown`. */
export async function effectsOf(use: ToolUse, context: EffectContext): Promise<readonly Effect[]> {
  const first = distinct(await readCall(use, context))
  const known = throughMadeLinks(first.length > MOST_EFFECTS ? first.slice(0, MOST_EFFECTS) : first)
  const real = new RealPaths()
  const followed = new Links(context, real).followed(known)
  const { projectDir, home } = context
  const held = new HeldFolders({ cwd: resolve(projectDir, context.cwd), projectDir, home }, real)
  const marked = (followed === first ? followed : distinct(followed)).map((one) => held.marked(one))
  const read = marked.some(isWildRead) ? marked.flatMap(withMatchedFiles) : marked
  const files = read.some(canBeSetting) ? (context.settings ?? []) : []
  const near = [context.cwd, projectDir, home]
  const settings = [...settingsAmong(read, files, near), ...unguarding(read, use)]
  const more = settings.length === 0 ? settings : distinct(settings)
  const closed = read.some(isOpen) ? read.filter((effect) => !isOpen(effect)) : read
  const all = more.length === 0 ? closed : [...closed, ...more]
  return first.length <= MOST_EFFECTS
    ? all
    : [
        ...all,
        { kind: 'unknown', why: 'it has too many effects to list', unparsed: true, by: shownCall(use) },
      ]
}

function isWildRead(effect: Effect): boolean {
  return effect.kind === 'read' && effect.place.wild
}

/** Only effects that are about the same thing are compared in full. */
function distinct(effects: readonly Effect[]): readonly Effect[] {
  if (effects.length < 2 || (effects.length <= FEW && areAboutDifferent(effects))) return effects
  const firsts = new Map<string, Effect>()
  const texts = new Set<string>()
  return effects.filter((effect) => {
    const about = aboutOf(effect)
    const first = firsts.get(about)
    if (!first) {
      firsts.set(about, effect)
      return true
    }
    texts.add(JSON.stringify(first))
    const text = JSON.stringify(effect)
    return !texts.has(text) && texts.add(text)
  })
}

/** So few are compared with each other, without making texts of them. */
const FEW = 12

function areAboutDifferent(effects: readonly Effect[]): boolean {
  for (let i = 1; i < effects.length; i++)
    for (let j = 0; j < i; j++) if (isAboutSame(effects[i] as Effect, effects[j] as Effect)) return false
  return true
}

/** Whether `aboutOf` is the same. */
function isAboutSame(a: Effect, b: Effect): boolean {
  if (a.kind !== b.kind) return false
  if ('place' in a && 'place' in b) return a.place?.path === b.place?.path && a.by === b.by
  if (a.kind === 'run' && b.kind === 'run') return a.program === b.program && a.by === b.by
  return aboutOf(a) === aboutOf(b)
}

function aboutOf(effect: Effect): string {
  if ('place' in effect) return `${effect.kind} ${effect.place?.path} ${effect.by}`
  return effect.kind === 'run' ? `run ${effect.program} ${effect.by}` : `${effect.kind} ${effect.by}`
}

/** A promise only if a command line has to be read. */
function readCall(use: ToolUse, context: EffectContext): readonly Effect[] | Promise<readonly Effect[]> {
  let call: ToolCall
  try {
    call = toolCall(use.name, use.input, use.hostName)
  } catch (error) {
    if (!(error instanceof AmbiguousInput)) throw error
    return [{ kind: 'unknown', why: error.message, unparsed: true, by: shownCall(use) }]
  }
  const cwd = resolve(context.projectDir, context.cwd)
  if (call.kind === 'shell') return shellEffects(call, cwd, context)
  const by = shownCall(use)
  const input = parsedInput(use.input)
  const read = input === use.input ? use : { ...use, input }
  const named = (drafts: readonly Draft[]) => drafts.map((draft) => ({ by, ...draft }) as Effect)
  const known = knownEffects(read)
  if (known) return named(known)
  switch (call.kind) {
    case 'files':
      return named(filesEffects(call, read, cwd, context.home))
    case 'unclear':
      return [{ kind: 'unknown', why: `it does not name the ${call.missing} that it is about`, by }]
    case 'other':
      return named(otherEffects(read, cwd, context.home))
  }
}

/** The readers of commands take long to load, and most programs judge a single call. */
let loaded: typeof import('./script-effects.js') | undefined

async function shellEffects(
  call: Extract<ToolCall, { kind: 'shell' }>,
  cwd: string,
  context: EffectContext,
): Promise<readonly Effect[]> {
  loaded ??= await import('./script-effects.js')
  const { commands, folder, isPowerShell } = call
  const start = folder === undefined ? cwd : absolutePath(folder, cwd, context.home)
  const [only] = commands
  if (commands.length === 1 && only !== undefined && !isPowerShell)
    return loaded.scriptEffects(only, start, context, loaded.newBudget())
  return severalEffects(call, start, context, loaded)
}

async function severalEffects(
  { commands, isPowerShell }: Extract<ToolCall, { kind: 'shell' }>,
  start: string,
  context: EffectContext,
  { scriptEffects, newBudget }: typeof import('./script-effects.js'),
): Promise<readonly Effect[]> {
  const budget = newBudget()
  const effects: Effect[] = []
  for (const text of commands) {
    effects.push(...(await scriptEffects(text, start, context, budget)))
    if (isPowerShell && !/^[\w./:=@%+, -]*$/.test(text))
      effects.push({
        kind: 'unknown',
        why: 'only plain commands of PowerShell are read',
        by: text.slice(0, 300),
      })
  }
  return effects
}

// ---- settings ---------------------------------------------------------------------------------------------------

/** Not yet known whether the place is a setting, and whose. */
function isOpen(effect: Effect): boolean {
  return effect.kind === 'setting' && (effect.owner === ANYBODY || effect.owner === NOT_GIT)
}

/** Whether it changes a file, or may be about a setting. */
function canBeSetting(effect: Effect): boolean {
  return effect.kind === 'write' || effect.kind === 'delete' || effect.kind === 'move' || isOpen(effect)
}

/** A change of a file that guards depend on. */
function settingsAmong(
  effects: readonly Effect[],
  files: readonly SettingFile[],
  near: readonly string[],
): readonly Effect[] {
  const found: Effect[] = []
  if (files.length === 0) return found
  for (const effect of effects) {
    if (!canBeSetting(effect) || !('place' in effect) || !effect.place) continue
    // What a folder is moved to gets all of its files.
    const places = effect.kind === 'move' ? [effect.place, { ...effect.to, deep: true }] : [effect.place]
    // What an entry of a file decides is an effect of its own.
    if (effect.kind === 'write' && effect.entry !== undefined) continue
    const isLayout = effect.kind === 'write' && effect.layout === true
    const isInto = isLayout || (effect.kind === 'write' && effect.into === 'known')
    // A formatter that is given a folder or a pattern changes no setting in it.
    if (isLayout && effect.place.wild) continue
    for (const given of places) {
      // The files that arrive in a folder are effects of their own.
      const place = isInto ? { ...given, deep: false } : given
      const owner = ownerOf(place, files, near)
      if (owner === undefined || (owner === 'git' && effect.kind === 'setting' && effect.owner === NOT_GIT))
        continue
      found.push({
        kind: 'setting',
        owner,
        place,
        sure: owner !== 'git' && !isLayout && isSure(effect, place),
        by: effect.by,
        ...(effect.guess ? { guess: true } : {}),
        ...(effect.launched ? { launched: true } : {}),
        ...(effect.stored ? { stored: true } : {}),
      })
    }
  }
  return found
}

/** A pattern for any file in any folder may match none of these, and code in another language is only searched for names. */
function isSure(effect: Effect, { known, wild, path }: Place): boolean {
  if (effect.code || (effect.kind === 'setting' && !effect.sure)) return false
  return known && !(wild && /\*\*\/\*?$/.test(path))
}

/** Files that shells, sessions and other programs read when they start. */
const STARTED =
  /(?:^|\/)\.[\w.-]*(?:rc|profile|login|env|zshenv|pam_environment)$|(?:^|\/)(?:environment|profile|config\.fish)$|(?:^|\/)(?:environment|profile|conf)\.d\/[^/]+$/

/** Variables in such files that switch hooks off, or move what they trust. */
const UNGUARDING = /\bCARABINER_(?:OFF|HOME|PRE_TRUSTED)\b/

function unguarding(effects: readonly Effect[], { input }: ToolUse): readonly Effect[] {
  const found: Effect[] = []
  for (const one of effects)
    if (one.kind === 'write' && STARTED.test(one.place.path))
      found.push({ kind: 'setting', owner: 'carabiner', place: one.place, sure: false, by: one.by })
  return found.length > 0 && UNGUARDING.test(JSON.stringify(input)) ? found : []
}

function shownCall({ name, input }: ToolUse): string {
  const text = `${name} ${typeof input === 'string' ? input : JSON.stringify(input)}`
  return text.length > 300 ? `${text.slice(0, 299)}…` : text
}
