// `fleet approvals`: the questions of all machines that wait for an answer.

import { callLine } from '../../asking/question-text.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { FleetQuestion } from '../../fleet/protocol.js'
import { fitted } from '../print/fit.js'
import { nextLines } from '../print/lines.js'
import { again, type Given } from './action.js'
import { questionsAt, withPerson } from './person-client.js'

export async function run(given: Given): Promise<number> {
  const found = await withPerson(given.options, (client) => questionsAt(client))
  const { questions, hidden, unusable, role } = found
  return given.output.result({ ...found }, (paint) =>
    questions.length + hidden + unusable.length === 0
      ? ['no machine asks anything']
      : [
          ...questions.flatMap(questionLines),
          ...(hidden > 0 ? [`${hidden} more: too many or too long for one list`] : []),
          ...unusable.map((why) => paint.yellow(visible(why))),
          ...(questions.length + hidden === 0 || role === 'viewer'
            ? []
            : nextLines([again(`carabiner fleet answer ${questions[0]?.id ?? 'ID'} allow`, given)], paint)),
        ],
  )
}

function questionLines({ id, name, pending, people, allowed, rejected }: FleetQuestion): readonly string[] {
  const { question, project, expires } = pending
  const more = people > 1 ? `, ${allowed} of ${people} have allowed it` : ''
  return fitted([
    `${id}  ${visibleName(name)}  ${visible(project)}  until ${localTime(expires)}${more}`,
    `  ${visible(callLine(question.call))}`,
    ...question.asks.map(({ hook, prompt }) => `  ${visibleName(hook)}: ${visible(prompt)}`),
    ...(rejected === undefined ? [] : [`  the machine did not accept the last answer: ${visible(rejected)}`]),
  ])
}
