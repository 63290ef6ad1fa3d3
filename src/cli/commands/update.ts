// `carabiner update`: fetches installed plugins again, shows what is different, and replaces what somebody agreed to.

import { join } from 'node:path'
import { textOf } from '../../core/errors.js'
import { plainText } from '../../core/text.js'
import { visible, visibleName } from '../../core/visible.js'
import { installPrepared, isTrusted, trustInstalled } from '../../plugins/install-plugin.js'
import { listInstalled } from '../../plugins/installed.js'
import { readLock } from '../../plugins/lock-file.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { lockPath, pluginsDir, type Target } from '../../plugins/target.js'
import { notInstalled } from '../../plugins/uninstall-plugin.js'
import { prepareUpdate, type Update } from '../../plugins/update-plugin.js'
import { checkPerson } from '../agent-shell.js'
import { COMMON_OPTIONS, type Command } from '../command.js'
import type { Output } from '../output.js'
import {
  agrees,
  allTargets,
  byCatalog,
  canAsk,
  type GivenScope,
  inWords,
  originOf,
  pluginData,
  reviewData,
  SCOPE_OPTIONS,
  shownPlugin,
  targetOf,
  typedSource,
  userTarget,
} from '../plugins/plugin-commands.js'
import type { Shown } from '../plugins/trust-units.js'
import { nextLines, shortPath } from '../print/lines.js'
import { painter } from '../print/paint.js'
import { diffLines, reviewLines } from '../print/review.js'
import { withProgress } from '../progress.js'
import { EXIT, usage } from '../refusal.js'

const OPTIONS = {
  ...SCOPE_OPTIONS,
  check: { type: 'boolean', help: 'Only look: exit 1 if there is anything new.' },
  yes: { type: 'boolean', help: 'Do not ask: replace what is shown.' },
  overwrite: { type: 'boolean', help: 'Also where files were changed by hand since.' },
  'accept-moved': { type: 'boolean', help: 'Take a tag that has moved since.' },
  'no-trust': { type: 'boolean', help: 'In a project: do not trust it; it stays blocked until you do.' },
  full: { type: 'boolean', help: 'Show the whole text of every file, and every remark.' },
  ...COMMON_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'update',
  summary: 'Update plugins, after you have seen what changed.',
  positionals: ['[NAME…]'],
  about:
    'Without a name, all that were installed for you; with --here, in this project. Fetches by hooks.lock.json: the ' +
    'same branch, the same range of versions, the same folder; in a project only for plugins that you trust, or after ' +
    'you were asked. Shows every changed line and what would run, then asks. A tag that leads to another commit than ' +
    'before is refused.',
  options: OPTIONS,
  exits: [
    [0, 'all are as new as their sources'],
    [1, 'something new was left, or could not be fetched'],
    [64, 'wrong usage'],
  ],
  examples: [
    { does: 'Is there anything new?', line: 'carabiner update --check' },
    { does: 'Look at what changed, and decide.', line: 'carabiner update' },
  ],
  run({ options, positionals }, output) {
    if (options.yes) checkPerson('Updating')
    if (options.check && options.yes) throw usage('--check only looks, and --yes replaces: give one of them')
    return inWords(async () => {
      const { found, problems } = await meant(positionals, options)
      if (!output.json && problems.length > 0)
        await output.complain(problems.map((text) => `carabiner: ${visible(text)}`))
      const results: Result[] = []
      for (const { name, target } of found) results.push(await updateOne(name, target, options, output))
      if (output.json) {
        const diagnostics = problems.map((text) => ({ code: 'lock-unreadable', text }))
        await output.document({ plugins: results.map(({ data }) => data), diagnostics })
      } else if (results.length === 0) await output.print(nothing(options))
      return results.every(({ isDone }) => isDone) && problems.length === 0 ? EXIT.ok : EXIT.failed
    })
  },
}

