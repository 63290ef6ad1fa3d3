#!/usr/bin/env node
// Formats a file after it was written: no trailing whitespace, one line break at the end. Says what it did.
// stdin: a PostToolUse event. Exit 0, or 1 if the file could not be formatted.

import { readFile, writeFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

const CODE = ['.js', '.jsx', '.mjs', '.cjs', '.ts', '.tsx', '.mts', '.cts']
const MARKDOWN = ['.md', '.markdown']

/** @param {string} input */
async function main(input) {
  const event = JSON.parse(input)
  const file = event?.tool_input?.file_path
  if (typeof file !== 'string') return
  const kind = extname(file).toLowerCase()
  if (!CODE.includes(kind) && !MARKDOWN.includes(kind)) return
  const path = resolve(typeof event.cwd === 'string' ? event.cwd : '', file)
  // What is not UTF-8 is refused here: it would be written back with other bytes.
  const before = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path))
  const { after, done } = format(before, MARKDOWN.includes(kind))
  if (after === before) return
  await writeFile(path, after)
  console.log(JSON.stringify({ systemMessage: `Formatted ${file}: ${done.join(', ')}` }))
}

/**
 * @param {string} before
 * @param {boolean} isMarkdown
 */
function format(before, isMarkdown) {
  const lines = before.split('\n')
  const isText = isMarkdown ? isHardBreak : insideTemplates(lines)
  const trimmed = lines.map((line, at) => (isText(line, at) ? line : withoutTrailing(line)))
  const count = trimmed.filter((line, at) => line !== lines[at]).length
  const body = trimmed.join('\n')
  const after = endWithOneLine(trimmed, before.includes('\r\n') ? '\r' : '')
  return {
    after,
    done: [
      ...(count > 0 ? [`removed trailing whitespace from ${count} ${count === 1 ? 'line' : 'lines'}`] : []),
      ...(after.length > body.length ? ['added a line break at the end'] : []),
      ...(after.length < body.length ? ['removed empty lines at the end'] : []),
    ],
  }
}

/**
 * Two spaces at the end of a Markdown line are a line break.
 *
 * @param {string} line
 */
function isHardBreak(line) {
  return line.trim() !== '' && / {2}\r?$/.test(line)
}

/**
 * Whitespace in a template literal belongs to the program. All of them lie between the file's first backtick
 * and its last; what is between those is left alone.
 *
 * @param {readonly string[]} lines
 * @returns {(line: string, at: number) => boolean}
 */
function insideTemplates(lines) {
  const ticks = lines.flatMap((line, at) => (line.includes('`') ? [at] : []))
  const [first = Infinity] = ticks
  const last = ticks.at(-1) ?? -Infinity
  return (_line, at) => at >= first && at < last
}

/** @param {string} line which may end in the \r of a Windows line break */
function withoutTrailing(line) {
  const end = line.endsWith('\r') ? '\r' : ''
  let length = line.length - end.length
  while (length > 0 && ' \t'.includes(line.charAt(length - 1))) length--
  return line.slice(0, length) + end
}

/**
 * @param {readonly string[]} lines
 * @param {string} end what stands before \n in this file
 */
function endWithOneLine(lines, end) {
  const last = lines.findLastIndex((line) => line !== '' && line !== '\r')
  if (last < 0) return ''
  const body = lines.slice(0, last + 1).join('\n')
  return `${body}${body.endsWith('\r') ? '' : end}\n`
}

await main(await text(process.stdin)).catch((error) => {
  console.error(`formatter: ${error.message}`)
  process.exitCode = 1
})
