// Rules with "redact": removes secrets from a result or a prompt. Where nothing can be changed, it says so instead.

import type { Json } from '../../core/base/json.js'
import { keepSecret } from '../../core/base/secrets.js'
import { CONTINUE, deny, type HookResult, modify } from '../../core/events/result.js'
import type { HookContext, HookEvent } from '../../core/hooks/hook.js'
import { can } from '../../hosts/abilities.js'
import { hostNamed } from '../../hosts/hosts.js'
import { withoutSecretsIn } from '../../rules/redaction.js'
import { type RedactedText, type Rule, TEXT_FIELDS } from '../../rules/rule.js'

/** `rules`: those that are about such texts. */
export function redactedText(
  event: HookEvent,
  rules: readonly Rule[],
  note: HookContext['note'],
): HookResult {
  const about = TEXT_FIELDS[event.name]
  const given = about && (event.data[about.field] as Json | undefined)
  if (rules.length === 0 || !about || given === undefined) return CONTINUE
  const { value, secrets } = withoutSecretsIn(given)
  if (secrets.length === 0) return CONTINUE
  // From now on no message and no record shows them either.
  keepSecret(secrets)
  const count = secrets.length === 1 ? 'a secret' : `${secrets.length} secrets`
  for (const { id } of rules.filter(({ mode }) => mode === 'shadow'))
    note({
      code: 'shadow',
      text: `the rule ${id} is in shadow mode and would have removed ${count} from this ${about.noun}`,
    })
  const [rule] = rules.filter(({ mode }) => mode !== 'shadow')
  if (!rule) return CONTINUE
  const say = rule.say === undefined ? '' : `${rule.say} `
  const cannot = whyNot(event)
  if (cannot !== undefined)
    return deny(
      `${say}This ${about.noun} has ${count}, and ${cannot}. Do not repeat, store or send what looks like a key, token or password. The rule ${rule.id} forbids it.`,
      {
        userMessage: `The rule ${rule.id} found ${count} in the ${about.noun}, but ${cannot}.`,
        userMessageLevel: 'warning',
      },
    )
  const told = `${say}The rule ${rule.id} removed ${count} from this ${about.noun}: [redacted] stands for it. Do not write [redacted] to a file.`
  return modify({ [about.field]: value }, { contextInjection: told, ...forAuthor(about.texts, rule, count) })
}

/** Many agents can only refuse a prompt. The person who typed it must know why, and what to do. */
function forAuthor(texts: RedactedText, { id }: Rule, count: string): Partial<HookResult> {
  if (texts !== 'prompts') return {}
  const userMessage = `The rule ${id} found ${count} in your prompt. Name a file or a variable that holds it instead, or change the rule in your rules file.`
  return { userMessage, userMessageLevel: 'warning' }
}

/** Prompts are not here: an agent that cannot change one refuses it. */
function whyNot({ name, session }: HookEvent): string | undefined {
  if (name === 'PostToolUseFailure') return 'errors cannot be changed'
  const host = session?.agent === undefined ? undefined : hostNamed(session.agent)
  if (name !== 'PostToolUse' || !host || can(host, name, 'output')) return undefined
  return `${host.title} does not let hooks change results`
}
