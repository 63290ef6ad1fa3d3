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

/** `docker build https://…`. */
const contexts = fetchesEach(({ texts }) => {
  const [verb = '', ...names] = plainWords(
    texts,
    /^(?:-[ft]|--(?:file|tag|build-arg|target|platform|label))$/,
  )
  if (verb === 'build') return names
  return verb === 'buildx' && names[0] === 'build' ? names.slice(1) : []
})

/** `vim -c ':source https://…'`. */
const sourced = fetchesEach(({ texts }) =>
  texts.map((text) => /^(?:\+|:)*\s*(?:so(?:urce)?|luafile|runtime)!?\s+(\S+)/.exec(text)?.[1]),
)

/** Functions of R that install from a repository. */
const fromRepository = ({ texts }: Use): readonly Draft[] => {
  const isSo = texts.some((text) =>
    /\b(?:install_(?:github|gitlab|bitbucket|git|url)|pak::pkg_install\(["'][^"']*\/)/.test(text),
  )
  const isOther = texts.some((text) => /\bsource\(\s*["']https?:/.test(text))
  return isSo || isOther ? [fetched('github.com', true)] : []
}

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
  {
    names: ['docker', 'podman', 'nerdctl', 'buildah'],
    effects: contexts,
    examples: [
      { command: 'docker build https://github.com/a/b.git', effects: [runs('github.com')] },
      { command: 'docker build -t x .', effects: [] },
    ],
  },
  {
    names: ['vim', 'nvim', 'vi', 'ex'],
    effects: sourced,
    examples: [
      { command: "vim -c ':source https://example.org/x.vim' -c q", effects: [runs('example.org')] },
    ],
  },
  {
    names: ['R', 'Rscript'],
    effects: fromRepository,
    examples: [{ command: `R -e "devtools::install_github('a/b')"`, effects: [runs('github.com')] }],
  },
  {
    names: ['gem', 'composer'],
    effects: fetchesEach(({ texts }) => [
      ...(texts[0] === 'specific_install' ? plainWords(texts) : []),
      optionValue(texts, /^--repository(?:-url)?$/),
    ]),
    examples: [
      { command: 'gem specific_install https://github.com/a/b', effects: [runs('github.com')] },
      {
        command: 'composer global require a/b --repository=https://example.org',
        effects: [runs('example.org')],
      },
    ],
  },
]
