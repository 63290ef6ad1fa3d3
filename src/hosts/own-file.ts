// A file that is entirely ours: setup writes all of it, and removal deletes it.

import type { Entry, Form, FormCommand, FormPlace, IsOut } from './host-setup.js'
import { type JsonLists, jsonForm } from './json-form.js'
import { SetupProblem } from './setup-problem.js'

export interface OwnFile {
  readonly text: (entries: readonly Entry[], at: FormPlace) => string
  /** The commands in it; undefined if somebody else wrote it. */
  readonly commands: (text: string) => readonly FormCommand[] | undefined
}

export function ownFile({ text: textFor, commands }: OwnFile): Form {
  return {
    put: (text, entries, at) => {
      if (text !== undefined && text.trim() !== '')
        throw new SetupProblem(`${at.file} was written by somebody else`, 'Move it away first.')
      return textFor(entries, at)
    },
    take: (text, _, isOut) => (isAllOut(commands(text), isOut) ? undefined : text),
    isBare: (text) => text.trim() === '',
    commands: (text) => commands(text) ?? [],
    isSame: (a, b) => a === b,
  }
}

function isAllOut(commands: readonly FormCommand[] | undefined, isOut: IsOut): boolean {
  return commands !== undefined && commands.length > 0 && commands.every(({ command }) => isOut({ command }))
}

/** One in JSON, with lists of hooks by event. If somebody has added something, that stays. */
export function jsonFile(lists: JsonLists): Form {
  const form = jsonForm(lists)
  return {
    ...form,
    take: (text, file, isOut) => {
      const rest = form.take(text, file, isOut)
      return rest === undefined || rest === text || !form.isBare(rest) ? rest : undefined
    },
  }
}
