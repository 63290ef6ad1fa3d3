// Hook files: each problem found while loading, with a fix.

import { JsonText, under } from '../../config/json-text.js'
import { asRule, KNOWN_TOOLS } from '../../config/matcher-slips.js'
import { DIAGNOSTIC_CODES, type Diagnostic } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { readPlain } from '../../files/plain-file.js'
import { BYPASSED } from '../bypass.js'
import { counted, placeOf } from '../print/lines.js'
import { severityOf } from '../print/severity.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export function configuration({ notices, files, hooks }: Facts): Checked {
  return {
    what: `${counted(files.length, 'file')}, ${counted(hooks.length, 'hook')}`,
    findings: notices.filter(({ code }) => !ELSEWHERE.test(code)).map(finding),
  }
}

/** The families of matchers and trust say more about those. */
const ELSEWHERE = /^(?:matcher-never|trust-)/

export function finding(notice: Diagnostic): Finding {
  const { code, text, file, line } = notice
  return {
    severity: severityOf(code),
    code,
    text,
    fix: fixOf(notice),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  }
}

function fixOf(notice: Diagnostic): string {
  if (notice === BYPASSED) return 'unset CARABINER_OFF'
  return joinEvent(notice) ?? entryFix(notice) ?? todo(notice)
}

const MOST_BYTES = 4 * 1024 * 1024

/** If the file already has the intended event, its hooks must move there: a key cannot stand twice. */
function joinEvent({ code, text, file, line }: Diagnostic): string | undefined {
  const [, meant] = /did you mean (\w+)\?$/.exec(text) ?? []
  if (code !== 'unknown-event' || meant === undefined || file === undefined) return undefined
  try {
    const read = readPlain(file, MOST_BYTES)
    const json = new JsonText('text' in read ? read.text : '')
    const parsed = json.parse()
    const root: unknown = 'value' in parsed ? parsed.value : undefined
    const events: unknown = isObject(root) ? root.hooks : undefined
    if (!isObject(events) || !Object.hasOwn(events, meant)) return undefined
    const there = placeOf({ file, line: json.lineOf(under(under(null, 'hooks'), meant)) })
    return `Move the hooks at ${placeOf({ file, ...(line !== undefined && { line }) })} into ${meant} at ${there}.`
  } catch {
    return undefined
  }
}

function todo({ code }: Diagnostic): string {
  return Object.hasOwn(DIAGNOSTIC_CODES, code)
    ? DIAGNOSTIC_CODES[code as keyof typeof DIAGNOSTIC_CODES].todo
    : 'Correct what the message names.'
}

// ---- fixes, found by the words of the message -------------------------------------------------------------------

type Fix = (match: RegExpExecArray, at: string) => string | undefined

const HANDLER = '{"type": "command", "command": "…"}'
const EVENTS = 'PreToolUse, PostToolUse, UserPromptSubmit, SessionStart or Stop'
const SETTINGS = '~/.amplifier/settings.json'

