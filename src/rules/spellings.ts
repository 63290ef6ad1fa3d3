// One package, table or resource has many spellings. Here they become the names that the patterns of rules are compared with.

import type { EffectKind } from '../effects/effect.js'
import { kindOfCluster, plainResource } from '../effects/plain-resource.js'
import { certainStart } from '../effects/script/word.js'
import { type TextTest, textPattern } from './text-pattern.js'

/** The names of one thing. */
export interface Spellings {
  /** Names that it surely has. Empty if its name is only known when the call runs. */
  readonly sure: readonly string[]
  /** How its name begins, if the rest is only known when the call runs. */
  readonly begins?: string
  /** Names that it may have too, such as that of a package behind an alias. A rule that forbids counts for them. */
  readonly maybe?: readonly string[]
}

/** The texts of a pattern, each of which means the same. */
export function patternForms(pattern: string, kind: EffectKind): readonly string[] {
  switch (kind) {
    case 'cloud':
      return distinct([pattern, plainResource(pattern)])
    case 'install':
      return distinct([pattern, pythonName(pattern)])
    default:
      return [pattern]
  }
}

/** A test of one form of a pattern. */
export function nameTest(pattern: string, kind: EffectKind): TextTest {
  return textPattern(kind === 'database' ? plainTable(pattern) : pattern)
}

/** Like the test, for names of which only the last parts may be written: `users` may be `public.users`. */
export function looseNameTest(pattern: string, kind: EffectKind): TextTest {
  if (kind !== 'database') return nameTest(pattern, kind)
  const wanted = partsOf(pattern).map(textPattern)
  return (name, ignoreCase) => {
    const parts = partsOf(name)
    const count = Math.min(parts.length, wanted.length)
    return wanted.slice(-count).every((test, i) => test(parts[parts.length - count + i] ?? '', ignoreCase))
  }
}

/** What a name and every pattern that may mean it share: of `public.users`, the last part. */
export function sharedPart(name: string, kind: EffectKind): string {
  return kind === 'database' ? (partsOf(name).at(-1) ?? '') : name
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== '')
}

// ---- tables -----------------------------------------------------------------------------------------------------

