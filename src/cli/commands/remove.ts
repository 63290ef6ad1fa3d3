// `carabiner remove`: takes Carabiner out of agents' settings, and moves everything it keeps into a backup.

import { visible } from '../../core/base/text.js'
import { ownIn } from '../../hosts/registrations.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import type { Command } from '../command.js'
import { agrees, canAsk } from '../confirm.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { fitted } from '../print/fit.js'
import { counted, labelled, nextLines, shortPath } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import { type Paint, painter } from '../print/terminal.js'
import { EXIT, Refusal } from '../refusal.js'
import { newestBackup } from '../removal/backup.js'
import { type Found, findAll, isEmpty } from '../removal/found.js'
import { type Removed, removeAll } from '../removal/removal.js'
import { restoreCommand } from '../removal/restore-script.js'
import { clipsIn } from '../setup/choice.js'

const OPTIONS = {
  'keep-state': { type: 'boolean', help: 'Only undo setup: keep trust, audit and sessions.' },
  'dry-run': { type: 'boolean', help: 'Show what would be removed, and remove nothing.' },
  yes: { type: 'boolean', help: 'Do not ask.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'remove',
  summary: 'Undo setup and remove what Carabiner keeps, with a backup.',
  positionals: [],
  about:
    'Takes the hooks that setup registered out of every settings file, puts MCP servers back, and moves trust, copies, grants, sessions and ' +
    'the audit into a backup folder. Shows all of it first, and asks. Your own hooks and settings in ~/.amplifier ' +
    'stay, and so do the hooks of projects.',
  options: OPTIONS,
  exits: [
    [0, 'removed, or nothing was there'],
    [1, 'not removed; the message says why'],
  ],
  examples: [
    { does: 'What would be removed?', line: 'carabiner remove --dry-run' },
    { does: 'Only take the hooks out of agents.', line: 'carabiner remove --keep-state --yes' },
    { does: 'Remove everything; the backup has it all.', line: 'carabiner remove --yes' },
  ],
  mayRun({ options }) {
    if (!options['dry-run']) checkPerson('Removing Carabiner')
  },
  async run({ options }, output) {
    try {
      const found = await withProgress('looking', output, () => findAll(options['keep-state']))
      if (options['dry-run'] || isEmpty(found)) return await shown(found, output)
      if (!output.json) await output.print(foundLines(found, painter(1)))
      if (!options.yes && !(await isAgreed(output))) return EXIT.failed
      const done = await withProgress('removing', output, () => removeAll(found, options['keep-state']))
      return done === 'already' ? await tellAlready(found, output) : await told(done, output)
    } catch (error) {
      if (!(error instanceof SetupProblem)) throw error
      throw new Refusal('SETTINGS_UNUSABLE', error.message, {
        hint: error.hint ?? 'Carabiner’s own files were left in place.',
      })
    }
  },
}

async function isAgreed(output: Output): Promise<boolean> {
  if (!canAsk(output)) {
    throw new Refusal('NOT_REMOVED', 'Nothing was removed: there is no terminal to ask at', {
      hint: 'In a terminal the same command asks you; --yes removes without asking.',
    })
  }
  const isYes = await agrees('Remove all of this? A backup is kept.', output)
  if (!isYes) await output.print(['nothing was removed'])
  return isYes
}

// ---- telling --------------------------------------------------------------------------------------------------

function foundData({ settings, mcp, kept, service, left }: Found) {
  return {
    settings: settings.map(({ plan, commands }) => ({ file: plan.file.path, hooks: ownIn(commands).length })),
    mcp: mcp.map(({ file, changed }) => ({ file: file.path, servers: changed })),
    kept: kept.map(({ folder, names, files }) => ({ folder, names, files })),
    service: service ?? null,
    left,
  }
}

function foundLines({ settings, mcp, kept, service, left }: Found, paint: Paint): readonly string[] {
  const rows = [
    ...settings.map(({ plan, commands }) => {
      // A file that only makes an agent trust the hooks has none.
      const { length } = ownIn(commands)
      const what = length === 0 ? 'entries' : counted(length, 'hook')
      return `  ${visible(shortPath(plan.file.path))}: ${what} of Carabiner`
    }),
    ...mcp.map(
      ({ file, changed }) =>
        `  ${visible(shortPath(file.path))}: carabiner mcp before ${visible(changed.join(', '))}`,
    ),
    ...kept.map(
      ({ folder, names, files }) =>
        `  ${visible(shortPath(folder))}: ${names.join(', ')} (${counted(files, 'file')})`,
    ),
    ...(service === undefined ? [] : [`  ${visible(shortPath(service))}: the service, which is stopped`]),
  ]
  return [...fitted([paint.bold('to remove'), ...rows]), ...leftLines(left, paint)]
}

function leftLines(left: Found['left'], paint: Paint): readonly string[] {
  return left.flatMap((one) => labelled('stays', visible(one), paint.yellow))
}

/** Also after `npm link`. */
const UNINSTALL = 'npm uninstall -g carabiner   # the program itself'

async function shown(found: Found, output: Output): Promise<number> {
  const nothing = (paint: Paint) => ['nothing to remove', ...leftLines(found.left, paint)]
  return output.result({ removed: false, ...foundData(found), ...NOT_KEPT }, (paint) => [
    ...(isEmpty(found) ? nothing(paint) : foundLines(found, paint)),
    ...(isEmpty(found)
      ? nextLines([UNINSTALL], paint)
      : nextLines(['carabiner remove   # asks, and keeps a backup'], paint)),
  ])
}

const NOT_KEPT = { backups: [], restore: null, notes: [] } as const

/** Another one was faster. If it moved files, its backup is the newest. */
async function tellAlready(found: Found, output: Output): Promise<number> {
  const backup = found.kept.length > 0 ? newestBackup() : undefined
  const kept =
    backup === undefined ? NOT_KEPT : { backups: [backup], restore: restoreCommand(backup), notes: [] }
  return output.result({ removed: false, ...foundData(found), ...kept }, (paint) => [
    'another carabiner remove has just removed all of this',
    ...backupLines(kept, paint),
  ])
}

interface Backups {
  readonly backups: readonly string[]
  readonly restore: string | null
}

function backupLines({ backups, restore }: Backups, paint: Paint): readonly string[] {
  return [
    ...backups.map((path) => `backup ${visible(shortPath(path))}`),
    ...(restore === null ? [] : labelled('restore', restore, paint.dim, 0, Infinity)),
  ]
}

async function told(done: Removed, output: Output): Promise<number> {
  const { settings, mcp, backups, restore, notes } = done
  const document = { removed: true, ...foundData(done), backups, restore: restore ?? null, notes }
  return output.result(document, (paint) => [
    ...settings.map(({ plan }) => `removed the hooks from ${visible(shortPath(plan.file.path))}`),
    ...mcp.map(({ file }) => `removed carabiner mcp from ${visible(shortPath(file.path))}`),
    ...backupLines(document, paint),
    ...notes.flatMap((note) => labelled('note', visible(note), paint.yellow)),
    ...nextLines(
      [
        ...(settings.length > 0 ? [restartOf(done)] : []),
        ...(mcp.length > 0
          ? [`Restart ${[...new Set(mcp.map(({ client }) => client.title))].join(', ')}`]
          : []),
        ...(done.kept.length > 0 ? [UNINSTALL] : []),
      ],
      paint,
    ),
  ])
}

/** An agent that still runs has the commands that it read. Without clip, they cannot start. */
function restartOf({ settings, kept }: Removed): string {
  const titles = [...new Set(settings.map(({ host }) => host.title))]
  const they = titles.length === 1 ? 'it' : 'they'
  const restart = `Restart ${titles.join(', ')}: ${they}`
  const isCold = kept.length === 0 || settings.every(({ commands }) => clipsIn(commands).length === 0)
  if (isCold) return `${restart} ${they === 'it' ? 'runs' : 'run'} these hooks until then`
  return `${restart} still ${they === 'it' ? 'tries' : 'try'} to run these hooks, and may block every call until then`
}
