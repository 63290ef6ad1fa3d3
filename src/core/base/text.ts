// Third-party text, made safe for a model, a terminal, or a person who has to decide about it.

interface Unfit {
  /** C0 and C1 controls but tab, newline and carriage return; lone surrogates. */
  readonly controls: RegExp
  /** Whole escape sequences (CSI; OSC, DCS and the like with their text), so that no part stays behind. An unterminated one only loses its introducer. */
  readonly sequences: RegExp
  readonly bidi: RegExp
}

let made: Unfit | undefined

/** Created when first needed, because compiling character properties takes longer than most hooks. */
function unfit(): Unfit {
  made ??= {
    controls: /(?![\t\n\r])\p{Cc}|\p{Surrogate}/gu,
    sequences: sequences(0x1b, 0x9b, [0x9d, 0x90, 0x98, 0x9e, 0x9f], 0x07, 0x9c),
    bidi: /\p{Bidi_Control}/gu,
  }
  return made
}

function sequences(esc: number, csi: number, strings: readonly number[], bel: number, st: number): RegExp {
  const char = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`
  const [e, b, s] = [char(esc), char(bel), char(st)]
  const control = `(?:${e}\\[|${char(csi)})[0-?]*[ -/]*[@-~]`
  const begin = strings.map(char).join('')
  // No introducer inside, so that a row of them is read only once.
  const text = `(?:${e}[\\]PX^_]|[${begin}])[^${b}${e}${s}${begin}]{0,4096}(?:${b}|${s}|${e}\\\\)`
  return new RegExp(`${control}|${text}`, 'g')
}

/** Most texts are printable ASCII and need no further look. */
const PRINTABLE = /^[\t\n -~]*$/

/** Makes text safe for a terminal: no escape sequences, no controls (a carriage return overwrites a line), no bidirectional overrides. */
export function plainText(text: string): string {
  if (PRINTABLE.test(text)) return text
  const { sequences, controls, bidi } = unfit()
  return text.replace(sequences, '').replace(controls, '').replace(bidi, '').replaceAll('\r', '')
}

/** Makes text safe for a model: no controls, no lone surrogates. */
export function cleanText(text: string): string {
  return PRINTABLE.test(text) ? text : text.replace(unfit().controls, '')
}

/** Cuts to at most `limit` bytes of UTF-8 at a character boundary, including the marker if it fits. */
export function cutText(text: string, limit: number, marker: string): string {
  const room = limit - byteLength(marker)
  return room < 0 ? prefix(text, limit) : prefix(text, room) + marker
}

/** The longest beginning that takes at most so many bytes. */
function prefix(text: string, bytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read)
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Shows a value in a message: never throws, never long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value))
  return shortened(inWords(value))
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

function inWords(value: unknown): string {
  try {
    if (typeof value === 'number' || value instanceof RegExp) return String(value)
    return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? typeof value)
  } catch {
    return 'a value that cannot be shown'
  }
}

// ---- for a person who has to decide: nothing is hidden, and nothing looks like something else

/** Most texts are plain. They skip the character properties, which take a while to compile. */
const PLAIN = /^[ -~]*$/

/** Enough to find the place in a script. */
const MOST_SHOWN = 5

/** The first few different ones. */
export function shownSome(values: readonly string[]): string {
  const different = [...new Set(values)]
  const more = different.length > MOST_SHOWN ? ` and ${different.length - MOST_SHOWN} more` : ''
  return `${different.slice(0, MOST_SHOWN).map(shown).join(', ')}${more}`
}

/** Puts text on one line. Every character that is not clearly visible is written as its code: ⟨U+001B⟩. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text
  // Controls, characters without width or that change direction, blanks other than the space (the Braille blank counts as
  // a symbol), surrogates, and the mark itself.
  const unseen = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\p{Surrogate}\u2800⟨]/gu
  return text.replace(unseen, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase()
    return `⟨U+${code.padStart(4, '0')}⟩`
  })
}

/** Line by line; a tab stays one. */
export function visibleLines(text: string): readonly string[] {
  return text.split('\n').map((line) => line.split('\t').map(visible).join('\t'))
}

/** A name in a list, quoted unless it is plain, so that no space at its end or in the middle is lost. */
export function visibleName(name: string): string {
  return /^[\w@%+=:,./~#-]+$/.test(name) ? name : `"${visible(name).replace(/["\\]/g, '\\$&')}"`
}

