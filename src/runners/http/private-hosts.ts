// `allowed_private_hosts`: entries that name a host, a host with a port, or a range of addresses.

export type HostRule =
  /** Without brackets; a name or an address. Without a port every port. */
  | { readonly host: string; readonly port: string | undefined }
  | { readonly range: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' }

/** Why an entry is none; undefined where it is one. */
export function privateHostProblem(entry: string): string | undefined {
  return readHost(entry) ? undefined : 'it is no host, no "host:port" and no range such as "10.0.0.0/8"'
}

const read = new WeakMap<readonly string[], readonly HostRule[]>()

/** A list is read once: every event asks. An entry that is none allows nothing. */
export function hostRules(list: readonly string[]): readonly HostRule[] {
  const known = read.get(list)
  if (known) return known
  const rules = list.map(readHost).filter((rule) => rule !== undefined)
  read.set(list, rules)
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

/** Written in full: `10/8` would be read as 0.0.0.10. */
function readRange(text: string, bits: number): HostRule | undefined {
  const family = text.includes(':') ? 'ipv6' : 'ipv4'
  const range = canonicalHost(family === 'ipv6' ? `[${text}]` : text)
  if (!isAddress(range) || bits > (family === 'ipv6' ? 128 : 32)) return undefined
  return family === 'ipv4' && range !== text ? undefined : { range, bits, family }
}

/** As the parser of URLs writes it, without brackets: one spelling for each address and name. */
export function canonicalHost(host: string): string | undefined {
  const url = `http://${host}/`
  return URL.canParse(url) ? withoutBrackets(new URL(url).hostname) : undefined
}

export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** Of a canonical host: one that ends with a number is an address, or is refused by the parser. */
export function isAddress(host: string | undefined): host is string {
  return host !== undefined && (host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host))
}