/** `"app"."users"`, `[dbo].[users]` and backticks as `app.users`. */
function plainTable(name: string): string {
  return /["'`[\]\s]/.test(name) ? name.replace(/["'`[\]]/g, '').replace(/\s*\.\s*/g, '.') : name
}

function partsOf(name: string): readonly string[] {
  return plainTable(name)
    .split('.')
    .filter((part) => part !== '')
}

export function tableSpellings(name: string): Spellings {
  const open = openStart(name)
  return open === undefined
    ? { sure: [plainTable(name)] }
    : { sure: [], begins: plainTable(open).split('.').at(-1) ?? '' }
}

/** A star stands for several names. */
function openStart(name: string): string | undefined {
  return certainStart(name) ?? /^[^*]*(?=\*)/.exec(name)?.[0]
}

// ---- resources --------------------------------------------------------------------------------------------------

/** `others`: more words of the call that may name it. */
export function resourceSpellings(name: string, others: readonly string[] = []): Spellings {
  const plain = plainResource(name)
  const maybe = [plain, ...others.map(plainResource)].flatMap(partsOfResource)
  const open = openStart(plain)
  return open === undefined
    ? { sure: distinct([plain, name]), maybe: distinct(maybe) }
    : { sure: [], begins: open, maybe: distinct([...partsOfResource(open), ...maybe]) }
}

/** What is in a bucket belongs to the bucket, and `namespace/prod` may be called `prod`. */
function partsOfResource(name: string): readonly string[] {
  if (certainStart(name) !== undefined) return []
  const [, bucket] = /^(\w+:\/\/[^/]+)(?:\/.*)?$/s.exec(name) ?? []
  if (bucket !== undefined) return [name, bucket, bucket.replace(/^\w+:\/\//, '')]
  const [, kind, rest] = /^([a-z]+)\/([^/]+)$/.exec(name) ?? []
  return kind !== undefined && rest !== undefined && kindOfCluster(kind) !== undefined
    ? [name, kind, rest]
    : [name]
}

// ---- packages ---------------------------------------------------------------------------------------------------

const ADDRESS = /^(?:[a-z][a-z+]*:\/\/|git@|file:|[\w-]+:(?=[\w.-]+\/[\w.-]+(?:#|$)))/i

/** `left-pad@1` is `left-pad`, `requests[socks]>=2` is `requests`. What an address or an alias brings may have any of its names. */
export function packageSpellings(spec: string): Spellings {
  const given = spec.trim()
  const [, named, address] = /^([\w.-]+(?:\[[^\]]*\])?)\s*@\s*(\S+:\/\/.*)$/s.exec(given) ?? []
  if (address !== undefined)
    return { sure: [given], maybe: [...bareNames(named ?? ''), ...namesInAddress(address)] }
  const [, alias, target] = /^(@?[^@]+)@(?:npm|jsr|workspace|file|link|git|github):(.*)$/s.exec(given) ?? []
  if (target !== undefined)
    return { sure: [given], maybe: [...bareNames(alias ?? ''), ...packageNames(target)] }
  const bare = given.replace(/^(?:npm|jsr|pypi|gem|cargo):(?=@|[^/]*$)/i, '')
  if (ADDRESS.test(bare)) return { sure: [given], maybe: namesInAddress(bare) }
  const [name = bare, ...more] = bareNames(bare)
  const open = openStart(name)
  if (open !== undefined) return { sure: [], begins: open, maybe: more }
  return { sure: distinct([name, given]), maybe: distinct([pythonName(name), ...more]) }
}

function packageNames(spec: string): readonly string[] {
  const { sure, maybe = [] } = packageSpellings(spec)
  return [...sure, ...maybe]
}

/** Without its version, first as it surely is called. */
function bareNames(spec: string): readonly string[] {
  const name = spec
    // Version, extras, markers and architecture: `x@1`, `x==1`, `x[a]`, `x;python_version<"3"`, `x:amd64`, `x=7.1`.
    .replace(/(?<=.)[@[<>=!~;:^,\s].*$/s, '')
    // `nixpkgs#hello`
    .replace(/^[\w./-]+#(?=\w)/, '')
  const channel = /^[\w/.-]+::?([\w.-]+)/.exec(spec)?.[1]
  const last = name.startsWith('@') ? undefined : /\/([^/]+)$/.exec(name)?.[1]
  // `curl/stable`, `conda-forge::numpy`, `user/tap/formula`, `owner/repository`
  const first = name.startsWith('@') ? undefined : /^([\w.+-]+)\/[^/]+$/.exec(name)?.[1]
  return distinct([name, ...[channel, last, first].filter((one) => one !== undefined)])
}

/** `git+https://host/owner/left-pad.git@v1#egg=left-pad`, `https://host/left-pad/-/left-pad-1.3.0.tgz` */
function namesInAddress(address: string): readonly string[] {
  const egg = /[#&]egg=([^&]+)/.exec(address)?.[1]
  const path = address.replace(/[#?].*$/s, '').replace(/(?<=\/[^/]*[^/:])@[^/]*$/, '')
  const parts = path.split(/[/:]/).filter((part) => part !== '')
  const last = (parts.at(-1) ?? '').replace(/\.(?:git|tgz|tar\.\w+|zip|whl|gem|deb|rpm)$/i, '')
  const before = parts.at(-2) ?? ''
  return distinct([
    ...(egg === undefined ? [] : bareNames(egg)),
    last,
    pythonName(last.replace(/[-_]v?\d.*$/, '')),
    last.replace(/[-_]v?\d.*$/, ''),
    `${before}/${last}`,
    ...parts.filter((_, i) => parts[i + 1] === '-'),
    ...parts.flatMap((part, i) => (part.startsWith('@') ? [`${part}/${parts[i + 1] ?? ''}`] : [])),
  ]).map((name) => name.toLowerCase())
}

/** To Python's package index, dashes, dots and underscores are the same. */
function pythonName(name: string): string {
  return name.startsWith('@') ? name : name.replace(/[-_.]+/g, '-')
}
