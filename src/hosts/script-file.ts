// An executable of ours for one event, where an agent wants a file for each.

import type { Entry, Form } from './host-setup.js'
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
}

export function scriptFile({ agent, event, refusal, refusing }: Script): Form {
  return ownFile({
    text: (entries) => scriptText(entries.filter((entry) => entry.event === event)),
    commands: (text) =>
      text.startsWith(FIRST)
        ? [...text.matchAll(COMMAND)].map(([, command = '']) => ({ event, command }))
        : undefined,
  })

  function scriptText(entries: readonly Entry[]): string {
    return [
      `${FIRST} ${agent}, and removed by carabiner setup ${agent} --remove.`,
      'input=$(cat)',
      ...entries.flatMap(({ command }) => [
        `answer=$(printf '%s' "$input" | { ${command}; })`,
        `if [ $? -ne 0 ]; then printf '%s\\n' '${refusal}'; exit 0; fi`,
        `case $answer in *'${refusing}'*) printf '%s\\n' "$answer"; exit 0;; esac`,
      ]),
      `printf '%s\\n' "$answer"`,
      '',
    ].join('\n')
  }
}

const FIRST = '#!/bin/sh\n# Asks Carabiner. Written by carabiner setup'
const COMMAND = /^answer=\$\(printf '%s' "\$input" \| \{ (.*); \}\)$/gm
