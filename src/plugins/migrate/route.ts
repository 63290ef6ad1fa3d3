// Which file becomes which: where each side keeps its hooks, for a project and for the user.

import { join } from 'node:path'
import type { HookDocument } from '../../config/hook-document.js'
import { userHome } from '../../files/homes.js'
import { projectSettings, userSettings } from '../../hosts/claude-code/setup.js'
import type { SettingsPlace } from '../../hosts/settings-file.js'

export const DIRECTIONS = ['carabiner', 'claude-code'] as const

/** Where hooks are to go. */
export type Direction = (typeof DIRECTIONS)[number]

export interface Leg {
  readonly from: SettingsPlace
  /** As what it is read. */
  readonly role: HookDocument['role']
  readonly to: SettingsPlace
  /** Of one person in this project, and not to be shared with it. */
  readonly isPrivate: boolean
}

export interface Route {
  readonly direction: Direction
  readonly legs: readonly Leg[]
  /** Claude Code's settings, by which all who change any of these files wait for each other. */
  readonly claude: SettingsPlace
  /** Below it lies `.amplifier`. */
  readonly base: string
  /** As a command that Claude Code runs finds it. */
  readonly hooksDir: string
}

/** A plugin of the project that holds what is not shared: it brings its own .gitignore. */
const PRIVATE_PLUGIN = 'local'

/** Of the user where no project is given. */
export function routeOf(direction: Direction, projectDir: string | undefined): Route {
  const base = projectDir ?? userHome()
  const claude = projectDir === undefined ? userSettings() : projectSettings(projectDir)
  const own = (...names: string[]): SettingsPlace => ({
    path: join(base, '.amplifier', ...names),
    within: [base],
  })
  const root = own('hooks', 'hooks.json')
  const shared = { isPrivate: false }
  const hooksDir = `\${${projectDir === undefined ? 'HOME' : 'CLAUDE_PROJECT_DIR'}}/.amplifier/hooks`
  const privately = projectDir === undefined ? [] : [privateLeg(direction, projectDir, own)]
  const legs: readonly Leg[] =
    direction === 'carabiner'
      ? [{ from: claude, role: 'explicit', to: root, ...shared }, ...privately]
      : [
          { from: root, role: 'root', to: claude, ...shared },
          { from: own('settings.json'), role: 'settings', to: claude, ...shared },
          ...privately,
        ]
  return { direction, legs, claude, base, hooksDir }
}

function privateLeg(
  direction: Direction,
  projectDir: string,
  own: (...names: string[]) => SettingsPlace,
): Leg {
  const theirs = { path: join(projectDir, '.claude', 'settings.local.json'), within: [projectDir] }
  const ours = own('hooks', PRIVATE_PLUGIN, 'hooks.json')
  return direction === 'carabiner'
    ? { from: theirs, role: 'explicit', to: ours, isPrivate: true }
    : { from: ours, role: 'plugin', to: theirs, isPrivate: true }
}
