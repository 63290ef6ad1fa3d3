#!/usr/bin/env node
// The entry of the program. A host starts `hook` and `fire` for every event, so each comes in one file. This one is bundled as
// CommonJS, without await at the top, because the loader of modules takes as long to start as a hook takes to answer.

import { join } from 'node:path'
import { packName } from '../pack/names.js'
import { compiled } from './compiled.js'
import { version } from './version.js'

const [, script = '', command, word = '', ...more] = process.argv
const hook = command === 'hook' && more.length === 0 ? packName(word) : undefined

if (hook) {
  const program = compiled<typeof import('./hook-program.js')>(join(__dirname, 'hook-program.js'))
  void program.runPackHook(hook, { script, version })
} else if (command === 'fire') void import('./fire-program.js')
else void import('./full-program.js')
