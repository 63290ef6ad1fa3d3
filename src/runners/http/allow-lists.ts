// The user's lists of what HTTP hooks may reach: `allowed_http_urls` and `allowed_private_hosts`.

import { fits, type Pieces, piecesOf } from '../../effects/shell/patterns.js'

// ---- allowed_http_urls ----------------------------------------------------------------------------------------

/** What a pattern requires of each part. Undefined: anything matches. */
interface UrlPattern {
  readonly protocol: string | undefined
  /** `*.example.com` is the suffix `.example.com`. */
  readonly host: { readonly exact: string } | { readonly suffix: string } | undefined
  readonly port: string | undefined
  readonly path: Pieces | undefined
}

/** Scheme, host, port and the rest. No character of a host could be mistaken for the start of another part. */
const PARTS = /^(https?|\*):\/\/(\[[0-9a-f:.]+\]|[^/?#@:\\[\]\s]+)(?::(\d{1,5}|\*))?([/?][^#\\]*)?$/i

/** Why a text is not a valid pattern. Undefined if it is. */
export function urlPatternProblem(pattern: string): string | undefined {
  const read = readPattern(pattern)
  return typeof read === 'string' ? read : undefined
}

/** Whether one of the patterns matches the URL. An invalid pattern matches nothing, null matches every URL. */
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

const readPatterns = new WeakMap<readonly string[], readonly UrlPattern[]>()

/** Reads each list only once, because this runs for every event. */
function patternsOf(list: readonly string[]): readonly UrlPattern[] {
  const known = readPatterns.get(list)
  if (known) return known
  const patterns = list.map(readPattern).filter((one) => typeof one !== 'string')
  readPatterns.set(list, patterns)
  return patterns
}

function readPattern(text: string): UrlPattern | string {
  if (text === '*') return { protocol: undefined, host: undefined, port: undefined, path: undefined }
  const [, scheme, host = '', port, rest] = PARTS.exec(text) ?? []
  if (scheme === undefined) return 'it is not a URL pattern such as "https://hooks.example.com/*"'
  const any = host === '*'
  const suffix = host.startsWith('*.')
  if (!any && host.slice(suffix ? 2 : 0).includes('*')) {
    return 'the host may only be "*" or begin with "*.", as in "*.example.com"; anywhere else, "*" would also match other people\'s hosts'
  }
  // The URL parser normalises it like any URL: lower case, no dot segments, percent-encoding.
  const plain = `http://${any ? 'any' : host.slice(suffix ? 2 : 0)}${rest ?? '/'}`
  if (!URL.canParse(plain)) return 'its host is not valid'
  const { hostname, pathname, search } = new URL(plain)
  const protocol = scheme === '*' ? undefined : `${scheme.toLowerCase()}:`
  return {
    protocol,
    host: any ? undefined : suffix ? { suffix: `.${hostname}` } : { exact: hostname },
    port: wantedPort(port, protocol, any),
    path: any && rest === undefined ? undefined : piecesOf(`${pathname}${search}`),
  }
}

/** A pattern without a port means the default port. */
function wantedPort(
  port: string | undefined,
  protocol: string | undefined,
  any: boolean,
): string | undefined {
  if (port === '*' || (port === undefined && any)) return undefined
  return port === undefined ? DEFAULT_PORTS[protocol ?? 'https:'] : `${Number(port)}`
}

// ---- allowed_private_hosts ------------------------------------------------------------------------------------

export type HostRule =
  /** A name, or an address without brackets. No port means every port. */
  | { readonly host: string; readonly port: string | undefined }
  | { readonly range: string; readonly bits: number }

/** Why an entry is not valid. Undefined if it is. */
export function privateHostProblem(entry: string): string | undefined {
  return readHost(entry) ? undefined : 'it must be a host, "host:port" or a range such as "10.0.0.0/8"'
}

const readRules = new WeakMap<readonly string[], readonly HostRule[]>()

/** Reads each list only once, because this runs for every event. An invalid entry allows nothing. */
export function hostRules(list: readonly string[]): readonly HostRule[] {
  const known = readRules.get(list)
  if (known) return known
  const rules = list.map(readHost).filter((rule) => rule !== undefined)
  readRules.set(list, rules)
  return rules
}

function readHost(entry: string): HostRule | undefined {
  const range = /^([0-9a-f:.]+)\/(\d{1,3})$/i.exec(entry)
  if (range) return readRange(range[1] as string, Number(range[2]))
  if (entry.includes(':') && isAddress(canonicalHost(`[${entry}]`))) return rule(`[${entry}]`, undefined)
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^\s/?#@:\\[\]*]+)(?::(\d{1,5}))?$/i.exec(entry) ?? []
  return host === undefined ? undefined : rule(host, port)
}

function rule(host: string, port: string | undefined): HostRule | undefined {
  const canonical = canonicalHost(host)
  return canonical === undefined ? undefined : { host: canonical, port: port && `${Number(port)}` }
}

/** The range must be written in full, because `10/8` would be read as 0.0.0.10. */
function readRange(text: string, bits: number): HostRule | undefined {
  const family = text.includes(':') ? 'ipv6' : 'ipv4'
  const range = canonicalHost(family === 'ipv6' ? `[${text}]` : text)
  if (!isAddress(range) || bits > (family === 'ipv6' ? 128 : 32)) return undefined
  return family === 'ipv4' && range !== text ? undefined : { range, bits }
}

/** The URL parser's spelling without brackets, which is unique for each address and name. */
export function canonicalHost(host: string): string | undefined {
  const url = `http://${host}/`
  return URL.canParse(url) ? withoutBrackets(new URL(url).hostname) : undefined
}

export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** Expects a canonical host. The URL parser refuses names that end with a number. */
export function isAddress(host: string | undefined): host is string {
  return host !== undefined && (host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host))
}