interface How {
  readonly check: boolean
  readonly yes: boolean
  readonly overwrite: boolean
  readonly full: boolean
  readonly 'accept-moved': boolean
  readonly 'no-trust': boolean
}

interface Result {
  readonly isDone: boolean
  readonly data: object
}

interface Named {
  readonly name: string
  readonly target: Target
}

interface Meant {
  readonly found: readonly Named[]
  /** Sentences: what of the project cannot be read, which keeps nobody from updating their own. */
  readonly problems: readonly string[]
}

/** What a project's lock file names is nobody's wish until somebody names the project, or the plugin. */
async function meant(names: readonly string[], options: GivenScope): Promise<Meant> {
  const asked = targetOf(options) ?? (names.length === 0 ? userTarget() : undefined)
  const found: Named[] = []
  const told: string[] = []
  for (const target of asked ? [asked] : allTargets(options)) {
    const place = target.scope === 'user' ? { home: target.base } : { projectDir: target.base }
    const { plugins, problems } = await listInstalled(place)
    if (problems[0] !== undefined && (asked || target.scope === 'user'))
      throw new PluginProblem('LOCK_INVALID', problems[0])
    told.push(...problems)
    const locked = plugins.filter(({ state }) => state !== 'unlocked')
    found.push(...locked.map(({ name }) => ({ name, target })))
  }
  const known = new Set(found.map(({ name }) => name))
  const unknown = names.find((name) => !known.has(name))
  if (unknown !== undefined)
    throw told[0] === undefined ? notInstalled(unknown, known) : new PluginProblem('LOCK_INVALID', told[0])
  return {
    found: names.length === 0 ? found : found.filter(({ name }) => names.includes(name)),
    problems: told,
  }
}

function nothing({ here, user }: GivenScope): readonly string[] {
  const text = 'nothing that was installed by Carabiner is here'
  return here || user ? [text] : [text, ...nextLines(['carabiner update --here'], painter(1))]
}

/**
 * The lock file of a project came with it: nothing is fetched from where it says for somebody who does not trust the
 * plugin, unless they have seen the source and agree. `--yes` is said before anybody has seen it.
 */
async function checkSource(name: string, target: Target, output: Output): Promise<void> {
  const entry = readLock(lockPath(target)).get(name)
  // prepareUpdate says so.
  if (!entry) return
  if (!output.json && canAsk()) {
    await output.print([`You do not trust ${name}, which this project brought. ${visible(originOf(entry))}`])
    if (await agrees('Fetch it from there?', output)) return
  }
  throw new PluginProblem(
    'NOT_TRUSTED',
    `You do not trust it as it is in this project, so it was not fetched. ${visible(originOf(entry))}`,
    `Trust it first: carabiner trust ${name}. Or, if you know the source: carabiner uninstall ${name} --here && carabiner install ${typedSource(entry)} --here`,
  )
}

/** One that cannot be fetched does not keep the others from being updated. */
async function updateOne(name: string, target: Target, how: How, output: Output): Promise<Result> {
  try {
    const wasTrusted = await isTrusted(name, target)
    if (!wasTrusted) await checkSource(name, target, output)
    const options = { acceptMoved: how['accept-moved'], resolveCatalog: byCatalog }
    const update = await withProgress(`fetching ${name}`, () => prepareUpdate(name, target, options))
    try {
      return await decide(update, wasTrusted, target, how, output)
    } finally {
      update.prepared.staged.remove()
    }
  } catch (error) {
    if (!(error instanceof PluginProblem)) throw error
    const { code, message, hint } = error
    if (!output.json) {
      await output.complain([
        `carabiner: ${name}: ${plainText(message)}`,
        ...(hint === undefined ? [] : [`  ${hint}`]),
      ])
    }
    return {
      isDone: false,
      data: { name, scope: target.scope, state: 'failed', error: { code, message, hint: hint ?? null } },
    }
  }
}

