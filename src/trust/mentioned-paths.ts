// The relative paths in a command that something may open: in words, assignments, substitutions and code.

import {
  type ArrayValue,
  type Assignment,
  type Command,
  forEachChild,
  type ParsedScript,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash'
import { readShell } from '../effects/shell/shell-reading.js'
import {
  assignedWord,
  bodyOf,
  nameOf,
  OPEN,
  type ShellWord,
  type SimpleCommand,
  wordOf,
} from '../effects/shell/simple-command.js'
import { wrapperOf } from '../effects/shell/wrappers.js'
import { markedText, unmarked, variablesOf } from './hook-reading.js'
import { INTERPRETERS, isReader, isWriter, SHELLS, soughtBy } from './known-programs.js'
import { FILE_COMPARISON, FILE_TEST, type Use, usesOf } from './operand-use.js'
import { pathsIn, pathsInProgram, type RelativePath, relativePath } from './relative-path.js'
import type { Unit, UnitHook } from './unit.js'
import { alternatives, type Piece, piecesOf } from './word-pieces.js'

/** In order of appearance. */
export function mentionedPaths(hook: UnitHook, unit: Unit): readonly RelativePath[] {
  const variables = variablesOf(unit)
  const text = markedText(hook, unit, variables)
  const walk = new Walk()
  if (hook.shell === 'powershell' && hook.args === undefined) {
    if (!GOES_TO_ROOT.test(text)) walk.program(text)
  } else {
    const { commands } = readShell(text, (node, source) => {
      if (node.type === 'Script') walk.script(node, source)
    })
    walk.end(text)
    for (const path of commands.flatMap((command) => soughtHere(command, text))) walk.found(path)
  }
  const paths = walk.paths().filter(({ text: path }) => unmarked(path, variables).variable === undefined)
  return [...new Map(paths.map((path) => [`${path.text}\0${path.isLoose}`, path])).values()]
}

/** Files that a program looks for only in the folder where it starts: modules of Python, a Makefile. */
function soughtHere(command: SimpleCommand, text: string): readonly string[] {
  const { name, words } = command
  const isMake = /^g?make$/.test(name) && !words.some((word) => /^-\w*[Cf]|^--(?:d|f|makef)/.test(word))
  const isFromHere = /^(?:python[\d.]*|node|nodejs)$/.test(name) && !/PYTHONPATH|sys\.path/.test(text)
  return isMake || isFromHere ? soughtBy(command).paths : []
}

/** PowerShell that goes to an absolute folder. */
const GOES_TO_ROOT = /\b(?:Set-Location|Push-Location|cd|chdir|pushd|sl)\s+(?:-\w+\s+)?["']?\//i

/** Where a command's output goes, other than to the agent: into this variable, or to something that may run it. */
interface Capture {
  readonly variable?: string | undefined
}

interface Scope {
  readonly capture: Capture | undefined
  /** The function around it. */
  readonly within: string | undefined
}

const TOP: Scope = { capture: undefined, within: undefined }

interface Finding {
  readonly path: RelativePath
  /** The variable that holds it. */
  readonly holder: string | undefined
}

/** Everything that only passes text on. */
const FILTERS = new Set(['awk', 'sed', 'gsed', 'gawk', 'rg', 'tee'])

class Walk {
  readonly #findings: Finding[] = []
  /** How each variable is used: as text, as something else, or as a part of another variable. */
  readonly #uses = new Map<string, Set<string>>()
  readonly #values = new Map<string, string>()
  readonly #functions = new Set<string>()
  readonly #walked = new WeakSet<ParsedScript>()
  readonly #parsed = new Set<string>()
  /** Scripts inside the command. */
  readonly #inner = new Set<string>()

  /** A whole script, or one inside another command. */
  script(node: ParsedScript, source: string, scope: Scope = TOP): void {
    if (this.#walked.has(node)) return
    this.#walked.add(node)
    this.#parsed.add(source)
    if (node.errors?.length) this.code(source)
    for (const command of node.commands) this.#visit(command, scope)
  }

  /** Call it last. What could not be parsed counts as code. */
  end(text: string): void {
    for (const one of [text, ...this.#inner]) if (!this.#parsed.has(one)) this.code(one)
  }

  code(text: string, holder?: string): void {
    for (const path of pathsIn(text)) this.found(path, true, holder)
  }

  /** Code in another language than the shell's. */
  program(code: string): void {
    for (const path of pathsInProgram(code)) this.found(path, true)
  }

  found(text: string, isLoose = false, holder?: string): void {
    this.#note([{ text, kind: 'known' }], isLoose, holder)
  }

  paths(): readonly RelativePath[] {
    return this.#findings
      .filter(({ holder }) => holder === undefined || this.#isOpened(holder, new Set()))
      .map(({ path }) => path)
  }

  /** A variable that is never used here is for another program. */
  #isOpened(variable: string, seen: Set<string>): boolean {
    if (seen.has(variable)) return false
    seen.add(variable)
    const uses = this.#uses.get(variable)
    if (!uses) return true
    return [...uses].some((use) =>
      use.startsWith('=') ? this.#isOpened(use.slice(1), seen) : use === 'file',
    )
  }

  #note(pieces: readonly Piece[], isLoose: boolean, holder: string | undefined): void {
    const path = relativePath(pieces, isLoose)
    if (path) this.#findings.push({ path, holder })
  }

  // ---- the tree -------------------------------------------------------------------------------------------------

  #visit(node: SyntaxNode, scope: Scope): void {
    switch (node.type) {
      case 'Script':
        this.script(node, node.source ?? '', scope)
        return
      case 'Command':
        this.#command(node, scope)
        return
      case 'Pipeline': {
        for (const [i, command] of node.commands.entries()) {
          const isPassedOn = node.commands.slice(i + 1).every(isFilter)
          this.#visit(command, isPassedOn ? scope : { ...scope, capture: {} })
        }
        return
      }
      case 'For':
      case 'Select':
        for (const word of node.wordlist ?? []) this.#word(word, 'file', scope, node.name.text)
        this.#visit(node.body, scope)
        return
      case 'Function':
        this.#functions.add(node.name.text)
        this.#visit(node.body, {
          capture: { variable: `${node.name.text}>` },
          within: `${node.name.text}()`,
        })
        return
      case 'CaseItem':
        for (const word of node.pattern) this.#word(word, 'text', scope)
        this.#visit(node.body, scope)
        return
      case 'TestUnary':
        this.#word(node.operand, FILE_TEST.test(node.operator) ? 'file' : 'text', scope)
        return
      case 'TestBinary': {
        const use = FILE_COMPARISON.test(node.operator) ? 'file' : 'text'
        for (const word of [node.left, node.right]) this.#word(word, use, scope)
        return
      }
      case 'Redirected':
        for (const redirect of node.redirects) this.#redirect(redirect, undefined, scope)
        this.#visit(node.command, scope)
        return
      case 'Word':
        this.#word(node, 'text', scope)
        return
      default:
        forEachChild(node, (child) => this.#visit(child, scope))
    }
  }

  #command(node: Command, scope: Scope): void {
    for (const item of node.prefix) if (item.type === 'Assignment') this.#assign(item, scope, !node.name)
    const { name } = node
    const given = [...(name ? [name] : []), ...node.args]
    const words = given.map((item) => (item.type === 'Word' ? wordOf(item) : assignedWord(item)))
    for (const redirect of node.redirects) this.#redirect(redirect, words, scope)
    if (!name) return
    const own = this.#functions.has(name.text) ? `${name.text}()` : undefined
    // What the function prints goes where its caller's output goes.
    if (own !== undefined)
      this.#used(`${name.text}>`, scope.capture ? 'file' : 'text', scope, scope.capture?.variable)
    const prints = scope.capture && /^(?:echo|printf)$/.test(nameOf(name.text))
    const uses = usesOf(words)
    for (const [i, item] of given.entries()) {
      if (item.type === 'Assignment') this.#assign(item, scope, true)
      else if (own !== undefined && i > 0) this.#word(item, 'code', scope, own)
      else if (prints && i > 0) this.#printed(item, scope)
      else this.#operand(item, words[i] as ShellWord, uses[i] ?? 'text', scope)
    }
  }

  #operand(word: Word, { text }: ShellWord, use: Use, scope: Scope): void {
    if (use === 'script') this.#inner.add(text)
    // `env S=x`, `dd if=x`, `-v f=x`
    const [, variable, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? []
    if (variable !== undefined && use !== 'text' && use !== 'script') this.found(value, true, variable)
    if ((use === 'file' || use === 'path') && text.startsWith('-')) {
      const [, glued] = /^--?(?:[\w-]+=|\w{0,4}?(?=\.{0,2}\/)|\w)(.+)$/s.exec(text) ?? []
      if (glued !== undefined) this.found(glued, true)
    }
    this.#word(word, use, scope)
  }

  /** What echo prints for a variable, or for a command that may run it. */
  #printed(word: Word, scope: Scope): void {
    const { variable } = scope.capture ?? {}
    this.#word(word, /\s/.test(word.value) ? 'code' : 'file', scope, variable)
  }

  #assign({ name, value }: Assignment, scope: Scope, isKept: boolean): void {
    for (const word of wordsIn(value)) this.#word(word, /\s/.test(word.value) ? 'code' : 'path', scope, name)
    const pieces = value.type === 'Word' ? piecesOf(value, this.#values) : []
    // `PATH=scripts:$PATH`
    const list = pieces.map(({ kind, text }) => (kind === 'known' ? text : OPEN)).join('')
    const entries = list.includes(':') || name === 'PATH' ? list.split(':') : []
    for (const entry of entries) {
      if (entry.includes(OPEN)) continue
      if (name === 'PATH') this.found(entry)
      else this.found(entry, true, name)
    }
    if (isKept && pieces.length > 0 && pieces.every(({ kind }) => kind === 'known'))
      this.#values.set(name, pieces.map(({ text }) => text).join(''))
    else this.#values.delete(name)
  }

  #redirect(redirect: Redirection, words: readonly ShellWord[] | undefined, scope: Scope): void {
    const [program] = words ?? []
    const name = nameOf(program?.text ?? '')
    const call = { program: program?.text ?? '', name, words: words?.map(({ text }) => text) ?? [] }
    if (redirect.type === 'Redirect') {
      const { operator, target } = redirect
      if (!target) return
      if (operator === '<' || operator === '<>') this.#word(target, 'file', scope)
      else {
        // Without the folder, the shell does not start the command.
        const judges = program && !isReader(call) && !isWriter(call) && name !== 'date'
        const folder = wordOf(target).text.replace(/[^/]*$/, '')
        if (judges && !wordOf(target).shape.includes(OPEN)) this.found(folder)
        this.#word(target, 'text', scope)
      }
      return
    }
    const use = this.#inputUse(call, scope)
    if (redirect.type === 'HereString') {
      if (redirect.target) this.#word(redirect.target, use, scope, scope.capture?.variable)
      return
    }
    const { text } = bodyOf(redirect)
    if (use === 'code') this.code(text, scope.capture?.variable)
    if (use === 'program') this.program(text)
    for (const part of redirect.body.parts ?? []) this.#part(part, use, scope, undefined)
  }

  /** What a command does with text that is written into the line as its input. */
  #inputUse(call: Parameters<typeof isReader>[0], { capture }: Scope): Use {
    if (SHELLS.test(call.name) || wrapperOf(call.name)?.([])?.readsInput) return 'script'
    if (INTERPRETERS.test(call.name)) return 'program'
    const isText = isReader(call) || isWriter(call) || call.name === 'read'
    return isText && !capture ? 'text' : 'code'
  }

  // ---- words ----------------------------------------------------------------------------------------------------

  #word(word: Word, use: Use, scope: Scope, holder?: string): void {
    const pieces = piecesOf(word, this.#values)
    if (use === 'file' || use === 'path')
      for (const one of alternatives(pieces)) this.#note(one, use === 'path', holder)
    const text = pieces.map((piece) => (piece.kind === 'open' ? OPEN : piece.text)).join('')
    if (use === 'program') this.program(text)
    if (use === 'code') {
      this.#note(pieces, true, holder)
      this.code(text, holder)
    }
    // In `"$R/$S"`, the value of S is no path from here.
    const later = holder === undefined && (use === 'file' || use === 'path') ? 'text' : use
    const parts = (word.parts ?? []).flatMap<WordPart>((part) =>
      part.type === 'DoubleQuoted' ? [...part.parts] : [part],
    )
    for (const [i, part] of parts.entries()) this.#part(part, i === 0 ? use : later, scope, holder)
  }

  #part(part: WordPart, use: Use, scope: Scope, holder: string | undefined): void {
    switch (part.type) {
      case 'DoubleQuoted':
      case 'LocaleString':
        for (const inner of part.parts) this.#part(inner, use, scope, holder)
        return
      case 'SimpleExpansion':
        this.#used(part.text.slice(1), use, scope, holder)
        return
      case 'ParameterExpansion': {
        this.#used(part.parameter, use, scope, holder)
        const { operation } = part
        if (operation?.type === 'Default') {
          const isMessage = operation.operator.endsWith('?')
          const isSet = operation.operator.endsWith('=')
          const owner = isSet ? part.parameter : holder
          this.#word(operation.operand, isMessage ? 'text' : isSet ? 'path' : use, scope, owner)
        } else if (operation?.type === 'Replace') this.#word(operation.replacement, use, scope, holder)
        return
      }
      case 'CommandExpansion':
      case 'ProcessSubstitution': {
        const isShown = use === 'text' && holder === undefined && part.type === 'CommandExpansion'
        const capture = isShown ? scope.capture : { variable: holder }
        if (part.script) this.script(part.script, part.text, { ...scope, capture })
        return
      }
      default:
        forEachChild(part, (child) => this.#visit(child, scope))
    }
  }

  #used(variable: string, use: Use, { within }: Scope, holder: string | undefined): void {
    const name = /^[\d@*]/.test(variable) && within !== undefined ? within : variable
    const uses = this.#uses.get(name) ?? new Set()
    this.#uses.set(name, uses.add(holder !== undefined ? `=${holder}` : use === 'text' ? 'text' : 'file'))
  }
}

function wordsIn(value: Word | ArrayValue): readonly Word[] {
  return value.type === 'ArrayValue' ? value.elements : [value]
}

/** Whether it only passes text on, as far as its name says. */
function isFilter(node: SyntaxNode): boolean {
  if (node.type !== 'Command' || !node.name) return false
  const words = [node.name.text, ...node.args.map(({ text }) => text)]
  const name = nameOf(node.name.text)
  return FILTERS.has(name) || isReader({ program: node.name.text, name, words })
}
