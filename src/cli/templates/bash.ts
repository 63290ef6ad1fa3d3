// A new plugin's script in bash. It needs only bash: jq may be missing where the plugin runs.

import type { Sample, Script, ScriptFacts } from './sample.js'

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
  return {
    files: { [file]: text },
    executable: [file],
    handler: { type: 'command', command: `bash "\${CLAUDE_PLUGIN_ROOT}/${file}"` },
  }
}

function work(sample: Sample): string {
  if (sample.does === 'say') {
    return `
printf '%s\\n' '${JSON.stringify(sample.answer)}'
`
  }
  const stop = sample.isStop
    ? `
# The agent was kept going once already: let it stop now.
if [[ $input =~ \\"stop_hook_active\\":[[:space:]]*true ]]; then
  exit 0
fi
`
    : ''
  return `${stop}
# Without jq, the whole event is searched.${hint(sample.field)}
subject=$(jq -c '.${sample.field}' <<<"$input" 2>/dev/null) || subject=$input
if [[ $subject == *'${sample.word}'* ]]; then
${refusal(sample)}
fi
`
}

function hint(field: string): string {
  return field === 'tool_input' ? " For the Bash command alone: jq -r '.tool_input.command'" : ''
}

function refusal({ reason, answer }: Extract<Sample, { readonly does: 'refuse' }>): string {
  return answer
    ? `  printf '%s\\n' '${JSON.stringify(answer)}'`
    : `  echo '${reason}' >&2
  exit 2`
}
