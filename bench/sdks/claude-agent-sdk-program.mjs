// Speaks Claude Code's side of the SDK's protocol: for each prompt, calls a hook back 20 times and says so.

import { createInterface } from 'node:readline'

const INPUT = {
  hook_event_name: 'PreToolUse',
  ...{ session_id: 's', transcript_path: '/t', cwd: '/', permission_mode: 'default' },
  ...{ tool_name: 'Bash', tool_input: { command: 'git status' }, tool_use_id: 'call-1' },
}
const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
let callback_id
let count = 0

function callBack() {
  count++
  const request = { subtype: 'hook_callback', callback_id, tool_use_id: 'call-1', input: INPUT }
  write({ type: 'control_request', request_id: `hook-${count}`, request })
}

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id, request } = JSON.parse(line)
  if (type === 'control_request') {
    const response = { commands: [], models: [], hook_on_failure_supported: true, hooks_applied: true }
    write({ type: 'control_response', response: { subtype: 'success', request_id, response } })
    if (request.subtype !== 'initialize') continue
    callback_id = request.hooks.PreToolUse[0].hookCallbackIds[0]
  } else if (type === 'user' || count % 20 > 0) callBack()
  else write({ type: 'system', subtype: 'status', session_id: 's', uuid: String(count) })
}
