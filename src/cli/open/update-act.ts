// Updating a plugin on the page: looking for updates as `carabiner update --check`, and replacing with exactly what was shown.

import { visible } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import type { PreparedAct } from '../../page/act-answers.js'
import { NotAnswered, textIn } from '../../page/answers.js'
import { block } from '../../page/shown-text.js'
import type { UpdateView } from '../../page/view/plugins.js'
import type { Commands } from '../command.js'
import { type ContentDocument, contentView, documentOf } from './command-answers.js'

interface UpdateDocument {
  readonly plugins: readonly {
    readonly name: string
    readonly scope: 'user' | 'project'
    readonly state: string
    readonly why?: string
    readonly before?: string
    readonly version?: string
    readonly commit?: string
    readonly error?: { readonly message: string; readonly hint: string | null }
    readonly review?: {
      readonly digest: string | null
      readonly problems: readonly string[]
      readonly hooks: ContentDocument['hooks']
      readonly risks: ContentDocument['risks']
    }
    readonly differences?: ContentDocument['differences']
  }[]
}

/** Fetches, and changes nothing. Only from sources that the user has accepted. */
export async function updates(commands: Commands, project: string): Promise<readonly UpdateView[]> {
  const { plugins } = await documentOf<UpdateDocument>(commands, [
    'update',
    '--check',
    `--project=${project}`,
    '--json',
  ])
  return plugins.map(updateView)
}

function updateView(one: UpdateDocument['plugins'][number]): UpdateView {
  const { name, scope, state, before = '', version, commit, error, review, differences = [] } = one
  const where = scope === 'user' ? 'user' : 'here'
  const now = version ?? commit?.slice(0, 12) ?? ''
  const isReady = state === 'outdated' && review?.digest && review.problems.length === 0
  return {
    name: visible(name),
    where,
    state: visible(state),
    text: block(
      error
        ? [error.message, error.hint].filter(Boolean).join('. ')
        : [before && `from ${before}`, now && `to ${now}`, ...(review?.problems ?? [])]
            .filter(Boolean)
            .join(' '),
    ),
    ...(isReady && review.digest !== null && { digest: review.digest }),
    ...contentView({ hooks: review?.hooks ?? [], risks: review?.risks ?? [], differences }),
    command: `carabiner update ${shellQuoted(visible(name))} --${where}`,
  }
}

/** Fetches again, and replaces only if the content is still that of the digest. */
export async function updateAct(commands: Commands, project: string, body: unknown): Promise<PreparedAct> {
  const [name, where, digest] = [textIn(body, 'name'), textIn(body, 'where', 10), textIn(body, 'digest', 100)]
  if (!['here', 'user'].includes(where) || !/^\w[\w.@/-]*$/.test(name) || !/^[0-9a-f]{64}$/.test(digest))
    throw new NotAnswered(400, 'Which plugin, where, and with which digest?')
  return {
    signed: { what: 'update', name, where, project, digest },
    onlyTightens: false,
    run: async () => {
      const { plugins } = await documentOf<UpdateDocument>(commands, [
        ...['update', name, `--${where}`, '--yes', `--digest=${digest}`],
        ...[`--project=${project}`, '--json'],
      ])
      const [plugin] = plugins
      if (plugin?.state !== 'updated')
        throw new NotAnswered(
          409,
          `It was not updated: ${visible(plugin?.why ?? plugin?.error?.message ?? 'there is no update any more')}`,
        )
      return { change: 'updated', hook: name, digest, ...(where === 'here' && { project }) }
    },
  }
}
