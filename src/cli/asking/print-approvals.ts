// Open questions and grants for people. What hooks and agents wrote is made visible, never obeyed.

import { callLine } from '../../asking/call-line.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { Grant } from '../../core/verdict/approval.js'
import type { Pending } from '../../store/approvals.js'
import { cutTo, fitted, shownColumns } from '../print/fit.js'
import { columns, nextLines, oneLine, shortPath } from '../print/lines.js'
import { type Paint, width } from '../print/paint.js'

/** One line each, and what to type. */
export function pendingLines(open: readonly Pending[], paint: Paint, now = Date.now()): readonly string[] {
  if (open.length === 0) return ['nobody waits for an answer']
  const rows = columns(open.map((one) => [one.id, leftOf(one.expires, now), whatOf(one), saidIn(one)]))
  const [first] = open as readonly [Pending, ...Pending[]]
  return [
    ...fitted(
      rows.map(([id = '', left = '', what = '', said = '']) => {
        const room = Math.max(20, width() - shownColumns([id, left, what].join('  ')) - 2)
        return `${paint.bold(id)}  ${paint.dim(left)}  ${what}  ${cutTo(oneLine(said), room)}`
      }),
    ),
    ...nextLines(
      [
        `carabiner approvals show ${first.id}`,
        `carabiner approvals allow ${first.id}`,
        `carabiner approvals deny ${first.id} --reason "…"`,
      ],
      paint,
    ),
  ]
}

function whatOf({ question: { event, call } }: Pending): string {
  const tool = typeof call.tool_name === 'string' ? call.tool_name : event
  return visibleName(tool)
}

function saidIn({ question, project }: Pending): string {
  const [ask] = question.asks
  const prompt = ask === undefined ? '' : `${visibleName(ask.hook)}: ${visible(oneLine(ask.prompt))}`
  return `${callLine(question.call)}  ${prompt} (${visible(shortPath(project))})`
}

/** `4 min`, as long as it can be answered. */
function leftOf(expires: string, now: number): string {
  const seconds = Math.max(0, Math.round((Date.parse(expires) - now) / 1000))
  return seconds < 120 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`
}

export function grantLines(grants: readonly Grant[], paint: Paint): readonly string[] {
  if (grants.length === 0) return ['nothing is always allowed in this project']
  const rows = columns(
    grants.map(({ id, tool, event, hook, about = '', created, expires }) => [
      id.slice(0, 8),
      visibleName(tool || event),
      visible(oneLine(about, 60)),
      visible(oneLine(hook)),
      `since ${localTime(created)}${expires === undefined ? '' : `, until ${localTime(expires)}`}`,
    ]),
  )
  return [
    ...fitted(rows.map(([id = '', ...rest]) => `${paint.bold(id)}  ${rest.join('  ')}`)),
    ...nextLines([`carabiner approvals revoke ${grants[0]?.id.slice(0, 8)}`], paint),
  ]
}
