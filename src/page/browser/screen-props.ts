// What every screen gets.

import type { Feed } from './feed.js'
import type { Route } from './route.js'
import type { Standing } from './standing.js'

export interface ScreenProps {
  readonly feed: Feed
  readonly route: Route
  readonly standing: Standing
}
