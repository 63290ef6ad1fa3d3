// The options of `carabiner fleet`. OWNERS in actions.ts says which action has which.

import { filtersOf } from '../audit-filters.js'

export const OPTIONS = {
  database: {
    type: 'string',
    value: 'URL',
    help: 'The database; default: $CARABINER_FLEET_DATABASE.',
  },
  org: { type: 'string', value: 'NAME', help: 'The organisation in the database; default: main.' },
  key: {
    type: 'string',
    value: 'FILE',
    help: 'The private key of the fleet, or yours, where it may sign.',
  },
  host: { type: 'string', value: 'HOST', help: 'serve: the address to listen on; default: 127.0.0.1.' },
  port: { type: 'string', value: 'N', help: 'serve: the port; default: 8443.' },
  cert: { type: 'string', value: 'FILE', completes: 'file', help: 'serve: the TLS certificate, PEM.' },
  'cert-key': {
    type: 'string',
    value: 'FILE',
    completes: 'file',
    help: 'serve: the private key of --cert, PEM.',
  },
  page: {
    type: 'string',
    value: 'ORIGIN',
    help: 'serve: also serve a page for people, at this address.',
  },
  expires: {
    type: 'string',
    value: 'TIME',
    help: 'token: how long it works, such as 30m or 2d; default: 1h.',
  },
  token: { type: 'string', value: 'TOKEN', help: 'join: the token that the administrator gave you.' },
  name: { type: 'string', value: 'NAME', help: 'join: the name of this machine; default: its host name.' },
  ca: {
    type: 'string',
    value: 'FILE',
    completes: 'file',
    help: 'join, approvals, answer: of your own authority, PEM.',
  },
  user: { type: 'boolean', help: 'join: only for this user, who can undo it: advisory.' },
  'no-timer': { type: 'boolean', help: 'join: do not let root fetch and ship each minute.' },
  follow: { type: 'boolean', short: 'f', help: 'ship, audit export: go on with new records.' },
  group: {
    type: 'string',
    value: 'GROUP',
    help: 'join: who may read the key; policy: these machines.',
  },
  anyway: {
    type: 'boolean',
    help: 'leave: even if the gateway cannot be told or lacks records.',
  },
  questions: { type: 'boolean', help: 'ship: stay while questions wait for people of the fleet.' },
  gateway: { type: 'string', value: 'URL', help: 'approvals, answer: the gateway; default: this machine’s.' },
  reason: {
    type: 'string',
    value: 'TEXT',
    help: 'answer, trust revoke: why.',
  },
  yes: { type: 'boolean', short: 'y', help: 'answer: sign without showing the question again.' },
  webhook: {
    type: 'string',
    value: 'URL',
    help: 'serve: send each question there, with a link to the page.',
  },
  lines: { type: 'string', short: 'n', value: 'N', help: 'audit: how many entries; default: 20.' },
  machine: { type: 'string', value: 'NAME', help: 'audit: only this machine.' },
  ...filtersOf('audit'),
  since: { type: 'string', value: 'TIME', help: 'audit, shadow: not before: a time, or 2h, 3d ago.' },
  checkpoint: { type: 'string', value: 'FILE', help: 'audit verify: a kept checkpoint, or a folder.' },
  'root-key': { type: 'string', value: 'KEY', help: 'audit verify, token, policy: the public key.' },
  out: { type: 'string', value: 'PATH', help: 'key, audit export, policy: file; checkpoint: folder.' },
  ring: { type: 'string', value: 'NAME', help: 'policy publish, promote, rollback: this ring.' },
  shadow: { type: 'boolean', help: 'policy publish: run and record it, deciding nothing.' },
  to: {
    type: 'string',
    value: 'URL|N',
    help: 'audit export: collector; rollback, renew: N, or none.',
  },
  role: {
    type: 'string',
    value: 'ROLE',
    help: 'people add, policy signers add: what they may do.',
  },
} as const
