// Settings in JSON by which hosts switch hooks off, and files that a host cannot read itself.

import { join } from 'node:path'
import { isObject } from '../../core/base/json.js'
import { type JsonPath, JsonText, under, withoutComments } from '../../files/json-text.js'
import type { HostProblem, HostScene } from '../host-setup.js'

/** The value of a setting, and where it stands. */
export interface Setting {
  readonly file: string
  readonly line: number
  readonly value: unknown
}

/** Undefined if the file does not have it. */
export function settingIn(
  read: HostScene['read'],
  file: string,
  keys: readonly string[],
): Setting | undefined {
  const json = new JsonText(read(file) ?? '')
  const parsed = json.parse()
  let value = 'value' in parsed ? parsed.value : undefined
  for (const key of keys) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value === undefined
    ? undefined
    : { file, line: json.lineOf(keys.reduce<JsonPath>(under, null)), value }
}

export interface Switch {
  /** From the top of the file on. */
  readonly keys: readonly string[]
  /** The value that switches hooks off. */
  readonly off: boolean
  /** The files that may have it: the first one that does decides. */
  readonly files: readonly string[]
  /** The host, as people call it. */
  readonly title: string
}

/** At most one problem. */
export function switchedOff(scene: HostScene, { keys, off, files, title }: Switch): readonly HostProblem[] {
  const places = files.flatMap((file) => settingIn(scene.read, file, keys) ?? [])
  const decides = places.find(({ value }) => typeof value === 'boolean')
  if (decides?.value !== off) return []
  const { file, line } = decides
  const name = keys.join('.')
  const isManaged = file.startsWith('/etc/')
  return [
    {
      severity: 'broken',
      file,
      line,
      text: `"${name}" is ${off}, so ${title} runs no hook ${whereOf(file, scene)}`,
      fix: isManaged
        ? `Ask the administrator of this computer to remove "${name}" from that file.`
        : `Remove "${name}" from that file, and restart ${title}.`,
    },
  ]
}

/** Where a file of the scene counts. */
export function whereOf(file: string, { home, project }: HostScene): string {
  return project !== home && file.startsWith(join(project, '/')) ? 'in this project' : 'at all'
}

export interface JsonReader {
  /** It skips comments. */
  readonly comments: boolean
  /** It skips a byte order mark. */
  readonly mark: boolean
  /** What it does if it cannot read the file, in a clause: `Gemini CLI does not start`. */
  readonly otherwise: string
}

/** A file that we can read, and the host cannot. At most one problem. */
export function unread(
  read: HostScene['read'],
  file: string,
  { comments, mark, otherwise }: JsonReader,
): readonly HostProblem[] {
  const text = read(file)
  if (text === undefined || text.trim() === '') return []
  const json = new JsonText(text)
  const parsed = json.parse()
  const plain = text.replace(/^\uFEFF/, '')
  const problem = (why: string, fix: string, line?: number): readonly HostProblem[] => [
    { severity: 'broken', file, ...(line !== undefined && { line }), text: `${why}, so ${otherwise}`, fix },
  ]
  if ('problem' in parsed)
    return problem(`it is not valid JSON: ${parsed.problem}`, 'Correct it.', parsed.line)
  if (!mark && plain !== text)
    return problem('it begins with a byte order mark', 'Save it as UTF-8 without one.')
  if (isStrict(comments ? withoutComments(plain) : plain)) return []
  return comments
    ? problem('it has a trailing comma', 'Remove the comma.')
    : problem('it has comments or trailing commas', 'Remove them.')
}

export function isStrict(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
