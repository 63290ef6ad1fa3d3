// How to set up each host, loaded late: hooks start without it.

import type { Registering } from './entries.js'
import type { HostSetup } from './host-setup.js'
import { HOSTS, hostNamed, type KnownHost } from './hosts.js'
import { partsOf } from './late-parts.js'

export interface KnownSetup {
  readonly host: KnownHost
  readonly setup: HostSetup
}

/** The hosts that setup knows, sorted by name. */
export const SETUP_HOSTS: readonly KnownHost[] = HOSTS.filter((host) => partsOf(host).setup !== undefined)

export async function setupOf(host: KnownHost): Promise<HostSetup> {
  const { setup } = partsOf(host)
  if (!setup) throw new Error(`${host.name} has no setup`)
  return (await setup()).setup
}

/** What its commands are made for. */
export function registeringOf({ host, setup }: KnownSetup): Registering {
  const { commandsAs, events } = setup
  return { host: (commandsAs && hostNamed(commandsAs)) || host, events: Object.keys(events) }
}

/** The title of the agent that reads the same files. */
export function sharerOf({ setup }: KnownSetup): string | undefined {
  return setup.sharesWith === undefined ? undefined : hostNamed(setup.sharesWith)?.title
}

export function allSetups(): Promise<readonly KnownSetup[]> {
  return Promise.all(SETUP_HOSTS.map(async (host) => ({ host, setup: await setupOf(host) })))
}
