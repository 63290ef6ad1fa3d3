// A machine in the chaos: writes the rest of its records in batches, ships after each, and may be killed at any moment.

import { userPlace } from '../../src/files/fleet-places.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { readMember } from '../../src/fleet/machine/membership.js'
import { ship } from '../../src/fleet/machine/shipper.js'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'

const BATCH = 500

const [home = '', projectDir = '', total = '0', ...urls] = process.argv.slice(2)
const member = readMember(userPlace(home))
if (!member) throw new Error('not a member')
const log = new FileAuditLog({ projectDir, dataDir: home })

/** The number of records that are in the log. */
async function written(): Promise<number> {
  for await (const { seq } of log.entries({ newestFirst: true, limit: 1 })) return seq
  return 0
}

let turn = process.pid
/** Through any of the gateways. One that was killed is asked again later. */
async function shipped(): Promise<boolean> {
  const client = clientOf({
    ...(member as NonNullable<typeof member>),
    url: urls[turn++ % urls.length] ?? '',
  })
  try {
    const { isBusy, breaks, failures } = await ship({ client, machine: member?.machine ?? '', dataDir: home })
    if (breaks.length > 0) console.log(JSON.stringify(breaks))
    return !isBusy && failures.length === 0
  } catch {
    return false
  } finally {
    client.close()
  }
}

for (let done = await written(); done < Number(total); done = await written()) {
  const count = Math.min(BATCH, Number(total) - done)
  const time = new Date().toISOString()
  log.append(
    Array.from({ length: count }, (_, i) => ({
      kind: 'fire',
      time,
      session: `${done + i}`,
      event: 'PreToolUse',
      tool: 'Bash',
      action: 'continue',
      hooks: [],
    })),
  )
  await shipped()
}
// A writer that was killed before it noted the end of the log left that to the next one.
log.append([{ kind: 'fire', time: new Date().toISOString() }])
while (!(await shipped())) await new Promise((resolve) => setTimeout(resolve, 100))
