// What the examples share: whether a file is run directly, and telling what came of an event.

import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @import { Outcome } from 'carabiner' */

/**
 * Both sides are real paths: a module's own always is, while the argument may lead through a link.
 *
 * @param {string} url the module's import.meta.url
 */
export function isMain(url) {
  const started = process.argv[1]
  return started !== undefined && existsSync(started) && realpathSync(started) === fileURLToPath(url)
}

/**
 * Prints an outcome in a few lines that are the same on every run: no times, no ids.
 *
 * @param {string} what happened
 * @param {Outcome} outcome
 */
export function tell(what, outcome) {
  console.log(`${what}: ${outcome.action}${outcome.reason ? ` (${outcome.reason})` : ''}`)
  const { approval } = outcome
  for (const ask of approval?.question.asks ?? []) console.log(`  asked: ${ask.prompt}`)
  if (approval) console.log(`  answered: ${approval.answer?.option ?? 'nobody answered'}`)
  for (const { source, text } of outcome.injections) {
    console.log(`  to the model, from ${source}: ${text.replaceAll('\n', '\n    ')}`)
  }
  for (const { level, text } of outcome.messages) console.log(`  to the user, ${level}: ${text}`)
}
