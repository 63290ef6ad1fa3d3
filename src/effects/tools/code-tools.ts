// Tools with their own fields for code or a git command. Both are judged like the equivalent command line.

import { isObject, type Json } from '../../core/base/json.js'
import { shellQuoted } from '../shell/shell-quoted.js'

const RUNS_CODE =
  /^(?:python3?|ipython|jupyter|javascript|js|typescript|ts|node|codeinterpreter|codeexecution|repl)$|(?:execute|exec|run|eval|interpret)(?:python|code|javascript|js|cell|snippet)?(?:code)?$/

/** Code becomes an argument of its interpreter. Shell lines in a notebook are judged separately. */
export function codeIn(name: string, input: Json): readonly string[] {
  const language = textAt(input, ['language', 'lang', 'kernel']) ?? ''
  if (!RUNS_CODE.test(name) && language === '') return []
  const code =
    typeof input === 'string' ? input : textAt(input, ['code', 'source', 'script', 'input', 'snippet'])
  if (code === undefined) return []
  if (/sh$|^shell/i.test(language)) return [code]
  const [, cell] = /^\s*%%(?:bash|sh|script\s+\w+|!)\s*\n(.*)$/s.exec(code) ?? []
  if (cell !== undefined) return [cell]
  const lines = code.split('\n').flatMap((line) => /^\s*(?:!!?|%s[xc]\s)(.+)$/.exec(line)?.[1] ?? [])
  const interpreter = /^(?:js|ts|node|javascript|typescript)/i.test(language || name)
    ? 'node -e'
    : 'python3 -c'
  return [`${interpreter} ${shellQuoted(code)}`, ...lines]
}

const GIT_VERBS = /^git_?(commit|merge|revert|rebase|push|clean)$/

/** `mcp__git__git_commit` as a git command line, with only the parts that the rules for git look at. */
export function gitIn(name: string, input: Json): readonly string[] {
  const [, verb] = GIT_VERBS.exec(name) ?? []
  if (verb === undefined || !isObject(input)) return []
  const folder = textAt(input, ['repo_path', 'repoPath', 'path', 'cwd', 'workdir'])
  const isSet = (names: RegExp) =>
    Object.entries(input).some(([key, value]) => names.test(key) && value === true)
  const branch = textAt(input, ['branch', 'ref', 'refspec'])
  const remote = textAt(input, ['remote']) ?? 'origin'
  const words = [
    ...['git', ...(folder === undefined ? [] : ['-C', folder]), verb],
    ...(isSet(/^no_?verify$/i) ? ['--no-verify'] : []),
    ...(isSet(/^force/i) ? ['--force'] : []),
    ...(branch === undefined ? [] : verb === 'push' ? [remote, branch] : [branch]),
  ]
  return [words.map(shellQuoted).join(' ')]
}

export function textAt(input: Json, keys: readonly string[]): string | undefined {
  if (!isObject(input)) return undefined
  for (const key of keys) {
    const value = input[key]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}
