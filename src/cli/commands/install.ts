// `carabiner install`: fetches a plugin, shows what it would run, and installs exactly what was shown. Runs nothing of it.

import { join } from 'node:path'
import { textOf } from '../../core/errors.js'
import { visible, visibleName } from '../../core/visible.js'
import {
  installPrepared,
  isInstalled,
  type PreparedPlugin,
  pinInstalled,
  preparePlugin,
  resolveSource,
  trustInstalled,
} from '../../plugins/install-plugin.js'
import { finishInterrupted } from '../../plugins/installed.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { acceptedSource } from '../../plugins/sources/accepted-source.js'
import { findSource } from '../../plugins/sources/found-source.js'
import { parseSource, type Source } from '../../plugins/sources/source.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import { checkPerson } from '../agent-shell.js'
import { agrees, canAsk } from '../asking/agreement.js'
import { COMMON_OPTIONS, type Command } from '../command.js'
import { type Output, plainData } from '../output.js'
import {
  byCatalog,
  inWords,
  pluginData,
  reviewData,
  SCOPE_OPTIONS,
  shownPlugin,
  targetOf,
  UNPINNED,
  userTarget,
} from '../plugins/plugin-commands.js'
import { reviewLines } from '../plugins/print-review.js'
import { movedData, sourceLines } from '../plugins/source-check.js'
import type { Shown } from '../plugins/trust-units.js'
import { nextLines, noticeLines, shortPath } from '../print/lines.js'
import { painter } from '../print/paint.js'
import { withProgress } from '../progress.js'
import { EXIT, Refusal, usage } from '../refusal.js'

const OPTIONS = {
  ...SCOPE_OPTIONS,
  name: { type: 'string', value: 'NAME', help: 'Call it so; default: as it calls itself.' },
  ref: { type: 'string', value: 'REF', help: 'Of git: a tag, a branch or a whole commit.' },
  path: { type: 'string', value: 'DIR', help: 'The folder in it that is the plugin.' },
  yes: { type: 'boolean', help: 'Do not ask: install what is shown.' },
  'no-trust': { type: 'boolean', help: 'With --here: do not trust it; it stays blocked until you do.' },
  full: { type: 'boolean', help: 'Show the whole text of every file, and every remark.' },
  ...COMMON_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'install',
  summary: 'Install a plugin, after you have seen what it would run.',
  positionals: ['SOURCE'],
  about:
    'SOURCE is a folder (./x), git (https://…, ssh://…, git@host:…, a path with #REF), npm:NAME@VERSION, an archive ' +
    '(.tgz, .tar.gz, .tar, .zip; a path or https://…) or NAME@CATALOG. It goes into ~/.amplifier/hooks/NAME, or with ' +
    '--here into the project; hooks.lock.json beside keeps where it came from, its commit and the hash of its files. ' +
    'What you install is trusted by that. Runs nothing of it.',
  options: OPTIONS,
  exits: [
    [0, 'installed, or installed already'],
    [1, 'not installed; with --json also if it was only shown'],
    [64, 'wrong usage'],
  ],
  examples: [
    { does: 'From a folder, for all projects.', line: 'carabiner install ./my-plugin', needs: 'the folder' },
    {
      does: 'A tag of a repository, into this project.',
      line: 'carabiner install https://example.com/guard.git#v1.2.0 --here',
      needs: 'the network',
    },
    {
      does: 'For a program: shows, and installs nothing.',
      line: 'carabiner install ./my-plugin --json',
      needs: 'the folder',
    },
  ],
  run({ options, positionals: [text] }, output) {
    if (options.yes) checkPerson('Installing')
    if (text === undefined)
      throw usage('Give what is to be installed', 'carabiner install --help shows which sources there are.')
    if (options['no-trust'] && !options.here)
      throw usage('--no-trust is for --here: what is yours needs no trust')
    const target = targetOf(options) ?? userTarget()
    return inWords(async () => {
      const prepared = await withProgress(`fetching ${visible(text)}`, output, () =>
        prepare(text, target, options),
      )
      try {
        return await decide(prepared, target, options, output)
      } finally {
        prepared.staged.remove()
      }
    })
  },
}

interface How {
  readonly name: string | undefined
  readonly ref: string | undefined
  readonly path: string | undefined
  readonly yes: boolean
  readonly full: boolean
  readonly 'no-trust': boolean
}

async function prepare(text: string, target: Target, { name, ref, path }: How): Promise<PreparedPlugin> {
  const resolved = await resolveSource(await sourceIn(text, { ref, path }), byCatalog)
  return preparePlugin(resolved, target, name)
}

/** A bare name may be one of a catalogue. */
async function sourceIn(text: string, how: Parameters<typeof parseSource>[1]): Promise<Source> {
  try {
    return parseSource(text, how)
  } catch (error) {
    const { bareNameProblem } = await import('../../plugins/catalog/bare-name.js')
    throw (error instanceof PluginProblem && bareNameProblem(text)) || error
  }
}

