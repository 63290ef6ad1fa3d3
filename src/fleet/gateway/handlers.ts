// The table of what the gateway does for each route.

import type { RouteName } from '../protocol.js'
import { append, evidence, heads } from './audit.js'
import { join, leave, self } from './membership.js'
import type { Handler } from './request.js'

export const HANDLERS: Readonly<Record<RouteName, Handler>> = {
  join,
  leave,
  machine: self,
  heads,
  append,
  evidence,
}
