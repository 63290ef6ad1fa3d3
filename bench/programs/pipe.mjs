// Starts a program and copies bytes between it and its own standard streams: the least that a proxy in Node can do.

import { spawn } from 'node:child_process'

const [command, ...args] = process.argv.slice(2)
const program = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
process.stdin.on('data', (chunk) => program.stdin.write(chunk))
process.stdin.on('end', () => program.stdin.end())
program.stdout.on('data', (chunk) => process.stdout.write(chunk))
