// A new plugin's module: a function that Carabiner calls in a process that keeps running.

import type { Sample, Script, ScriptFacts } from './sample.js'

export function moduleScript(facts: ScriptFacts): Script {
  const file = 'hook.mjs'
  const { imported, body } = work(facts.sample)
  const text = `// ${facts.name}: runs ${facts.when} (${facts.event}).
// Returning nothing changes nothing. Anything that it prints is kept in the trace.
import { ${imported} } from 'carabiner/author'

/** @import { ModuleHandler } from 'carabiner/author' */
/** @type {ModuleHandler<'${facts.event}'>} */
export default function hook(_event, data) {
${body}}
`
  return { files: { [file]: text }, executable: [], handler: { type: 'module', module: `./${file}` } }
}

interface Work {
  /** The name from carabiner/author. */
  readonly imported: string
  readonly body: string
}

function work(sample: Sample): Work {
  if (sample.does === 'say') {
    const answer = sample.toModel ? `inject('${sample.text}')` : `proceed({ userMessage: '${sample.text}' })`
    return { imported: sample.toModel ? 'inject' : 'proceed', body: `  return ${answer}\n` }
  }
  const stop = sample.isStop
    ? `  // The agent was kept going once already: let it stop now.
  if (data.stop_hook_active === true) return undefined
`
    : ''
  return {
    imported: 'deny',
    body: `${stop}  const subject = JSON.stringify(data.${sample.field} ?? '')
  return subject.includes('${sample.word}') ? deny('${sample.reason}') : undefined
`,
  }
}
