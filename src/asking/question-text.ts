// A question as a person reads it: who asks and why, the exact call, what can be answered and what that does.

import { columnsOf, folded, visible, visibleName } from '../core/base/text.js'
import type { Ask, Question } from '../core/hooks/outcome.js'
import { type Effect, effectOf } from '../core/verdict/approval.js'
import { type CallTextOptions, callText, DEFAULT_COLUMNS, warningsFor } from './call-text.js'
import { behind, MARK, OURS, quoted, withoutMiddle } from './margin.js'

export { type Effect, effectOf }

const DOES: Readonly<Record<Effect, string>> = { allow: 'allows', always: 'always', deny: 'denies' }

const MOST_ASKS = 20
const MOST_PROMPT_LINES = 12
const MOST_OPTIONS = 40

/** Lines for a terminal. Our words alone begin at the left edge; what hooks and agents wrote stands behind a margin. */
export function questionText(question: Question, options: CallTextOptions = {}): readonly string[] {
  const { columns = DEFAULT_COLUMNS } = options
  const { event, session, cwd, asks, call } = question
  const words = asks.flatMap(({ hook, prompt, reason = '' }) => [hook, prompt, reason])
  const { head, left, tail } = withoutMiddle(asks, MOST_ASKS)
  return [
    'Approval needed',
    ...behind(MARK, `event: ${visibleName(event)}`, columns),
    ...behind(MARK, `session: ${visibleName(session)}`, columns),
    ...(cwd === undefined ? [] : behind(MARK, `in: ${visibleName(cwd)}`, columns)),
    'Asked by',
    ...head.flatMap((ask) => askLines(ask, columns)),
    ...(left.length > 0 ? [`${OURS}${left.length} more hooks`] : []),
    ...tail.flatMap((ask) => askLines(ask, columns)),
    ...warningsFor([...words, ...question.options], columns),
    'The call',
    ...callText(call, options),
    'Answers',
    ...optionLines(question, columns),
  ]
}

function askLines({ hook, prompt, reason }: Ask, columns: number): readonly string[] {
  const lines = [
    ...behind(MARK, `${visibleName(hook)}:`, columns),
    ...quoted(prompt, MARK + MARK, columns, MOST_PROMPT_LINES),
  ]
  if (!reason || reason === prompt) return lines
  return [...lines, `${MARK}because:`, ...quoted(reason, MARK + MARK, columns, MOST_PROMPT_LINES)]
}

/** What it does comes first: the rest of the line is the hook's. */
function optionLines(question: Question, columns: number): readonly string[] {
  const { options } = question
  const lines = options.slice(0, MOST_OPTIONS).flatMap((option, i) => {
    const mark = `${String(i + 1).padStart(3)} ${DOES[effectOf(question, option)]}${MARK}`
    const further = `${' '.repeat(mark.length - 2)}┆ `
    return folded(visible(option), columns - columnsOf(mark)).map(
      (line, n) => `${n === 0 ? mark : further}${line}`,
    )
  })
  return options.length > MOST_OPTIONS ? [...lines, `${OURS}${options.length - MOST_OPTIONS} more`] : lines
}
