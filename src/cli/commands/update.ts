// `carabiner update`: fetches installed plugins again, shows the differences, and replaces what the user agreed to.

import { join } from 'node:path'
import { plainText, visible, visibleName } from '../../core/base/text.js'
import { installPrepared, isTrusted } from '../../plugins/install-plugin.js'
import { finishInterrupted, listInstalled } from '../../plugins/installed.js'
import { readLock } from '../../plugins/lock-file.js'
import { notInstalled } from '../../plugins/placing.js'
import { installedAs } from '../../plugins/plugin-name.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { SourceProblem } from '../../plugins/sources/accepted-source.js'
import { lockPath, pluginsDir, type Target } from '../../plugins/target.js'
import { prepareUpdate, type Update } from '../../plugins/update-plugin.js'
import type { Command, Options } from '../command.js'
import { agrees, canAsk, type LeftOut } from '../confirm.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import {
  allTargets,
  asRefusals,
  checkSource,
  type GivenScope,
  movedData,
  namedAnew,
  pluginData,
  SCOPE_OPTIONS,
  sourceLines,
  targetOf,
  userTarget,
} from '../plugins/plugin-commands.js'
import { reviewScreen, type Shown } from '../plugins/print-review.js'
import { pageScreen, reviewData, shownPlugin, trustShown } from '../plugins/review.js'
import { differenceData } from '../plugins/review-changes.js'
import { counted, nextLines, shortPath } from '../print/lines.js'
import { typed, typedTrust } from '../print/next-command.js'
import { withProgress } from '../print/progress.js'
import { painter } from '../print/terminal.js'
import { EXIT, usage } from '../refusal.js'

