// The table of screens: what the menu shows, and the file that is loaded then.

import type { ComponentType } from 'preact'
import type { ScreenProps } from './screen-props.js'

export interface Screen {
  readonly name: string
  readonly title: string
  /** The path of its picture in the menu, 24 by 24. */
  readonly icon: string
  readonly load: () => Promise<ComponentType<ScreenProps>>
}

export const SCREENS: readonly Screen[] = [
  {
    name: 'live',
    title: 'Live',
    icon: 'M3 12h4l3-8 4 16 3-8h4',
    load: async () => (await import('./live.js')).Live,
  },
  {
    name: 'approvals',
    title: 'Approvals',
    icon: 'M12 3l8 3v6c0 4.5-3.2 8-8 9-4.8-1-8-4.5-8-9V6zM9 12l2 2 4-4',
    load: async () => (await import('./approvals.js')).Approvals,
  },
  {
    name: 'trust',
    title: 'Trust',
    icon: 'M4 6h10M4 12h7M4 18h10M15 14l2 2 4-5',
    load: async () => (await import('./trust.js')).Trust,
  },
  {
    name: 'why',
    title: 'Why not',
    icon: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18h.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18',
    load: async () => (await import('./why.js')).Why,
  },
  {
    name: 'doctor',
    title: 'Doctor',
    icon: 'M12 5v14M5 12h14',
    load: async () => (await import('./doctor.js')).Doctor,
  },
  {
    name: 'audit',
    title: 'Audit',
    icon: 'M7 3h7l5 5v13H7zM14 3v5h5M10 13h6M10 17h6',
    load: async () => (await import('./audit.js')).Audit,
  },
  {
    name: 'agents',
    title: 'Agents',
    icon: 'M5 9h14v10H5zM12 9V5M9 13v2M15 13v2M3 13v3M21 13v3',
    load: async () => (await import('./agents.js')).Agents,
  },
  {
    name: 'plugins',
    title: 'Plugins and rules',
    icon: 'M9 3v5M15 3v5M6 8h12v4a6 6 0 0 1-12 0zM12 18v3',
    load: async () => (await import('./plugins.js')).Plugins,
  },
  {
    name: 'playground',
    title: 'Playground',
    icon: 'M7 4l13 8-13 8z',
    load: async () => (await import('./playground.js')).Playground,
  },
]
