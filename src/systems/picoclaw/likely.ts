// What an author most likely meant by a field or an action that the protocol does not have.

/** Words for the same thing; the first path that an answer has is the one that was meant. */
const HABITS: readonly (readonly [words: readonly string[], paths: readonly string[]])[] = [
  [
    [
      'decision',
      'verdict',
      'type',
      'status',
      'permission',
      'permissiondecision',
      'behavior',
      'deny',
      'denied',
      'block',
      'blocked',
      'allow',
      'allowed',
      'approve',
      'approved',
      'accept',
      'accepted',
      'permit',
      'ok',
    ],
    ['approved', 'action'],
  ],
  [
    ['message', 'msg', 'why', 'error', 'explanation', 'stopreason', 'permissiondecisionreason', 'denyreason'],
    ['reason'],
  ],
  [
    ['args', 'params', 'parameters', 'input', 'toolinput', 'updatedinput', 'toolargs'],
    ['call.arguments', 'result.arguments'],
  ],
  [
    ['name', 'toolname', 'function'],
    ['call.tool', 'result.tool'],
  ],
  [
    ['output', 'response', 'content', 'text', 'toolresponse', 'toolresult', 'result', 'stdout'],
    ['result.for_llm', 'response.content'],
  ],
  [['usermessage', 'systemmessage', 'display'], ['result.for_user']],
  [['iserror', 'failed'], ['result.is_error']],
  [
    ['data', 'payload', 'changes', 'modifications', 'modified', 'call', 'request'],
    ['call', 'request', 'response', 'result'],
  ],
]

const MEANINGS: ReadonlyMap<string, readonly string[]> = new Map(
  HABITS.flatMap(([words, paths]) => words.map((word) => [word, paths] as const)),
)

/** The path of the field, among those that an answer to the method has. */
export function likely(key: string, paths: readonly string[]): string | undefined {
  if (key.length > 40) return undefined
  const word = folded(key)
  const spelled = paths.find((path) => folded(path.slice(path.lastIndexOf('.') + 1)) === word)
  return spelled ?? MEANINGS.get(word)?.find((path) => paths.includes(path))
}

/** How words for an action begin. */
const ACTION_STEMS: readonly (readonly [RegExp, string])[] = [
  [/^(den(y|ied|ies)|block(s|ed|ing)?$|blocktool|refus|reject|forbid|veto|disallow|prevent)/, 'deny_tool'],
  [/^(cont|allow|approv|pass|proceed|accept|permit|ok$|noop|none|skip)/, 'continue'],
  [/^(mod|change|updat|rewrit|patch|replac|edit|transform)/, 'modify'],
  [/^(resp|answer|repl(y|ied)|return|mock|result)/, 'respond'],
  [/^(hard|kill|exit|shutdown|terminat)/, 'hard_abort'],
  [/^(abort|stop|cancel|halt|end(s|ed)?$|endturn)/, 'abort_turn'],
]

/** The action nearest to a word that is none. */
export function likelyAction(word: string): string | undefined {
  const start = folded(word.slice(0, 40))
  return ACTION_STEMS.find(([stem]) => stem.test(start))?.[1]
}

function folded(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '')
}
