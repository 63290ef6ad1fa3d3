// The user's settings for a server, resolved for use, and the secrets in them.

import { resolve } from 'node:path'
import { callerNow } from '../../core/base/caller.js'
import { HookError } from '../../core/base/errors.js'
import { secretsIn } from '../../core/base/secrets.js'
import { loadsCode } from '../../effects/shell/loading-variables.js'
import { withoutProject } from '../../effects/shell/own-environment.js'
import { callerEnv } from '../../files/caller.js'
import { sharedEnv, userHome } from '../../files/homes.js'
import { basicCredentials } from '../http/request-headers.js'
import type { Launch } from '../process/launch.js'

/** One entry of `mcp_servers` in the user's settings: a program or a URL. A project cannot set it. */
export type McpServerSettings = StdioSettings | HttpSettings

export interface StdioSettings {
  readonly command: string
  readonly args?: readonly string[]
  /** Added to the few variables that a program needs to start. `${NAME}` is one of our environment variables. */
  readonly env?: Readonly<Record<string, string>>
  /** Relative to the user's home folder, which is the default. In a project, the server could load the project's files. */
  readonly cwd?: string
}

export interface HttpSettings {
  readonly url: string
  /** `${NAME}` is one of our environment variables. */
  readonly headers?: Readonly<Record<string, string>>
}

/** `inherited`: names of variables that the server inherits. Throws HOOK_NOT_STARTED if a variable is not set. */
export function launchFrom(
  { command, args = [], env = {}, cwd = '.' }: StdioSettings,
  inherited: readonly string[],
): Launch {
  const own = expanded(env, 'env')
  // A server may serve several callers, so it inherits from the process that starts it.
  const ofUser = Object.entries(withoutProject(undefined, sharedEnv())).filter(([name]) =>
    inherited.includes(name),
  )
  const all = { ...Object.fromEntries(ofUser), ...own }
  return { file: command, args, cwd: folderOf({ cwd }), env: all }
}

/** Where its program runs. */
export function folderOf({ cwd = '.' }: Pick<StdioSettings, 'cwd'>): string {
  return resolve(userHome(), cwd)
}

/** A user name and password in the URL become a header. */
export function addressFrom({ url, headers = {} }: HttpSettings): {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
} {
  const address = parsedUrl(url)
  const authorization = basicCredentials(address)
  const sent = { ...(authorization !== undefined && { authorization }), ...expanded(headers, 'headers') }
  address.username = ''
  address.password = ''
  return { url: address, headers: sent }
}

/** Of a server with these settings. None if it cannot be started anyway. */
export function secretsOf(settings: McpServerSettings): readonly string[] {
  try {
    if ('command' in settings) return secretsIn(expanded(settings.env ?? {}, 'env'))
    // The part after the scheme is secret too.
    return Object.values(addressFrom(settings).headers).flatMap((value) => [
      value,
      value.replace(/^\S+\s+/, ''),
    ])
  } catch {
    return []
  }
}

/** The settings that may name variables, with their values. Unset ones are left as written: starting the server will fail. */
export function variableTerms(settings: McpServerSettings): Partial<StdioSettings & HttpSettings> {
  try {
    if ('command' in settings) return { env: expanded(settings.env ?? {}, 'env') }
    return { headers: expanded(settings.headers ?? {}, 'headers') }
  } catch {
    return {}
  }
}

function parsedUrl(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address && /^https?:$/.test(address.protocol)) return address
  throw new HookError('HOOK_NOT_STARTED', 'its "url" in the settings does not begin with http:// or https://')
}

function expanded(
  texts: Readonly<Record<string, string>>,
  where: 'env' | 'headers',
): Readonly<Record<string, string>> {
  const all = Object.entries(texts).map(([key, text]) => {
    // A service starts the program outside the sandbox of its caller, so the caller must not choose which code runs.
    const isShared = where === 'env' && loadsCode(key) && callerNow() !== undefined
    return [key, withVariables(text, `${where}.${key}`, isShared)]
  })
  return Object.fromEntries(all)
}

function withVariables(text: string, where: string, isShared: boolean): string {
  return text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
    const value = withoutProject(undefined, isShared ? sharedEnv() : callerEnv())[name]
    if (value !== undefined) return value
    const unset = `its "${where}" in the settings names \${${name}}, which is not set`
    throw isShared
      ? new HookError('HOOK_NOT_STARTED', `${unset} in the service`, {
          hint: `Write the value itself into "${where}", because it decides which code the server loads.`,
        })
      : new HookError('HOOK_NOT_STARTED', unset, { hint: `Set the environment variable ${name}.` })
  })
}