// ---- in columns of a terminal

/** Text gets at least this many columns, however narrow the terminal is. */
const NARROWEST = 20

/** Characters before this one are Latin and take one column. */
const FIRST_WIDE = 0x300
const TAB = 8

/**
 * An upper bound, because terminals disagree about characters beyond Latin, and about tabs. If a line is overestimated, it
 * ends early. If it were underestimated, it would wrap to the left edge, where only our own words may stand.
 */
export function columnsOf(text: string): number {
  let columns = 0
  for (const char of text) columns += widthOf(char)
  return columns
}

function widthOf(char: string): number {
  if (char === '\t') return TAB
  return (char.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2
}

/**
 * Breaks after a space if one is in the second half of the line, otherwise where the line is full. The space stays at
 * the end, so a line that is full to its last column has none.
 */
export function folded(text: string, columns: number): readonly string[] {
  const room = Math.max(NARROWEST, columns)
  const lines: string[] = []
  let [line, used] = ['', 0]
  for (const char of text) {
    const wide = widthOf(char)
    if (used + wide > room) {
      const word = char === ' ' ? '' : wordAtEnd(line, room)
      lines.push(line.slice(0, line.length - word.length))
      line = word
      used = columnsOf(word)
    }
    line += char
    used += wide
  }
  return [...lines, line]
}

/** Empty if the line should break where it is full. */
function wordAtEnd(line: string, room: number): string {
  const word = line.slice(line.lastIndexOf(' ') + 1)
  return word.length < line.length && columnsOf(word) < room / 2 ? word : ''
}

/** The longest end that takes at most so many columns. */
export function endOf(text: string, columns: number): string {
  const chars = Array.from(text)
  let used = 0
  let from = chars.length
  while (from > 0 && used + widthOf(chars[from - 1] as string) <= columns)
    used += widthOf(chars[--from] as string)
  return chars.slice(from).join('')
}

// ---- the word that somebody most likely meant

/** The closest word: equal except for case and separators, at most two edits away, or the only one with this beginning. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  const wanted = lettersOf(word)
  if (wanted.length < 2 || wanted.length > 40) return undefined
  const all = [...words]
  return nearBy(wanted, all) ?? onlyLonger(wanted, all)
}

function nearBy(wanted: string, words: readonly string[]): string | undefined {
  let best: string | undefined
  let distance = wanted.length > 5 ? 3 : 2
  for (const one of words) {
    const away = editDistance(wanted, lettersOf(one), distance)
    if (away >= distance) continue
    best = one
    distance = away
  }
  return best
}

function onlyLonger(wanted: string, words: readonly string[]): string | undefined {
  const longer = wanted.length < 3 ? [] : words.filter((one) => lettersOf(one).startsWith(wanted))
  return longer.length === 1 ? longer[0] : undefined
}

/** `; did you mean …?`, or nothing. The words may be third-party text. */
export function didYouMean(word: string, words: Iterable<string>, mark = ''): string {
  const meant = nearest(word, words)
  return meant === undefined ? '' : `; did you mean ${mark}${visibleName(meant)}?`
}

function lettersOf(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Letters to add, drop, replace or swap with their neighbour. `limit` stands for any number from it on: most words are far apart. */
function editDistance(a: string, b: string, limit = Infinity): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(
        Math.min(
          (row[j - 1] as number) + same,
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          swapped ? (before[j - 2] ?? Infinity) + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
    // A swap looks back two rows, and everything else one.
    if (Math.min(...row) >= limit && Math.min(...before) >= limit) return limit
  }
  return row[b.length] as number
}

/** One letter is added, dropped, replaced or swapped with its neighbour. */
export function isOneEditAway(a: string, b: string): boolean {
  return Math.abs(a.length - b.length) <= 1 && editDistance(a, b) === 1
}

/** A third-party name for a message: in quotes, on one line, with nothing invisible in it. */
export function quoted(name: string): string {
  return JSON.stringify(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}
