// `allowed_http_urls`: patterns with `*` that the URL of a hook must fit. Parts are compared with parts, so that no star reaches into another.

import { fits, type Pieces, piecesOf } from '../../shell/wildcard.js'

/** What a pattern says of each part; undefined where anything goes. */
interface UrlPattern {
  readonly protocol: string | undefined
  /** `.example.com` for `*.example.com`: whatever ends with it. */
  readonly host: { readonly exact: string } | { readonly suffix: string } | undefined
  readonly port: string | undefined
  readonly path: Pieces | undefined
}

/** Scheme, host, port and the rest; a host has no part that could be mistaken for another one. */
const PARTS = /^(https?|\*):\/\/(\[[0-9a-f:.]+\]|[^/?#@:\\[\]\s]+)(?::(\d{1,5}|\*))?([/?][^#\\]*)?$/i

/** Why a pattern is none; undefined where it is one. */
export function urlPatternProblem(pattern: string): string | undefined {
  const read = readPattern(pattern)
  return typeof read === 'string' ? read : undefined
}

/** Whether one of the patterns takes the URL; one that is no pattern takes nothing. Null takes every URL. */
export function isAllowedUrl(url: URL, patterns: readonly string[] | null): boolean {
  return patterns === null || patternsOf(patterns).some((pattern) => takes(pattern, url))
}

function takes({ protocol, host, port, path }: UrlPattern, url: URL): boolean {
  if (protocol !== undefined && url.protocol !== protocol) return false
  if (host && !('exact' in host ? url.hostname === host.exact : url.hostname.endsWith(host.suffix)))
    return false
  if (port !== undefined && portOf(url) !== port) return false
  return path === undefined || fits(path, `${url.pathname}${url.search}`)
}

export function portOf({ port, protocol }: URL): string {
  return port || DEFAULT_PORTS[protocol] || ''
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

const read = new WeakMap<readonly string[], readonly UrlPattern[]>()

/** A list is read once: every event asks. */
function patternsOf(list: readonly string[]): readonly UrlPattern[] {
  const known = read.get(list)
  if (known) return known
  const patterns = list.map(readPattern).filter((one) => typeof one !== 'string')
  read.set(list, patterns)
  return patterns
}

function readPattern(text: string): UrlPattern | string {
  if (text === '*') return { protocol: undefined, host: undefined, port: undefined, path: undefined }
  const [, scheme, host = '', port, rest] = PARTS.exec(text) ?? []
  if (scheme === undefined) return 'it is no URL with "*" in it, such as "https://hooks.example.com/*"'
  const any = host === '*'
  const suffix = host.startsWith('*.')
  if (!any && host.slice(suffix ? 2 : 0).includes('*')) {
    return 'in the host "*" stands for all of it, or before a dot: "*.example.com"; elsewhere it would let in hosts of others'
  }
  // Read as a URL is: in lower case, without dots that lead upward, and with what must be encoded encoded.
  const plain = `http://${any ? 'any' : host.slice(suffix ? 2 : 0)}${rest ?? '/'}`
  if (!URL.canParse(plain)) return 'its host is none'
  const { hostname, pathname, search } = new URL(plain)
  const protocol = scheme === '*' ? undefined : `${scheme.toLowerCase()}:`
  return {
    protocol,
    host: any ? undefined : suffix ? { suffix: `.${hostname}` } : { exact: hostname },
    port: wantedPort(port, protocol, any),
    path: any && rest === undefined ? undefined : piecesOf(`${pathname}${search}`),
  }
}

/** Without one a pattern means the port that the URL need not name. */
function wantedPort(
  port: string | undefined,
  protocol: string | undefined,
  any: boolean,
): string | undefined {
  if (port === '*' || (port === undefined && any)) return undefined
  return port === undefined ? DEFAULT_PORTS[protocol ?? 'https:'] : `${Number(port)}`
}
