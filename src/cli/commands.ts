// The table of commands: the name somebody types, and the file that is loaded then.

import type { Commands } from './command.js'

export const COMMANDS = {
  '': () => import('./commands/state.js'),
  list: () => import('./commands/list.js'),
  explain: () => import('./commands/explain.js'),
  doctor: () => import('./commands/doctor.js'),
  fire: () => import('./commands/fire.js'),
  test: () => import('./commands/test.js'),
  trust: () => import('./commands/trust.js'),
  untrust: () => import('./commands/untrust.js'),
  install: () => import('./commands/install.js'),
  uninstall: () => import('./commands/uninstall.js'),
  update: () => import('./commands/update.js'),
  enable: () => import('./commands/enable.js'),
  disable: () => import('./commands/disable.js'),
  catalog: () => import('./commands/catalog.js'),
  new: () => import('./commands/new.js'),
  migrate: () => import('./commands/migrate.js'),
  hook: () => import('./commands/hook.js'),
  serve: () => import('./commands/serve.js'),
  mcp: () => import('./commands/mcp.js'),
  setup: () => import('./commands/setup.js'),
  service: () => import('./commands/service.js'),
  verify: () => import('./commands/verify.js'),
  remove: () => import('./commands/remove.js'),
  approvals: () => import('./commands/approvals.js'),
  audit: () => import('./commands/audit.js'),
  docs: () => import('./commands/docs.js'),
  schema: () => import('./commands/schema.js'),
  completion: () => import('./commands/completion.js'),
} satisfies Commands