const OPTIONS = {
  ...SCOPE_OPTIONS,
  check: { type: 'boolean', help: 'Only check: exits 1 if there is an update.' },
  yes: { type: 'boolean', help: 'Do not ask: replace what is shown.' },
  digest: { type: 'string', value: 'DIGEST', help: 'Replace only with exactly this content.' },
  overwrite: { type: 'boolean', help: 'Replace files that were changed by hand.' },
  'accept-moved': {
    type: 'boolean',
    help: 'Accept a tag, or a source in a catalog, that has moved.',
  },
  'no-trust': { type: 'boolean', help: 'In a project: do not trust it yet; it stays blocked.' },
  full: { type: 'boolean', help: 'Show the whole text of every file, and every remark.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'update',
  summary: 'Update plugins, after you have seen what changed.',
  positionals: ['[NAME…]'],
  completes: ['plugins'],
  about:
    'NAME defaults to all plugins installed for you, or with --here to those of this project; --check looks at both. ' +
    'Fetches by ' +
    'hooks.lock.json: the same branch, range of versions and folder. In a project it fetches only plugins that you ' +
    'trust or overwrite, from the source that you accepted, or after asking you. Shows every changed line and what ' +
    'would run, then asks. A tag that has moved to another commit is refused, and so is a different source.',
  options: OPTIONS,
  exits: [
    [0, 'everything is up to date'],
    [1, 'an update was not installed, or could not be fetched'],
  ],
  examples: [
    { does: 'Are there updates?', line: 'carabiner update --check' },
    { does: 'Look at what changed, and decide.', line: 'carabiner update' },
  ],
  mayRun({ options }) {
    if (options.yes) checkPerson('Updating')
  },
  run({ options, positionals }, output) {
    if (options.digest !== undefined && positionals.length !== 1)
      throw usage('--digest is for one plugin: give its NAME')
    if (options.check && options.yes)
      throw usage('--check only looks, and --yes replaces: use one or the other')
    return asRefusals(async () => {
      const { found, problems, left } = await meant(positionals, options)
      if (!output.json && problems.length > 0)
        await output.complain(problems.map((text) => `carabiner: ${visible(text)}`))
      const results: Result[] = []
      for (const { name, target } of found)
        results.push(await updateOne(name, { target, how: options, output }))
      if (output.json) {
        const diagnostics = problems.map((text) => ({ code: 'lock-unreadable', text }))
        await output.document({ plugins: results.map(({ data }) => data), diagnostics })
      } else if (results.length === 0 || left > 0) await output.print(nothing(options, left))
      return results.every(({ isDone }) => isDone) && problems.length === 0 ? EXIT.ok : EXIT.failed
    })
  },
}

type How = Options<typeof OPTIONS>

interface Run {
  readonly target: Target
  readonly how: How
  readonly output: Output
}

interface Result {
  readonly isDone: boolean
  readonly data: object
}

interface Named {
  readonly name: string
  readonly path: string
  readonly target: Target
}

interface Meant {
  readonly found: readonly Named[]
  /** Sentences. Problems with the project's lock file do not stop updates of the user's own plugins. */
  readonly problems: readonly string[]
  /** Plugins of the project that `--check` does not look at, because the user does not trust them. */
  readonly left: number
}

/**
 * A project's lock file counts only if the user names the project or the plugin. `--check` also looks at plugins of the
 * project that the user trusts.
 */
async function meant(names: readonly string[], options: How): Promise<Meant> {
  const isLookingAtAll = names.length === 0 && options.check
  const asked = targetOf(options) ?? (names.length === 0 && !options.check ? userTarget() : undefined)
  const found: Named[] = []
  const told: string[] = []
  let left = 0
  for (const target of asked ? [asked] : allTargets(options)) {
    const place = target.scope === 'user' ? { home: target.base } : { projectDir: target.base }
    if (!options.check) await finishInterrupted(target)
    const { plugins, problems } = listInstalled(place)
    if (problems[0] !== undefined && (asked || target.scope === 'user')) {
      // Throws with a hint.
      readLock(lockPath(target))
      throw new PluginProblem('LOCK_INVALID', problems[0].text)
    }
    told.push(...problems.map(({ text }) => text))
    for (const { name, path, state } of plugins) {
      if (state === 'unlocked') continue
      const isLeft =
        !asked && isLookingAtAll && target.scope === 'project' && !(await isTrusted(name, target))
      if (isLeft) left++
      else found.push({ name, path, target })
    }
  }
  const unknown = names.find((name) => installedAs(name, found).length === 0)
  if (unknown !== undefined) {
    const known = new Set(found.map(({ name }) => name))
    throw told[0] === undefined ? notInstalled(unknown, known) : new PluginProblem('LOCK_INVALID', told[0])
  }
  const named = new Set(names.flatMap((name) => installedAs(name, found)))
  return { found: names.length === 0 ? found : found.filter((one) => named.has(one)), problems: told, left }
}

function nothing(
  { here, user, project, check }: GivenScope & Pick<How, 'check'>,
  left: number,
): readonly string[] {
  const those = `${counted(left, 'plugin')} of this project`
  const text =
    left > 0
      ? `${those} ${left === 1 ? 'was' : 'were'} not checked: you do not trust ${left === 1 ? 'it' : 'them'}`
      : 'no plugins that Carabiner installed'
  return here || user
    ? [text]
    : [
        text,
        ...nextLines(
          [visible(typed(['update', '--here', ...(check ? ['--check'] : [])], { project }))],
          painter(1),
        ),
      ]
}

/** A plugin that cannot be fetched does not stop the others. */
async function updateOne(name: string, run: Run): Promise<Result> {
  const { target, how, output } = run
  try {
    const wasTrusted = await isTrusted(name, target)
    const acceptMoved = how['accept-moved']
    const terms = {
      name,
      isTrusted: wasTrusted,
      acceptsMoved: acceptMoved,
      overwrites: how.overwrite,
      project: how.project,
    }
    const update = await prepareUpdate(name, target, {
      acceptMoved,
      mayFetch: (source) => checkSource(source, terms, output),
      showing: (fetch) => withProgress(`fetching ${name}`, output, fetch),
    })
    try {
      return await decide(update, wasTrusted, run)
    } finally {
      update.prepared.staged.remove()
    }
  } catch (error) {
    if (!(error instanceof PluginProblem)) throw error
    const { code, message } = error
    const source = error instanceof SourceProblem ? error.source : undefined
    const hint = error.hint ?? (source && namedAnew(source, { name, project: how.project }))
    if (!output.json) {
      await output.complain([
        `carabiner: ${name}: ${plainText(message)}`,
        ...(source ? sourceLines(source) : []),
        ...(hint === undefined ? [] : [`  ${hint}`]),
      ])
    }
    return {
      isDone: false,
      data: {
        name,
        scope: target.scope,
        state: 'failed',
        ...(source && movedData(source)),
        error: { code, message, hint: hint ?? null },
      },
    }
  }
}

async function decide(update: Update, wasTrusted: boolean, run: Run): Promise<Result> {
  const { target, how, output } = run
  const { name, prepared, differences, source } = update
  const data = {
    ...pluginData(name, target, prepared.entry),
    ...movedData(source),
    before: pinOf(update.before),
  }
  if (differences.length === 0) return current(update, data, run)
  // A difference means nothing to a user who has not reviewed the old version.
  const shown = await withProgress(`reading ${name}`, output, async () =>
    shownPlugin(prepared, target, wasTrusted ? update : undefined),
  )
  const told = { ...data, review: reviewData(shown), differences: differences.map(differenceData) }
  if (how.check) return outdated(update, told, output)
  const isMoved = source.state !== 'accepted'
  const { lines, leftOut } = reviewScreen(shown, how.full)
  const screen = { lines: [...lines, ...(isMoved ? sourceLines(source) : [])], leftOut }
  const unseen = output.json ? undefined : await pageScreen(screen, shown, !how.yes, output)
  const why = refusalOf(update, shown, how) ?? (how.yes ? undefined : await disagreement(output, unseen))
  if (why !== undefined) return left(name, why, told, output)
  const isLeft = target.scope === 'project' && (how['no-trust'] || !wasTrusted)
  const agreed = isLeft ? undefined : shown.review?.digest
  const trusted = await withProgress(`installing ${name}`, output, async () => {
    await installPrepared(prepared, target, { replaces: update.current, agreed })
    return isLeft || target.scope === 'user' || trustShown(name, shown, target)
  })
  if (!output.json) await tellUpdated(name, isLeft ? undefined : trusted, run)
  return { isDone: trusted === true, data: { ...told, state: 'updated' } }
}

async function outdated(
  { name, before, prepared, differences }: Update,
  data: object,
  output: Output,
): Promise<Result> {
  const pins = `from ${pinOf(before)} to ${pinOf(prepared.entry)}`
  if (!output.json)
    await output.print([`${name} has an update: ${counted(differences.length, 'change')}, ${pins}`])
  return { isDone: false, data: { ...data, state: 'outdated' } }
}

/** Why the user did not agree; undefined if they did. */
async function disagreement(output: Output, leftOut: LeftOut | undefined): Promise<string | undefined> {
  if (!canAsk(output)) return 'there is no terminal to ask at; --yes replaces without asking'
  return (await agrees('Replace it with this?', output, leftOut)) ? undefined : 'you did not agree'
}

/** `trusted`: undefined if trust was not wanted. */
async function tellUpdated(
  name: string,
  trusted: true | string | undefined,
  { target, how, output }: Run,
): Promise<void> {
  const trust = visible(typedTrust([name], { project: how.project }))
  await output.print([`updated ${name}  ${visible(shortPath(join(pluginsDir(target), name)))}`])
  if (trusted === undefined) await output.print(nextLines([trust], painter(1)))
  if (typeof trusted === 'string')
    await output.complain([
      `carabiner: ${name} is updated, but not trusted: ${visible(trusted)}`,
      `  ${trust}`,
    ])
}

function refusalOf(
  { isModified }: Update,
  { problems, review }: Shown,
  { overwrite, digest }: How,
): string | undefined {
  if (problems[0] !== undefined) return problems[0]
  if (digest !== undefined && review?.digest !== digest)
    return 'it is not the content with that digest; look at it again with --check'
  return isModified && !overwrite
    ? 'some of its files were changed by hand and would be lost; --overwrite replaces them'
    : undefined
}

async function left(name: string, why: string, data: object, output: Output): Promise<Result> {
  if (!output.json) await output.complain([`carabiner: ${name} was left as it is: ${visible(why)}`])
  return { isDone: false, data: { ...data, state: 'left', why } }
}

const PINS = ['source', 'ref', 'path', 'commit', 'tag', 'version'] as const

/** Fetching from a new source once does not accept it for later updates. */
const FROM_NOW_ON = 'Its files are the same. Use the new source for updates from now on?'

/** The files are the same, but their pin may have moved: the lock file is updated. */
async function current(update: Update, data: object, { target, how, output }: Run): Promise<Result> {
  const { name, before, source, prepared, current: there } = update
  const { check, 'accept-moved': acceptMoved } = how
  const isAccepted = source.state === 'accepted'
  const isPinned = isAccepted && PINS.every((key) => before[key] === prepared.entry[key])
  const isToBe = isAccepted || acceptMoved || (!check && (await agrees(FROM_NOW_ON, output)))
  if (!check && !isPinned && isToBe) await installPrepared(prepared, target, { replaces: there })
  if (!output.json) await output.print([`${visibleName(name)} is up to date: ${pinOf(prepared.entry)}`])
  return { isDone: true, data: { ...data, state: 'current' } }
}

function pinOf({ commit, version, integrity }: Update['before']): string {
  return version ?? commit?.slice(0, 12) ?? integrity.slice(0, 19)
}
