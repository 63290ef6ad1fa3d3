// In which line a text stops being JSON: the parser of the language hardly ever says, and quotes the text.

/** Blanks, then a value that is one token, or a mark. */
const TOKEN =
  /[ \t\r\n]*(?:("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y

/** What may come next. `first…` may also be the end of what was just opened. */
type Next = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'comma'

/** From 1. Of a text that is JSON, the last line. */
export function brokenLine(text: string): number {
  const open: string[] = []
  let next: Next | undefined = 'value'
  let at = 0
  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(text); token; token = TOKEN.exec(text)) {
    next = after(next, token, open)
    if (next === undefined) break
    at = TOKEN.lastIndex
  }
  const blanks = /^[ \t\r\n]*/.exec(text.slice(at))?.[0].length ?? 0
  return text.slice(0, at + blanks).split('\n').length
}

/** Undefined where the token may not stand there. */
function after(next: Next, [, string, word, mark]: RegExpExecArray, open: string[]): Next | undefined {
  const isKey = next === 'key' || next === 'firstKey'
  if (string !== undefined && isKey) return 'colon'
  const isValue = next === 'value' || next === 'firstValue'
  if (string !== undefined || word !== undefined) return isValue ? 'comma' : undefined
  if (mark === ':') return next === 'colon' ? 'value' : undefined
  if (mark === '{' || mark === '[') {
    if (!isValue) return undefined
    open.push(mark)
    return mark === '{' ? 'firstKey' : 'firstValue'
  }
  const inside = open.at(-1)
  if (mark === ',') {
    if (next !== 'comma' || inside === undefined) return undefined
    return inside === '{' ? 'key' : 'value'
  }
  const mayEnd = next === 'comma' || next === (mark === '}' ? 'firstKey' : 'firstValue')
  if (!mayEnd || inside !== (mark === '}' ? '{' : '[')) return undefined
  open.pop()
  return 'comma'
}
