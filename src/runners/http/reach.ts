// The addresses an HTTP hook may reach: public ones, and others only if the user allowed or wrote them.

import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { HookError } from '../../core/base/errors.js'
import { canonicalHost, type HostRule, hostRules, isAddress, portOf, withoutBrackets } from './allow-lists.js'

// ---- addresses outside the public internet --------------------------------------------------------------------

/** A class of addresses that hooks by other people may not reach. */
export interface AddressClass {
  readonly name: string
  /** Whether an allowed host name may resolve to it. If not, the address itself must be allowed. */
  readonly byName: boolean
}

const LOOPBACK: AddressClass = { name: 'a loopback address', byName: true }
const PRIVATE: AddressClass = { name: 'an address in a private network', byName: true }
const LINK_LOCAL: AddressClass = { name: 'a link-local address', byName: false }
const RESERVED: AddressClass = { name: 'a reserved address', byName: false }
const METADATA: AddressClass = {
  name: 'the address of a metadata service, which hands out credentials',
  byName: false,
}

/** These must be allowed explicitly, even for the user's own hooks, because they serve credentials. */
const ONLY_ALLOWED: ReadonlySet<AddressClass> = new Set([METADATA, LINK_LOCAL])

/** No library knows these, because they are single addresses inside other ranges. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
])

/** Names under which clouds offer their metadata service. */
export const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])

/** Keyed by the library's name of the range. Any other range but `unicast` is reserved. */
const CLASSES: Readonly<Record<string, AddressClass>> = {
  loopback: LOOPBACK,
  unspecified: { name: 'the unspecified address, which means this machine', byName: false },
  linkLocal: LINK_LOCAL,
  private: PRIVATE,
  carrierGradeNat: PRIVATE,
  uniqueLocal: PRIVATE,
  deprecatedSiteLocal: PRIVATE,
  broadcast: { name: 'a broadcast address', byName: false },
  multicast: { name: 'a multicast address', byName: false },
}

type Address = ReturnType<typeof ipaddr.parse>

/** Undefined for a public address. */
export function classOf(text: string): AddressClass | undefined {
  const address = unwrapped(parsed(text))
  if (METADATA_ADDRESSES.has(address.toString())) return METADATA
  const range: string = address.range()
  // Only 2000::/3 of IPv6 is assigned to the internet.
  const isAssigned = address.kind() === 'ipv4' || ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20
  return range === 'unicast' && isAssigned ? undefined : (CLASSES[range] ?? RESERVED)
}

/** `fe80::1%eth0` is read without its zone. */
function parsed(address: string): Address {
  return ipaddr.parse(address.split('%', 1)[0] as string)
}

/** IPv4 inside IPv6 (mapped, NAT64, 6to4) is judged as IPv4. */
function unwrapped(address: Address): Address {
  const bytes = address.toByteArray()
  const from = address.kind() === 'ipv4' ? undefined : EMBEDDED_AT[prefixOf(address)]
  return from === undefined ? address : ipaddr.fromByteArray(bytes.slice(from, from + 4))
}

const EMBEDDED_AT: Readonly<Record<string, number>> = { ipv4Mapped: 12, nat64: 12, '6to4': 2 }

/** The library takes the local NAT64 prefix (64:ff9b:1::/48) for the well-known one, but its addresses are not public. */
function prefixOf(address: Address): string {
  const range: string = address.range()
  return range === 'rfc6052' && address.toByteArray()[5] === 0 ? 'nat64' : range
}

function isInRange(text: string, { range, bits }: Extract<HostRule, { readonly range: string }>): boolean {
  const address = asIpv6(parsed(text))
  const start = ipaddr.parse(range)
  return address.match(asIpv6(start), start.kind() === 'ipv4' ? bits + 96 : bits)
}

/** Puts IPv4 and its mapped spelling into the same ranges. */
function asIpv6(address: Address) {
  return 'octets' in address ? address.toIPv4MappedAddress() : address
}

// ---- whether a hook may reach it ------------------------------------------------------------------------------

/** Judges every address right before it is used. */
export class Reach {
  /** An address without brackets, or a name. */
  readonly host: string
  readonly port: string
  readonly isLiteral: boolean
  readonly #own: boolean
  readonly #rules: readonly HostRule[]

  /** `own`: the hook is in one of the user's own files, so it may name the user's own machine. */
  constructor(url: URL, own: boolean, allowed: readonly string[]) {
    this.host = withoutBrackets(url.hostname)
    this.port = portOf(url)
    this.isLiteral = isAddress(this.host)
    this.#own = own
    this.#rules = hostRules(allowed)
  }

  /** Judges the host before anything is looked up. */
  refusalOfHost(): HookError | undefined {
    if (this.isLiteral) return this.refusalOf(this.host)
    // Drops the dot of the DNS root, which a name may end with.
    if (!METADATA_NAMES.has(this.host.replace(/\.$/, '')) || this.#namesHost()) return undefined
    return this.#refused('it is the name of a metadata service, which hands out credentials')
  }

  refusalOf(address: string): HookError | undefined {
    const found = classOf(address)
    if (!found || this.#mayUse(address, found)) return undefined
    const which = this.isLiteral ? `it is ${found.name}` : `it resolves to ${address}, ${found.name}`
    return this.#refused(which)
  }

  #mayUse(address: string, found: AddressClass): boolean {
    if (this.#own && this.#isMeantAs(found)) return true
    if (this.#namesHost() && (this.isLiteral || found.byName || METADATA_NAMES.has(this.host))) return true
    const plain = address.split('%', 1)[0] as string
    const canonical = canonicalHost(plain.includes(':') ? `[${plain}]` : plain)
    return this.#rules.some((rule) =>
      'host' in rule ? rule.host === canonical && this.#isPort(rule.port) : isInRange(plain, rule),
    )
  }

  /** Whether the URL itself names such an address, rather than whoever controls the host name. */
  #isMeantAs(found: AddressClass): boolean {
    if (ONLY_ALLOWED.has(found)) return false
    return this.isLiteral || (this.host === 'localhost' && found === LOOPBACK)
  }

  #namesHost(): boolean {
    return this.#rules.some((rule) => 'host' in rule && rule.host === this.host && this.#isPort(rule.port))
  }

  #isPort(port: string | undefined): boolean {
    return port === undefined || port === this.port
  }

  #refused(why: string): HookError {
    const host = this.host.includes(':') ? `[${this.host}]` : this.host
    return new HookError('HOOK_REFUSED', `nothing was sent to ${host}:${this.port}: ${why}`, {
      hint: `To allow it, add "${host}:${this.port}" to "allowed_private_hosts" under "hooks" in ~/.amplifier/settings.json. Link-local and metadata addresses must be listed as addresses.`,
    })
  }
}

/** Looks up a name and returns only addresses that may be used. Fails with the reason if none is left. */
export function guardedLookup(reach: Reach): LookupFunction {
  return (hostname, options, callback) => {
    void import('node:dns').then(({ lookup }) =>
      lookup(hostname, { ...options, all: true }, (error, found) => {
        if (error) return callback(error, [])
        const allowed = found.filter(({ address }) => !reach.refusalOf(address))
        const [first] = allowed
        if (!first) return callback((found[0] && reach.refusalOf(found[0].address)) ?? unknown(hostname), [])
        if (options.all) callback(null, allowed)
        else callback(null, first.address, first.family)
      }),
    )
  }
}

function unknown(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
}
