// Takes what a machine says about itself.

import { machineReport } from '../machine-report.js'
import { type Handler, read } from './request.js'

export const report: Handler = async (request) => {
  const said = read(request, machineReport)
  await request.database.rows('select fleet.keep_report($1, $2)', [request.machine, JSON.stringify(said)])
  return {}
}
