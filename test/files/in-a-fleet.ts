// Loads what a program on a machine in a fleet has loaded before it judges a call.

import { tmpdir } from 'node:os'
import { readyForPolicies } from '../../src/files/fleet-files.js'

await readyForPolicies([{ folder: tmpdir(), owner: 0 }])
