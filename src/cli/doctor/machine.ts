// The environment that hooks start in: what makes each of them slow, and what a project sets in it for its user.

import { existsSync } from 'node:fs'
import { JsonText, under } from '../../config/json-text.js'
import { readPlain } from '../../files/plain-file.js'
import { envText, projectEnvOf } from '../../pack/project-env.js'
import { placeOf } from '../print/lines.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

/** From there on certificates are read when a connection is made. */
const LAZY_NODE = 22

export function machine({ project, home }: Facts): Checked {
  return {
    what: `Node ${process.versions.node}, ${process.platform}`,
    findings: [...certificates(), ...ofProject(project, home)],
  }
}

function certificates(): readonly Finding[] {
  const { NODE_EXTRA_CA_CERTS: file } = process.env
  if (!file) return []
  const [major = ''] = process.versions.node.split('.')
  if (!existsSync(file)) {
    const text = `NODE_EXTRA_CA_CERTS names ${file}, which is not there: every Node program warns about it`
    return [
      {
        severity: 'warning',
        code: 'ca-certs',
        text,
        fix: 'unset NODE_EXTRA_CA_CERTS   # or set it to a file that is there',
      },
    ]
  }
  if (Number(major) >= LAZY_NODE) return []
  return [
    {
      severity: 'warning',
      code: 'ca-certs',
      text: `NODE_EXTRA_CA_CERTS is set, and Node ${major} reads these certificates at every start: about 0.1 s for each hook in JavaScript, and each carabiner`,
      fix: 'Use Node 22 or later, or unset NODE_EXTRA_CA_CERTS where agents are started.',
    },
  ]
}

const MOST_BYTES = 4 * 1024 * 1024

/** Where its variables stand. */
function envPlace(file: string): Pick<Finding, 'file' | 'line'> {
  try {
    const read = readPlain(file, MOST_BYTES)
    const json = new JsonText('text' in read ? read.text : '')
    return 'value' in json.parse() ? { file, line: json.lineOf(under(null, 'env')) } : { file }
  } catch {
    return { file }
  }
}

/** Settings of Claude Code in a project may set variables for every hook. */
function ofProject(project: string, home: string): readonly Finding[] {
  const set = projectEnvOf(project, process.env, home).filter(({ names }) => names.length > 0)
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
