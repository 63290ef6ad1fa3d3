// Trusting on the page: exactly the content with the digest that was shown, in this project.

import type { PreparedAct } from '../../page/act-answers.js'
import { NotAnswered, textIn } from '../../page/answers.js'
import { findUnits, show, type Units } from '../plugins/review.js'
import { sourcesOf } from '../sources.js'

export async function trustAct(project: string, body: unknown): Promise<PreparedAct> {
  const [path, digest] = [textIn(body, 'id'), textIn(body, 'digest', 100)]
  const found = await findUnits(sourcesOf(project), undefined)
  const { unit, review, problems } = show(found, unitAt(found, path))
  if (problems.length > 0) throw new NotAnswered(409, `It cannot be trusted: ${problems[0]}`)
  if (review?.digest !== digest) throw new NotAnswered(409, CHANGED)
  const { kind, name } = unit
  return {
    signed: { what: 'trust', kind, name, path, project, digest },
    onlyTightens: false,
    run: async () => {
      const now = await findUnits(sourcesOf(project), undefined)
      // Throws if the content is no longer that of the digest.
      now.store.trust(unitAt(now, path), digest)
      return { change: 'trusted', hook: name, digest, project }
    },
  }
}

const CHANGED = 'It has changed since you looked. Load this screen again and read it.'

function unitAt({ units }: Units, path: string) {
  const found = [...units.keys()].filter((unit) => unit.path === path)
  if (found.length === 1 && found[0]) return found[0]
  throw new NotAnswered(409, 'This is not in the project any more. Load this screen again.')
}
