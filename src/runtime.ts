// createHooks(): puts the engine together with what the host gives it.

import { Engine } from './core/engine.js'
import type { Host } from './core/host.js'
import { anything, type Checks, checkOptions, isFunction } from './core/options.js'
import { globalHooks, HookRegistry } from './core/registry.js'
import type { SessionStore } from './core/session-store.js'
import { readSettings, type Settings } from './core/settings.js'
import { Hooks } from './hooks.js'

export interface HooksOptions extends Host {
  /** Under the names of a settings file. */
  readonly settings?: Partial<Settings>
  /** The process-wide hooks; false isolates from them, another registry replaces them. */
  readonly globals?: boolean | HookRegistry
}

const STORE_METHODS = ['load', 'update', 'release', 'keep', 'grants', 'addGrant', 'revokeGrant'] as const

const OPTIONS: Checks<HooksOptions> = {
  approver: [(value) => value === 'deny' || typeof value === 'function', 'a function or "deny"'],
  display: isFunction,
  context: isFunction,
  audit: isFunction,
  admit: isFunction,
  clock: isFunction,
  store: [isStore, `a SessionStore with ${STORE_METHODS.join(', ')}`],
  settings: anything, // readSettings says more about them
  globals: [
    (value) => typeof value === 'boolean' || isGlobal(value),
    "true, false, or a new HookRegistry({ scope: 'global' })",
  ],
}

function isStore(value: unknown): boolean {
  return STORE_METHODS.every((method) => typeof (value as SessionStore | null)?.[method] === 'function')
}

function isGlobal(value: unknown): boolean {
  return value instanceof HookRegistry && value.scope === 'global'
}

/** All options are optional. An unknown one is refused: a misspelt `approver` would otherwise never be asked. */
export async function createHooks(options: HooksOptions = {}): Promise<Hooks> {
  checkOptions('createHooks', options, OPTIONS)
  const { settings, globals = true, ...host } = options
  const registry = typeof globals === 'boolean' ? (globals ? globalHooks : undefined) : globals
  return new Hooks(new Engine(host, readSettings(settings), registry))
}
