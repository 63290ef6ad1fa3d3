// The user's settings for a server, made ready for use. Secrets in them are registered as secrets.

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { HookError } from '../../core/base/errors.js'
import { keepSecret, secretsIn } from '../../core/base/secrets.js'
import { withoutProject } from '../../shell/own-environment.js'
import { basicCredentials } from '../http/request-headers.js'
import type { Launch } from '../process/launch.js'

/** One entry of `mcp_servers` in the user's settings: a program, or an address. No project may set it. */
export type McpServerSettings = StdioSettings | HttpSettings

export interface StdioSettings {
  readonly command: string
  readonly args?: readonly string[]
  /** Added to the few variables that a program needs to start. `${NAME}` is a variable of our environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Relative to the user's home folder, which is the default. In a project, its files could become the server's. */
  readonly cwd?: string
}

export interface HttpSettings {
  readonly url: string
  /** `${NAME}` is a variable of our environment. */
  readonly headers?: Readonly<Record<string, string>>
}

/** `inherited`: names of variables that the server gets. Throws HOOK_NOT_STARTED for a variable that is not set. */
export function launchFrom(
  { command, args = [], env = {}, cwd = '.' }: StdioSettings,
  inherited: readonly string[],
): Launch {
  const own = expanded(env, 'env')
  keepSecret(secretsIn(own))
  const ofUser = Object.entries(withoutProject()).filter(([name]) => inherited.includes(name))
  const all = { ...Object.fromEntries(ofUser), ...own }
  return { file: command, args, cwd: resolve(homedir(), cwd), env: all }
}

/** Name and password of the address become a header. */
export function addressFrom({ url, headers = {} }: HttpSettings): {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
} {
  const address = parsedUrl(url)
  const authorization = basicCredentials(address)
  const sent = { ...(authorization !== undefined && { authorization }), ...expanded(headers, 'headers') }
  // The part after the scheme is secret, too.
  keepSecret(Object.values(sent).flatMap((value) => [value, value.replace(/^\S+\s+/, '')]))
  address.username = ''
  address.password = ''
  return { url: address, headers: sent }
}

function parsedUrl(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address && /^https?:$/.test(address.protocol)) return address
  throw new HookError('HOOK_NOT_STARTED', 'its "url" in the settings is no address with http:// or https://')
}

function expanded(texts: Readonly<Record<string, string>>, where: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, withVariables(text, `${where}.${key}`)]),
  )
}

function withVariables(text: string, where: string): string {
  return text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
    const value = withoutProject()[name]
    if (value !== undefined) return value
    throw new HookError(
      'HOOK_NOT_STARTED',
      `its "${where}" in the settings names \${${name}}, which is not set`,
      {
        hint: `Set the environment variable ${name}.`,
      },
    )
  })
}
