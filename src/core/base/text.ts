// Text from strangers, made fit for a model or a terminal.

interface Unfit {
  /** C0 and C1 controls but tab, newline and carriage return; lone surrogates. */
  readonly controls: RegExp
  /** Escape sequences as a whole (CSI; OSC, DCS and kin with their text), so that no part stays behind. One without an end loses its introducer alone. */
  readonly sequences: RegExp
  readonly bidi: RegExp
}

let made: Unfit | undefined

/** When first needed: to look up the properties of characters takes longer than what most hooks do. */
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
  // No introducer inside, so that a row of them is read once and not once for each.
  const text = `(?:${e}[\\]PX^_]|[${begin}])[^${b}${e}${s}${begin}]{0,4096}(?:${b}|${s}|${e}\\\\)`
  return new RegExp(`${control}|${text}`, 'g')
}

/** Most texts are; for them nothing has to be looked up. */
const PRINTABLE = /^[\t\n -~]*$/

/** For a terminal: no escape sequences, no controls (a carriage return overwrites a line), no bidirectional overrides. */
export function plainText(text: string): string {
  if (PRINTABLE.test(text)) return text
  const { sequences, controls, bidi } = unfit()
  return text.replace(sequences, '').replace(controls, '').replace(bidi, '').replaceAll('\r', '')
}

/** For a model: no controls, no lone surrogates. */
export function cleanText(text: string): string {
  return PRINTABLE.test(text) ? text : text.replace(unfit().controls, '')
}

/** Cut to at most `limit` bytes of UTF-8, marker included where it fits, at a character boundary. */
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

/** A value for a message: never throws, never long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value))
  return shortened(inWords(value))
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

function inWords(value: unknown): string {
  try {
    return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? typeof value)
  } catch {
    return 'a value that cannot be shown'
  }
}
