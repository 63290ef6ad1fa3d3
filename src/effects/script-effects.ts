// What a command line would do: the effects of every call in it, and of the scripts that it runs.

import { posix } from 'node:path'
import type { Effect, Place, Source } from './effect.js'
import { withValuesApart } from './files/option-values.js'
import { SOMEWHERE } from './paths/absolute-path.js'
import { type Draft, type Program, placesOf, reads, send, type Use, verbIndexes } from './program.js'
import { alsoCode, codeEffects } from './programs/code.js'
import { copiedTrees } from './programs/copied-trees.js'
import { fileChanges } from './programs/files.js'
import { type Launched, launchedBy } from './programs/launchers.js'
import { givenDisks, mentions } from './programs/mentions.js'
import { throughMounts } from './programs/mounts.js'
import { onCarabiner, setVariables, unasked } from './programs/own.js'
import { entriesOf } from './programs/programs.js'
import { sourcesOfInput } from './programs/sources.js'
import { remembered } from './remembered.js'
import { isForkBomb } from './script/fork-bomb.js'
import { withGivenWords } from './script/given-words.js'
import { doubtfulLines, guessedLines, type HiddenScript, hiddenScripts } from './script/hidden-scripts.js'
import { withInner } from './script/inner-calls.js'
import { isInterpreter } from './script/program-code.js'
import { throughProxies } from './script/proxies.js'
import { runByOther, runFiles } from './script/run-output.js'
import { type Call, parsedScript, plainScript, type Script } from './script/shell-script.js'
import {
  type StoredScript,
  scriptWord,
  storedScripts,
  UNREAD_FILE,
  UNREAD_WRITTEN,
} from './script/stored-scripts.js'
import { certainStart, isWild, withText } from './script/word.js'
import { shellQuoted } from './shell/shell-quoted.js'
import { TOO_LONG } from './shell/shell-reading.js'
import { wrapperOf } from './shell/wrappers.js'

export interface Surroundings {
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
}

/** How deep scripts may be nested in words of scripts, and in files that they run. */
const MOST_LAYERS = 3
/** All scripts that one call runs. */
const MOST_SCRIPTS = 60
const LONGEST_WORDS = 300

const TOO_MANY = 'it runs too many scripts to read'
const TOO_MANY_LAUNCHERS = 'it launches programs through too many others to read'
const TOO_DEEP = 'it runs scripts in scripts, too deep to read'
/** Nothing is read then. Other reasons are about a part of a script, and are common in ordinary ones. */
const UNREAD: ReadonlySet<string> = new Set([TOO_MANY, TOO_DEEP, TOO_LONG, UNREAD_FILE, UNREAD_WRITTEN])

const NONE: readonly never[] = []

/** How much one tool call may still read. */
export interface Budget {
  scripts: number
}

export function newBudget(): Budget {
  return { scripts: MOST_SCRIPTS }
}

/** Never throws for any text. */
export async function scriptEffects(
  text: string,
  folder: string,
  around: Surroundings,
  budget: Budget = newBudget(),
  layer = 0,
): Promise<readonly Effect[]> {
  if (budget.scripts-- <= 0) return [{ kind: 'unknown', why: TOO_MANY, unparsed: true, by: clipped(text) }]
  const read = plainScript(text, folder, around) ?? (await parsedScript(text, folder, around))
  const launched = new Map<Call, Launched>()
  const all: Call[] = []
  let isCut = false
  for (const call of withGivenWords(read.calls)) {
    const chain = launchChain(call)
    for (const one of chain) launched.set(one.call, one)
    const last = chain.at(-1)
    if (!last) {
      all.push(...withInner(call))
      continue
    }
    all.push(call, ...chain.map((one) => one.call))
    isCut ||= launchesMore(chain)
    if (last.elsewhere) continue
    all.push(...withInner(last.call).filter((inner) => inner.isGuess))
  }
  const script: Script = { ...read, calls: all }
  const reader = new CallReader(script, around)
  const effects: Effect[] = []
  for (const call of all) {
    const found = launched.size === 0 ? undefined : launched.get(call)
    const here = (effect: Effect) => fromElsewhere(effect, found, folder, around.home)
    if (found && wrapperOf(call.name)) {
      const line = `${[call.name, ...call.args.map((word) => word.text)].map(shellQuoted).join(' ')}${inputText(call)}`
      const start = found.mounts ? (found.mounts.folder ?? SOMEWHERE) : folder
      const inner = await scriptEffects(line, start, around, budget, layer + 1)
      effects.push(...(found.elsewhere ? inner.flatMap(here) : inner))
    } else if (found?.elsewhere) effects.push(...reader.effectsOf(call).flatMap(here))
    else for (const effect of reader.effectsOf(call)) effects.push(effect)
  }
  effects.push(...ofScript(script, around), ...unread(script, text))
  if (isCut) effects.push({ kind: 'unknown', why: TOO_MANY_LAUNCHERS, unparsed: true, by: clipped(text) })
  const inner = layer < MOST_LAYERS ? innerOf(script, reader, around) : undefined
  if (inner) effects.push(...(await inScripts(inner, script, folder, around, budget, layer, reader)))
  if (layer >= MOST_LAYERS && hasUnreadScript(script, reader, around))
    effects.push({ kind: 'unknown', why: TOO_DEEP, by: clipped(text) })
  return throughProxies(runFiles(effects, script, around), script)
}

