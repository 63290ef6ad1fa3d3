// How to set up each host, loaded late: hooks start without it.

import type { HostSetup } from './host-setup.js'
import { HOSTS, type KnownHost } from './hosts.js'

export interface KnownSetup {
  readonly host: KnownHost
  readonly setup: HostSetup
}

/** The hosts that setup knows, sorted by name. */
export const SETUP_HOSTS: readonly KnownHost[] = HOSTS.filter(({ setup }) => setup !== undefined)

export async function setupOf(host: KnownHost): Promise<HostSetup> {
  if (!host.setup) throw new Error(`${host.name} has no setup`)
  return (await host.setup()).setup
}

export function allSetups(): Promise<readonly KnownSetup[]> {
  return Promise.all(SETUP_HOSTS.map(async (host) => ({ host, setup: await setupOf(host) })))
}
