// Which addresses are not of the public internet, in every spelling that leads to them.

import type { BlockList } from 'node:net'

/** A class of addresses that others may not send a hook to. */
export interface AddressClass {
  /** For people. */
  readonly name: string
  /** A name that the user allowed may lead there; all others must be allowed as addresses. */
  readonly byName: boolean
  readonly ranges: readonly string[]
}

export const LOOPBACK: AddressClass = {
  name: 'a loopback address',
  byName: true,
  ranges: ['127.0.0.0/8', '::1/128'],
}

const METADATA: AddressClass = {
  name: 'the address of a metadata service, which hands out credentials',
  byName: false,
  ranges: [
    '169.254.169.254/32',
    '169.254.170.2/32',
    '169.254.170.23/32',
    '100.100.100.200/32',
    '168.63.129.16/32',
    'fd00:ec2::254/128',
    'fd00:ec2::23/128',
    'fd20:ce::254/128',
  ],
}

const LINK_LOCAL: AddressClass = {
  name: 'a link-local address',
  byName: false,
  ranges: ['169.254.0.0/16', 'fe80::/10'],
}

/** Nobody means these by accident, and much is to be had there: they must be allowed, whoever names them. */
export const ONLY_ALLOWED: ReadonlySet<AddressClass> = new Set([METADATA, LINK_LOCAL])

const RESERVED: AddressClass = {
  name: 'a reserved address',
  byName: false,
  ranges: [
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    '2001::/23', // Teredo with it
    '2001:db8::/32',
    '3fff::/20',
  ],
}

/** The first that holds an address is its class. */
const CLASSES: readonly AddressClass[] = [
  METADATA,
  LOOPBACK,
  {
    name: 'the unspecified address, which is this machine',
    byName: false,
    ranges: ['0.0.0.0/8', '::/128'],
  },
  LINK_LOCAL,
  {
    name: 'an address of a private network',
    byName: true,
    ranges: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10'],
  },
  { name: 'a broadcast address', byName: false, ranges: ['255.255.255.255/32'] },
  { name: 'a multicast address', byName: false, ranges: ['224.0.0.0/4', 'ff00::/8'] },
  RESERVED,
]

/** Of IPv6 only these are the internet: what is assigned, NAT64, and IPv4 as it is written in IPv6. */
const PUBLIC_IPV6 = ['2000::/3', '64:ff9b::/96', '::ffff:0:0/96']

/** Names under which clouds offer their metadata service. */
export const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])

/** So many answers are remembered; most hooks go to one address. */
const MOST_KNOWN = 256

export class Addresses {
  readonly #newList: () => BlockList
  readonly #classes: readonly (readonly [AddressClass, BlockList])[]
  readonly #publicIpv6: BlockList
  readonly #known = new Map<string, AddressClass | undefined>()

  constructor(newList: () => BlockList) {
    this.#newList = newList
    this.#classes = CLASSES.map((one) => [one, this.list(one.ranges.flatMap(spellings))])
    this.#publicIpv6 = this.list(PUBLIC_IPV6)
  }

  list(ranges: readonly string[]): BlockList {
    const list = this.#newList()
    for (const range of ranges) {
      const [address, bits] = range.split('/') as [string, string]
      list.addSubnet(address, Number(bits), familyOf(address))
    }
    return list
  }

  /** Undefined for an address of the internet. */
  classOf(address: string): AddressClass | undefined {
    if (this.#known.has(address)) return this.#known.get(address)
    const found = this.#find(withoutZone(address))
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(address, found)
    return found
  }

  #find(address: string): AddressClass | undefined {
    const family = familyOf(address)
    const found = this.#classes.find(([, list]) => list.check(address, family))
    if (found) return found[0]
    return family === 'ipv6' && !this.#publicIpv6.check(address, family) ? RESERVED : undefined
  }
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** `fe80::1%eth0` */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0] as string
}

/** A range of IPv4 also as IPv6 writes it: mapped, through NAT64, through 6to4. */
function spellings(range: string): readonly string[] {
  if (range.includes(':')) return [range]
  const [address, bits] = range.split('/') as [string, string]
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number]
  const group = (high: number, low: number) => (high * 256 + low).toString(16)
  return [
    range,
    `::ffff:${address}/${96 + Number(bits)}`,
    `64:ff9b::${address}/${96 + Number(bits)}`,
    `2002:${group(a, b)}:${group(c, d)}::/${16 + Number(bits)}`,
  ]
}
