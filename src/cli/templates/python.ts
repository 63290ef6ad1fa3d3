// A new plugin's script in Python, using only the standard library.

import type { Sample, Script, ScriptFacts } from './sample.js'

export function pythonScript(facts: ScriptFacts): Script {
  const file = 'hook.py'
  const text = `#!/usr/bin/env python3
"""${facts.name}: runs ${facts.when} (${facts.event}).

${facts.answers.join('\n')}
"""

import json
import sys


def main() -> int:
    if sys.stdin.isatty():
        print("${facts.usage}", file=sys.stderr)
        return 1
    try:
        event = json.load(sys.stdin.buffer)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        print("${facts.noEvent}", file=sys.stderr)
        return ${facts.onFailure}
${work(facts.sample)}    return 0


if __name__ == "__main__":
    sys.exit(main())
`
  return {
    files: { [file]: text },
    executable: [file],
    handler: { type: 'command', command: `python3 "\${CLAUDE_PLUGIN_ROOT}/${file}"` },
  }
}

function work(sample: Sample): string {
  if (sample.does === 'say') {
    return `    answer = ${JSON.stringify(sample.answer, null, 4).replaceAll('\n', '\n    ')}
    print(json.dumps(answer))
`
  }
  const stop = sample.isStop
    ? `    # The agent was kept going once already: let it stop now.
    if event.get("stop_hook_active") is True:
        return 0
`
    : ''
  return `${stop}    if "${sample.word}" in json.dumps(event.get("${sample.field}"), ensure_ascii=False):
${refusal(sample)}
`
}

function refusal({ reason, answer }: Extract<Sample, { readonly does: 'refuse' }>): string {
  return answer
    ? `        answer = ${JSON.stringify(answer, null, 4).replaceAll('\n', '\n        ')}
        print(json.dumps(answer))`
    : `        print("${reason}", file=sys.stderr)
        return 2`
}
