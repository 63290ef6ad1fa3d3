// The script of a new plugin in bash. It needs nothing but bash: jq may be missing where the plugin goes.

import type { Sample } from './sample.js'
import type { Script, ScriptFacts } from './script.js'

export function bashScript(facts: ScriptFacts): Script {
  const file = 'hook.sh'
  const text = `#!/usr/bin/env bash
# ${facts.name}: runs ${facts.when} (${facts.event}).
${facts.answers.map((line) => `# ${line}\n`).join('')}set -u

if [ -t 0 ]; then
  echo '${facts.usage}' >&2
  exit 1
fi
input=$(cat)
if [[ $input != *'"hook_event_name"'* ]]; then
  echo '${facts.noEvent}' >&2
  exit ${facts.onFailure}
fi
${work(facts.sample)}`
  return { files: { [file]: text }, executable: [file], command: `bash "\${CLAUDE_PLUGIN_ROOT}/${file}"` }
}

function work(sample: Sample): string {
  if (sample.does === 'say') {
    return `
printf '%s\\n' '${JSON.stringify(sample.answer)}'
`
  }
  const stop = sample.isStop
    ? `
# It was asked to go on already: once is enough.
if [[ $input =~ \\"stop_hook_active\\":[[:space:]]*true ]]; then
  exit 0
fi
`
    : ''
  return `${stop}
# This looks at all of the event. For one field, where jq is installed:
#   value=$(jq -r '.${sample.field}' <<<"$input")
if [[ $input == *'${sample.word}'* ]]; then
${refusal(sample)}
fi
`
}

function refusal({ reason, answer }: Extract<Sample, { readonly does: 'refuse' }>): string {
  return answer
    ? `  printf '%s\\n' '${JSON.stringify(answer)}'`
    : `  echo '${reason}' >&2
  exit 2`
}
