#!/usr/bin/env node
// Refuses dangerous commands, and writes outside the project.
// A resident hook: one JSON-RPC request a line on stdin, one answer a line on stdout and nothing else there.
// It is started once, asked again and again, and ends with its stdin.

import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** [pattern, what the command does], for the command without quotes and backslashes. */
const DANGEROUS = /** @type {const} */ ([
  [
    /\brm\b(?=[^;&|\n]*\s(-\w*[rR]|--recursive))(?=[^;&|\n]*\s(\/|~|\$\{?HOME))/,
    'deletes a folder by its absolute path',
  ],
  [/\b(mkfs|wipefs|fdisk)\b/, 'makes a new file system'],
  [/\bdd\b[^;&|\n]*\sof=\/dev\/|>\s*\/dev\/(sd|hd|vd|nvme|mmcblk|disk)/, 'writes straight onto a disk'],
  [/\b(curl|wget)\b[^;\n]*\|\s*(sudo\s+)?(ba|da|z)?sh\b/, 'runs a script from the network that nobody read'],
  [/\bgit\s+push\b[^;&|\n]*\s(--force(?!-with-lease)|-\w*f)/, 'overwrites what others pushed'],
])
const WRITERS = ['write', 'edit', 'multiedit', 'notebookedit', 'write_file', 'edit_file', 'append_file']
const PROJECT = realpathSync(process.env.AMPLIFIER_PROJECT_DIR || process.cwd())

/**
 * @typedef {Record<string, unknown>} Fields
 * @typedef {{ tool: string, arguments: Fields }} Call
 */

/** An approver must answer: approved or not. An error blocks the call. @param {Call} call */
function approveTool(call) {
  const command = commandOf(call)
  const found = DANGEROUS.find(([pattern]) => pattern.test(command))
  if (!found) return { approved: true }
  return {
    approved: false,
    reason: `This command ${found[1]}. If it is really wanted, the user can run it.`,
  }
}

/** @param {Call} call */
function commandOf(call) {
  const { command = '' } = argumentsOf(call)
  const words = Array.isArray(command) ? command.join(' ') : command // some agents send a list of words
  if (typeof words !== 'string') throw new TypeError('command is no text')
  return words.replaceAll('\\\n', ' ').replace(/["'\\]/g, '')
}

/** @param {Call} call */
function argumentsOf({ arguments: fields }) {
  if (typeof fields !== 'object' || fields === null) throw new TypeError('the call has no arguments')
  return fields
}

/** @param {Call} call */
function beforeTool(call) {
  if (!WRITERS.includes(call.tool.toLowerCase())) return { action: 'continue' }
  const { file_path, notebook_path, path } = argumentsOf(call)
  const outside = [file_path, notebook_path, path].find((one) => one !== undefined && !isInside(one))
  if (outside === undefined) return { action: 'continue' }
  const reason = `${outside} is outside the project, and only files in it are written.`
  return { action: 'deny_tool', reason }
}

/** By where it leads: a link may lead out of the project. @param {unknown} path */
function isInside(path) {
  if (typeof path !== 'string') throw new TypeError('a path is no text')
  if (path.startsWith('~')) return false
  const way = relative(PROJECT, realPath(resolve(PROJECT, path)))
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Of a file that need not be there yet. @param {string} path @returns {string} */
function realPath(path) {
  const there = lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return there || path === dirname(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path))
}

/** @type {Record<string, (params: never) => object>} */
const METHODS = {
  'hook.hello': () => ({ ok: true, name: 'review-gate' }),
  'hook.approve_tool': approveTool,
  'hook.before_tool': beforeTool,
}

/** @param {Fields} request */
function answerTo({ method, params }) {
  const run = Object.hasOwn(METHODS, String(method)) ? METHODS[String(method)] : undefined
  if (!run) return { error: { code: -32601, message: `review-gate does not know ${method}` } }
  try {
    return { result: run(/** @type {never} */ (params)) }
  } catch (error) {
    // Whatever it is, the engine must hear of it: it applies onFailure.
    return { error: { code: -32000, message: String(error) } }
  }
}

/** @param {string} line */
function read(line) {
  let request
  try {
    request = JSON.parse(line)
  } catch (error) {
    return console.error(`review-gate: skipped a line that is not JSON: ${error}`)
  }
  // Without an id it is a notification.
  if (request?.id) console.log(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answerTo(request) }))
}

// Not node:readline, which also ends a line at U+2028, and JSON may hold that.
let rest = ''
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  lines.forEach(read)
}
if (rest) read(rest)
