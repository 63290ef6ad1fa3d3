// Programs that get their rules from the command line, in a language that is not parsed here: make, cron.

import type { Call } from '../../effects/script/shell-script.js'
import { asked, type Finding } from './finding.js'

const FROM_INPUT = /^(?:-f|--file=|--makefile=)?(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/

export function makeFindings({ name, args }: Call): Finding[] {
  if (!/^(?:g|b|n)?make$|^just$|^ninja$|^crontab$/.test(name)) return []
  const isGiven = args.some(({ text }) => FROM_INPUT.test(text) || /^--eval(?:=|$)/.test(text))
  if (!isGiven) return []
  return [
    asked('not-understood', `\`${name}\` gets its rules from the command line. Save them to a file instead.`),
  ]
}
