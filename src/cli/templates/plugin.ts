// All files of a new plugin: hooks.json, script, test cases and README.

import { resolveEvent } from '../../core/events/events.js'
import { closesOnFailure } from '../../core/hooks/hook.js'
import { CASES_SCHEMA, HOOKS_SCHEMA } from '../schema/address.js'
import { bashScript } from './bash.js'
import { moduleScript } from './module.js'
import { nodeScript, typescriptScript } from './node.js'
import { pythonScript } from './python.js'
import { factsOf, type Script, type ScriptFacts, sampleOf, type Wanted } from './sample.js'

export const LANGUAGES = {
  bash: bashScript,
  python: pythonScript,
  node: nodeScript,
  ts: typescriptScript,
  module: moduleScript,
} as const satisfies Record<string, (facts: ScriptFacts) => Script>

export type Language = keyof typeof LANGUAGES

export interface NewFile {
  readonly path: string
  readonly text: string
  readonly isExecutable: boolean
}

/** In seconds. Short, because agents wait for it. */
const TIMEOUT = 10

export function newPlugin(wanted: Wanted, language: Language): readonly NewFile[] {
  const sample = sampleOf(wanted)
  const script = LANGUAGES[language](factsOf(wanted, sample))
  const files = {
    'hooks.json': json({ $schema: HOOKS_SCHEMA, hooks: hooksOf(wanted, script.handler) }),
    ...script.files,
    'hooks.test.json': json({ $schema: CASES_SCHEMA, cases: sample.cases }),
    'README.md': readme(wanted, language, script),
  }
  return Object.entries(files).map(([path, text]) => ({
    path,
    text,
    isExecutable: script.executable.includes(path),
  }))
}

function hooksOf({ event, matcher }: Wanted, handler: Script['handler']) {
  const closes = closesOnFailure(resolveEvent(event), 'byEvent', false)
  const hook = { ...handler, timeout: TIMEOUT, ...(closes && { onFailure: 'block' }) }
  return { [event]: [{ ...(matcher !== undefined && { matcher }), hooks: [hook] }] }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function readme({ name, event, matcher }: Wanted, language: Language, { executable, files }: Script): string {
  const { when, denyMeans, deny } = resolveEvent(event)
  const script = language === 'ts' ? 'hook.mts' : (executable[0] ?? Object.keys(files)[0] ?? '')
  const effect = deny === 'none' ? 'It can report, but not refuse' : `If it refuses: ${denyMeans}`
  const build =
    language === 'ts'
      ? `
\`hook.mjs\` is the file that runs. After changing \`hook.mts\`, type \`npm run build\`. Node 20 cannot run
TypeScript, so both are kept.
`
      : ''
  return `# ${name}

Runs ${when} (${event}${matcher === undefined ? '' : `, matcher \`${matcher}\``}). ${effect}.

| file | |
|---|---|
| \`hooks.json\` | when it runs |
| \`${script}\` | what it does |
| \`hooks.test.json\` | what it should decide |

\`\`\`sh
carabiner test .           # in this folder, after every change
carabiner trust --mine    # in the project: lets the changed version run
\`\`\`
${build}`
}
