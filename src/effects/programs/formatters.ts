// Programs that change the layout of code in its files: formatters, and linters that repair.

import { argumentsOf, literalWord } from '../files/file-effect.js'
import { isPattern } from '../paths/path-overlap.js'
import type { Draft, Program, Use } from '../program.js'
import type { Word } from '../script/word.js'

interface Formatter {
  readonly names: readonly string[]
  /** The words before the files: `cargo fmt`. */
  readonly verb?: RegExp
  /** The option without which it only reports. Undefined: it always writes. */
  readonly writes?: RegExp
  /** The option with which it only reports. */
  readonly reports?: RegExp
  /** Letters and long options that take the next word. */
  readonly valued?: readonly [letters: string, ...long: string[]]
  /** Whether it looks for files by itself if it is given none. */
  readonly searches?: true
  /** A call that writes, and one that does not. */
  readonly examples: readonly [string, string]
}

const FIX = /^--fix(?:-\w+)*(?:=true)?$/
const WRITE = /^(?:-\w*w|--write)$/
const CHECKS = /^--(?:check|diff|check-only|dry-run|test|lint|dryrun|verify-no-changes)$/
const PYTHON: Formatter['valued'] = [
  'lct',
  ...['--line-length', '--target-version', '--config', '--exclude', '--extend-exclude', '--include'],
  ...['--settings-path', '--profile', '--select', '--ignore', '--skip', '--workers', '--force-exclude'],
]
const SCRIPTS: Formatter['valued'] = [
  'cf',
  ...['--config', '--ext', '--rule', '--parser', '--plugin', '--format', '--ignore-path', '--max-warnings'],
  ...['--config-path', '--stdin-file-path', '--cache-location', '--ignore-pattern', '--rulesdir', '--since'],
]

