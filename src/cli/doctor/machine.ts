// The machine: environment variables that slow hooks down or come from the project, and Carabiner's own folders.

import { accessSync, constants, existsSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { callerEnv } from '../../files/caller.js'
import { dataHome, HOME_FOLDERS, stateHome } from '../../files/homes.js'
import { ifThere } from '../../files/if-there.js'
import { JsonText, under } from '../../files/json-text.js'
import { readPlain } from '../../files/plain-file.js'
import { isInProject } from '../../files/within.js'
import { envText, projectEnvOf } from '../../pack/deciding-variables.js'
import { auditFolder } from '../../store/audit/log-folder.js'
import { fromHere, placeOf, shortPath } from '../print/lines.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

/** Since this version Node reads certificates only when a connection is made. */
const LAZY_NODE = 22

export function machine({ project, home }: Facts): Checked {
  return {
    what: `Node ${process.versions.node}, ${process.platform}`,
    findings: [...certificates(), ...ofProject(project, home)],
  }
}

function certificates(): readonly Finding[] {
  const { NODE_EXTRA_CA_CERTS: file } = callerEnv()
  if (!file) return []
  const [major = ''] = process.versions.node.split('.')
  if (!existsSync(file)) {
    const text = `NODE_EXTRA_CA_CERTS names ${file}, which does not exist: every Node program warns about it`
    return [
      {
        severity: 'warning',
        code: 'ca-certs',
        text,
        fix: 'unset NODE_EXTRA_CA_CERTS   # or set it to a file that exists',
      },
    ]
  }
  if (Number(major) >= LAZY_NODE) return []
  return [
    {
      severity: 'warning',
      code: 'ca-certs',
      text: `NODE_EXTRA_CA_CERTS is set, and Node ${major} reads these certificates at every start: about 0.1 s for each hook in JavaScript, and for each run of carabiner`,
      fix: 'Use Node 22 or later, or unset NODE_EXTRA_CA_CERTS where agents are started.',
    },
  ]
}

const MOST_BYTES = 4 * 1024 * 1024

/** The place of "env" in the file. */
function envPlace(file: string): Pick<Finding, 'file' | 'line'> {
  try {
    const read = readPlain(file, MOST_BYTES)
    const json = new JsonText('text' in read ? read.text : '')
    return 'value' in json.parse() ? { file, line: json.lineOf(under(null, 'env')) } : { file }
  } catch {
    return { file }
  }
}

/** A project's Claude Code settings may set variables for every hook. */
function ofProject(project: string, home: string): readonly Finding[] {
  const set = projectEnvOf(project, callerEnv(), home).filter(({ names }) => names.length > 0)
  return set.map((one) => {
    const where = envPlace(one.file)
    return {
      severity: 'broken',
      code: 'project-env',
      ...where,
      text: envText(one),
      fix: `Remove ${one.names.join(', ')} from "env" at ${placeOf(where)}.`,
    }
  })
}

// ---- Carabiner's own folders: usable, private, outside the project --------------------------------------------

const ELSEWHERE = 'set CARABINER_HOME to a folder'

export function folders({ project }: Facts): Checked {
  const [data, state] = [dataHome(), stateHome()]
  const all = [
    data,
    ...HOME_FOLDERS.data.map((name) => join(data, name)),
    ...(isInProject(data, project) ? [] : [auditFolder(project)]),
    state,
    ...HOME_FOLDERS.state.map((name) => join(state, name)),
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
    text: `Carabiner's own files (trust, grants, audit) are in the project, which could then decide about itself: ${shortPath(folder)}`,
    fix: `Unset CARABINER_HOME and XDG_*_HOME, or ${ELSEWHERE} outside of the project.`,
  }
}

function ofFolder(folder: string, isTop: boolean): readonly Finding[] {
  let stats: Stats | undefined
  try {
    stats = ifThere(() => statSync(folder))
  } catch (error) {
    // The folder above reports this itself.
    if (!isTop && (error as NodeJS.ErrnoException).code === 'ENOTDIR') return []
    return [unusable(folder, textOf(error), 'Let this user read the folders above it')]
  }
  if (!stats) return isTop ? missing(folder) : []
  if (!stats.isDirectory())
    return [unusable(folder, 'it is not a folder', `mv ${quoted(folder)} ${quoted(`${folder}.old`)}`)]
  return [...byOthers(folder, stats), ...(isWritable(folder) ? [] : [notWritable(folder)])]
}

/** A missing folder is created on first use, if possible. */
function missing(folder: string): readonly Finding[] {
  const above = nearestAbove(folder)
  if (above === undefined || isWritable(above)) return []
  const why = `it is missing, and cannot be created in ${shortPath(above)}`
  return [unusable(folder, why, `chmod u+rwx ${quoted(above)}`)]
}

function nearestAbove(folder: string): string | undefined {
  for (let above = dirname(folder); ; above = dirname(above)) {
    try {
      if (ifThere(() => statSync(above))) return above
    } catch {
      return above // a file is in the way
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

function notWritable(folder: string): Finding {
  const finding = unusable(folder, 'it is not writable', `chmod u+rwx ${quoted(folder)}`)
  return { ...finding, repair: { kind: 'make-writable', path: folder } }
}

function unusable(folder: string, why: string, todo: string): Finding {
  return {
    severity: 'broken',
    code: 'folder-unusable',
    file: folder,
    text: `Carabiner cannot keep anything in ${shortPath(folder)} (${why}): no trust, no audit, no state of sessions`,
    fix: `${todo}   # or ${ELSEWHERE} that is writable`,
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
  const how = `is writable by others (mode ${(mode & 0o7777).toString(8)})`
  return [open(folder, how, `chmod go-w ${quoted(folder)}   # if all in it is yours`)]
}

function open(folder: string, how: string, fix: string): Finding {
  return {
    severity: 'broken',
    code: 'folder-open',
    file: folder,
    text: `${shortPath(folder)} ${how}: anybody may have written what is in it, so it is not used`,
    fix,
  }
}
