// What a machine in a fleet reads of it when a call is judged. Loaded through ../fleet-files.ts, and only there.

export { fleetPolicies } from './bundles.js'
export { readMembership } from './marker.js'
export { readPeople } from './people.js'
export { fleetTrust } from './trust.js'
