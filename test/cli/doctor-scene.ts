// A project and a home of a test's own, and what doctor finds in them.

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { examine } from '../../src/cli/doctor/examine.js'
import { type Facts, gather } from '../../src/cli/doctor/facts.js'
import type { Family, Finding } from '../../src/cli/doctor/finding.js'
import { removeAll } from '../trust/hostile-project.js'

/** As the environment of a newcomer is. */
const UNSET = [
  'CARABINER_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'CARABINER_OFF',
  'CARABINER_PRE_TRUSTED',
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_PROJECT_DIR',
  'NODE_EXTRA_CA_CERTS',
]

export const SCRIPT = '#!/bin/sh\nexit 0\n'

const SOURCES = { plugin: [], config: [], 'pre-trusted': undefined, 'trust-all': false }

export class Scene {
  base = ''
  folder = ''
  home = ''

  /** Call once at the top of a file of tests. */
  constructor() {
    beforeEach(() => this.#begin())
    afterEach(() => {
      vi.unstubAllEnvs()
      removeAll(this.base)
    })
  }

  #begin(): void {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-doctor-')))
    this.folder = join(this.base, 'project')
    this.home = join(this.base, 'home')
    mkdirSync(this.folder)
    mkdirSync(this.home)
    vi.stubEnv('HOME', this.home)
    for (const name of UNSET) vi.stubEnv(name, undefined)
    // Else doctor looks for a compiler.
    vi.stubEnv('CARABINER_SERVICE', 'off')
    expect(homedir()).toBe(this.home)
  }

  /** Below the project; returns its path. */
  write(name: string, content: string | object, mode = 0o644): string {
    const path = name.startsWith('/') ? name : join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    chmodSync(path, mode)
    return path
  }

  /** Below the home. */
  writeHome(name: string, content: string | object, mode?: number): string {
    return this.write(join(this.home, name), content, mode)
  }

  /** Hooks of the user: nothing about trust comes between. */
  ofUser(...args: Parameters<typeof configured>): string {
    return this.writeHome('.amplifier/hooks/hooks.json', configured(...args))
  }

  ofProject(...args: Parameters<typeof configured>): string {
    return this.write('.amplifier/hooks/hooks.json', configured(...args))
  }

  facts(more: { readonly config?: readonly string[]; readonly 'trust-all'?: boolean } = {}): Promise<Facts> {
    return gather({ ...SOURCES, ...more, project: this.folder })
  }

  async families(): Promise<readonly Family[]> {
    return examine(await this.facts())
  }

  async findings(...args: Parameters<Scene['facts']>): Promise<readonly Finding[]> {
    return (await examine(await this.facts(...args))).flatMap((family) => family.findings)
  }

  async codes(): Promise<readonly string[]> {
    return (await this.findings()).map(({ severity, code }) => `${severity} ${code}`)
  }

  /** The only one there is. */
  async only(code: string): Promise<Finding> {
    const found = await this.findings()
    expect(found.map((one) => one.code)).toEqual([code])
    return found[0] as Finding
  }
}

/** What a file of hooks has, for handlers or commands of one event. */
export function configured(
  handlers: readonly (object | string)[],
  event = 'PreToolUse',
  matcher = 'Bash',
): object {
  const hooks = handlers.map((one) => (typeof one === 'string' ? { type: 'command', command: one } : one))
  return { hooks: { [event]: [{ matcher, hooks }] } }
}
