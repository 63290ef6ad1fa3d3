// Kind `http`: the fields of an entry.

import type { Check } from '../../core/base/options.js'
import { withoutSecrets } from '../../core/base/secrets.js'
import type { HookSpec } from '../hook-spec.js'
import { isArgs, isTextMap, type Kind, STATUS_MESSAGE } from '../kind.js'
import type { HttpHandler } from './http-hook.js'

const isUrl: Check = [
  (value) =>
    typeof value === 'string' && /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ''),
  'a URL that begins with http:// or https://',
]

export const HTTP: Kind<HookSpec<HttpHandler>> = {
  summary: 'Asks a server.',
  fields: {
    url: [isUrl, 'The address that the event is sent to, as JSON by POST.'],
    headers: [isTextMap, 'Request headers. $NAME in a value is a variable that "allowedEnvVars" lists.'],
    allowedEnvVars: [isArgs, 'Environment variables that headers may use.'],
    statusMessage: STATUS_MESSAGE,
  },
  required: ['url'],
  target: ({ url }) => url,
  listed: ({ url }) => withoutSecrets(url),
  async load({ settings }) {
    const { httpHook } = await import('./http-hook.js')
    return { hooks: (spec, surroundings) => [httpHook(spec, surroundings, settings)] }
  },
}
