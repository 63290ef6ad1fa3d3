// A project with units to trust, made for one test, with the user's data folder beside it.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { type TrustStore, type TrustStoreOptions, trustStore } from '../../src/trust/trust-store.js'
import type { TrustRecord, Unit, UnitHook } from '../../src/trust/unit.js'

export interface Project {
  readonly root: string
  readonly dir: string
  readonly dataDir: string
  readonly store: TrustStore
  /** A store as another process would have it. */
  newStore(more?: TrustStoreOptions): TrustStore
  write(path: string, text: string | Buffer, mode?: number): string
  plugin(files?: Readonly<Record<string, string>>, hooks?: readonly UnitHook[]): Unit
  file(hooks: readonly UnitHook[]): Unit
}

export function project(): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-trust-')))
  onTestFinished(() => removeAll(root))
  return projectIn(root)
}

/** Removes read-only folders too. */
export function removeAll(path: string): void {
  const open = (folder: string) => {
    chmodSync(folder, 0o700)
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) open(join(folder, entry.name))
    }
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) open(path)
  rmSync(path, { recursive: true, force: true })
}

export function projectIn(root: string, name = 'project'): Project {
  const dir = join(root, name)
  const dataDir = join(root, 'data')
  mkdirSync(dir, { recursive: true })
  const write = (path: string, text: string | Buffer, mode = 0o644) => {
    const at = join(dir, path)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, text)
    chmodSync(at, mode)
    return at
  }
  const newStore = (more: TrustStoreOptions = {}) => trustStore({ dataDir, ...more })
  return {
    root,
    dir,
    dataDir,
    store: newStore(),
    newStore,
    write,
    plugin(files = PLUGIN, hooks = [hook('"$CLAUDE_PLUGIN_ROOT"/check.sh')]) {
      for (const [path, text] of Object.entries(files)) {
        write(`plugins/guard/${path}`, text, path.endsWith('.sh') ? 0o755 : 0o644)
      }
      return { kind: 'folder', path: join(dir, 'plugins/guard'), name: 'guard', projectDir: dir, hooks }
    },
    file(hooks) {
      const path = write('.amplifier/hooks.json', JSON.stringify(hooks))
      return { kind: 'file', path, name: 'project', projectDir: dir, hooks }
    },
  }
}

const PLUGIN = {
  'hooks.json': '{}',
  'check.sh': '#!/bin/sh\n. "$CLAUDE_PLUGIN_ROOT/lib/rules.sh"\n',
  'lib/rules.sh': 'echo reviewed\n',
  'lib/data.txt': 'data\n',
}

export function hook(command: string, more: Partial<UnitHook> = {}): UnitHook {
  const fields = { name: `guard:${command}`, event: 'PreToolUse', matcher: 'Bash', command, ...more }
  return { ...fields, hash: createHash('sha256').update(JSON.stringify(fields)).digest('hex') }
}

export function trusted(store: TrustStore, unit: Unit): TrustRecord {
  return store.trust(unit, store.look(unit).digest)
}

/** Pretends that an hour has passed, so that new files are old. */
export function later<T>(work: () => T): T {
  const now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 3_600_000)
  try {
    return work()
  } finally {
    clock.mockRestore()
  }
}

/** Every path below a folder, relative and sorted. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}
