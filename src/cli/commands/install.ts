// `carabiner install`: fetches a plugin, shows what it would run, and installs exactly what was shown. Runs nothing of it.

import { join } from 'node:path'
import { visible, visibleName } from '../../core/base/text.js'
import { resolveSource } from '../../plugins/catalog/resolve.js'
import {
  installPrepared,
  isInstalled,
  isTrusted,
  type PreparedPlugin,
  pinInstalled,
  preparePlugin,
} from '../../plugins/install-plugin.js'
import { finishInterrupted } from '../../plugins/installed.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { acceptedSource, findSource } from '../../plugins/sources/accepted-source.js'
import { parseSource, type Source } from '../../plugins/sources/source.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import type { Command, Options } from '../command.js'
import { agrees, canAsk, type LeftOut } from '../confirm.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import {
  asRefusals,
  movedData,
  pluginData,
  SCOPE_OPTIONS,
  sourceLines,
  targetOf,
  userTarget,
} from '../plugins/plugin-commands.js'
import type { Shown } from '../plugins/print-review.js'
import { printReview, reviewData, shownPlugin, trustShown, UNPINNED } from '../plugins/review.js'
import { nextLines, shortPath } from '../print/lines.js'
import { typed, typedTrust } from '../print/next-command.js'
import { withProgress } from '../print/progress.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'

