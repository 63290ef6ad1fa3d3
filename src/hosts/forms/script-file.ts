// An executable of ours for one event, where an agent wants a file for each.

import type { Entry, Form } from '../host-setup.js'
import { ownFile } from './own-file.js'

export interface Script {
  /** The agent's name for setup. */
  readonly agent: string
  /** Canonical. */
  readonly event: string
  /** What the agent reads as a refusal, if Carabiner cannot be asked: a text that a shell prints. */
  readonly refusal: string
  /** What an answer that refuses has in it. */
  readonly refusing: string
  /** Fields of an answer with a text. The texts of all commands are joined. */
  readonly texts: readonly string[]
}

export function scriptFile({ agent, event, refusal, refusing, texts }: Script): Form {
  return ownFile({
    text: (entries) => scriptText(entries.filter((entry) => entry.event === event)),
    isWritten: (text) => text.startsWith(FIRST),
    commands: (text) =>
      [...text.matchAll(COMMAND)].map(({ 1: command = '', index }) => ({
        event,
        command,
        line: text.slice(0, index).split('\n').length,
      })),
  })

  /** The first refusal is the answer. Otherwise the texts stay as they are in JSON, so that a shell can join them. */
  function scriptText(entries: readonly Entry[]): string {
    const refuse = `printf '%s\\n' '${refusal}'; exit 0`
    return [
      `${FIRST} ${agent} --project, and removed by carabiner setup ${agent} --project --remove.`,
      'input=$(cat)',
      `${texts.map((_, i) => `text${i}=`).join(' ')} fields=`,
      "gap='\\n\\n'",
      FIELD,
      ...entries.flatMap(({ command }) => [
        `answer=$(printf '%s' "$input" | { ${command}; })`,
        `if [ $? -ne 0 ]; then ${refuse}; fi`,
        'case $answer in',
        `  *'${refusing}'*) printf '%s\\n' "$answer"; exit 0;;`,
        "  ''|'{'*'}') ;;",
        `  *) ${refuse};;`,
        'esac',
        ...texts.map(
          (name, i) => `more=$(field ${name}); text${i}=$text${i}\${text${i}:+\${more:+$gap}}$more`,
        ),
      ]),
      ...texts.map((name, i) => `[ -z "$text${i}" ] || fields=$fields\${fields:+,}'"${name}":"'$text${i}'"'`),
      `printf '{%s}\\n' "$fields"`,
      '',
    ].join('\n')
  }
}

/** The text of a field of the answer, as it is in JSON. */
const FIELD = String.raw`field() { printf '%s' "$answer" | LC_ALL=C sed -nE 's/.*"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p'; }`

const FIRST = '#!/bin/sh\n# Asks Carabiner. Written by carabiner setup'
const COMMAND = /^answer=\$\(printf '%s' "\$input" \| \{ (.*); \}\)$/gm
