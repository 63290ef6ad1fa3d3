// Carabiner's own folders: where they are, whether they can be written, and by whom else.

import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { isInProject } from '../../files/within.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { auditFolder } from '../../store/audit/log-folder.js'
import { STORE_FOLDERS } from '../../trust/store-place.js'
import { fromHere, shortPath } from '../print/lines.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

/** Below that of the data, and of the state. */
const WITHIN = {
  data: [...STORE_FOLDERS, 'catalogs', 'audit', 'switches', 'grants'],
  state: ['sessions', 'approvals', 'plugins'],
}

const ELSEWHERE = 'set CARABINER_HOME to a folder'

export function folders({ project }: Facts): Checked {
  const [data, state] = [dataHome(), stateHome()]
  const all = [
    data,
    ...WITHIN.data.map((name) => join(data, name)),
    ...(isInProject(data, project) ? [] : [auditFolder(project)]),
    state,
    ...WITHIN.state.map((name) => join(state, name)),
  ]
  const inside = [data, state].filter((folder) => isInProject(folder, project)).map(insideProject)
  return {
    what: [...new Set([data, state])].map(shortPath).join(', '),
    findings: [
      ...inside,
      ...[...new Set(all)].flatMap((folder) => ofFolder(folder, folder === data || folder === state)),
    ],
  }
}

function insideProject(folder: string): Finding {
  return {
    severity: 'broken',
    code: 'folder-in-project',
    file: folder,
    text: `what Carabiner keeps (trust, grants, audit) lies in the project, which would decide about itself: ${shortPath(folder)}`,
    fix: `Unset CARABINER_HOME and XDG_*_HOME, or ${ELSEWHERE} outside of the project.`,
  }
}

function ofFolder(folder: string, isTop: boolean): readonly Finding[] {
  let stats: Stats | undefined
  try {
    stats = statSync(folder, { throwIfNoEntry: false })
  } catch (error) {
    // Of what stands where a folder above it should be, that one tells.
    if (!isTop && (error as NodeJS.ErrnoException).code === 'ENOTDIR') return []
    return [unusable(folder, textOf(error), 'Let this user read what is above it')]
  }
  if (!stats) return isTop ? missing(folder) : []
  if (!stats.isDirectory())
    return [unusable(folder, 'it is no folder', `mv ${quoted(folder)} ${quoted(`${folder}.old`)}`)]
  return [
    ...byOthers(folder, stats),
    ...(isWritable(folder)
      ? []
      : [unusable(folder, 'it cannot be written', `chmod u+rwx ${quoted(folder)}`)]),
  ]
}

/** It is made when it is needed, if it can be. */
function missing(folder: string): readonly Finding[] {
  const above = nearestAbove(folder)
  if (above === undefined || isWritable(above)) return []
  const why = `it is missing, and cannot be made in ${shortPath(above)}`
  return [unusable(folder, why, `chmod u+rwx ${quoted(above)}`)]
}

function nearestAbove(folder: string): string | undefined {
  for (let above = dirname(folder); ; above = dirname(above)) {
    try {
      if (statSync(above, { throwIfNoEntry: false })) return above
    } catch {
      return above // a file on the way: nothing can be made below it
    }
    if (above === dirname(above)) return undefined
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return statSync(folder).isDirectory()
  } catch {
    return false
  }
}

function quoted(path: string): string {
  return shellQuoted(fromHere(path))
}

function unusable(folder: string, why: string, todo: string): Finding {
  return {
    severity: 'broken',
    code: 'folder-unusable',
    file: folder,
    text: `Carabiner cannot keep anything in ${shortPath(folder)} (${why}): no trust, no audit, no state of sessions`,
    fix: `${todo}   # or ${ELSEWHERE} that can be written`,
  }
}

const OTHERS_WRITE = 0o022

function byOthers(folder: string, { mode, uid }: Stats): readonly Finding[] {
  const me = process.geteuid?.()
  if (me === undefined) return []
  if (uid !== me && uid !== 0) {
    return [open(folder, `belongs to another user (${uid})`, `Remove it, or ${ELSEWHERE} of your own.`)]
  }
  if ((mode & OTHERS_WRITE) === 0) return []
  const how = `can be written by others (mode ${(mode & 0o7777).toString(8)})`
  return [open(folder, how, `chmod go-w ${quoted(folder)}   # if all in it is yours`)]
}

function open(folder: string, how: string, fix: string): Finding {
  return {
    severity: 'broken',
    code: 'folder-open',
    file: folder,
    text: `${shortPath(folder)} ${how}: what is in it may be anybody's, and is not relied on`,
    fix,
  }
}
