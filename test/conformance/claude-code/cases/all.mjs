// Every case there is, in the order of the table.

import { answers } from './answers.mjs'
import { asyncHooks } from './async.mjs'
import { environment } from './environment.mjs'
import { events } from './events.mjs'
import { exits } from './exits.mjs'
import { failures } from './failures.mjs'
import { files } from './files.mjs'
import { ifPaths } from './if-paths.mjs'
import { ifRules } from './if-rules.mjs'
import { ifSyntax } from './if-syntax.mjs'
import { matchers } from './matchers.mjs'
import { several } from './several.mjs'

export const cases = [
  ...exits,
  ...answers,
  ...events,
  ...matchers,
  ...several,
  ...asyncHooks,
  ...ifRules,
  ...ifSyntax,
  ...ifPaths,
  ...failures,
  ...files,
  ...environment,
]
