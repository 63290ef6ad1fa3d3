// A hook that answers every line at once: as little as a resident hook in Node can do.

let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  let answers = ''
  for (const line of lines) {
    const { id, method } = JSON.parse(line)
    const result = method === 'hook.hello' ? { ok: true } : { action: 'continue' }
    answers += `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`
  }
  process.stdout.write(answers)
})
