// Text from strangers, made fit for a model or a terminal.

/** C0 and C1 controls but tab, newline and carriage return; lone surrogates. */
const CONTROLS = /(?![\t\n\r])\p{Cc}|\p{Surrogate}/gu
const ESC = String.fromCharCode(0x1b)
const BEL = String.fromCharCode(0x07)
const CSI = String.fromCharCode(0x9b)
/** Escape sequences as a whole (CSI, OSC and kin), so that their parameters do not stay behind as text. */
const SEQUENCES = new RegExp(
  `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]|${ESC}[\\]PX^_][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?`,
  'g',
)
const BIDI = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** For a terminal: no escape sequences, no controls (a carriage return overwrites a line), no bidirectional overrides. */
export function plainText(text: string): string {
  return text.replace(SEQUENCES, '').replace(CONTROLS, '').replace(BIDI, '').replaceAll('\r', '')
}

/** For a model: no controls, no lone surrogates. */
export function cleanText(text: string): string {
  return text.replace(CONTROLS, '')
}

/** Cut to at most `limit` bytes of UTF-8, marker included, at a character boundary. */
export function cutText(text: string, limit: number, marker: string): string {
  const encoder = new TextEncoder()
  const room = Math.max(0, limit - encoder.encode(marker).length)
  const { read } = encoder.encodeInto(text, new Uint8Array(room))
  return (text.slice(0, read) + marker).slice(0, limit)
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
