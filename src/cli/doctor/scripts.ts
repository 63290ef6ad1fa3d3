// Scripts that hooks run: missing, not executable, wrong line ends, missing interpreter.

import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { visible } from '../../core/base/text.js'
import { bashOnly } from '../../effects/shell/bash-only.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import type { SimpleCommand } from '../../effects/shell/simple-command.js'
import { completionsOf } from '../../files/relative-imports.js'
import { realOf } from '../../files/within.js'
import { modulePath, typeScriptProblem } from '../../runners/module/module-path.js'
import { pathAt, typeAt } from '../../trust/file-reading.js'
import { INTERPRETERS, isRunner, SHELLS } from '../../trust/known-programs.js'
import { findPrograms, shebangOf } from '../../trust/program-search.js'
import { counted, placeOf, shortPath } from '../print/lines.js'
import { typedPath } from '../print/next-command.js'
import { type Facts, type Written, wanted } from './facts.js'
import type { Checked, Finding, FindingCode } from './finding.js'
import { commandOf, type HookCommand, joinedPath, unquoted } from './hook-command.js'

/** A file that a hook runs. */
interface Script {
  /** May be relative. */
  readonly path: string
  /** The interpreter on the command line; undefined if the script itself is started. */
  readonly by: string | undefined
  /** The words after it. */
  readonly rest: readonly string[]
}

export function scripts(facts: Pick<Facts, 'specs'>): Checked {
  const seen = new Set<string>()
  const findings = wanted(facts).flatMap((written) => {
    const { spec, where } = written
    if (spec.type === 'module') return ofModule(modulePath(spec.handler.path, spec.place), where, seen)
    const command = commandOf(written)
    return command ? ofCommand(command, seen) : []
  })
  return { what: counted(seen.size, 'script'), findings }
}

/** The files it runs that exist. */
export function scriptFiles(written: Written): readonly string[] {
  const seen = new Set<string>()
  const command = commandOf(written)
  if (command) ofCommand(command, seen)
  return [...seen]
}

/** The shell scripts it runs that exist, and the shell that reads each. */
export function shellScripts(
  command: HookCommand,
): readonly { readonly path: string; readonly shell: string }[] {
  if (unquoted(command).length > 0) return []
  return namedIn(command).flatMap((script) => {
    const places = command.folders.map((folder) => pathAt(folder, script.path))
    const path = places.find((one) => typeAt(one) === 'file')
    const bytes = path === undefined ? undefined : beginningOf(path)
    if (path === undefined || !bytes || bytes.includes(0)) return []
    const shell = script.by ?? interpreterOf(bytes)
    return SHELLS.test(shell) ? [{ path, shell }] : []
  })
}

function ofCommand(command: HookCommand, seen: Set<string>): readonly Finding[] {
  const found = unquoted(command)
  // Words that the shell splits are not file names.
  if (found.length > 0) return found
  return [
    ...returns(command),
    ...bashInCommand(command),
    ...namedIn(command).flatMap((script) => ofScript(script, command, seen)),
  ]
}

function namedIn(command: HookCommand): readonly Script[] {
  const { commands } = command.reading
  // The reading lists `sh run` as both `sh run` and `run`.
  const operands = new Set(commands.filter(isRunner).map(({ words }) => words[1]))
  return commands
    .filter((one) => isRunner(one) === INTERPRETERS.test(one.name) || !operands.has(one.program))
    .flatMap((one) => scriptsOf(one, command))
}

function ofModule(path: string, where: Written['where'], seen: Set<string>): readonly Finding[] {
  if (typeAt(path) !== 'file') {
    const text = `it imports ${shown(path)}, which does not exist`
    const fix = `Put the module at ${shown(path)}, or write the path of one that exists at ${placeOf(where)}.`
    return [{ severity: 'broken', code: 'script-missing', ...where, text, fix }]
  }
  seen.add(path)
  const problem = typeScriptProblem(path)
  if (!problem) return []
  const { message: text, hint: fix } = problem
  return [{ severity: 'broken', code: 'interpreter-missing', ...where, text, fix }]
}

/** Windows line ends inside the command itself. */
function returns({ line, where }: HookCommand): readonly Finding[] {
  if (!line.command.includes('\r')) return []
  const text = 'its command has a carriage return (\\r) in it, which becomes part of a word'
  return [
    {
      severity: 'broken',
      code: 'crlf',
      ...where,
      text,
      fix: `Remove every \\r from "command" at ${placeOf(where)}.`,
    },
  ]
}

/** What runs a command without a "shell" of its own. On macOS it is bash, and on many Linux systems it is not. */
const SH = '/bin/sh'
const IS_BASH = /\/bash$/.test(realOf(SH)) || process.platform === 'darwin'
const ENDS = 'sh may exit with 2 there, which counts as a block, or skip it'

