// `carabiner uninstall`: takes a plugin away, with all that was kept because of it.

import { visible, visibleName } from '../../core/visible.js'
import { type InstalledPlugin, listInstalled } from '../../plugins/installed.js'
import { notInstalled, uninstallPlugin } from '../../plugins/uninstall-plugin.js'
import { checkPerson } from '../agent-shell.js'
import { COMMON_OPTIONS, type Command } from '../command.js'
import type { Output } from '../output.js'
import { agrees, allTargets, canAsk, inWords, SCOPE_OPTIONS, targetOf } from '../plugins/plugin-commands.js'
import { shortPath } from '../print/lines.js'
import { EXIT, Refusal, usage } from '../refusal.js'

const OPTIONS = {
  ...SCOPE_OPTIONS,
  yes: { type: 'boolean', help: 'Also if its files were changed, or put there by somebody.' },
  ...COMMON_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'uninstall',
  summary: 'Take a plugin away, and leave nothing of it.',
  positionals: ['NAME'],
  about:
    'Removes its folder, its entry in hooks.lock.json, what you trusted of it with the copy, and the data that it kept. ' +
    'Where it is installed both for you and in this project, --user or --here says which.',
  options: OPTIONS,
  exits: [
    [0, 'gone'],
    [1, 'there is no such plugin, or it was left'],
    [64, 'wrong usage'],
  ],
  examples: [
    { does: 'Nothing of it is left.', line: 'carabiner uninstall guard', needs: 'a plugin of that name' },
  ],
  run({ options, positionals: [name] }, output) {
    checkPerson('Uninstalling')
    if (name === undefined)
      throw usage('Give the name of the plugin', 'carabiner list shows what is installed.')
    return inWords(async () => {
      const plugin = await meant(name, options)
      if (!(await mayGo(plugin, options.yes, output))) return EXIT.failed
      await uninstallPlugin(plugin.name, plugin.target)
      const { target: _, ...gone } = plugin
      if (output.json) await output.document({ uninstalled: { name, scope: gone.scope, path: gone.path } })
      else await output.print([`uninstalled ${visibleName(name)}  ${visible(shortPath(plugin.path))}`])
      return EXIT.ok
    })
  },
}

type Meant = InstalledPlugin & { readonly target: ReturnType<typeof allTargets>[number] }

async function meant(name: string, options: Parameters<typeof targetOf>[0]): Promise<Meant> {
  const asked = targetOf(options)
  const targets = asked ? [asked] : allTargets(options)
  const found: Meant[] = []
  for (const target of targets) {
    const place = target.scope === 'user' ? { home: target.base } : { projectDir: target.base }
    found.push(...(await listInstalled(place)).plugins.map((plugin) => ({ ...plugin, target })))
  }
  const [one, ...others] = found.filter((plugin) => plugin.name === name)
  if (!one) throw notInstalled(name, new Set(found.map((plugin) => plugin.name)))
  if (others.length === 0) return one
  throw usage(
    `${visibleName(name)} is installed for you and in this project`,
    'Say which with --user or --here.',
  )
}

/** What cannot be fetched again is not removed without a word. */
async function mayGo({ name, path, state }: Meant, isSure: boolean, output: Output): Promise<boolean> {
  if (isSure || state === 'ok' || state === 'missing') return true
  const why = state === 'modified' ? 'has files that were changed since' : 'was not installed by Carabiner'
  if (output.json || !canAsk()) {
    throw new Refusal('NOT_UNINSTALLED', `${visibleName(name)} ${why}, and its files are nowhere else`, {
      hint: `Look at ${visible(shortPath(path))}; --yes removes it all the same.`,
    })
  }
  await output.print([`${visibleName(name)} ${why}: ${visible(shortPath(path))}`])
  return agrees('Remove it all the same?', output)
}
