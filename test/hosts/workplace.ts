// A project of its own for a test of setup, and a home for what Carabiner keeps.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { projectSettings } from '../../src/hosts/claude-code/settings.js'
import type { Entry } from '../../src/hosts/host-setup.js'
import {
  carryOut,
  type HostPlace,
  type Plan,
  planInstall,
  planPrune,
  planRemove,
} from '../../src/hosts/setup.js'
import { removeAll } from '../trust/hostile-project.js'

export interface Workplace {
  readonly root: string
  readonly project: string
  readonly file: string
  readonly place: HostPlace
  /** The settings, byte by byte; undefined where there are none. */
  readonly text: () => string | undefined
  readonly write: (text: string | Uint8Array) => void
  /** All files and folders of the project. */
  readonly files: () => readonly string[]
  /** Forgets what setup did. */
  readonly forget: () => void
  readonly install: (entries: readonly Entry[]) => Promise<Plan>
  readonly remove: () => Promise<Plan>
  readonly prune: () => Promise<Plan>
}

export function workplace(): Workplace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-setup-')))
  const home = join(root, 'carabiner')
  vi.stubEnv('CARABINER_HOME', home)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    removeAll(root)
  })
  const project = join(root, 'project')
  mkdirSync(project)
  const place = projectSettings(project)
  const file = place.path
  const done = async (planned: () => Plan) => {
    const plan = planned()
    if (plan.changes && !(await carryOut(plan, planned))) throw new Error('the plan was not carried out')
    return plan
  }
  return {
    root,
    project,
    file,
    place,
    text: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined),
    write: (text) => {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    },
    files: () => readdirSync(project, { recursive: true, encoding: 'utf8' }).sort(),
    forget: () => removeAll(home),
    install: (entries) => done(() => planInstall(place, entries)),
    remove: () => done(() => planRemove(place)),
    prune: () => done(() => planPrune(place)),
  }
}