/** One row a kind of call. The examples are in the project, where each writes something. */
const FORMATTERS: readonly Formatter[] = [
  {
    names: ['prettier', 'oxfmt'],
    writes: WRITE,
    valued: SCRIPTS,
    examples: ['npx prettier --write src', 'npx prettier --check src'],
  },
  {
    names: ['eslint', 'stylelint', 'oxlint', 'tslint', 'xo', 'standard', 'semistandard', 'ts-standard'],
    writes: FIX,
    reports: /^--fix-dry-run$/,
    valued: SCRIPTS,
    searches: true,
    examples: ['eslint --fix src', 'eslint src'],
  },
  {
    names: ['biome', 'rome'],
    verb: /^(?:check|format|lint)$/,
    writes: /^--(?:write|fix|apply|apply-unsafe|unsafe)$/,
    valued: SCRIPTS,
    searches: true,
    examples: ['biome check --write src', 'biome check src'],
  },
  {
    names: ['deno', 'dprint', 'zig', 'taplo', 'mix', 'swift', 'tool'],
    verb: /^(?:fmt|format)$/,
    reports: /^(?:--check(?:-formatted)?|-)$/,
    searches: true,
    examples: ['dprint fmt src', 'dprint check src'],
  },
  {
    names: ['gofmt', 'gofumpt', 'goimports', 'golines', 'gci', 'shfmt'],
    writes: WRITE,
    valued: ['r', '-local', '-r'],
    examples: ['gofmt -w src', 'gofmt -l src'],
  },
  {
    names: ['go'],
    verb: /^(?:fmt|fix)$/,
    searches: true,
    examples: ['go fmt ./src/...', 'go vet ./src/...'],
  },
  {
    names: ['golangci-lint'],
    verb: /^run$/,
    writes: FIX,
    valued: SCRIPTS,
    searches: true,
    examples: ['golangci-lint run --fix ./src/...', 'golangci-lint run ./src/...'],
  },
  {
    names: ['black', 'isort', 'pyupgrade', 'mdformat', 'sqlfmt'],
    reports: /^(?:-c|-d|--check|--check-only|--diff|--code)$/,
    valued: PYTHON,
    examples: ['black src', 'black --check src'],
  },
  {
    names: ['ruff'],
    verb: /^check$/,
    writes: /^--(?:fix|fix-only|unsafe-fixes)$/,
    reports: /^--diff$/,
    valued: PYTHON,
    searches: true,
    examples: ['ruff check --fix src', 'ruff check src'],
  },
  {
    names: ['ruff', 'usort'],
    verb: /^format$/,
    reports: CHECKS,
    valued: PYTHON,
    searches: true,
    examples: ['ruff format src', 'ruff format --check src'],
  },
  {
    names: ['autopep8', 'yapf', 'autoflake', 'docformatter', 'clang-format', 'ocamlformat', 'cmake-format'],
    writes: /^(?:-\w*i|--in-?place)$/,
    valued: PYTHON,
    examples: ['clang-format -i src/a.c', 'clang-format src/a.c'],
  },
  {
    names: ['swift-format', 'google-java-format', 'ormolu', 'fourmolu', 'jsonnetfmt'],
    writes: /^(?:-i|-r|--in-place|--replace|--mode=inplace)$/,
    examples: ['google-java-format -i src/A.java', 'google-java-format src/A.java'],
  },
  {
    names: ['rustfmt', 'stylua', 'swiftformat', 'scalafmt', 'nixfmt', 'alejandra', 'buildifier', 'cljfmt'],
    reports: CHECKS,
    valued: ['', '--edition', '--config', '--config-path', '--swiftversion', '--rules'],
    examples: ['rustfmt src/main.rs', 'rustfmt --check src/main.rs'],
  },
  {
    names: ['cargo'],
    verb: /^fmt$/,
    reports: CHECKS,
    valued: ['p', '--package', '--manifest-path'],
    searches: true,
    examples: ['cargo fmt', 'cargo fmt --check'],
  },
  {
    names: ['cargo'],
    verb: /^(?:clippy|fix)$/,
    writes: /^(?:--fix|--allow-dirty|--allow-staged|--allow-no-vcs)$/,
    valued: ['p', '--package', '--manifest-path'],
    searches: true,
    examples: ['cargo clippy --fix', 'cargo clippy'],
  },
  {
    names: ['terraform', 'tofu', 'packer'],
    verb: /^fmt$/,
    reports: /^--?(?:check|diff|write=false)$/,
    searches: true,
    examples: ['terraform fmt -recursive', 'terraform fmt -check'],
  },
  {
    names: ['terragrunt'],
    verb: /^(?:hclfmt|hcl)$/,
    reports: CHECKS,
    searches: true,
    examples: ['terragrunt hclfmt', 'terragrunt hclfmt --check'],
  },
  {
    names: ['rubocop'],
    writes: /^(?:-a|-A|-x|--auto-?correct(?:-all)?|--fix-layout)$/,
    searches: true,
    examples: ['rubocop -A src', 'rubocop src'],
  },
  {
    names: ['standardrb', 'erb_lint', 'markdownlint', 'markdownlint-cli2', 'clang-tidy', 'ansible-lint'],
    writes: /^(?:-a|-fix|--fix|--autocorrect)$/,
    searches: true,
    examples: ['markdownlint --fix docs', 'markdownlint docs'],
  },
  {
    names: ['ktlint'],
    writes: /^(?:-F|--format)$/,
    searches: true,
    examples: ['ktlint -F src', 'ktlint src'],
  },
  {
    names: ['php-cs-fixer', 'sqlfluff'],
    verb: /^fix$/,
    reports: CHECKS,
    valued: ['', '--dialect', '--config', '--rules'],
    examples: ['php-cs-fixer fix src', 'php-cs-fixer check src'],
  },
  {
    names: ['phpcbf', 'pint'],
    reports: /^--test$/,
    searches: true,
    examples: ['pint src', 'pint --test src'],
  },
  {
    names: ['dart', 'flutter'],
    verb: /^format$/,
    reports: /^(?:-o|--output=(?:none|show|json)|--output)$/,
    examples: ['flutter format lib', 'flutter format --output=none lib'],
  },
  {
    names: ['dotnet'],
    verb: /^format$/,
    reports: CHECKS,
    valued: ['v', '--verbosity', '--severity', '--include', '--exclude'],
    searches: true,
    examples: ['dotnet format', 'dotnet format --verify-no-changes'],
  },
  {
    names: ['buf', 'opa'],
    verb: /^(?:format|fmt)$/,
    writes: WRITE,
    searches: true,
    examples: ['buf format -w', 'buf format'],
  },
  {
    names: ['elm-format', 'djlint', 'js-beautify', 'html-beautify', 'css-beautify'],
    writes: /^(?:--yes|--reformat|-r|--replace)$/,
    examples: ['elm-format src --yes', 'elm-format src --validate'],
  },
  {
    names: ['latexindent', 'perltidy'],
    writes: /^-(?:w|wd|b)$/,
    examples: ['latexindent -w a.tex', 'latexindent a.tex'],
  },
]

/** The files, whose layout changes. Undefined if the call only reports. */
function filesOf({ verb, writes, reports, valued = [''], searches }: Formatter, use: Use) {
  const [letters, ...long] = valued
  const { operands } = argumentsOf(use.args, { valued: letters, long })
  if (verb && !verb.test(operands[0]?.text ?? '')) return undefined
  if (writes && !use.texts.some((text) => writes.test(text))) return undefined
  if (reports && use.texts.some((text) => reports.test(text))) return undefined
  const files = verb ? operands.slice(1) : operands
  return files.length > 0 || !searches ? files : [HERE]
}

const HERE = literalWord('.')

/** Formatters read patterns themselves, and `./...` of Go means a folder. */
function asWord(word: Word): Word {
  const text = word.text.replace(/\/\.\.\.$/, '')
  return { ...word, text, glob: word.glob || (word.known && isPattern(text)) }
}

function changedBy(formatter: Formatter, use: Use): readonly Draft[] {
  return (filesOf(formatter, use) ?? []).flatMap((word) =>
    use.places(asWord(word), true).map((place): Draft => ({ kind: 'write', place, layout: true })),
  )
}

export const FORMATTING: readonly Program[] = FORMATTERS.map((formatter) => ({
  names: formatter.names,
  effects: (use: Use) => changedBy(formatter, use),
  examples: [
    { command: formatter.examples[0], effects: [{ kind: 'write', layout: true }] },
    { command: formatter.examples[1], effects: [] },
  ],
}))
