#!/usr/bin/env node
// Refuses to write a file whose content is not what its name promises, before it reaches the disk.
// stdin: a PreToolUse event of Write. Exit 0 lets it be written, 2 blocks it, 1 says that it could not be checked.

import { basename, dirname, extname } from 'node:path'
import { text } from 'node:stream/consumers'

/**
 * What is wrong with a content, by the ending of the file's name. Add yours.
 *
 * @type {Record<string, (content: string) => string | undefined>}
 */
const CHECKS = {
  '.json': jsonProblem,
  '.ipynb': jsonProblem,
  '.webmanifest': jsonProblem,
  '.jsonl': jsonLinesProblem,
  '.ndjson': jsonLinesProblem,
}

/** @param {string} input */
async function main(input) {
  const { file_path: file, content } = JSON.parse(input)?.tool_input ?? {}
  if (typeof file !== 'string' || typeof content !== 'string' || mayHaveComments(file)) return
  const problem = CHECKS[extname(file).toLowerCase()]?.(content)
  if (problem === undefined) return
  console.log(
    JSON.stringify({
      decision: 'block',
      reason: `${file} was not written: ${problem}. Correct the content and write it again.`,
      systemMessage: `Blocked a malformed file: ${file}`,
    }),
  )
  process.exitCode = 2
}

/**
 * Called .json, but read by programs that accept comments.
 *
 * @param {string} file
 */
function mayHaveComments(file) {
  const name = basename(file)
  return /^(tsconfig|jsconfig|devcontainer|api-extractor)\b.*\.json$/.test(name) || inFolder(file, '.vscode')
}

/**
 * @param {string} file
 * @param {string} folder
 */
function inFolder(file, folder) {
  return dirname(file).split('/').includes(folder)
}

/** @param {string} content */
function jsonProblem(content) {
  try {
    JSON.parse(content.replace(/^\uFEFF/, ''))
    return undefined
  } catch (error) {
    // The message may quote the content, line breaks and all; it has a position only for some mistakes.
    const message = /** @type {Error} */ (error).message.replace(/\s+/g, ' ')
    const position = /position (\d+)/.exec(message)?.[1]
    const line = position && content.slice(0, Number(position)).split('\n').length
    return `${line ? `line ${line} is` : 'it is'} not valid JSON (${message})`
  }
}

/** @param {string} content */
function jsonLinesProblem(content) {
  for (const [at, line] of content.split('\n').entries()) {
    const problem = line.trim() === '' ? undefined : jsonProblem(line)
    if (problem) return problem.replace(/^(line 1|it) is/, `line ${at + 1} is`)
  }
  return undefined
}

await main(await text(process.stdin)).catch((error) => {
  console.error(`format-check: could not read the event: ${error.message}`)
  process.exitCode = 1
})
