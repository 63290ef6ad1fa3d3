// The first line of a script: which program it looks up in `$PATH`, and which file runs in its place.

/** At most one of them is there. */
export interface Shebang {
  /** A name for `$PATH` to find. */
  readonly program?: string
  /** A path; if it is relative, the kernel begins where the hook starts, not where the script lies. */
  readonly file?: string
}

/** As much as the kernel reads of it. */
const LONGEST = 256

export function shebangOf(bytes: Buffer): Shebang {
  if (bytes[0] !== 0x23 || bytes[1] !== 0x21) return {}
  const [line = ''] = bytes.toString('utf8', 2, LONGEST).split('\n', 1)
  const [interpreter = '', ...words] = line.trim().split(/\s+/)
  if (!/^(?:\/usr)?\/bin\/env$/.test(interpreter)) return interpreter === '' ? {} : { file: interpreter }
  const name = behindEnv(words)
  if (name === undefined) return {}
  return name.includes('/') ? { file: name } : { program: name }
}

/** `-S` may hold the name itself: `-S./x`. Values of other options are passed over with them. */
function behindEnv(words: readonly string[]): string | undefined {
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    const split = /^(?:-[iv0]*S|--split-string=?)(.*)$/.exec(word)
    if (split?.[1]) return split[1]
    if (/^(?:-[iv0]*[uC]|--unset|--chdir)$/.test(word)) i++
    else if (!word.startsWith('-') && !word.includes('=')) return word
  }
  return undefined
}
