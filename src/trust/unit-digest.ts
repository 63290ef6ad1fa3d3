// The digest of a unit: one number for all that was reviewed, the same wherever the project lies.

import { homedir } from 'node:os'
import { digest } from '../core/base/digest.js'
import { isExecutable, type TrustedFile, type Unit } from './unit.js'

/** Raised when something else counts: then everything is to be reviewed again. */
const FORMAT = 1

export interface Content {
  readonly files: readonly TrustedFile[]
  readonly scripts: readonly TrustedFile[]
}

/** Not in it: names of machines, users and folders above the project, times, bits that umask decides, programs. */
export function unitDigest({ kind, hooks, projectDir }: Unit, { files, scripts }: Content): string {
  return digest({
    carabiner: FORMAT,
    kind,
    hooks: [...new Set(hooks.map(({ hash }) => hash))].sort(),
    files: files.map((file) =>
      file.link === undefined
        ? [file.path, file.sha256, isExecutable(file)]
        : [file.path, { link: file.link }],
    ),
    scripts: scripts
      .map((script) => [placeOf(script.path, projectDir), script.sha256, isExecutable(script)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  })
}

function placeOf(path: string, projectDir: string): string {
  if (path.startsWith(`${projectDir}/`)) return `project/${path.slice(projectDir.length + 1)}`
  const home = homedir()
  return home !== '/' && path.startsWith(`${home}/`) ? `~/${path.slice(home.length + 1)}` : path
}
