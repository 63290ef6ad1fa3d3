// What a text in SQL, or a command of another database, destroys.

import { type Draft, database, privilege } from '../program.js'

const LONGEST = 100_000

/** One effect for each statement that changes something. Reading statements have none. */
export function sqlEffects(given: string): readonly Draft[] {
  if (given.length > LONGEST)
    return [{ kind: 'unknown', why: 'its statements are too long to read', unparsed: true }]
  return withoutTexts(given)
    .split(';')
    .flatMap((statement) => statementEffects(statement.trim().replace(/\s+/g, ' ')))
}

/** Without comments, and with empty strings. By hand, because a pattern would search the rest for every quote. */
function withoutTexts(text: string): string {
  let found = ''
  for (let i = 0; i < text.length; i++) {
    const two = text.slice(i, i + 2)
    const end = two === '--' ? '\n' : two === '/*' ? '*/' : text[i] === "'" ? "'" : undefined
    if (end === undefined) {
      found += text[i]
      continue
    }
    const at = text.indexOf(end, i + (end === "'" ? 1 : 2))
    found += end === "'" ? "''" : ' '
    if (at < 0) break
    i = at + end.length - 1
  }
  return found
}

function statementEffects(statement: string): readonly Draft[] {
  const isAll = !/\bwhere\b/i.test(statement) || /\bwhere\s+(?:1\s?=\s?1|true|1)\s*$/i.test(statement)
  const [, drop, thing, name] =
    /(?:^|\s)(drop|truncate)\s+(?:(table|database|schema|index|view|column|user|role|keyspace|collection|materialized view|type|function|trigger|sequence|extension)\s+)?(?:if exists\s+)?([\w."`[\]-]+)?/i.exec(
      statement,
    ) ?? []
  if (/^(?:drop|truncate)\b/i.test(statement) && drop)
    return [database([drop, thing].filter(Boolean).join(' ').toUpperCase(), true, name)]
  const [, table] = /^delete\s+from\s+([\w."`[\]$-]+)/i.exec(statement) ?? []
  if (table !== undefined) return [database('DELETE', isAll, table)]
  const [, updated] = /^update\s+([\w."`[\]$-]\S*)\s+set\b/i.exec(statement) ?? []
  if (updated !== undefined) return [database('UPDATE', isAll, updated)]
  const [, altered] = /^alter\s+table\s+(?:if exists\s+)?([\w."`[\]$-]+).*\bdrop\b/i.exec(statement) ?? []
  if (altered !== undefined) return [database('ALTER TABLE DROP', true, altered)]
  const [verb] =
    /^(?:insert|create|alter|grant|revoke|merge|replace|copy|call|do|vacuum|reindex)\b/i.exec(statement) ?? []
  if (verb === undefined) return []
  const grants = /^(?:grant|alter (?:user|role)|create (?:user|role))\b/i.test(statement)
  return [database(verb.toUpperCase(), false), ...(grants ? [privilege(verb.toUpperCase())] : [])]
}

/** The shell of MongoDB. */
export function mongoEffects(text: string): readonly Draft[] {
  const found = [
    ...text.matchAll(
      /\.(dropDatabase|drop|dropIndexes|deleteMany|deleteOne|remove|findOneAndDelete|updateMany|insertOne|insertMany)\s*\(\s*(\{\s*\})?/g,
    ),
  ]
  return found.map(([, verb = '', empty]) =>
    database(
      verb,
      /^drop/.test(verb) ||
        (/^(?:deleteMany|remove)$/.test(verb) && empty !== undefined) ||
        /^remove$/.test(verb),
    ),
  )
}
