// Code from an address or a registry that other programs than package managers fetch and run: extensions, playbooks, modules.

import { type Draft, fetched, hostOf, optionValue, type Program, plainWords, type Use } from '../program.js'

const ADDRESS =
  /^(?:git::)?(?:https?|git|ssh):\/\/|^git@|^git\+|^(?:github|gitlab|bitbucket)(?:\.com|\.org)?[:/]/

function hostIn(text: string): string | undefined {
  const bare = text.replace(/^git(?:::|\+)/, '')
  if (/^github(?::|\.com)/.test(bare)) return 'github.com'
  return hostOf(bare) ?? hostOf(bare.replace(/^git@([\w.-]+):/, '//$1/'))
}

/** Fetches and runs what these words name, if it is an address. */
const fetchesEach =
  (named: (use: Use) => readonly (string | undefined)[]) =>
  (use: Use): readonly Draft[] =>
    named(use).flatMap((text) =>
      text !== undefined && ADDRESS.test(text) ? [fetched(hostIn(text), true)] : [],
    )

const extensions = (use: Use): readonly Draft[] => {
  const name = optionValue(use.texts, /^--install-extension$/)
  if (name === undefined || /\.vsix$/.test(name)) return []
  return [fetched('marketplace.visualstudio.com', true)]
}

/** `nix run github:a/b`. */
const flakes = fetchesEach(({ texts }) => {
  const [verb = '', ...names] = plainWords(texts)
  return /^(?:run|shell|develop|build|profile)$/.test(verb) ? names : []
})

const runs = (host?: string) => ({ kind: 'fetch', runs: true, ...(host !== undefined && { host }) })

export const FETCHED_CODE: readonly Program[] = [
  {
    names: ['code', 'code-insiders', 'codium'],
    effects: extensions,
    examples: [
      { command: 'code --install-extension a.b', effects: [runs()] },
      { command: 'code src/a.ts', effects: [] },
    ],
  },
  {
    names: ['ansible-pull'],
    effects: fetchesEach(({ texts }) => [optionValue(texts, /^(?:-U|--url)$/)]),
    examples: [{ command: 'ansible-pull -U https://example.org/x', effects: [runs('example.org')] }],
  },
  {
    names: ['nix'],
    effects: flakes,
    examples: [
      { command: 'nix run github:a/b', effects: [runs('github.com')] },
      { command: 'nix build .#app', effects: [] },
    ],
  },
]