/** The first match wins. Values are spelled as `shown` prints them. */
const FIXES: readonly (readonly [complaint: RegExp, fix: Fix])[] = [
  [
    /did you mean "?([^"?]{1,80})"?\?$|here it is called (\w+)$/,
    ([, meant, called], at) => `Write ${meant ?? called} at ${at}.`,
  ],
  // wrong value
  [
    /the matcher must be (.+), got (.+)$/,
    ([, what, value], at) => `Change "matcher" from ${value} to ${what} at ${at}.`,
  ],
  [
    /"(\w+)" must be (.+), got (.+?)(?:; (?:it is ignored|\S+ is in force))?$/,
    ([, key, what, value = ''], at) =>
      `Change "${key}" from ${value} to ${plainNumber(what, value) ?? what} at ${at}.`,
  ],
  [
    /"if": (.+) is not a rule such as (.+?), so/,
    ([, value, like], at) => `Change "if" from ${value} to a rule such as "${like}" at ${at}, or remove it.`,
  ],
  [
    /"(\w+)" has no key "(.+?)"; (?:there|its keys) are (.+?);/,
    ([, key, odd, known], at) => `Write one of ${known} in place of "${odd}" in "${key}" at ${at}.`,
  ],
  // missing key
  [/a hook of type (\w+) needs "(\w+)"/, ([, , key], at) => `Add "${key}": "…" to the hook at ${at}.`],
  [/the process .* needs "command"/, (_, at) => `Add "command": ["python3", "hook.py"] to it at ${at}.`],
  [
    /it has no "type"; the types are (.+)$/,
    ([, types], at) => `Add "type": "command" to it at ${at}, or another of ${types}.`,
  ],
  [/it has no "hooks"$/, (_, at) => `Add "hooks": [${HANDLER}] to it at ${at}, or remove it.`],
  // wrong place
  [
    /a handler must be an object, got (.+)$/,
    ([, value], at) => `Write ${HANDLER} in place of ${value} at ${at}, or remove it.`,
  ],
  [/a handler must be inside/, (_, at) => `Write {"hooks": [ … ]} around it at ${at}.`],
  [
    /must be an object with "(?:event" and ")?hooks", got (.+)$/,
    ([, value], at) =>
      `Write {"matcher": "Bash", "hooks": [${HANDLER}]} in place of ${value} at ${at}, or remove it.`,
  ],
  [
    /must be a list of groups, got (.+)$/,
    ([, value], at) => `Write [{"hooks": [${HANDLER}]}] in place of ${value} at ${at}.`,
  ],
  [
    /^"?(\w+)"? beside "hooks" (?:was left out|is ignored)/,
    ([, key], at) => `Move "${key}" from ${at} into "hooks": {"hooks": {"${key}": …}}.`,
  ],
  [
    /^"(\w+)" is not a key of .+(?:: it belongs |; set it )(.+)$/,
    ([, key, where], at) => `Move "${key}" from ${at}: it belongs ${where}.`,
  ],
  [
    /^"(\w+)" is a setting: it belongs in (.+)$/,
    ([, key, where], at) => `Move "${key}" from ${at} to ${where}.`,
  ],
  [
    /the key "(.+?)" appears twice/,
    ([, key], at) => `Move the content of "${key}" at ${at} into the later one, and remove this one.`,
  ],
  [
    /there is no event /,
    (_, at) => `Write the name of an event at ${at}, such as ${EVENTS}; carabiner docs events lists all.`,
  ],
  [
    /is another name for (\w+), which this file also has/,
    ([, event], at) => `Move its hooks from ${at} to ${event}, or remove them.`,
  ],
  [/there is no setting "(.+?)"/, ([, key], at) => `Remove "${key}" at ${at}.`],
  [
    /^("\w+": .+) in a project would loosen/,
    ([, setting], at) => `Remove it at ${at}; if you want it, write ${setting} under "hooks" in ${SETTINGS}.`,
  ],
  [
    /^"(\w+)" is ignored here: only/,
    ([, key], at) => `Move "${key}" from ${at} to "hooks" in ${SETTINGS}, if you want it.`,
  ],
  [
    /^"?(\w+)"? (?:is not a key|is ignored|has no effect|works only in|is not an event|in a project)/,
    ([, key], at) => `Remove "${key}" at ${at}.`,
  ],
  // matcher
  [
    /The matcher ("(?:[^"\\]|\\.)+") is not valid/,
    ([, pattern = ''], at) => `Change "matcher" from ${pattern} to ${named(pattern)} at ${at}.`,
  ],
  [
    /^.*: the matcher (".+") cannot be matched in linear time/,
    ([, pattern], at) =>
      `Change "matcher" from ${pattern} to a list of names such as "Write|Edit", or a pattern without \\1, at ${at}.`,
  ],
  // timeout
  [
    /timeout of (\d+) seconds was lowered to (\d+)(; it looks like milliseconds)?/,
    ([, given, most, isMs], at) =>
      isMs
        ? `Write ${Math.max(1, Math.round(Number(given) / 1000))} in place of ${given} at ${at}: timeouts are in seconds.`
        : `Write ${most} in place of ${given} at ${at}; or "max_timeout": ${given} under "hooks" in ${SETTINGS}.`,
  ],
  // whole file
  [
    /^the file is not valid JSON: the text ends too early/,
    (_, at) =>
      `Close what is open at the end of ${at}, a bracket or a quote; a file without hooks is {"hooks": {}}.`,
  ],
  [
    /^the file is not valid JSON/,
    (_, at) =>
      `Look for a comma or bracket that is missing, or one too many, at ${at} or just before; or for a " inside a text, which needs a \\ before it.`,
  ],
  [
    /^the file (?:must be a JSON object|must have an object as "hooks")/,
    (_, at) => `Write {"hooks": { … }} at ${at}, with events in it.`,
  ],
  [/^the file is not UTF-8/, (_, at) => `Save ${at} as UTF-8.`],
  [
    /^the (?:file is a broken link|link is broken)/,
    (_, at) => `Put a file there, or remove the link: ${at}.`,
  ],
  [/^the file does not exist/, (_, at) => `Name another file, or write this one: ${at}.`],
  [
    /^no plugin with hooks was found here/,
    (_, at) => `Name the folder of a plugin, or put a hooks.json into ${at}.`,
  ],
]

/** Undefined if there is nothing more specific to say. */
function entryFix(notice: Diagnostic): string | undefined {
  const at = placeOf(notice)
  const [, pattern = ''] = /[Tt]he matcher "([^"]+)"/.exec(notice.text) ?? []
  const rule = notice.code === 'matcher-invalid' ? asRule(pattern) : undefined
  if (rule !== undefined) return rule
  for (const [complaint, fix] of FIXES) {
    const match = complaint.exec(notice.text)
    const said = match && fix(match, at)
    if (said) return said
  }
  return undefined
}

/** Unquotes a number that was written as a string. */
function plainNumber(what: string | undefined, value: string): string | undefined {
  return what?.startsWith('a number') ? /^"([1-9]\d*)"$/.exec(value)?.[1] : undefined
}

/** The tool names in an invalid pattern, as a valid one. */
function named(pattern: string): string {
  const names = pattern.match(/\w+/g) ?? []
  return names.length > 0 && names.every((name) => KNOWN_TOOLS.includes(name))
    ? `"${names.join('|')}"`
    : 'a list of names such as "Write|Edit", or a valid regular expression'
}
