// Where a hook may be sent: public addresses, and of all others those that the user allowed or wrote down himself.

import { HookError } from '../../core/base/errors.js'
import {
  type AddressClass,
  type Addresses,
  familyOf,
  LOOPBACK,
  METADATA_NAMES,
  ONLY_ALLOWED,
  withoutZone,
} from './addresses.js'
import { canonicalHost, type HostRule, hostRules, isAddress, withoutBrackets } from './private-hosts.js'
import { portOf } from './url-patterns.js'

/** Says of every address, right before it is used, why it may not be; undefined where it may. */
export class Reach {
  /** As it is connected to: an address without brackets, or a name. */
  readonly host: string
  readonly port: string
  readonly isLiteral: boolean
  readonly #own: boolean
  readonly #rules: readonly HostRule[]
  readonly #addresses: Addresses

  /** `own`: the hook is one of the user's own files, who may well mean his own machine. */
  constructor(url: URL, own: boolean, allowed: readonly string[], addresses: Addresses) {
    this.host = withoutBrackets(url.hostname)
    this.port = portOf(url)
    this.isLiteral = isAddress(this.host)
    this.#own = own
    this.#rules = hostRules(allowed)
    this.#addresses = addresses
  }

  /** Before anything is looked up. */
  refusalOfHost(): HookError | undefined {
    if (this.isLiteral) return this.refusalOf(this.host)
    // A name may be written with the dot of the root behind it.
    if (!METADATA_NAMES.has(this.host.replace(/\.$/, '')) || this.#namesHost()) return undefined
    return this.#refused('it is the name of a metadata service, which hands out credentials')
  }

  refusalOf(address: string): HookError | undefined {
    const found = this.#addresses.classOf(address)
    if (!found || this.#mayUse(address, found)) return undefined
    const which = this.isLiteral ? `it is ${found.name}` : `it leads to ${address}, ${found.name}`
    return this.#refused(which)
  }

  #mayUse(address: string, found: AddressClass): boolean {
    if (this.#own && this.#isMeantAs(found)) return true
    if (this.#namesHost() && (this.isLiteral || found.byName || METADATA_NAMES.has(this.host))) return true
    const plain = withoutZone(address)
    const canonical = canonicalHost(familyOf(plain) === 'ipv6' ? `[${plain}]` : plain)
    return this.#rules.some((rule) => {
      if ('host' in rule) return rule.host === canonical && this.#isPort(rule.port)
      return this.#addresses.list([`${rule.range}/${rule.bits}`]).check(plain, familyOf(plain))
    })
  }

  /** By the URL itself, and nobody who answers for a name. */
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
      hint: `If it is meant, add "${host}:${this.port}" to "allowed_private_hosts" under "hooks" in ~/.amplifier/settings.json; link-local and metadata addresses must stand there as addresses.`,
    })
  }
}