const OPTIONS = {
  ...SCOPE_OPTIONS,
  name: { type: 'string', value: 'NAME', help: 'Install under this name; default: its own.' },
  ref: { type: 'string', value: 'REF', help: 'For git: a tag, a branch or a full commit hash.' },
  path: { type: 'string', value: 'DIR', help: 'The folder of the plugin in the source.' },
  yes: { type: 'boolean', help: 'Do not ask: install what is shown.' },
  'no-trust': { type: 'boolean', help: 'With --here: do not trust it yet; it stays blocked.' },
  full: { type: 'boolean', help: 'Show the whole text of every file, and every remark.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'install',
  summary: 'Install a plugin, after you have seen what it would run.',
  positionals: ['SOURCE'],
  completes: ['file'],
  about:
    'SOURCE is a folder (./x), git (https://…, ssh://…, git@host:…, a path with #REF), npm:NAME@VERSION, an archive ' +
    '(.tgz, .tar.gz, .tar; a path or https://…) or NAME@CATALOG. It goes into ~/.amplifier/hooks/NAME, or into the ' +
    'project with --here; hooks.lock.json beside it records the source, the commit and the hash of the files. ' +
    'Installing a plugin also trusts it. Runs none of its code.',
  options: OPTIONS,
  exits: [
    [0, 'installed, or installed already'],
    [1, 'not installed; with --json also if it was only shown'],
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
  mayRun({ options }) {
    if (options.yes) checkPerson('Installing')
  },
  run({ options, positionals: [text] }, output) {
    if (text === undefined)
      throw usage('Give the SOURCE of the plugin', 'carabiner install --help lists the kinds of sources.')
    if (options['no-trust'] && !options.here)
      throw usage('--no-trust works only with --here: your own plugins need no trust')
    const target = targetOf(options) ?? userTarget()
    return asRefusals(async () => {
      const prepared = await withProgress(`fetching ${visible(text)}`, output, () =>
        prepare(text, target, options),
      )
      try {
        return await install({ prepared, target, how: options, output })
      } finally {
        prepared.staged.remove()
      }
    })
  },
}

type How = Options<typeof OPTIONS>

async function prepare(text: string, target: Target, { name, ref, path }: How): Promise<PreparedPlugin> {
  const resolved = await resolveSource(await sourceIn(text, { ref, path }))
  return preparePlugin(resolved, target, name)
}

/** A bare name may be meant for a catalog. */
async function sourceIn(text: string, how: Parameters<typeof parseSource>[1]): Promise<Source> {
  try {
    return parseSource(text, how)
  } catch (error) {
    const { bareNameProblem } = await import('../../plugins/catalog/search.js')
    throw (error instanceof PluginProblem && bareNameProblem(text)) || error
  }
}

interface Installation {
  readonly prepared: PreparedPlugin
  readonly target: Target
  readonly how: How
  readonly output: Output
}

/** True, or why it is not trusted; undefined if it was not to be. */
type Trusted = true | string | undefined

async function install(installation: Installation): Promise<number> {
  const { prepared, target, how, output } = installation
  await finishInterrupted(target)
  if (isInstalled(prepared, target)) return already(installation)
  const { name } = prepared
  const source = findSource(acceptedSource(target, name), prepared.entry)
  // The user typed a catalog's name, not an address: --yes does not cover an address that has changed.
  const isMoved = source.state === 'moved-by-catalog'
  const shown = await withProgress(`reading ${name}`, output, async () => shownPlugin(prepared, target))
  const leftOut = await printReview(shown, prepared, how, output)
  if (isMoved && !output.json) await output.print(sourceLines(source))
  const isAgreed = (how.yes && !isMoved) || (await isYes('Install this?', output, leftOut))
  const isToBeTrusted = isAgreed && target.scope === 'project' && !how['no-trust']
  const trusted = await withProgress(`installing ${name}`, output, async () => {
    if (isAgreed) await installPrepared(prepared, target)
    return isToBeTrusted ? trustShown(name, shown, target) : undefined
  })
  if (output.json) {
    await output.document({
      ...documentOf(installation, shown, trusted),
      ...(isMoved && movedData(source)),
      installed: isAgreed,
    })
    return isAgreed && typeof trusted !== 'string' ? EXIT.ok : EXIT.failed
  }
  if (isAgreed) {
    const place = visible(shortPath(join(pluginsDir(target), name)))
    await output.print([`installed ${name}${trusted === true ? ' and trusted it' : ''}  ${place}`])
    return tellTrust(installation, trusted)
  }
  if (canAsk(output)) {
    await output.print([`${name} was not installed`])
    return EXIT.failed
  }
  if (isMoved) throw movedAway(installation)
  throw new Refusal('NOT_INSTALLED', `${name} was shown but not installed: there is no terminal to ask at`, {
    hint: 'Review it above. In a terminal the same command asks you; --yes installs without asking.',
  })
}

async function isYes(question: string, output: Output, leftOut?: LeftOut): Promise<boolean> {
  return canAsk(output) && agrees(question, output, leftOut)
}

async function tellTrust({ prepared, target, how, output }: Installation, trusted: Trusted): Promise<number> {
  const { name } = prepared
  const { project } = how
  if (typeof trusted === 'string') {
    await output.complain([`carabiner: ${name} is installed, but not trusted: ${visible(trusted)}`])
  }
  const isBlocked = target.scope === 'project' && trusted !== true
  const next = isBlocked ? typedTrust([name], { project }) : typed(['list'], { project })
  await output.print(nextLines([visible(next)], painter(1)))
  return typeof trusted === 'string' ? EXIT.failed : EXIT.ok
}

function documentOf({ prepared, target }: Installation, shown: Shown, trusted: Trusted) {
  const { name, entry, staged, isUnpinned } = prepared
  return {
    plugin: pluginData(name, target, entry),
    review: reviewData(shown),
    ...(target.scope === 'project' && { trusted: trusted === true }),
    diagnostics: [
      ...staged.diagnostics,
      ...(isUnpinned ? [{ code: 'unpinned', text: `${name} is ${UNPINNED}.` }] : []),
      ...(typeof trusted === 'string' ? [untrusted(name, trusted)] : []),
    ],
  }
}

function untrusted(name: string, why: string) {
  return { code: 'untrusted', text: `${name} was not trusted: ${why}` }
}

function movedAway({ prepared: { name }, how: { project } }: Installation): Refusal {
  const update = visible(typed(['update', name, '--accept-moved', '--yes'], { project }))
  return new Refusal(
    'SOURCE_MOVED',
    `The source of ${name} in the catalog has changed since you accepted it; nothing was changed here`,
    { hint: `In a terminal the same command asks you; ${update} accepts the new source.` },
  )
}

// ---- what is there already ------------------------------------------------------------------------------------

/** An installation that was interrupted before it was trusted is completed. */
async function already(installation: Installation): Promise<number> {
  const { prepared, target, how, output } = installation
  const { name, entry } = prepared
  const source = findSource(acceptedSource(target, name), entry)
  if (source.state !== 'accepted') checkPerson('Choosing the source of a plugin')
  if (source.state === 'moved-by-catalog') {
    if (!output.json) await output.print([`${name} is installed already.`, ...sourceLines(source)])
    if (!(await isYes('Update it from there?', output))) throw movedAway(installation)
  }
  const isPinned = await pinInstalled(prepared, target)
  const pinned = isPinned ? '; updates now come from the source you named' : ''
  if (!output.json)
    await output.print([`${visibleName(name)} is installed already, and has not changed${pinned}`])
  const wasTrusted = await isTrusted(name, target)
  const trusted = wasTrusted || how['no-trust'] ? wasTrusted : await trustThere(installation)
  if (output.json) {
    const isHere = target.scope === 'project'
    await output.document({
      plugin: pluginData(name, target, entry),
      ...{ installed: true, already: true, ...(isHere && { trusted: trusted === true }) },
      ...(typeof trusted === 'string' && { diagnostics: [untrusted(name, trusted)] }),
    })
    return typeof trusted === 'string' ? EXIT.failed : EXIT.ok
  }
  if (wasTrusted) return EXIT.ok
  if (trusted === true) await output.print([`trusted ${name}`])
  return tellTrust(installation, trusted || undefined)
}

/** False if nobody agreed. */
async function trustThere({ prepared, target, how, output }: Installation): Promise<boolean | string> {
  if (!how.yes && !canAsk(output)) return false
  const shown = shownPlugin(prepared, target)
  const leftOut = await printReview(shown, prepared, how, output)
  return (
    (how.yes || (await isYes('Trust this?', output, leftOut))) && trustShown(prepared.name, shown, target)
  )
}
