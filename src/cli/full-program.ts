// The program with all its commands.

import { main } from './program.js'

await main({
  '': () => import('./commands/state.js'),
  list: () => import('./commands/list.js'),
  explain: () => import('./commands/explain.js'),
  fire: () => import('./commands/fire.js'),
  trust: () => import('./commands/trust.js'),
  untrust: () => import('./commands/untrust.js'),
  install: () => import('./commands/install.js'),
  uninstall: () => import('./commands/uninstall.js'),
  update: () => import('./commands/update.js'),
  hook: () => import('./commands/hook.js'),
  setup: () => import('./commands/setup.js'),
  approvals: () => import('./commands/approvals.js'),
  audit: () => import('./commands/audit.js'),
})
