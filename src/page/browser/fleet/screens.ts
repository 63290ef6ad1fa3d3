// The table of screens of a fleet's page.

import type { ComponentType } from 'preact'
import { Approvals } from './approvals.js'
import type { FleetScreenProps } from './screen-props.js'

export interface FleetScreen {
  readonly name: string
  readonly title: string
  readonly icon: string
  readonly load: () => Promise<ComponentType<FleetScreenProps>>
}

export const SCREENS: readonly FleetScreen[] = [
  {
    name: 'approvals',
    title: 'Approvals',
    icon: 'M12 3l8 3v6c0 4.5-3.2 8-8 9-4.8-1-8-4.5-8-9V6zM9 12l2 2 4-4',
    load: async () => Approvals,
  },
  {
    name: 'machines',
    title: 'Machines',
    icon: 'M3 5h18v11H3zM8 20h8M12 16v4',
    load: async () => (await import('./machines.js')).Machines,
  },
  {
    name: 'policy',
    title: 'Policy',
    icon: 'M4 5h16M4 12h10M4 19h6M17 15l2 2 4-4',
    load: async () => (await import('./policy.js')).Policy,
  },
  {
    name: 'audit',
    title: 'Audit',
    icon: 'M7 3h7l5 5v13H7zM14 3v5h5M10 13h6M10 17h6',
    load: async () => (await import('./audit.js')).Audit,
  },
]