/** What a launched shell reads, as in the call itself. The output of another program is not known. */
function inputText({ input, inputFiles, readsFrom }: Call): string {
  const text = input.at(-1)
  if (text !== undefined) return ` <<< ${shellQuoted(text)}`
  const file = inputFiles.at(-1)
  if (file) return ` < ${file.known ? shellQuoted(file.text) : '"$FILE"'}`
  return readsFrom.length > 0 ? ' <<< "$INPUT"' : ''
}

const LONGEST_CHAIN = 5

/** `npx bundle exec rm`: a launcher may launch another. */
function launchChain(call: Call): readonly Launched[] {
  const chain: Launched[] = []
  for (let found = launchedBy(call); found && chain.length < LONGEST_CHAIN; ) {
    const before = chain.at(-1)
    const inside = found.mounts ?? before?.mounts
    chain.push({
      ...found,
      elsewhere: found.elsewhere || (before?.elsewhere ?? false),
      ...(inside && { mounts: inside, folders: found.folders ?? before?.folders ?? call.folders }),
    })
    found = wrapperOf(found.call.name) ? undefined : launchedBy(found.call)
  }
  return chain
}

/** Whether the last of them launches another one. */
function launchesMore(chain: readonly Launched[]): boolean {
  const last = chain.length === LONGEST_CHAIN ? chain.at(-1)?.call : undefined
  return last !== undefined && !wrapperOf(last.name) && launchedBy(last) !== undefined
}

/** The effects of one call each, without those of scripts that it runs. */
class CallReader {
  readonly #script: Script
  readonly #around: Surroundings
  readonly #isRun: (call: Call) => boolean
  readonly #known = new Map<Call, readonly Draft[]>()

  constructor(script: Script, around: Surroundings) {
    this.#script = script
    this.#around = around
    this.#isRun = runByOther(script)
  }

