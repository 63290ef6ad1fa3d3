// `carabiner new`: makes a working plugin with tests, to start from.

import { lstatSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { hooksDirOf } from '../../config/discovery.js'
import { isHookError, textOf } from '../../core/base/errors.js'
import { didYouMean } from '../../core/base/text.js'
import { type EventName, knownEvents, resolveEvent } from '../../core/events/events.js'
import { compileMatcher } from '../../core/hooks/matcher.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { agentMark } from '../../files/agent-shell.js'
import { ifThere } from '../../files/if-there.js'
import { realOf } from '../../files/within.js'
import { placeMade } from '../../plugins/placing.js'
import { checkPluginName } from '../../plugins/plugin-name.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { FileTree } from '../../plugins/sources/file-tree.js'
import { stopCommand, trustedName } from '../../trust/expectation.js'
import { trustStore } from '../../trust/trust-store.js'
import type { TrustRecord } from '../../trust/unit.js'
import { type Command, choiceOf, chosen, helpFor } from '../command.js'
import type { Output } from '../output.js'
import { findUnits, show } from '../plugins/review.js'
import { fromHere, nextLines } from '../print/lines.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'
import { LANGUAGES, type Language, type NewFile, newPlugin } from '../templates/plugin.js'
import { type Wanted, WITHOUT_SAMPLE } from '../templates/sample.js'

const LANGUAGE_NAMES = Object.keys(LANGUAGES) as readonly Language[]

/** Other names that people type. */
const ALIASES: Readonly<Record<string, Language>> = {
  sh: 'bash',
  python3: 'python',
  js: 'node',
  typescript: 'ts',
}

const OPTIONS = {
  lang: {
    type: 'string',
    value: 'LANG',
    completes: LANGUAGE_NAMES,
    help: `${LANGUAGE_NAMES.join(', ')}; default: bash. sh means bash.`,
  },
  module: {
    type: 'boolean',
    help: 'A JavaScript function that stays loaded; --lang module.',
  },
  event: { type: 'string', value: 'EVENT', help: 'The event; default: PreToolUse.' },
  matcher: { type: 'string', value: 'M', help: 'Which tools or other values; default: all.' },
  dir: { type: 'string', value: 'DIR', help: 'Make DIR/NAME; default: .amplifier/hooks/NAME.' },
  project: PLACE_OPTIONS.project,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'new',
  summary: 'Create a working plugin, with tests.',
  positionals: ['NAME'],
  about:
    'Writes hooks.json, a script without dependencies, hooks.test.json and a README, and trusts them. Your ' +
    'later changes run after `carabiner trust --mine`. Never overwrites a file, nor a gate that you trust. In an ' +
    'agent’s shell nothing is trusted.',
  options: OPTIONS,
  exits: [
    [0, 'created and trusted; in an agent’s shell only created'],
    [1, 'the name is taken, or it could not be written or trusted'],
  ],
  examples: [
    { does: 'A gate for shell commands.', line: 'carabiner new no-secrets --matcher Bash' },
    {
      does: 'In Python, when a person sends a prompt.',
      line: 'carabiner new prompts --lang python --event UserPromptSubmit',
    },
    { does: 'As a function that stays loaded.', line: 'carabiner new guard --module --matcher Bash' },
  ],
  async run({ options, positionals: [name] }, output) {
    if (name === undefined) throw usage('Which name? carabiner new NAME', helpFor('new'))
    const language = languageOf(options.lang, options.module === true)
    const wanted = wantedOf(name, options.event, options.matcher)
    const project = projectFolder(options)
    const parent = options.dir === undefined ? hooksDirOf(project) : resolve(options.dir)
    const folder = join(parent, name)
    const files = newPlugin(wanted, language)
    checkUnguarded(folder, project)
    await place(files, folder)
    const isElsewhere = options.dir !== undefined
    const { agent, problem } = await trustNew(folder, project, isElsewhere)
    await tell({ wanted, language, project, folder, files, isElsewhere, agent, problem }, output)
    return problem === undefined ? EXIT.ok : EXIT.failed
  },
}

// ---- what is wanted -------------------------------------------------------------------------------------------

function languageOf(given: string | undefined, isModule: boolean): Language {
  if (isModule && given !== undefined && given !== 'module')
    throw usage(`--module and --lang ${given} exclude each other: leave one out`)
  const typed = given ?? (isModule ? 'module' : 'bash')
  const alias = Object.hasOwn(ALIASES, typed) ? ALIASES[typed] : undefined
  return alias ?? chosen(typed, LANGUAGE_NAMES, '--lang does not accept')
}

function wantedOf(name: string, event = 'PreToolUse', matcher: string | undefined): Wanted {
  checkName(name)
  const kind = resolveEvent(event)
  if (kind.custom) {
    const names = knownEvents().map((known) => known.name)
    throw usage(`There is no event ${JSON.stringify(event)}${didYouMean(event, names)}`, choiceOf(names))
  }
  const why = WITHOUT_SAMPLE[kind.name as EventName]
  if (why !== undefined) throw usage(`There is no sample for ${kind.name}: ${why}`)
  if (matcher !== undefined) checkMatcher(matcher, kind.name, kind.matcher)
  return { name, event: kind.name as EventName, matcher }
}

function checkName(name: string): void {
  try {
    checkPluginName(name)
  } catch (error) {
    throw error instanceof PluginProblem ? usage(error.message, error.hint) : error
  }
}

function checkMatcher(matcher: string, event: string, field: string | null): void {
  if (field === null) throw usage(`${event} has nothing to match: leave --matcher out`)
  try {
    compileMatcher(matcher)
  } catch (error) {
    throw isHookError(error) ? usage(error.message) : error
  }
}

// ---- writing --------------------------------------------------------------------------------------------------

const OTHER_PLACE = 'Choose another name, or another place with --dir DIR. Nothing was changed.'

/** Placed like an installed plugin: no link in the project leads elsewhere, and no two names are one folder on another system. */
async function place(files: readonly NewFile[], folder: string): Promise<void> {
  const tree = new FileTree()
  for (const { path, text, isExecutable } of files) tree.addFile(path, Buffer.from(text), isExecutable)
  try {
    await placeMade(dirname(folder), basename(folder), tree)
  } catch (error) {
    if (!(error instanceof PluginProblem)) throw error
    const code = error.code === 'ALREADY_INSTALLED' ? 'ALREADY_THERE' : error.code
    throw new Refusal(code, error.message, { hint: OTHER_PLACE })
  }
}

function isThere(folder: string): Refusal {
  return new Refusal('ALREADY_THERE', `${fromHere(folder)} already exists`, {
    hint: OTHER_PLACE,
  })
}

/** A gate that is gone still guards from its copy. A new plugin in its place would end that without a review. */
function checkUnguarded(folder: string, project: string): void {
  if (ifThere(() => lstatSync(folder))) throw isThere(folder)
  const record = recordAt(folder, recordsOrNone())
  if (!record) return
  throw new Refusal('ALREADY_THERE', `${trustedName(record)} is gone, but its trusted version still guards`, {
    hint: `To stop trusting it: ${stopCommand(record, project)}. Or choose another name. Nothing was changed.`,
  })
}

/** If the records cannot be read, the new plugin is not trusted, and the user is told why. */
function recordsOrNone(): readonly TrustRecord[] {
  try {
    return trustStore().records()
  } catch {
    return []
  }
}

/** A link may lead there from the place of a trusted gate. */
function recordAt(folder: string, records: readonly TrustRecord[]): TrustRecord | undefined {
  const real = realOf(folder)
  return records.find(({ kind, path }) => kind === 'folder' && (path === folder || realOf(path) === real))
}

/** Both are absent if it is trusted, or needs no trust. */
interface Untrusted {
  /** The evidence that an agent made it. */
  readonly agent?: string | undefined
  readonly problem?: string | undefined
}

/** Trusted without a review, because its author made it just now. Never replaces what is trusted already. */
async function trustNew(folder: string, project: string, isElsewhere: boolean): Promise<Untrusted> {
  const found = await findUnits(
    { project, plugin: isElsewhere ? [folder] : [], config: [], 'pre-trusted': undefined },
    undefined,
  )
  const there = [...found.units.keys()].filter(({ path }) => realOf(path) === realOf(folder))
  const unit = there.find(({ path }) => path === folder) ?? there[0]
  // The user's own hooks need no trust.
  if (!unit) return {}
  const agent = agentMark()
  if (agent !== undefined) return { agent }
  const { review, problems } = show(found, unit)
  if (!review || problems.length > 0) return { problem: problems[0] ?? 'it cannot be read' }
  try {
    const record = recordAt(unit.path, found.store.records())
    if (record) return { problem: `${trustedName(record)} has the same place` }
    found.store.trust(unit, review.digest)
    return {}
  } catch (error) {
    return { problem: textOf(error) }
  }
}

// ---- telling --------------------------------------------------------------------------------------------------

interface Made extends Untrusted {
  readonly wanted: Wanted
  readonly language: Language
  readonly project: string
  readonly folder: string
  readonly files: readonly NewFile[]
  readonly isElsewhere: boolean
}

async function tell(
  { wanted, language, project, folder, files, isElsewhere, agent, problem }: Made,
  output: Output,
): Promise<void> {
  const here = fromHere(folder)
  const path = shellQuoted(here.startsWith('-') ? `./${here}` : here)
  const names = files.map((file) => file.path)
  if (output.json) {
    const { name, event, matcher = null } = wanted
    const why = agent ?? problem
    const trusted = why === undefined
    return output.document({
      ...{ name, path: folder, lang: language, event, matcher, files: names, trusted },
      ...(why !== undefined && { why }),
    })
  }
  const test = `carabiner test ${path}`
  if (agent !== undefined) {
    const review = `carabiner trust ${isElsewhere ? `--plugin ${path}` : wanted.name}`
    return output.print([
      `created ${here}: ${names.join(', ')}`,
      `not trusted yet: trusting is for a person, but ${agent}`,
      ...nextLines([test, `${review}   # in your own terminal`], painter(1)),
    ])
  }
  // A hook that no agent asks does not run.
  const { setupStep } = await import('../why/first-steps.js')
  const setup = isElsewhere || problem !== undefined ? [] : await setupStep(project, true)
  const runs = setup.length > 0 ? 'trusted as it is' : 'trusted: it runs from now on'
  await output.print([
    `created ${here}: ${names.join(', ')}`,
    ...(problem === undefined ? [isElsewhere ? `trusted: it runs with --plugin ${path}` : runs] : []),
    ...nextLines([test, ...setup], painter(1)),
  ])
  if (problem !== undefined) {
    await output.complain([`carabiner: ${basename(folder)} was not trusted: ${problem}`])
  }
}