function bashInCommand({ line, where }: HookCommand): readonly Finding[] {
  const only = line.args === undefined && line.shell !== 'bash' ? bashOnly(line.command) : undefined
  if (only === undefined) return []
  return [
    {
      severity: IS_BASH ? 'warning' : 'broken',
      code: 'bash-syntax',
      ...where,
      text: `its command uses ${visible(only)}, which is bash syntax, but sh runs it: ${ENDS}`,
      fix: `Add "shell": "bash" to the hook at ${placeOf(where)}.`,
    },
  ]
}

function bashInScript(
  text: string,
  name: string,
  { by }: Script,
  where: Written['where'],
): readonly Finding[] {
  const only = bashOnly(text)
  if (only === undefined) return []
  return [
    {
      severity: IS_BASH ? 'warning' : 'broken',
      code: 'bash-syntax',
      ...where,
      text: `${name} uses ${visible(only)}, which is bash syntax, but sh runs it: ${ENDS}`,
      fix:
        by === undefined
          ? `Write #!/usr/bin/env bash as the first line of ${name}.`
          : `Write bash in place of ${by} at ${placeOf(where)}.`,
    },
  ]
}

/** Their first word is a subcommand unless it has a dot or a slash. */
const TAKES_WORDS = /^(?:deno|bun|tsx|ts-node|\.|source)$/

function scriptsOf(
  { program, name, words, dynamic }: SimpleCommand,
  { pathOf }: HookCommand,
): readonly Script[] {
  if (dynamic && pathOf(program) === undefined) return []
  if (program.includes('/') && !INTERPRETERS.test(name)) return one(program, undefined, words.slice(1))
  const [, first, ...rest] = words
  // After an option, the word may be the option's value.
  if (!INTERPRETERS.test(name) || first === undefined || /^-|[\s;()]/.test(first)) return []
  return TAKES_WORDS.test(name) && !/[./]/.test(first) ? [] : one(first, name, rest)

  function one(word: string, by: string | undefined, after: readonly string[]): readonly Script[] {
    const path = pathOf(word)
    return path === undefined || path === '' ? [] : [{ path, by, rest: after }]
  }
}

function ofScript(script: Script, command: HookCommand, seen: Set<string>): readonly Finding[] {
  const { where, folders } = command
  const places = folders.map((folder) => pathAt(folder, script.path))
  const path = places.find((one) => isThere(one, script))
  if (path === undefined) return [absent(script, places[0] ?? script.path, command)]
  seen.add(path)
  if (typeAt(path) === 'folder') {
    if (script.by !== undefined) return [] // an interpreter may accept a folder
    const text = `it runs ${shown(path)}, which is a folder`
    const fix = `Write ${shown(path)}/NAME, the file in it to run, at ${placeOf(where)}.`
    return [{ severity: 'broken', code: 'script-missing', ...where, text, fix }]
  }
  return [...relative(script, command), ...ofFile(path, script, command)]
}

function isThere(path: string, { by }: Script): boolean {
  if (typeAt(path) !== undefined) return true
  return by !== undefined && completionsOf(by, path, path).some((one) => typeAt(one) === 'file')
}

