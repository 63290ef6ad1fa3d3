// The recipes of a makefile that make runs for its goals, as a script for a shell.

export interface MakeGoals {
  /** Empty for the first rule. */
  readonly goals: readonly string[]
  /** `NAME=value` on the command line. */
  readonly variables: readonly string[]
}

interface Rule {
  readonly targets: readonly string[]
  readonly needs: readonly string[]
  readonly recipe: readonly string[]
}

interface Makefile {
  readonly rules: readonly Rule[]
  readonly variables: ReadonlyMap<string, string>
}

/** Variables that make sets itself. */
const BUILT_IN: readonly (readonly [string, string])[] = [
  ['RM', 'rm -f'],
  ['MAKE', 'make'],
  ['CURDIR', '.'],
  ['SHELL', '/bin/sh'],
  ['CC', 'cc'],
]

/** What only make knows, in the words of a shell. */
const UNKNOWN = '$MAKE_VALUE'

const MOST_RULES = 200
const MOST_LAYERS = 10
const LONGEST_VALUE = 10_000

/** Each line runs in a shell of its own. Empty if nothing is known about the goals. */
export function recipesOf(text: string, { goals, variables: given }: MakeGoals): string {
  const makefile = parsed(text)
  const variables = new Map(makefile.variables)
  for (const one of given) {
    const [, name = '', value = ''] = /^([\w.-]+)\??:?=(.*)$/s.exec(one) ?? []
    variables.set(name, value)
  }
  const lines: string[] = []
  for (const { rule, goal } of rulesFor(makefile, goals, variables)) {
    const own = new Map(variables)
    const needs = rule.needs.map((need) => need.replace('%', UNKNOWN))
    for (const [sign, value] of [
      ['@', goal],
      ['<', needs[0] ?? ''],
      ['^', needs.join(' ')],
      ['+', needs.join(' ')],
      ['?', needs.join(' ')],
      ['*', UNKNOWN],
    ] as const)
      own.set(sign, value)
    for (const line of rule.recipe) lines.push(`(\n${expanded(line.replace(/^[\s@+-]+/, ''), own)}\n)`)
  }
  return lines.join('\n')
}

// ---- rules ------------------------------------------------------------------------------------------------------

/** The rules of the goals, each after those that it needs. */
function rulesFor(
  { rules }: Makefile,
  goals: readonly string[],
  variables: ReadonlyMap<string, string>,
): readonly { readonly rule: Rule; readonly goal: string }[] {
  const first = rules.find(({ targets }) => targets.some((target) => !/^\.\w|%/.test(target)))
  const open = goals.length > 0 ? [...goals] : [variables.get('.DEFAULT_GOAL') ?? first?.targets[0] ?? '']
  const found: { readonly rule: Rule; readonly goal: string }[] = []
  const seen = new Set<string>()
  const byTarget = new Map<string, Rule[]>()
  for (const rule of rules)
    for (const target of rule.targets) {
      const known = byTarget.get(target)
      if (known) known.push(rule)
      else byTarget.set(target, [rule])
    }
  const patterns = rules.filter(({ targets }) => targets.some((target) => target.includes('%')))
  while (open.length > 0 && found.length < MOST_RULES) {
    const goal = open.shift() as string
    if (seen.has(goal)) continue
    seen.add(goal)
    const exact = byTarget.get(goal) ?? []
    const chosen = exact.some(({ recipe }) => recipe.length > 0)
      ? exact
      : [...exact, ...patterns.filter(({ targets }) => targets.some((target) => isLike(goal, target)))]
    for (const rule of chosen) {
      found.push({ rule, goal })
      open.push(...rule.needs)
    }
  }
  return found
}

/** `%.o` is the pattern of `main.o`. */
function isLike(goal: string, pattern: string): boolean {
  const at = pattern.indexOf('%')
  return at >= 0 && goal.startsWith(pattern.slice(0, at)) && goal.endsWith(pattern.slice(at + 1))
}

// ---- reading ----------------------------------------------------------------------------------------------------

function parsed(text: string): Makefile {
  const variables = new Map(BUILT_IN)
  const rules: { targets: readonly string[]; needs: readonly string[]; recipe: string[] }[] = []
  let rule: (typeof rules)[number] | undefined
  for (const line of logicalLines(text)) {
    if (line.startsWith('\t')) {
      rule?.recipe.push(line.slice(1))
      continue
    }
    const bare = line.replace(/(^|\s)#.*$/s, '').trim()
    const [, name, sign = '', value = ''] =
      /^(?:export\s+|override\s+|unexport\s+)*([\w.-]+)\s*([:?+!]{0,3})=\s*(.*)$/s.exec(bare) ?? []
    if (name !== undefined) {
      if (sign === '+') variables.set(name, `${variables.get(name) ?? ''} ${value}`)
      else if (sign !== '?' || !variables.has(name)) variables.set(name, value)
      continue
    }
    const at = /^([^:=\t]+)::?(?!=)(.*)$/s.exec(bare)
    if (!at) continue
    const [needs = '', ...behind] = (at[2] ?? '').split(';')
    const recipe = behind.length > 0 ? [behind.join(';').trim()] : []
    rule = {
      targets: words(expanded(at[1] ?? '', variables)),
      needs: words(expanded(needs, variables)).filter((word) => word !== '|'),
      recipe,
    }
    rules.push(rule)
  }
  return { rules, variables }
}

/** A backslash at the end joins two lines. */
function logicalLines(text: string): readonly string[] {
  const lines: string[] = []
  let open = ''
  for (const line of text.split('\n')) {
    if (line.endsWith('\\')) {
      open += open.startsWith('\t') ? `${line}\n` : `${line.slice(0, -1)} `
      continue
    }
    lines.push(open + line)
    open = ''
  }
  if (open !== '') lines.push(open)
  return lines
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

// ---- variables --------------------------------------------------------------------------------------------------

/** With the values of make's variables. Functions of make are left to the shell, or unknown. */
function expanded(text: string, variables: ReadonlyMap<string, string>, layer = 0): string {
  if (!text.includes('$')) return text
  const value = (name: string) => {
    const found = variables.get(name)
    if (found === undefined || layer >= MOST_LAYERS) return UNKNOWN
    return expanded(found, variables, layer + 1)
  }
  const full = text.replace(
    /\$(?:\$|([@<^+?*])|\(([\w.@<^+?*-]+)\)|\{([\w.@<^+?*-]+)\}|\((shell|wildcard) ((?:[^()]|\([^()]*\))*)\)|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\{[^{}]*\}|(\w))/g,
    (all, sign?: string, round?: string, curly?: string, name?: string, given?: string, letter?: string) => {
      if (all === '$$') return '$'
      const variable = sign ?? round ?? curly ?? letter
      if (variable !== undefined) return value(variable)
      if (name === 'shell') return `$(${expanded(given ?? '', variables, layer + 1)})`
      return name === 'wildcard' ? expanded(given ?? '', variables, layer + 1) : UNKNOWN
    },
  )
  return full.length > LONGEST_VALUE ? UNKNOWN : full
}
