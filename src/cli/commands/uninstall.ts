// `carabiner uninstall`: removes plugins, and everything that was kept for them.

import { join } from 'node:path'
import { visible, visibleName } from '../../core/base/text.js'
import { finishInterrupted, type InstalledPlugin, listInstalled } from '../../plugins/installed.js'
import { notInstalled, uninstallPlugin } from '../../plugins/placing.js'
import { installedAs } from '../../plugins/plugin-name.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import type { Command } from '../command.js'
import { agrees, canAsk } from '../confirm.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import {
  allTargets,
  asRefusals,
  type GivenScope,
  SCOPE_OPTIONS,
  targetOf,
} from '../plugins/plugin-commands.js'
import { nextLines, shortPath } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { painter } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'

const OPTIONS = {
  ...SCOPE_OPTIONS,
  yes: { type: 'boolean', help: 'Do not ask, even if it was changed or placed by hand.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'uninstall',
  summary: 'Remove plugins, and everything kept for them.',
  positionals: ['NAME…'],
  completes: ['plugins'],
  about:
    'Removes its folder, its entry in hooks.lock.json, its trusted copy, your trust and its own data. If it is ' +
    'installed both for you and in this project, say which with --user or --here. With several names, nothing is ' +
    'removed if one of them is unknown or you keep it.',
  options: OPTIONS,
  exits: [
    [0, 'removed'],
    [1, 'there is no such plugin, or you kept it'],
  ],
  examples: [
    { does: 'Remove it completely.', line: 'carabiner uninstall guard', needs: 'a plugin of that name' },
  ],
  mayRun: () => checkPerson('Uninstalling'),
  run({ options, positionals }, output) {
    const names = [...new Set(positionals)]
    if (names.length === 0)
      throw usage(
        'Give the name of the plugin',
        'carabiner list shows what is installed. To remove Carabiner itself, type carabiner remove.',
      )
    return asRefusals(async () => {
      const done = await finished(names, options)
      const named = names.filter((name) => !done.has(name)).map((name) => meant(name, options))
      // Both names of one plugin may have been given.
      const plugins = [...new Map(named.map((plugin) => [plugin.path, plugin])).values()]
      for (const plugin of plugins) if (!(await mayGo(plugin, options.yes, output))) return EXIT.failed
      for (const [name, target] of done) await tell(name, target, output)
      for (const { name, target } of plugins) {
        await uninstallPlugin(name, target)
        done.set(name, target)
        await tell(name, target, output)
      }
      if (output.json) await output.document({ uninstalled: [...done].map(goneData) })
      else await output.print(nextLines([typed(['list'], { project: options.project })], painter(1)))
      return EXIT.ok
    })
  },
}

/** Told at once: a later failure must not hide it. */
async function tell(name: string, target: Target, output: Output): Promise<void> {
  const { path } = goneData([name, target])
  if (!output.json) await output.print([`uninstalled ${visibleName(name)}  ${visible(shortPath(path))}`])
}

function goneData([name, target]: readonly [string, Target]) {
  return { name, scope: target.scope, path: join(pluginsDir(target), name) }
}

/** Completes interrupted uninstalls of these plugins. */
async function finished(names: readonly string[], options: GivenScope): Promise<Map<string, Target>> {
  const done = new Map<string, Target>()
  const asked = targetOf(options)
  for (const target of asked ? [asked] : allTargets(options)) {
    for (const name of await finishInterrupted(target)) if (names.includes(name)) done.set(name, target)
  }
  return done
}

type Meant = InstalledPlugin & { readonly target: Target }

function meant(name: string, options: GivenScope): Meant {
  const asked = targetOf(options)
  const targets = asked ? [asked] : allTargets(options)
  const found: Meant[] = []
  for (const target of targets) {
    const place = target.scope === 'user' ? { home: target.base } : { projectDir: target.base }
    found.push(...listInstalled(place).plugins.map((plugin) => ({ ...plugin, target })))
  }
  const [one, ...others] = installedAs(name, found)
  if (!one) throw notInstalled(name, new Set(found.map((plugin) => plugin.name)))
  if (others.length === 0) return one
  if (others.some(({ scope }) => scope === one.scope))
    throw usage(
      `${others.length + 1} plugins call themselves ${visibleName(name)}`,
      `Say which: ${[one, ...others].map((plugin) => visibleName(plugin.name)).join(', ')}.`,
    )
  throw usage(
    `${visibleName(name)} is installed for you and in this project`,
    'Say which with --user or --here.',
  )
}

/** Files that cannot be fetched again are not removed without asking. */
async function mayGo({ name, path, state }: Meant, isSure: boolean, output: Output): Promise<boolean> {
  if (isSure || state === 'ok' || state === 'missing') return true
  const why =
    state === 'modified' ? 'has files that were changed after the install' : 'was not installed by Carabiner'
  if (!canAsk(output)) {
    throw new Refusal('NOT_UNINSTALLED', `${visibleName(name)} ${why}, and its files are nowhere else`, {
      hint: `Look at ${visible(shortPath(path))}; --yes removes it anyway.`,
    })
  }
  await output.print([`${visibleName(name)} ${why}: ${visible(shortPath(path))}`])
  return agrees('Remove it anyway?', output)
}
