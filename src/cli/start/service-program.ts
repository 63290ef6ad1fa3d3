// The service, which stays in memory for as long as its user works: it holds only the commands that it runs for agents.

import { runService } from '../service/run-service.js'

/** Does not return. */
export function start(): Promise<never> {
  const [, , , , folder = '', name = '', ...homes] = process.argv
  return runService(folder, name, homes)
}
