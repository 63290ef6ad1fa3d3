// What a word of a cloud program does: read, destroy, give rights or show a secret.

import { cloud, type Draft, plainWords, privilege, type Use } from '../program.js'
import { namesProduction } from './production.js'

/** Words that take something away. */
const DESTROYS =
  /^(?:delete|destroy|remove|rm|rb|terminate|purge|uninstall|deregister|drop|wipe|reset|undeploy|down|prune|deprovision|teardown)(?:$|[-:])|(?:^|[-:])(?:delete|destroy|purge|remove|terminate)(?:$|[-:])|-deletion$/

const READS =
  /^(?:get|list|ls|describe|show|info|status|logs?|tail|read|inspect|help|version|whoami|validate|plan|preview|diff|synth|template|lint|explain|top|events?|search|query|cat|stat|du|history|output|outputs|fmt|graph|current-context|get-contexts|use-context|config|auth|login|init|ps|images|df|wait|scan-\S+|head-\S+|get-\S+|list-\S+|describe-\S+|batch-get-\S+|account|open|env|doctor|console|token|completion|api-resources|api-versions|cluster-info|port-forward|proxy|attach|cp|dev|build|serve|start|local|emulators:start|projects:list)$/

/** More rights for somebody. */
const GRANTS =
  /^(?:create-access-key|attach-\S+-policy|put-\S+-policy|put-bucket-acl|put-object-acl|add-iam-policy-binding|set-iam-policy|clusterrolebinding|rolebinding|add-user-to-group|update-assume-role-policy|create-login-profile|create-user|detach-\S+-policy)$/

/** Words that print a secret. */
const SECRETS =
  /^(?:get-secret-value|get-session-token|print-access-token|print-identity-token|secrets?|get-parameter|get-access-token|assume-role|keyvault)$/

interface Shape {
  /** Options that take the next word. */
  readonly valued?: RegExp
  /** How many words name the operation. */
  readonly words?: number
  /** Operations that destroy beside the usual words. */
  readonly also?: RegExp
  /** Options that make an operation destroy. */
  readonly options?: RegExp
}

/** Programs whose first words are the operation. */
export function operations({ valued = /^$/, words = 1, also = /^$/, options = /^$/ }: Shape) {
  return (use: Use): readonly Draft[] => {
    const plain = plainWords(use.texts, valued)
    if (
      plain.length === 0 ||
      use.texts.some((text) => /^(?:--help|--dry-run(?:=.*)?|--dryrun|--check|-h)$/.test(text))
    )
      return []
    const named = plain.slice(0, Math.max(words, 1))
    if (plain.some((word) => GRANTS.test(word)) || /\bservice-accounts keys create\b/.test(plain.join(' ')))
      return [privilege([use.call.name, ...plain.slice(0, 2)].join(' '))]
    const isRead =
      plain.slice(0, 3).some((word) => READS.test(word) || SECRETS.test(word)) &&
      !plain.some((word) => DESTROYS.test(word))
    const [secret] = plain.slice(0, 4).filter((word) => SECRETS.test(word))
    if (secret !== undefined && isRead && !/^(?:ls|list|list-secrets)$/.test(plain[1] ?? ''))
      return [cloud('read secret', false, plain.at(-1))]
    const at = plain.slice(0, 4).findIndex((word) => DESTROYS.test(word) || also.test(word))
    const byOption = use.texts.some((text) => options.test(text))
    if (at >= 0 || byOption || also.test(named.join(' '))) {
      const operation = (at >= words ? plain.slice(0, at + 1) : named).join(' ')
      return [onResource(operation, true, plain.slice(Math.max(at + 1, words)), use)]
    }
    if (named.some((word) => READS.test(word))) return []
    return [onResource(named.join(' '), namesProduction(use.texts), plain.slice(words), use)]
  }
}

/** Which of the words and options names it differs from program to program, so each of them may. */
function onResource(operation: string, destroys: boolean, words: readonly string[], use: Use): Draft {
  const [first, ...rest] = [...words, ...optionValues(use.texts)]
  return cloud(operation, destroys, first, rest)
}

/** `--bucket=prod` */
function optionValues(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => /^--?[\w-]+=(.+)$/s.exec(text)?.[1] ?? [])
}

export const destroys = (operation?: string) => ({
  kind: 'cloud',
  destroys: true,
  ...(operation === undefined ? {} : { operation }),
})