async function decide(
  update: Update,
  wasTrusted: boolean,
  target: Target,
  how: How,
  output: Output,
): Promise<Result> {
  const { name, prepared, differences } = update
  const data = { ...pluginData(name, target, prepared.entry), before: pinOf(update.before) }
  if (differences.length === 0) return current(update, target, data, how, output)
  // Who has not looked at what is there cannot judge by what is different.
  const shown = shownPlugin(prepared, target, wasTrusted ? update : undefined)
  const told = { ...data, review: reviewData(shown), differences: differences.map(differenceData) }
  if (how.check) {
    if (!output.json)
      await output.print([
        `${name} has something new: ${differences.length} changed, from ${pinOf(update.before)} to ${pinOf(prepared.entry)}`,
      ])
    return { isDone: false, data: { ...told, state: 'outdated' } }
  }
  if (!output.json) await output.print(reviewLines(shown, how.full))
  const refused = refusalOf(update, shown, how)
  if (refused !== undefined) return left(name, refused, told, output)
  const isAgreed = how.yes || (!output.json && canAsk() && (await agrees('Replace it with this?', output)))
  if (!isAgreed)
    return left(
      name,
      canAsk() && !output.json
        ? 'you did not agree'
        : 'nobody can be asked here; --yes replaces without asking',
      told,
      output,
    )
  await installPrepared(prepared, target, { replaces: update.current })
  const isLeft = target.scope === 'project' && (how['no-trust'] || !wasTrusted)
  const problem = isLeft ? undefined : await trusted(update, shown, target)
  if (!output.json) {
    await output.print([`updated ${name}  ${visible(shortPath(join(pluginsDir(target), name)))}`])
    if (isLeft) await output.print(nextLines([`carabiner trust ${name}`], painter(1)))
    if (problem !== undefined)
      await output.complain([
        `carabiner: ${name} is updated, but not trusted: ${visible(problem)}`,
        `  carabiner trust ${name}`,
      ])
  }
  return { isDone: problem === undefined, data: { ...told, state: 'updated' } }
}

function refusalOf({ isModified }: Update, { problems }: Shown, { overwrite }: How): string | undefined {
  if (problems[0] !== undefined) return problems[0]
  return isModified && !overwrite
    ? 'files of it were changed by hand, and would be lost; --overwrite replaces them'
    : undefined
}

async function left(name: string, why: string, data: object, output: Output): Promise<Result> {
  if (!output.json) await output.complain([`carabiner: ${name} was left as it is: ${visible(why)}`])
  return { isDone: false, data: { ...data, state: 'left', why } }
}

const PINS = ['source', 'ref', 'commit', 'tag', 'version'] as const

/** The files are the same; what they are pinned to may have moved on, which the lock file is to know. */
async function current(
  { name, before, prepared, current: there }: Update,
  target: Target,
  data: object,
  { check }: How,
  output: Output,
): Promise<Result> {
  const isPinned = PINS.every((key) => before[key] === prepared.entry[key])
  if (!check && !isPinned) await installPrepared(prepared, target, { replaces: there })
  if (!output.json) await output.print([`${visibleName(name)} is up to date: ${pinOf(prepared.entry)}`])
  return { isDone: true, data: { ...data, state: 'current' } }
}

/** Why it is not trusted, if it should be. */
async function trusted({ name }: Update, { review }: Shown, target: Target): Promise<string | undefined> {
  if (target.scope === 'user') return undefined
  try {
    await trustInstalled(name, target, review?.digest ?? '')
    return undefined
  } catch (error) {
    return textOf(error)
  }
}

function differenceData(one: Update['differences'][number]) {
  return 'hook' in one ? one : { what: one.what, path: one.path, text: one.text, diff: diffLines(one) }
}

/** Short, for people. */
function pinOf({ commit, version, integrity }: Update['before']): string {
  return version ?? commit?.slice(0, 12) ?? integrity.slice(0, 19)
}
