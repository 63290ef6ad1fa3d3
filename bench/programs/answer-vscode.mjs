// The same over vscode-jsonrpc, with its own framing.

import rpc from 'vscode-jsonrpc/node'

const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(process.stdin),
  new rpc.StreamMessageWriter(process.stdout),
)
connection.onRequest('hook.before_tool', () => ({ action: 'continue' }))
connection.listen()
