// The text of a rules file with more exceptions. Comments, order and layout stay.

import { isObject } from '../../core/base/json.js'
import { JsonText, type Spot, under } from '../../files/json-text.js'
import { appended, type Edit, edited, layoutOf, pushed } from '../../hosts/forms/json-edit.js'
import type { Exception } from '../../rules/rule.js'

/** By the ids of rules. Throws an Error if the text is not that of a rules file. */
export function withExceptions(text: string, exceptions: ReadonlyMap<string, readonly Exception[]>): string {
  const json = new JsonText(text)
  const parsed = json.parse()
  const root = json.spotOf(null)
  if (!('value' in parsed) || !isObject(parsed.value) || !root)
    throw new Error('the file is not a JSON object')
  const { rules } = parsed.value
  const list = Array.isArray(rules) ? rules : []
  const layout = layoutOf(json.text, root)
  const at = under(null, 'rules')
  const edits: Edit[] = []
  const added: object[] = []
  for (const [id, unless] of exceptions) {
    const i = list.findIndex((rule) => isObject(rule) && rule.id === id)
    const rule = i < 0 ? undefined : json.spotOf(under(at, i))
    if (!rule) {
      added.push({ id, unless })
      continue
    }
    const before = json.spotOf(under(under(at, i), 'unless'))
    edits.push(
      ...(before
        ? pushed(json.text, before, unless, layout)
        : appended(json.text, rule, [['unless', unless]], layout)),
    )
  }
  const spot = json.spotOf(at)
  if (added.length > 0) edits.push(...addedTo(json.text, root, spot, added, layout))
  return text.slice(0, text.length - json.text.length) + edited(json.text, edits)
}

function addedTo(
  text: string,
  root: Spot,
  rules: Spot | undefined,
  added: readonly object[],
  layout: Parameters<typeof pushed>[3],
): readonly Edit[] {
  return rules ? pushed(text, rules, added, layout) : appended(text, root, [['rules', added]], layout)
}
