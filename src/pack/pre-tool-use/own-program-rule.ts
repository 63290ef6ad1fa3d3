// Carabiner's own commands that take the guard away: a person decides about them.

import { asked, type Finding } from './finding.js'
import type { Call } from './shell-script.js'

const REMOVING = /^(?:--remove|--uninstall|--unlock|--off|--disable|uninstall|remove|unlock|disable)(?:=|$)/

export function ownProgramFindings({ name, args }: Call): Finding[] {
  const texts = args.map(({ text }) => text)
  const at = isOwn(name) ? 0 : texts.findIndex(isOwn) + 1
  const takesAway = at > 0 || isOwn(name) ? texts.slice(at).some((text) => REMOVING.test(text)) : false
  if (!takesAway && !uninstalls(name, texts)) return []
  return [asked('self-protection', `\`${name}\` would take Carabiner's guard away. Let the user do it.`)]
}

function isOwn(text: string): boolean {
  return /(?:^|\/)carabiner(?:\.m?js|@[\w.^~-]+)?$/.test(text)
}

function uninstalls(name: string, texts: readonly string[]): boolean {
  return (
    /^(?:npm|pnpm|yarn|bun|brew|volta|npx)$/.test(name) &&
    texts.some((text) => /^(?:uninstall|remove|rm|un|r|unlink|rb|delete)$/.test(text)) &&
    texts.some(isOwn)
  )
}
