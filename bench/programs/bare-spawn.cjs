// The least that runs a command hook from Node: reads the event, starts the command with it, and ends with its exit code.

const { spawn } = require('node:child_process')
const { readFileSync } = require('node:fs')

const event = readFileSync(0)
const hook = spawn('/bin/sh', ['-c', process.argv[2]], { stdio: ['pipe', 'pipe', 'pipe'] })
const printed = []
hook.stdout.on('data', (chunk) => printed.push(chunk))
hook.stderr.on('data', (chunk) => printed.push(chunk))
hook.stdin.on('error', () => {}) // A hook may end without reading it.
hook.stdin.end(event)
hook.on('close', (code) => {
  process.stdout.write(Buffer.concat(printed))
  process.exitCode = code
})
