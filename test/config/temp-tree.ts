// Real folders for tests: written from an object, removed after the test.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ConfigSources, type LoadedConfig, loadConfig } from '../../src/config/load.js'
import type { Diagnostic } from '../../src/core/base/errors.js'

/** By path below the tree: text and bytes as they are, anything else as JSON. */
export type Files = Readonly<Record<string, unknown>>

export function tree(files: Files = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-config-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  write(root, files)
  return root
}

export function write(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    const asIs = typeof content === 'string' || content instanceof Uint8Array
    writeFileSync(file, asIs ? content : JSON.stringify(content, null, 2))
  }
}

/** `home` and `project` below the tree are what their names say. */
export function sourcesIn(root: string, more: ConfigSources = {}): ConfigSources {
  return {
    homeDir: join(root, 'home'),
    projectDir: join(root, 'project'),
    dataDir: join(root, 'data'),
    ...more,
  }
}

/** Loads `home` and `project` of a new tree. */
export async function load(files: Files): Promise<LoadedConfig> {
  return loadConfig(sourcesIn(tree(files)))
}

/** Loads one hooks.json of the project. */
export async function loadRoot(content: unknown): Promise<LoadedConfig> {
  return load({ 'project/.amplifier/hooks/hooks.json': content })
}

/** Loads one plugin of the project. */
export async function loadPlugin(content: unknown, name = 'guard'): Promise<LoadedConfig> {
  return load({ [`project/.amplifier/hooks/${name}/hooks.json`]: content })
}

export const command = (text = './check.sh', more: object = {}) => ({
  type: 'command',
  command: text,
  ...more,
})

/** A hooks file with one group of one event. */
export const hooksFile = (handlers: unknown = [command()], more: object = {}, event = 'PreToolUse') => ({
  hooks: { [event]: [{ hooks: handlers, ...more }] },
})

export const namesOf = ({ specs }: LoadedConfig) => specs.map(({ hook }) => hook.name)
export const codesOf = ({ diagnostics }: LoadedConfig) => diagnostics.map(({ code }) => code)
export const commandsOf = ({ specs }: LoadedConfig) =>
  specs.map((spec) => (spec.type === 'command' ? spec.handler.command : spec.type))

/** The only diagnostic there is. */
export function only(config: LoadedConfig): Diagnostic {
  const [first, ...others] = config.diagnostics
  if (!first || others.length > 0) {
    throw new Error(`expected one diagnostic, got ${JSON.stringify(config.diagnostics, null, 2)}`)
  }
  return first
}