/** With `||` or a file test, the author has provided for a missing file. */
const PREPARED = /\|\||(?:\[\[?|\btest)\s+(?:!\s+)?-[efxrsd]\s/

function absent(script: Script, place: string, command: HookCommand): Finding {
  const { where, spec, unit } = command
  const whole = joinedPath(script.path, script.rest, command.folders)
  if (whole !== undefined) {
    return {
      severity: 'broken',
      code: 'unquoted-path',
      ...where,
      text: `the path ${JSON.stringify(whole)} has spaces and no quotes, so the shell takes it for several words`,
      fix: `Put it in quotes: ${JSON.stringify(`"${whole}"`)} in the file.`,
    }
  }
  const { path } = script
  const isRelative = !path.startsWith('/')
  const near = isRelative ? elsewhere(path, command) : undefined
  return {
    severity: PREPARED.test(command.line.command) ? 'warning' : 'broken',
    code: 'script-missing',
    ...where,
    text: isRelative
      ? `it runs ${visible(path)}, but ${shown(place)} does not exist: a hook starts in the project, not in the folder of its file`
      : `it runs ${shown(path)}, which does not exist`,
    fix:
      near ??
      `Put the script at ${shown(place)}, or write the path of one that exists at ${placeOf(where)}${
        spec.place.plugin && !path.startsWith(unit.path)
          ? `; files of the plugin are in "\${CLAUDE_PLUGIN_ROOT}"`
          : ''
      }.`,
  }
}

/** A fix for a script that lies beside its hooks.json. */
function elsewhere(path: string, { spec: { place }, where }: HookCommand): string | undefined {
  const bare = path.replace(/^\.\//, '')
  const { plugin, hooksDir } = place
  if (plugin && typeAt(join(plugin.root, bare)) === 'file')
    return instead(path, `"\${CLAUDE_PLUGIN_ROOT}"/${shellQuoted(bare)}`, where)
  return typeAt(join(hooksDir, bare)) === 'file'
    ? instead(path, `"$AMPLIFIER_HOOKS_DIR"/${shellQuoted(bare)}`, where)
    : undefined
}

/** Both as they stand in the file, where a quote has a backslash before it. */
function instead(path: string, better: string, where: Written['where']): string {
  const inFile = (text: string) => JSON.stringify(text).slice(1, -1)
  return `Write ${inFile(better)} in place of ${visible(inFile(path))} at ${placeOf(where)}.`
}

/** Agents change folders and start hooks there, so a relative path breaks. */
function relative({ path, by }: Script, { where, spec, reading }: HookCommand): readonly Finding[] {
  if (path.startsWith('/') || spec.type !== 'command' || reading.begin?.startsWith('/')) return []
  const bare = path.replace(/^\.\//, '')
  return [
    {
      severity: 'warning',
      code: 'relative-path',
      ...where,
      text: `${by === undefined ? 'it runs' : `${by} reads`} ${visible(path)}, which is found only while the agent works in the project folder`,
      fix: instead(path, `"$CLAUDE_PROJECT_DIR"/${shellQuoted(bare)}`, where),
    },
  ]
}

// ---- the file -------------------------------------------------------------------------------------------------

function ofFile(path: string, script: Script, command: HookCommand): readonly Finding[] {
  const { where } = command
  const isStarted = script.by === undefined
  const name = shown(path)
  const typed = typedPath(path)
  // What came with a project is trusted with its mode.
  const isOfProject = command.spec.hook.origin.scope === 'project'
  const again = isOfProject ? '   # then, if you trusted it: carabiner trust --mine' : ''
  const findings: Finding[] = []
  const broken = (code: FindingCode, text: string, fix: string, more: Pick<Finding, 'repair'> = {}) =>
    findings.push({ severity: 'broken', code, ...where, text, fix, ...more })
  if (isStarted && !isExecutable(path))
    broken('not-executable', `${name} is not executable`, `chmod +x ${typed}${again}`, {
      ...(!isOfProject && { repair: { kind: 'make-executable', path } }),
    })
  const bytes = beginningOf(path)
  // Binaries have no lines to check.
  if (!bytes || bytes.includes(0)) return findings
  const isShell = SHELLS.test(script.by ?? interpreterOf(bytes))
  if (isStarted && firstLine(bytes).endsWith('\r')) {
    broken(
      'crlf',
      `the first line of ${name} ends with CRLF, as on Windows: no program has such a name`,
      unix(typed),
    )
  } else if (isShell && bytes.includes('\r\n')) {
    broken(
      'crlf',
      `${name} has Windows line endings (CRLF), and a shell takes the \\r for part of a word`,
      unix(typed),
    )
  } else if (isStarted) findings.push(...interpreter(bytes, name, command))
  const runBy = script.by ?? interpreterOf(bytes)
  if (/^(?:da|a)?sh$/.test(runBy)) findings.push(...bashInScript(bytes.toString('utf8'), name, script, where))
  return findings
}

function shown(path: string): string {
  return visible(shortPath(path))
}

function unix(typed: string): string {
  return `perl -pi -e 's/\\r$//' ${typed}   # "*.sh text eol=lf" in .gitattributes keeps it that way`
}

function interpreter(
  bytes: Buffer,
  name: string,
  { where, line, path, unit }: HookCommand,
): readonly Finding[] {
  const { program, file } = shebangOf(bytes)
  const gone =
    program !== undefined
      ? findPrograms([program], path, unit.projectDir).missing[0]
      : file?.startsWith('/') && typeAt(file) === undefined
        ? file
        : undefined
  if (gone !== undefined) {
    const text = `the first line of ${name} asks for ${gone}, which ${program ? 'is not in any folder of PATH' : 'does not exist'}`
    const fix = `Install ${basename(gone)}, or write another first line, such as #!/bin/sh, into ${name}.`
    return [{ severity: 'broken', code: 'interpreter-missing', ...where, text, fix }]
  }
  if (program !== undefined || file !== undefined || line.args === undefined) return []
  const text = `${name} has no first line such as #!/bin/sh, and with "args" there is no shell to guess it`
  return [
    {
      severity: 'broken',
      code: 'interpreter-missing',
      ...where,
      text,
      fix: `Add a first line to ${name}: #!/bin/sh.`,
    },
  ]
}

/** Without a #! line, a shell reads it. */
function interpreterOf(bytes: Buffer): string {
  const { program, file } = shebangOf(bytes)
  return program ?? (file === undefined ? 'sh' : basename(file))
}

function firstLine(bytes: Buffer): string {
  if (bytes[0] !== 0x23 || bytes[1] !== 0x21) return ''
  const end = bytes.indexOf(10)
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Enough bytes to see the line ends. */
const MOST = 64 * 1024

/** Undefined if unreadable: it may be a program. Never waits for a pipe's writer. */
function beginningOf(path: string): Buffer | undefined {
  if (typeAt(path) !== 'file') return undefined
  try {
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const bytes = Buffer.alloc(MOST)
      return bytes.subarray(0, readSync(fd, bytes))
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
