// Installed plugins: whether they still are what was installed.

import { visible, visibleName } from '../../core/visible.js'
import { type InstalledPlugin, listInstalled } from '../../plugins/installed.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { counted } from '../print/lines.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export async function plugins({ project, home }: Facts): Promise<Checked> {
  const { plugins: all, problems } = await listInstalled({ projectDir: project, home })
  const locked = all.filter(({ state }) => state !== 'unlocked')
  return {
    what: `${counted(all.length, 'plugin')}, ${locked.length} of them installed by Carabiner`,
    findings: [...problems.map(unreadable), ...all.flatMap(ofPlugin)],
  }
}

function unreadable(text: string): Finding {
  return {
    severity: 'broken',
    code: 'lock-unreadable',
    text: visible(text),
    fix: 'Put that file right, or remove it and install its plugins again.',
  }
}

function ofPlugin({ name, path, state, scope, source }: InstalledPlugin): readonly Finding[] {
  const shown = visibleName(name)
  const typed = shellQuoted(visible(name))
  const here = scope === 'project' ? ' --here' : ''
  if (state === 'modified') {
    return [
      {
        severity: 'warning',
        code: 'plugin-modified',
        file: path,
        text: `the plugin ${shown} is not what was installed from ${visible(source ?? '')}: its files were changed since`,
        fix: `carabiner update ${typed} --overwrite${here}   # shows what differs, and asks`,
      },
    ]
  }
  if (state !== 'missing') return []
  return [
    {
      severity: 'broken',
      code: 'plugin-missing',
      file: path,
      text: `the plugin ${shown} was installed from ${visible(source ?? '')}, and its folder is gone: its hooks do not run`,
      fix: `carabiner update ${typed}${here}   # or, if it is not wanted: carabiner uninstall ${typed}${here}`,
    },
  ]
}
