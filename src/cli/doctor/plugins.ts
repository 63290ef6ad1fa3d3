// Installed plugins: whether they are still what was installed.

import { basename, dirname, join } from 'node:path'
import { visible, visibleName } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { namesIn } from '../../files/folder.js'
import {
  type InstalledPlugin,
  type Leftover,
  listInstalled,
  type Unreadable,
} from '../../plugins/installed.js'
import { isAside, whereabouts } from '../../trust/set-aside.js'
import { counted, fromHere, shortPath } from '../print/lines.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export function plugins({ project, home }: Facts): Checked {
  const { plugins: all, leftovers, problems } = listInstalled({ projectDir: project, home })
  const half = new Set(
    leftovers.flatMap(({ scope, path, work }) =>
      (work ? [work.name] : asideIn(path)).map((name) => `${scope} ${name}`),
    ),
  )
  const locked = all.filter(({ state }) => state !== 'unlocked')
  return {
    what: `${counted(all.length, 'plugin')}, ${locked.length} of them installed by Carabiner`,
    findings: [
      ...problems.map(unreadable),
      ...leftovers.map((one) => interrupted(one, all, leftovers)),
      // An interrupted install needs no further findings.
      ...all.filter(({ scope, name }) => !half.has(`${scope} ${name}`)).flatMap(ofPlugin),
    ],
  }
}

function interrupted(
  { path, scope, work }: Leftover,
  all: readonly InstalledPlugin[],
  leftovers: readonly Leftover[],
): Finding {
  const [aside] = work ? [] : asideIn(path)
  if (aside !== undefined) {
    const [from, to] = [join(path, aside), join(dirname(path), aside)].map((one) =>
      shellQuoted(fromHere(one)),
    )
    return {
      severity: 'warning',
      code: 'plugin-leftover',
      file: path,
      text: `${visibleName(aside)} is in this folder of interrupted work, and its hooks are read from here`,
      fix: `mv ${from} ${to}   # if it is yours; else rm -r ${from}`,
    }
  }
  if (!work) {
    return {
      severity: 'note',
      code: 'plugin-leftover',
      file: path,
      text: 'the name of this folder looks like interrupted work of Carabiner, but it is not: nothing in it is used',
      fix: `rm -r ${shellQuoted(fromHere(path))}   # if it is not yours`,
    }
  }
  const state = all.find((one) => one.scope === scope && one.name === work.name)?.state
  const isAside = leftovers.some(
    (one) => one.scope === scope && one.work?.name === work.name && one.work.kind === 'old',
  )
  const { what, fix } = halfDone(work, {
    isLocked: state !== undefined && state !== 'unlocked',
    wasThere: state !== 'missing' || isAside,
    here: scope === 'project' ? ' --here' : '',
  })
  return {
    severity: 'broken',
    code: 'plugin-interrupted',
    file: path,
    text: `${what} was interrupted halfway`,
    fix,
  }
}

/** Plugins found in the folder instead of the missing one. */
function asideIn(path: string): readonly string[] {
  if (!isAside(basename(path))) return []
  try {
    return namesIn(path).filter((name) => whereabouts(join(path, name)).path === join(path, name))
  } catch {
    return [] // no folder
  }
}

interface Standing {
  /** Undefined for plugins without a source, which are not in the lock file. */
  readonly isLocked: boolean
  /** The state before the interrupted work. */
  readonly wasThere: boolean
  readonly here: string
}

/** Describes the interrupted work as far as possible. */
function halfDone(
  { kind, name }: NonNullable<Leftover['work']>,
  { isLocked, wasThere, here }: Standing,
): Pick<Finding, 'fix'> & { readonly what: string } {
  const [shown, typed] = [visibleName(name), shellQuoted(visible(name))]
  if (kind === 'gone') {
    return { what: `an uninstall of ${shown}`, fix: `carabiner uninstall ${typed}${here}   # finishes it` }
  }
  if (!isLocked) {
    return {
      what: `an install, new or migrate of ${shown}`,
      fix: 'Run the same command again: it cleans this up first.',
    }
  }
  return {
    what: `an ${wasThere ? 'update' : 'install'} of ${shown}`,
    fix: `carabiner update ${typed}${here}   # finishes it`,
  }
}

function unreadable({ text, lockFile: file }: Unreadable): Finding {
  return {
    severity: 'broken',
    code: 'lock-unreadable',
    ...(file !== undefined && { file }),
    text: visible(text),
    fix:
      file === undefined
        ? 'Let this user read what it names.'
        : `Restore ${shortPath(file)} from version control; or remove it: installed plugins stay, but cannot be updated.`,
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
      text: `the plugin ${shown} was installed from ${visible(source ?? '')}, and its folder is gone`,
      fix: `carabiner update ${typed}${here}   # or, if it is not wanted: carabiner uninstall ${typed}${here}`,
    },
  ]
}
