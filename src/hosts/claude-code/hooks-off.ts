// Settings of Claude Code that keep it from running registered hooks: all of them, or all but the company's.

import { join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { ifThere } from '../../files/if-there.js'
import { JsonText, under } from '../../files/json-text.js'
import { readPlain } from '../../files/plain-file.js'
import { managedSettings } from '../../files/project-env.js'
import { realOf } from '../../files/within.js'
import { userSettingsFolder } from './user-folder.js'

export interface HooksOff {
  /** Absent if an environment variable does it. */
  readonly file?: string
  readonly line?: number
  /** One sentence, without the file. */
  readonly text: string
  readonly fix: string
}

export interface SettingsPlaces {
  readonly home: string
  readonly project: string
  readonly env: NodeJS.ProcessEnv
  /** The company's file. Default: the one of this system. */
  readonly managed?: string | undefined
}

/** Undefined if Claude Code runs the hooks of its settings files in this project. */
export function hooksOff(places: SettingsPlaces): HooksOff | undefined {
  const { home, project, env, managed = managedSettings() } = places
  const user = join(userSettingsFolder(home, env), 'settings.json')
  const [shared = '', local = ''] = ['settings.json', 'settings.local.json'].map((name) =>
    join(project, '.claude', name),
  )
  const company = managed === undefined ? undefined : settingsIn(managed)
  // The first file that has the setting decides.
  const files = [company, ...[local, shared, user].map(settingsIn)].filter((one) => one !== undefined)
  const deciding = files.find(({ values }) => typeof values.disableAllHooks === 'boolean')
  return (
    (company && managedOnly(company)) ??
    (deciding?.values.disableAllHooks === true
      ? disabledBy(deciding, { isUsers: deciding.file === realOf(user), isManaged: deciding === company })
      : undefined) ??
    withoutHooks(env)
  )
}

interface SettingsValues {
  readonly file: string
  readonly text: string
  readonly values: Readonly<Record<string, unknown>>
}

const MOST_BYTES = 4 * 1024 * 1024

/** Undefined if Claude Code has no such file, or cannot read it: then nothing in it counts. */
function settingsIn(path: string): SettingsValues | undefined {
  const file = realOf(path)
  try {
    const found = ifThere(() => readPlain(file, MOST_BYTES))
    if (!found || 'problem' in found) return undefined
    const values: unknown = JSON.parse(found.text.replace(/^\uFEFF/, ''))
    return isObject(values) ? { file, text: found.text, values } : undefined
  } catch {
    return undefined
  }
}

function managedOnly(settings: SettingsValues): HooksOff | undefined {
  const { allowManagedHooksOnly: only, strictPluginOnlyCustomization: strict } = settings.values
  const key =
    only === true
      ? 'allowManagedHooksOnly'
      : strict === true || (Array.isArray(strict) && strict.includes('hooks'))
        ? 'strictPluginOnlyCustomization'
        : undefined
  if (key === undefined) return undefined
  return {
    ...placeIn(settings, key),
    text: `"${key}" is set for this computer, so Claude Code runs no hook of your settings or a project's`,
    fix: 'Ask the administrator of this computer to register the hooks in that file.',
  }
}

function disabledBy(
  settings: SettingsValues,
  { isUsers, isManaged }: { readonly isUsers: boolean; readonly isManaged: boolean },
): HooksOff {
  return {
    ...placeIn(settings, 'disableAllHooks'),
    text: `"disableAllHooks" is true, so Claude Code runs no hook ${isUsers || isManaged ? 'at all' : 'in this project'}`,
    fix: isManaged
      ? 'Ask the administrator of this computer to remove "disableAllHooks" from that file.'
      : 'Remove "disableAllHooks" from that file, and restart Claude Code.',
  }
}

function placeIn({ file, text }: SettingsValues, key: string): Pick<HooksOff, 'file' | 'line'> {
  return { file, line: new JsonText(text).lineOf(under(null, key)) }
}

/** Claude Code's minimal mode. */
function withoutHooks({ CLAUDE_CODE_SIMPLE: value }: NodeJS.ProcessEnv): HooksOff | undefined {
  if (value === undefined || !/^(?:1|true|yes|on)$/i.test(value)) return undefined
  return {
    text: 'CLAUDE_CODE_SIMPLE is set here, so Claude Code runs no hook if you start it from this shell',
    fix: 'unset CLAUDE_CODE_SIMPLE',
  }
}
