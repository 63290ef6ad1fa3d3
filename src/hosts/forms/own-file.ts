// A file that is entirely ours: setup writes all of it, and removal deletes it.

import type { Entry, Form, FormCommand, FormPlace } from '../host-setup.js'
import { SetupProblem } from '../setup-problem.js'
import { type JsonLists, jsonForm } from './json-form.js'

export interface OwnFile {
  readonly text: (entries: readonly Entry[], at: FormPlace) => string
  /** Whether it begins as setup writes it. */
  readonly isWritten: (text: string) => boolean
  readonly commands: (text: string) => readonly FormCommand[]
}

export function ownFile({ text: textFor, isWritten, commands }: OwnFile): Form {
  return {
    isWhole: true,
    put: (text, entries, at) => {
      if (text !== undefined && text.trim() !== '')
        throw new SetupProblem(`${at.file} was written by somebody else`, 'Move it away first.')
      return textFor(entries, at)
    },
    take: (text, file, isOut) => {
      const out = commands(text).map(({ command }) => isOut({ command }))
      if (!out.includes(true)) return text
      if (isWritten(text) && !out.includes(false)) return undefined
      throw changedProblem(file)
    },
    isBare: (text) => text.trim() === '',
    commands,
    isSame: (a, b) => a === b,
  }
}

/** Taking our part out of a program would need somebody who understands the rest of it. */
export function changedProblem(file: string): SetupProblem {
  return new SetupProblem(
    `${file} has hooks of Carabiner, but somebody has changed the file since setup wrote it`,
    'Undo the change, or move the file away. Then run this again.',
  )
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
