// Databases that only tests use, and that are made again before they run.

import { optionValue, type Program, plainWords, type Use } from '../program.js'

const FOR_TESTS = /^(?:[\w-]+[_-]tests?|tests?[_-][\w-]+)(?:\d*)$|^:memory:$/
const ENVIRONMENT = /^(?:RAILS|RACK|NODE|MIX|APP|DJANGO|FLASK)_ENV=/

function isForTests({ call, args, texts, script }: Use): boolean {
  if (call.isInner || args.some(({ known }) => !known)) return false
  const set = script.assignments
  // The address of a database counts for more than the name of the environment.
  if (set.some((one) => /URL|HOST|DATABASE/.test(one)) || namesHost(texts)) return false
  const environments = set.filter((one) => ENVIRONMENT.test(one))
  if (environments.length > 0) return environments.every((one) => one.endsWith('=test'))
  const [name = ''] = /^(?:dropdb|psql|sqlite3|sqlite|createdb)$/.test(call.name)
    ? plainWords(texts, /^(?:-[hpUWcdfvPoFR]|--(?:host|port|username|command|file|dbname))$/)
    : []
  const given = optionValue(texts, /^(?:-d|--dbname)$/)
  return FOR_TESTS.test(given ?? name)
}

function namesHost(texts: readonly string[]): boolean {
  const host = optionValue(texts, /^(?:-h|--host)$/)
  return (
    texts.some((text) => /:\/\/|host=/.test(text)) ||
    (host !== undefined && !/^(?:localhost|127\.0\.0\.1|\/.*)$/.test(host))
  )
}

/** The same program. What it does to a database for tests destroys nothing. */
export function sparingTests(program: Program): Program {
  return {
    ...program,
    effects: (use) => {
      const drafts = program.effects(use)
      return drafts.some((one) => one.kind === 'database' && one.destroys) && isForTests(use)
        ? drafts.map((one) => (one.kind === 'database' ? { ...one, destroys: false } : one))
        : drafts
    },
  }
}
