// Parts of agents that are loaded late: how to set one up, its own hook files, and how to prove that its hooks hold. They are
// not in the agents' own tables, because a bundler would put all of them into every hook on runHook.

import type { HookFile } from './hook-files/hook-file.js'
import type { Agent } from './host.js'
import type { HostProof } from './host-proof.js'
import type { HostSetup } from './host-setup.js'
import type { AgentName } from './hosts.js'

export interface LateParts {
  /** How to register Carabiner with it. */
  readonly setup?: () => Promise<{ readonly setup: HostSetup }>
  /** Its own hook files, which run here and which `migrate` reads and writes. */
  readonly hooks?: () => Promise<{ readonly hookFile: HookFile }>
  /** How to prove that its hooks hold. Without it, only its documents say so. */
  readonly proof?: () => Promise<{ readonly proof: HostProof }>
}

const PARTS: Readonly<Record<AgentName, LateParts>> = {
  'amazon-q': {
    setup: () => import('./amazon-q/setup.js'),
    hooks: () => import('./amazon-q/hook-file.js'),
  },
  antigravity: {
    setup: () => import('./antigravity/setup.js'),
    hooks: () => import('./antigravity/hook-file.js'),
  },
  'claude-code': {
    setup: () => import('./claude-code/setup.js'),
    proof: () => import('./claude-code/proof.js'),
  },
  'cline-core': {
    setup: () => import('./cline-core/setup.js'),
    proof: () => import('./cline-core/proof.js'),
  },
  cline: {
    setup: () => import('./cline/setup.js'),
    proof: () => import('./cline/proof.js'),
  },
  codex: {
    setup: () => import('./codex/setup.js'),
    hooks: () => import('./codex/hook-file.js'),
    proof: () => import('./codex/proof.js'),
  },
  copilot: {
    setup: () => import('./copilot/setup.js'),
    hooks: () => import('./copilot/hook-file.js'),
    proof: () => import('./copilot/proof.js'),
  },
  crush: {
    setup: () => import('./crush/setup.js'),
    hooks: () => import('./crush/hook-file.js'),
  },
  cursor: {
    setup: () => import('./cursor/setup.js'),
    hooks: () => import('./cursor/hook-file.js'),
  },
  devin: {
    hooks: () => import('./devin/hook-file.js'),
  },
  droid: {
    setup: () => import('./droid/setup.js'),
    hooks: () => import('./droid/hook-file.js'),
  },
  gemini: {
    setup: () => import('./gemini/setup.js'),
    hooks: () => import('./gemini/hook-file.js'),
    proof: () => import('./gemini/proof.js'),
  },
  goose: {
    setup: () => import('./goose/setup.js'),
    hooks: () => import('./goose/hook-file.js'),
  },
  grok: {
    hooks: () => import('./grok/hook-file.js'),
  },
  kimi: {
    setup: () => import('./kimi/setup.js'),
    hooks: () => import('./kimi/hook-file.js'),
    proof: () => import('./kimi/proof.js'),
  },
  kiro: {
    setup: () => import('./kiro/setup.js'),
    hooks: () => import('./kiro/hook-file.js'),
  },
  letta: {
    setup: () => import('./letta/setup.js'),
    hooks: () => import('./letta/hook-file.js'),
    proof: () => import('./letta/proof.js'),
  },
  opencode: {
    setup: () => import('./opencode/setup.js'),
    proof: () => import('./opencode/proof.js'),
  },
  openhands: {
    setup: () => import('./openhands/setup.js'),
    hooks: () => import('./openhands/hook-file.js'),
  },
  pi: {
    setup: () => import('./pi/setup.js'),
    proof: () => import('./pi/proof.js'),
  },
  qwen: {
    setup: () => import('./qwen/setup.js'),
    hooks: () => import('./qwen/hook-file.js'),
    proof: () => import('./qwen/proof.js'),
  },
  vscode: {
    setup: () => import('./vscode/setup.js'),
  },
  windsurf: {
    setup: () => import('./windsurf/setup.js'),
    hooks: () => import('./windsurf/hook-file.js'),
  },
}

export function partsOf({ name }: Agent): LateParts {
  return Object.hasOwn(PARTS, name) ? PARTS[name as AgentName] : {}
}
