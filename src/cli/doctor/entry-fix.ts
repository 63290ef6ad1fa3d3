// What to write in a file in place of what loading it complained about, by the words of the complaint.

import type { Diagnostic } from '../../core/base/errors.js'
import { placeOf } from '../print/lines.js'
import { asRule, KNOWN_TOOLS } from './matchers.js'

type Fix = (match: RegExpExecArray, at: string) => string | undefined

const HANDLER = '{"type": "command", "command": "…"}'
const EVENTS = 'PreToolUse, PostToolUse, UserPromptSubmit, SessionStart or Stop'
const SETTINGS = '~/.amplifier/settings.json'

/** The first that fits counts. Values are as `shown` has them. */
const FIXES: readonly (readonly [complaint: RegExp, fix: Fix])[] = [
  [
    /did you mean "?([^"?]{1,80})"?\?$|here it is (\w+)$/,
    ([, meant, called], at) => `Write ${meant ?? called} at ${at}.`,
  ],
  // of a value
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
    /"if": (.+) is not a rule like (.+?), so/,
    ([, value, like], at) => `Change "if" from ${value} to a rule such as "${like}" at ${at}, or remove it.`,
  ],
  [
    /"(\w+)" has no key "(.+?)"; there are (.+?);/,
    ([, key, odd, known], at) => `Write one of ${known} in place of "${odd}" in "${key}" at ${at}.`,
  ],
  // of what is missing
  [/a hook of type (\w+) needs "(\w+)"/, ([, , key], at) => `Add "${key}": "…" to the hook at ${at}.`],
  [/the process .* needs "command"/, (_, at) => `Add "command": ["python3", "hook.py"] to it at ${at}.`],
  [
    /it has no "type"; the types are (.+)$/,
    ([, types], at) => `Add "type": "command" to it at ${at}, or another of ${types}.`,
  ],
  [/it has no "hooks"$/, (_, at) => `Add "hooks": [${HANDLER}] to it at ${at}, or remove it.`],
  // of what stands where nothing like it may
  [
    /a handler must be an object, got (.+)$/,
    ([, value], at) => `Write ${HANDLER} in place of ${value} at ${at}, or remove it.`,
  ],
  [/a handler must stand inside/, (_, at) => `Write {"hooks": [ … ]} around it at ${at}.`],
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
    /^"(\w+)" is no key of .+(?:: it belongs |; set it )(.+)$/,
    ([, key, where], at) => `Move "${key}" from ${at}: it belongs ${where}.`,
  ],
  [
    /^"(\w+)" is a setting: it belongs into (.+)$/,
    ([, key, where], at) => `Move "${key}" from ${at} into ${where}.`,
  ],
  [
    /the key "(.+?)" stands twice/,
    ([, key], at) => `Put what stands in "${key}" at ${at} into the later one, and remove it here.`,
  ],
  [
    /there is no event /,
    (_, at) => `Write the name of an event at ${at}, such as ${EVENTS}; docs/events.md has all.`,
  ],
  [
    /is another name of (\w+), which this file has too/,
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
    /^"?(\w+)"? (?:is no key|is ignored|has no effect|works in|is no event|in a project)/,
    ([, key], at) => `Remove "${key}" at ${at}.`,
  ],
  // of a matcher
  [
    /The matcher ("(?:[^"\\]|\\.)+") is not valid/,
    ([, pattern = ''], at) => `Change "matcher" from ${pattern} to ${named(pattern)} at ${at}.`,
  ],
  [
    /^.*: the matcher (".+") cannot be matched in linear time/,
    ([, pattern], at) =>
      `Change "matcher" from ${pattern} to a list of names such as "Write|Edit", or a pattern without \\1, at ${at}.`,
  ],
  // of a time-out
  [
    /time-out of (\d+) seconds was lowered to (\d+)(; it looks like milliseconds)?/,
    ([, given, most, isMs], at) =>
      isMs
        ? `Write ${Math.max(1, Math.round(Number(given) / 1000))} in place of ${given} at ${at}: time-outs are in seconds.`
        : `Write ${most} in place of ${given} at ${at}; or "max_timeout": ${given} under "hooks" in ${SETTINGS}.`,
  ],
  // of a whole file
  [
    /^the file is not valid JSON: the text ends too early/,
    (_, at) =>
      `Close what is open at the end of ${at}, a bracket or a quote; a file without hooks is {"hooks": {}}.`,
  ],
  [
    /^the file is not valid JSON/,
    (_, at) => `Look for a comma or bracket that is missing, or one too many, at ${at} or just before.`,
  ],
  [
    /^the file (?:must be a JSON object|has "hooks" that are no object)/,
    (_, at) => `Write {"hooks": { … }} at ${at}, with events in it.`,
  ],
  [/^the file is not UTF-8/, (_, at) => `Save ${at} as UTF-8.`],
  [
    /^the (?:file is a )?link (?:that )?leads nowhere/,
    (_, at) => `Put a file there, or remove the link: ${at}.`,
  ],
  [/^the file does not exist/, (_, at) => `Name another file, or write this one: ${at}.`],
  [
    /^there is no plugin with hooks here/,
    (_, at) => `Name the folder of a plugin, or put a hooks.json into ${at}.`,
  ],
]

/** Undefined where nothing better can be said than that it is wrong. */
export function entryFix(notice: Diagnostic): string | undefined {
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

/** `"5"` was meant as 5. */
function plainNumber(what: string | undefined, value: string): string | undefined {
  return what?.startsWith('a number') ? /^"([1-9]\d*)"$/.exec(value)?.[1] : undefined
}

/** The names in a pattern that is none, if they are names of tools. */
function named(pattern: string): string {
  const names = pattern.match(/\w+/g) ?? []
  return names.length > 0 && names.every((name) => KNOWN_TOOLS.includes(name))
    ? `"${names.join('|')}"`
    : 'a list of names such as "Write|Edit", or a valid regular expression'
}
