// Request failures in words: what happened, and what to do.

import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { plainText } from '../../core/base/text.js'

interface Words {
  readonly text: string
  readonly hint?: string
}

const CERTIFICATE_UNKNOWN: Words = {
  text: 'its certificate is not signed by a known authority',
  hint: 'If the authority is your own, set NODE_EXTRA_CA_CERTS=/path/to/ca.pem in the environment that starts the agent.',
}

const NO_ROUTE: Words = {
  text: 'there is no route to it',
  hint: 'Check the network and the address; proxies (HTTP_PROXY) are not used.',
}

/** Keyed by error code. */
const WORDS: Readonly<Record<string, Words>> = {
  ECONNREFUSED: {
    text: 'no server is listening there',
    hint: 'Start the server, or fix the port in its URL.',
  },
  ENOTFOUND: { text: 'its host name was not found', hint: 'Fix the host in its URL.' },
  EAI_AGAIN: { text: 'its host name could not be looked up', hint: 'Check the network and its name server.' },
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ETIMEDOUT: NO_ROUTE,
  ECONNRESET: {
    text: 'it closed the connection before it answered',
    hint: 'Check the log of the server.',
  },
  EPIPE: {
    text: 'it closed the connection before it had read the request',
    hint: 'Check the log of the server.',
  },
  HPE_HEADER_OVERFLOW: {
    text: 'the headers of its answer are larger than 64 KiB',
    hint: 'Send fewer headers and cookies.',
  },
  CERT_HAS_EXPIRED: { text: 'its certificate has expired', hint: 'Renew the certificate of the server.' },
  CERT_NOT_YET_VALID: {
    text: 'its certificate is not valid yet',
    hint: 'Check the clocks of both machines.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    text: 'its certificate is for another host',
    hint: 'Use the host in the URL that the certificate names.',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE_UNKNOWN,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE_UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT: CERTIFICATE_UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE_UNKNOWN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE_UNKNOWN,
}

const NO_HTTP: Words = {
  text: 'it does not speak HTTP',
  hint: 'Check the port, and whether the URL should begin with https://.',
}
const NO_TLS: Words = {
  text: 'the TLS connection failed',
  hint: 'Check the port, and whether the URL should begin with http://.',
}

/** Turns whatever went wrong into HOOK_FAILED. `host` has no credentials, path or query: they may be secrets. */
export function requestFailure(error: unknown, host: string): HookError {
  if (isHookError(error)) return error
  const code = codeOf(error)
  const words = WORDS[code] ?? (code.startsWith('HPE_') ? NO_HTTP : isTls(code) ? NO_TLS : undefined)
  const text = words ? `${words.text} (${code})` : plainText(textOf(error))
  return new HookError('HOOK_FAILED', `${host}: ${text}`, {
    cause: error,
    hint: words?.hint ?? 'Check the log of the server. The original error is the cause of this one.',
  })
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}

function isTls(code: string): boolean {
  return code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')
}

/** The server's answer cannot be used. */
export function badReply(text: string, hint?: string): HookError {
  return new HookError('HOOK_FAILED', text, {
    hint: hint ?? 'The server must answer with a status of 200 to 299, and a JSON object or an empty body.',
  })
}