  effectsOf(call: Call): Effect[] {
    const by = clipped(call.command.source ?? call.command.words.join(' '))
    const effects: Effect[] = []
    for (const draft of this.#drafts(call)) effects.push(withWords(draft, by))
    effects.push(runOf(call, by))
    return call.isGuess ? effects.map((effect) => ({ ...effect, guess: true, launched: true })) : effects
  }

  readonly writes = (call: Call, path: string): boolean =>
    this.#drafts(call).some((draft) => draft.kind === 'write' && draft.place.path === path)

  use(given: Call): Use {
    const args = withValuesApart(given.name, given.args)
    const call = args === given.args ? given : { ...given, args }
    const { home } = this.#around
    const { dots } = this.#script
    return {
      call,
      args,
      texts: args.map(({ text }) => text),
      script: this.#script,
      isRun: this.#isRun(call),
      places: (word, deep = false, folders = call.folders): readonly Place[] => {
        const places = placesOf(word, folders, home, deep)
        return dots && isWild(word)
          ? [...places, ...placesOf(withText(word, hiddenNames(word.text)), folders, home, deep)]
          : places
      },
      of: (other) => this.#drafts(other),
    }
  }

  #drafts(call: Call): readonly Draft[] {
    const known = this.#known.get(call)
    if (known) return known
    // A call that reads from itself would not end.
    this.#known.set(call, NONE)
    const use = this.use(call)
    const own = entriesOf(call.name)?.flatMap((entry) => effectsOfEntry(entry, use)) ?? fileChanges(use)
    const more = [
      ...alsoCode(use),
      ...copiedTrees(use, this.#around),
      ...mentions(use),
      ...givenDisks(use),
      ...unasked(use),
      ...onCarabiner(use, this.#around.home, this.#around.env),
      ...strange(call),
      ...inputsOf(use),
      ...scriptOf(use),
    ]
    const drafts = more.length === 0 ? own : [...own, ...more]
    this.#known.set(call, drafts)
    return drafts
  }
}

function runOf({ name, args }: Call, by: string): Effect {
  const texts = args.map(({ text }) => text)
  const run = { kind: 'run', program: name, args: texts, by } as const
  const open = certainStart(name) === undefined ? args.findIndex(({ known }) => !known) + 1 : 0
  if (open === 0 && certainStart(name) === undefined) return run
  const words = [name, ...texts]
  return { ...run, begins: [...words.slice(0, open), certainStart(words[open] ?? '') ?? ''].join(' ') }
}

/** Drafts have many shapes, and copying one of an unknown shape takes long. Most are these. */
function withWords(draft: Draft, by: string): Effect {
  switch (draft.kind) {
    case 'read':
    case 'write':
    case 'delete':
      if (saysMore(draft)) break
      return { kind: draft.kind, place: draft.place, by: draft.by ?? by }
    case 'git': {
      if (draft.code) break
      const { kind, operation, branch, force, loses, change } = draft
      return { kind, operation, branch, force, loses, change, by: draft.by ?? by }
    }
  }
  return { ...draft, by: draft.by ?? by } as Effect
}

/** Whether it has fields besides its place. */
function saysMore(draft: Extract<Draft, { readonly kind: 'read' | 'write' | 'delete' }>): boolean {
  if (draft.code) return true
  if (draft.kind === 'read') return draft.links !== undefined
  return draft.kind === 'write' && (draft.rights ?? draft.layout ?? draft.into ?? draft.entry) !== undefined
}

/** Of each word that may be the verb. */
function effectsOfEntry(program: Program, use: Use): readonly Draft[] {
  const own = program.effects(use)
  const verbs = program.hasVerb && use.texts[0]?.startsWith('-') ? verbIndexes(use.texts) : []
  if (verbs.length < 2) return own
  const readings = verbs.map((at) => {
    const options = use.args.slice(0, at).filter(({ text }) => text.startsWith('-'))
    const args = [...use.args.slice(at), ...options]
    return program.effects({ ...use, call: { ...use.call, args }, args, texts: args.map(({ text }) => text) })
  })
  const all = [own, ...readings].flat()
  return [...new Map(all.map((draft) => [JSON.stringify(draft), draft])).values()]
}

/** With `dotglob`, a star also matches names that begin with a dot. */
function hiddenNames(pattern: string): string {
  return pattern.replace(/(^|\/)(?=[*?[])/g, '$1.')
}

/** The script that a shell or another interpreter runs. The entries of `source` and awk read their own. */
function scriptOf(use: Use): readonly Draft[] {
  const word = /^(?:source|\.|[gmn]?awk)$/.test(use.call.name) ? undefined : scriptWord(use.call)
  return word ? reads(use, [word]) : []
}

/** Files that `<` reads. */
function inputsOf(use: Use): readonly Draft[] {
  return use.call.isInner || use.call.inputFiles.length === 0
    ? []
    : use.call.inputFiles.flatMap((word) => use.places(word)).map((place) => ({ kind: 'read', place }))
}

const isStrange = remembered((name) => /[^\x20-\x7e]/.test(name))

/** Letters that look like others, or cannot be seen. */
function strange({ name }: Call): readonly Draft[] {
  return isStrange(name)
    ? [{ kind: 'unknown', why: 'the name of the program has letters that look like others' }]
    : []
}

const SOCKET = /^\/dev\/(?:tcp|udp)\/([^/]+)\//

/** The effects of the script itself: files behind `>`, variables, a fork bomb. */
function ofScript(script: Script, around: Surroundings): readonly Effect[] {
  const by = clipped(script.text)
  const drafts: Draft[] = []
  let sent: readonly Source[] | undefined
  for (const { words, folders } of script.outputs) {
    for (const word of words) {
      const [, host] = SOCKET.exec(word.text) ?? []
      if (host !== undefined) {
        sent ??= sentBy(script, around)
        drafts.push(send(/[$`]/.test(host) ? undefined : host, sent))
      } else
        for (const place of placesOf(word, folders, around.home, false)) drafts.push({ kind: 'write', place })
    }
  }
  for (const { words, folders } of script.inputs)
    for (const place of words.flatMap((word) => placesOf(word, folders, around.home, false)))
      drafts.push({ kind: 'read', place })
  for (const place of historyFiles(script, around)) drafts.push({ kind: 'write', place })
  drafts.push(...setVariables(script))
  if (isForkBomb(script)) drafts.push({ kind: 'process', operation: 'fork bomb', target: undefined })
  return drafts.length === 0 ? NONE : drafts.map((draft) => withWords(draft, by))
}

/** `HISTFILE=x; history -w` */
function historyFiles({ assignments, calls }: Script, { home }: Surroundings): readonly Place[] {
  const writer = calls.find(({ name }) => name === 'history')
  if (!writer) return NONE
  return assignments
    .filter((one) => one.startsWith('HISTFILE='))
    .map((one) => one.slice('HISTFILE='.length))
    .filter((text) => text !== '')
    .flatMap((text) =>
      placesOf({ text, known: !/[$`]/.test(text), glob: false }, writer.folders, home, false),
    )
}

/** What the calls of a script read, if one of them writes to a socket. */
function sentBy(script: Script, around: Surroundings) {
  const reader = new CallReader(script, around)
  const sources = script.calls.flatMap((call) => [
    ...reader
      .effectsOf(call)
      .flatMap((one) => (one.kind === 'read' ? [{ of: 'file', place: one.place } as const] : [])),
    ...sourcesOfInput(reader.use(call)),
  ])
  return sources.length > 0 ? sources : [{ of: 'text' } as const]
}

function unread(
  { reading: { unknown, why = 'it cannot be read', unparsed } }: Script,
  text: string,
): readonly Effect[] {
  return unknown ? [{ kind: 'unknown', why, ...(unparsed && { unparsed }), by: clipped(text) }] : []
}

// ---- scripts in scripts -----------------------------------------------------------------------------------------

/** Scripts that a script runs. */
interface InnerScripts {
  readonly hidden: readonly HiddenScript[]
  readonly guessed: readonly string[]
  readonly stored: readonly StoredScript[]
}

/** Whether it runs a script that is too deep to read: one in its words, or one in a file that is not code of another language. */
function hasUnreadScript(script: Script, reader: CallReader, around: Surroundings): boolean {
  const doubtful = doubtfulLines(script)
  return (
    hiddenScripts(script, around.home).some(({ line }) => !doubtful.has(line)) ||
    storedScripts(script, reader.writes).some(({ language }) => language !== 'other')
  )
}

/** Undefined if there is none. */
function innerOf(script: Script, reader: CallReader, around: Surroundings): InnerScripts | undefined {
  const hidden = hiddenScripts(script, around.home)
  const guessed = guessedLines(script)
  const stored = storedScripts(script, reader.writes)
  return hidden.length + guessed.length + stored.length === 0 ? undefined : { hidden, guessed, stored }
}

async function inScripts(
  inner: InnerScripts,
  script: Script,
  folder: string,
  around: Surroundings,
  budget: Budget,
  layer: number,
  reader: CallReader,
): Promise<readonly Effect[]> {
  const effects: Effect[] = []
  const doubtful = doubtfulLines(script)
  for (const { line, folders } of inner.hidden) {
    for (const start of folders.length > 0 ? folders : [folder]) {
      const found = await scriptEffects(line, start, around, budget, layer + 1)
      effects.push(...(doubtful.has(line) ? asGuess(found) : found))
    }
  }
  for (const line of inner.guessed) {
    effects.push(...asGuess(await scriptEffects(line, folder, around, budget, MOST_LAYERS)))
  }
  const files = new Set(
    inner.stored.flatMap((one) => (one.language === 'shell' ? [posix.resolve(one.folder, one.name)] : [])),
  )
  for (const stored of inner.stored) {
    const found = await inStored(stored, around, budget, layer, reader)
    effects.push(...found)
    // One script writes another one, or itself.
    if (found.some((one) => one.kind === 'write' && !one.guess && files.has(one.place.path)))
      effects.push({ kind: 'unknown', why: UNREAD_WRITTEN, by: clipped(stored.name) })
  }
  return effects
}

/** The text may only look like a command. Then it says nothing that it cannot be read, and nothing surely gets its words. */
function asGuess(effects: readonly Effect[]): readonly Effect[] {
  return effects
    .filter(({ kind }) => kind !== 'run' && kind !== 'unknown')
    .map(({ launched: _, ...one }) => ({ ...one, guess: true }) as Effect)
}

/** A script in a file. Its words are shown behind the name of the file. */
async function inStored(
  { name, text, folder, call, language, isGiven }: StoredScript,
  around: Surroundings,
  budget: Budget,
  layer: number,
  reader: CallReader,
): Promise<readonly Effect[]> {
  if (language === 'unread') {
    const isShell = !isInterpreter(call.name)
    return [
      { kind: 'unknown', why: text, by: clipped(name), stored: true, ...(isShell ? {} : { guess: true }) },
    ]
  }
  const inner =
    language === 'shell'
      ? await scriptEffects(text, folder, around, budget, layer + 1)
      : codeEffects(text, reader.use(call)).map(
          (draft) => ({ by: '', ...draft, ...(isGiven ? {} : { guess: true }), code: true }) as Effect,
        )
  // What such a file runs is in no word of the call, and much of it depends on how it is called.
  return inner.map((one) => {
    const by = clipped(`${name}: ${one.by}`)
    if (isGiven) return { ...one, by }
    if (one.kind !== 'unknown') return { ...one, by, stored: true }
    // Ordinary scripts may be long: only rules about what is unknown count for them.
    return UNREAD.has(one.why)
      ? { kind: 'unknown', why: one.why, by, stored: true }
      : { ...one, by, stored: true, guess: true }
  })
}

/** A delete in a container or on another machine loses its files, not those of this machine. */
function fromElsewhere(
  effect: Effect,
  found: Launched | undefined,
  folder: string,
  home: string,
): readonly Effect[] {
  const mounted = found?.mounts && throughMounts(effect, found.mounts, found.folders ?? [folder], home)
  if (mounted) return mounted
  switch (effect.kind) {
    case 'delete':
      return [
        { kind: 'cloud', operation: 'exec rm', resource: effect.place.path, destroys: true, by: effect.by },
      ]
    case 'read':
      return SECRET.test(effect.place.path)
        ? [
            {
              kind: 'cloud',
              operation: 'read secret',
              resource: effect.place.path,
              destroys: false,
              by: effect.by,
            },
          ]
        : []
    case 'fetch':
      return effect.runs ? [effect] : []
    case 'database':
    case 'cloud':
    case 'send':
    case 'run':
    case 'unknown':
      return [effect]
    default:
      return []
  }
}

/** Files that hold secrets on any machine. */
const SECRET =
  /(?:^|\/)(?:\.env(?:\.(?!example|sample|template|dist|defaults)[\w.-]+)?|id_(?:rsa|ed25519|ecdsa|dsa)|\.(?:netrc|pgpass|npmrc|git-credentials|vault-token)|credentials(?:\.\w+)?|shadow|environ|[^/]*\.(?:pem|key|p12|pfx|jks|kdbx|tfstate))$|^\/(?:run|var\/run)\/secrets(?:\/|$)|\/\.(?:ssh|aws|kube|gnupg)(?:\/(?!known_hosts|config$|.*\.pub$)|$)/

function clipped(text: string): string {
  return text.length > LONGEST_WORDS ? `${text.slice(0, LONGEST_WORDS - 1)}…` : text
}
