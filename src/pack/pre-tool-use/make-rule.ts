// Programs that are given what they run by the command line, in a language that nobody here reads: make, cron.

import { asked, type Finding } from './finding.js'
import type { Call } from './shell-script.js'

const FROM_INPUT = /^(?:-f|--file=|--makefile=)?(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/

export function makeFindings({ name, args }: Call): Finding[] {
  if (!/^(?:g|b|n)?make$|^just$|^ninja$|^crontab$/.test(name)) return []
  const isGiven = args.some(({ text }) => FROM_INPUT.test(text) || /^--eval(?:=|$)/.test(text))
  if (!isGiven) return []
  return [
    asked('not-understood', `\`${name}\` is given its rules by the command line. Put them into a file.`),
  ]
}
