// What every screen of a fleet's page gets.

import type { MeView } from '../../view/fleet.js'
import type { Route } from '../route.js'

export interface FleetScreenProps {
  readonly me: MeView
  readonly route: Route
}
