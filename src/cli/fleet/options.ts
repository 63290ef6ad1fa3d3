// The options of `carabiner fleet`. OWNERS in actions.ts says which action has which.

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
    help: 'The private key of the fleet; default: fleet-root.key.',
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
    help: 'join: the certificate of your own authority, PEM.',
  },
  user: { type: 'boolean', help: 'join: only for this user, who can undo it: advisory.' },
  follow: { type: 'boolean', short: 'f', help: 'ship: go on as records are written.' },
  anyway: { type: 'boolean', help: 'leave: also if the gateway cannot be told.' },
} as const
