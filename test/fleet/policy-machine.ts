// A machine that fetches its policy, and is killed just before one of its changes to files.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { userPlace } from '../../src/files/fleet-places.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { readMember } from '../../src/fleet/machine/membership.js'
import { fetchPolicy } from '../../src/fleet/machine/policy.js'

const [home = '', changes = ''] = process.argv.slice(2)
const member = readMember(userPlace(home))
if (!member) throw new Error('not a member')

let left = Number(changes)
const dying = <A extends unknown[], R>(change: (...args: A) => R) => {
  return (...args: A): R => {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL')
    return change(...args)
  }
}
Object.assign(fs, {
  mkdirSync: dying(fs.mkdirSync),
  writeFileSync: dying(fs.writeFileSync),
  chmodSync: dying(fs.chmodSync),
  renameSync: dying(fs.renameSync),
  unlinkSync: dying(fs.unlinkSync),
})
syncBuiltinESMExports()

const client = clientOf(member)
await fetchPolicy(client, member)
client.close()
