// An npm package as a tree. npm finds and downloads it, and runs nothing from it.

import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { visibleName } from '../../core/base/text.js'
import { programEnvironment } from '../../effects/shell/own-environment.js'
import { readPlainBytes } from '../../files/plain-file.js'
import { PluginProblem } from '../plugin-problem.js'
import { MOST_PACKED_BYTES, readArchive } from './archive.js'
import { runProgram } from './external-program.js'
import type { FileTree } from './file-tree.js'
import type { Source } from './source.js'

type NpmSource = Extract<Source, { readonly kind: 'npm' }>

interface NpmTree {
  readonly tree: FileTree
  readonly version: string
}

/** Environment variables that say where packages come from and how they are fetched: the user decides both. */
const KEPT =
  /^npm_config_(?:registry|.*:registry|.*:?_(?:auth|authToken|password)|username|userconfig|cafile|ca|cert|key|strict_ssl|(?:https?_|no)?proxy|cache)$/i
const PACK_MS = 180_000
const MOST_PRINTED = 16 * 1024 * 1024

/** `work` is an empty folder of our own. */
export async function fetchNpm({ name, range }: NpmSource, work: string): Promise<NpmTree> {
  // Its own package.json keeps npm from reading the settings of a parent folder, which may name another registry.
  writeFileSync(join(work, 'package.json'), '{ "private": true }\n')
  const { code, stdout, stderr } = await runProgram({
    program: 'npm',
    args: [
      'pack',
      '--ignore-scripts',
      '--json',
      '--loglevel=error',
      '--pack-destination',
      work,
      '--',
      `${name}@${range}`,
    ],
    cwd: work,
    env: {
      ...programEnvironment(undefined, undefined, KEPT),
      npm_config_yes: 'false',
      npm_config_update_notifier: 'false',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
    },
    timeoutMs: PACK_MS,
    maxBytes: MOST_PRINTED,
  })
  if (code !== 0) throw failed(name, range, stdout.toString('utf8'), stderr)
  const file = readdirSync(work).find((one) => one.endsWith('.tgz'))
  const read =
    file === undefined ? { problem: 'is missing' } : readPlainBytes(join(work, file), MOST_PACKED_BYTES)
  if ('problem' in read)
    throw new PluginProblem('FETCH_FAILED', `The package ${visibleName(name)} ${read.problem}`)
  return { tree: readArchive(read.bytes), version: versionIn(stdout.toString('utf8')) }
}

/** Newer versions of npm print an object by name, older ones a list. */
function versionIn(printed: string): string {
  try {
    const said: unknown = JSON.parse(printed)
    const [first] = isObject(said) ? Object.values(said) : Array.isArray(said) ? said : []
    if (isObject(first) && typeof first.version === 'string' && /^[\w.+-]{1,100}$/.test(first.version))
      return first.version
  } catch {
    // Reported below.
  }
  throw new PluginProblem(
    'FETCH_FAILED',
    'npm did not say which version it fetched',
    'Check whether npm --version works.',
  )
}

function failed(name: string, range: string, stdout: string, stderr: string): PluginProblem {
  const said =
    errorIn(stdout) ??
    stderr
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(0, 3)
      .join(' ')
  const what = `${visibleName(name)}@${visibleName(range)}`
  return new PluginProblem(
    'FETCH_FAILED',
    `npm cannot fetch ${what}: ${said}`,
    `Check it with npm view ${what}.`,
  )
}

function errorIn(stdout: string): string | undefined {
  try {
    const said: unknown = JSON.parse(stdout)
    const error = isObject(said) ? said.error : undefined
    return isObject(error) && typeof error.summary === 'string' && error.summary !== ''
      ? error.summary
      : undefined
  } catch {
    return undefined
  }
}