async function decide(prepared: PreparedPlugin, target: Target, how: How, output: Output): Promise<number> {
  await finishInterrupted(target)
  if (isInstalled(prepared, target)) return already(prepared, target, output)
  const source = findSource(acceptedSource(target, prepared.name), prepared.entry)
  // What was typed names no address: where that is another one by now, --yes was not meant for it.
  const isMoved = source.state === 'moved-by-catalog'
  const shown = shownPlugin(prepared, target)
  const { diagnostics } = prepared.staged
  if (!output.json) {
    if (diagnostics.length > 0) await output.complain(noticeLines(plainData(diagnostics), painter(2)))
    await output.print([...reviewLines(shown, how.full), ...(isMoved ? sourceLines(source) : [])])
  }
  const [problem] = shown.problems
  if (problem !== undefined)
    throw new Refusal('UNSAFE_ENTRY', `${prepared.name} was not installed: ${problem}`)
  const isAgreed =
    (how.yes && !isMoved) || (!output.json && canAsk() && (await agrees('Install this?', output)))
  if (isAgreed) await installPrepared(prepared, target)
  const trusted =
    isAgreed && target.scope === 'project' && !how['no-trust']
      ? await trust(prepared, shown, target)
      : undefined
  if (output.json)
    return document(prepared, shown, target, isAgreed, trusted, isMoved ? movedData(source) : {}, output)
  if (isAgreed) return tell(prepared.name, target, trusted, output)
  if (canAsk()) {
    await output.print([`${prepared.name} was not installed`])
    return EXIT.failed
  }
  if (isMoved) throw movedAway(prepared.name)
  throw new Refusal(
    'NOT_INSTALLED',
    `${prepared.name} was shown, and not installed: nobody can be asked here`,
    {
      hint: 'Look at the above; on a terminal the same command asks, and --yes installs without asking.',
    },
  )
}

/** True, or why not: it is installed all the same, and blocked. */
async function trust({ name }: PreparedPlugin, { review }: Shown, target: Target): Promise<true | string> {
  try {
    await trustInstalled(name, target, review?.digest ?? '')
    return true
  } catch (error) {
    return textOf(error)
  }
}

async function tell(
  name: string,
  target: Target,
  trusted: true | string | undefined,
  output: Output,
): Promise<number> {
  const place = visible(shortPath(join(pluginsDir(target), name)))
  await output.print([`installed ${name}${trusted === true ? ' and trusted it' : ''}  ${place}`])
  if (typeof trusted === 'string') {
    await output.complain([`carabiner: ${name} is installed, but not trusted: ${visible(trusted)}`])
  }
  const isBlocked = target.scope === 'project' && trusted !== true
  await output.print(nextLines([isBlocked ? `carabiner trust ${name}` : 'carabiner list'], painter(1)))
  return typeof trusted === 'string' ? EXIT.failed : EXIT.ok
}

async function already(prepared: PreparedPlugin, target: Target, output: Output): Promise<number> {
  const { name, entry } = prepared
  const source = findSource(acceptedSource(target, name), entry)
  if (source.state !== 'accepted') checkPerson('Saying where a plugin comes from')
  if (source.state === 'moved-by-catalog') {
    if (!output.json) await output.print([`${name} is installed already.`, ...sourceLines(source)])
    const isAgreed = !output.json && canAsk() && (await agrees('Update it from there?', output))
    if (!isAgreed) throw movedAway(name)
  }
  const isPinned = await pinInstalled(prepared, target)
  if (output.json)
    await output.document({ plugin: pluginData(name, target, entry), installed: true, already: true })
  else {
    const pinned = isPinned ? '; it is updated from where you named now' : ''
    await output.print([`${visibleName(name)} is installed already, and has not changed${pinned}`])
  }
  return EXIT.ok
}

function movedAway(name: string): Refusal {
  return new Refusal(
    'SOURCE_MOVED',
    `The catalogue has ${name} from somewhere else than when you accepted it; nothing was changed`,
    { hint: `On a terminal the same command asks; carabiner update ${name} --accept-moved --yes takes it.` },
  )
}

async function document(
  { name, entry, staged, isUnpinned }: PreparedPlugin,
  shown: Shown,
  target: Target,
  installed: boolean,
  trusted: true | string | undefined,
  moved: object,
  output: Output,
): Promise<number> {
  await output.document({
    plugin: pluginData(name, target, entry),
    ...moved,
    review: reviewData(shown),
    installed,
    ...(target.scope === 'project' && { trusted: trusted === true }),
    diagnostics: [
      ...staged.diagnostics,
      ...(isUnpinned ? [{ code: 'unpinned', text: `${name} is ${UNPINNED}.` }] : []),
      ...(typeof trusted === 'string'
        ? [{ code: 'untrusted', text: `${name} was not trusted: ${trusted}` }]
        : []),
    ],
  })
  return installed && typeof trusted !== 'string' ? EXIT.ok : EXIT.failed
}
