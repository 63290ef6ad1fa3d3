// GitHub and GitLab from the command line.

import {
  cloud,
  type Draft,
  optionValue,
  type Program,
  plainWords,
  privilege,
  send,
  type Use,
} from '../program.js'
import { destroys } from './cloud-operation.js'
import { sourcesIn } from './sources.js'

const gh = (use: Use): readonly Draft[] => {
  const [noun = '', verb = '', ...names] = plainWords(
    use.texts,
    /^(?:-R|--repo|-t|--title|-b|--body|-F|--body-file|-f|--field|--raw-field|-X|--method|-H|--header|-q|--jq|-d|--desc)$/,
  )
  const files = use.args.filter(
    ({ text }, i) =>
      (names.includes(text) && /^(?:gist|release)$/.test(noun)) ||
      (/^(?:-F|--body-file|--notes-file|--input)$/.test(use.texts[i - 1] ?? '') && noun !== 'api'),
  )
  const uploads =
    (noun === 'gist' && verb === 'create') || (noun === 'release' && /^(?:upload|create)$/.test(verb))
  const named = noun === 'release' ? files.filter(({ text }) => text !== names[0]) : files
  const from = [
    ...(uploads || named.length > 0 ? named : [])
      .flatMap((word) => use.places(word))
      .map((place) => ({ of: 'file', place }) as const),
    // A here-document is only text, like any other title or body.
    ...use.args.flatMap((word) => sourcesIn(word, use)).filter(({ of }) => of !== 'text'),
  ]
  const sent =
    uploads || from.length > 0 ? [send('github.com', from.length > 0 ? from : [{ of: 'text' }])] : []
  const method = optionValue(use.texts, /^(?:-X|--method)$/)
  if (noun === 'auth' && verb === 'token') return [cloud('read secret', false, 'the token of gh')]
  if (noun === 'api')
    return [
      ...sent,
      ...(method !== undefined && method !== 'GET'
        ? [cloud(`api ${method}`, method === 'DELETE', verb)]
        : []),
    ]
  if (noun === 'workflow' && verb === 'run' && RELEASES.test([...names, ...use.texts].join(' ')))
    return [...sent, cloud('workflow run', true, names[0])]
  if (noun === 'pr' && verb === 'merge' && use.texts.includes('--admin'))
    return [...sent, privilege('gh pr merge --admin')]
  const isPublic = optionValue(use.texts, /^--visibility$/) === 'public'
  if (noun === 'repo' && verb === 'edit' && isPublic) return [cloud('repo edit --visibility public', true)]
  if (noun === 'pr' && use.texts.some((text) => /^(?:-\w*d|--delete-branch(?:=true)?)$/.test(text)))
    if (verb === 'close' || verb === 'merge')
      return [...sent, cloud(`pr ${verb} --delete-branch`, true, names[0])]
  if (/^(?:delete|archive|remove)$/.test(verb)) return [...sent, cloud(`${noun} ${verb}`, true, names[0])]
  return sent
}

/** Names of workflows that put something into production. */
const RELEASES = /deploy|release|publish|prod|rollback|promote|destroy|terraform|migrat|cd\b/i

export const FORGE_PROGRAMS: readonly Program[] = [
  {
    names: ['gh', 'glab'],
    hasVerb: true,
    effects: gh,
    examples: [
      { command: 'gh repo delete a/b', effects: [destroys('repo delete')] },
      { command: 'gh gist create a.txt', effects: [{ kind: 'send', host: 'github.com' }] },
      { command: 'gh pr close 12 --delete-branch', effects: [destroys()] },
      { command: 'gh repo edit --visibility public', effects: [destroys()] },
      { command: 'gh pr merge 12 --admin --squash', effects: [{ kind: 'privilege' }] },
      { command: 'gh pr merge 12 --squash', effects: [] },
      { command: 'gh workflow run deploy.yml', effects: [destroys('workflow run')] },
      { command: 'gh workflow run ci.yml', effects: [] },
      { command: 'gh pr list', effects: [] },
    ],
  },
]
