// Files that a script makes its interpreter load: modules beside it, the package.json above it, packages, sourced files.

import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { LOADED, triedAt } from '../files/relative-imports.js'
import { isBelow, realOf } from '../files/within.js'
import { pathAt, typeAt } from './file-reading.js'
import { modulesIn, nearestPackage, saysOf, stemOf, upTo } from './implicit-loads.js'
import { importsIn, SHELLS } from './known-programs.js'
import { shebangName } from './program-search.js'
import type { ImplicitLoad } from './unit.js'

export interface Loads {
  readonly implicit: readonly ImplicitLoad[]
  /** Paths without a file, where a new file would be loaded, perhaps instead of the current one. */
  readonly absent: readonly string[]
}

interface Script {
  readonly path: string
  readonly bytes: Buffer
  /** The interpreter that the command names. */
  readonly by: string | undefined
}

/** Files outside the project do not count, because the project cannot write them. */
export function loadsOf({ path, bytes, by }: Script, projectDir: string): Loads {
  const places = [...new Set([dirname(path), dirname(realOf(path))])]
  const text = bytes.toString('utf8')
  const language = languageOf(path, by ?? shebangName(bytes))
  const implicit = places.flatMap((folder): readonly ImplicitLoad[] => {
    if (language === 'python') return [moduleLoad(folder, importsIn(text), path)]
    if (language === 'node') return [packageLoad(path, folder, projectDir, text)]
    return language === 'shell' && PYTHON_INSIDE.test(text) ? [moduleLoad(projectDir, importsIn(text))] : []
  })
  const absent = places.flatMap((folder) => {
    if (language === 'node') return nodePaths(text, folder, projectDir)
    return language === 'shell' ? sourcedPaths(text, [folder, projectDir]) : []
  })
  const isWithin = (one: string) => isBelow(one, projectDir) || isBelow(one, realOf(projectDir))
  return { implicit, absent: absent.filter(isWithin) }
}

interface Language {
  readonly name: 'python' | 'node' | 'shell' | 'ruby' | 'perl' | 'php'
  /** Programs that run it. */
  readonly program: RegExp
  readonly extension: RegExp
  /** Shown to people: what its scripts load. */
  readonly loads: string
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'python',
    program: /^(?:(?:python|pypy)[\d.]*|uv|uvx|pipx)$/,
    extension: /\.py$/,
    loads: 'Python imports',
  },
  {
    name: 'node',
    program: /^(?:node|nodejs|bun|deno|tsx|ts-node)$/,
    extension: /\.(?:[cm]?[jt]s|[jt]sx)$/,
    loads: 'Node.js imports',
  },
  {
    name: 'shell',
    program: SHELLS,
    extension: /\.(?:ba|da|z|k)?sh$/,
    loads: 'files that shell scripts source',
  },
  { name: 'ruby', program: /^ruby$/, extension: /\.rb$/, loads: 'Ruby imports' },
  { name: 'perl', program: /^perl$/, extension: /\.pl$/, loads: 'Perl imports' },
  { name: 'php', program: /^php$/, extension: /\.php$/, loads: 'PHP imports' },
]

function languageOf(path: string, interpreter: string | undefined): Language['name'] | undefined {
  const byProgram = LANGUAGES.find(({ program }) => interpreter !== undefined && program.test(interpreter))
  return (byProgram ?? LANGUAGES.find(({ extension }) => extension.test(path)))?.name
}

// ---- python: the folder of a script comes before the standard modules -------------------------------------------

/** With code on the command line or standard input, Python looks in the current folder first. */
const PYTHON_INSIDE =
  /(?:^|[\s;&|({"'`])python[\d.]*(?:[ \t]+-(?![a-zA-Z]*[IPcm])[a-zA-Z]+)*[ \t]+(?:-(?![a-zA-Z]*[IP])[a-zA-Z]*[cm]\b|-(?=\s)|<<)/m

/** Standard modules that are loaded by others, so a script may use them without naming them. */
const STANDARD =
  `abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath codecs codeop collections colorsys
  compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal
  difflib dis email encodings enum fcntl filecmp fileinput fnmatch fractions functools genericpath getopt getpass
  gettext glob graphlib grp gzip hashlib heapq hmac html http importlib inspect io ipaddress json keyword linecache
  locale logging lzma math mimetypes mmap multiprocessing numbers opcode operator optparse os pathlib pickle pkgutil
  platform posixpath pprint py_compile pyexpat queue quopri random re readline reprlib resource runpy secrets select
  selectors shlex shutil signal sitecustomize socket socketserver sre_compile sre_constants sre_parse ssl stat
  statistics string stringprep struct subprocess sysconfig syslog tarfile tempfile termios textwrap threading token
  tokenize tomllib traceback tracemalloc types typing unicodedata unittest urllib usercustomize uuid warnings weakref
  xml zipfile zipimport zlib zoneinfo _asyncio _bisect _collections_abc _compat_pickle _compression _csv _ctypes
  _datetime _decimal _hashlib _heapq _json _markupbase _opcode _pickle _posixsubprocess _py_abc _pydatetime _pydecimal
  _pyio _queue _random _scproxy _sitebuiltins _socket _ssl _statistics _strptime _struct _threading_local _typing
  _uuid _weakrefset`.split(/\s+/)

/** Existing modules are not listed again: they were there during the review. */
export function moduleLoad(folder: string, imported: readonly string[], script?: string): ImplicitLoad {
  const first = imported.map((name) => name.split('.', 1)[0] ?? '').filter((name) => /^\w+$/.test(name))
  const names = new Set([...STANDARD, ...first])
  for (const found of modulesIn(folder, names)) names.delete(stemOf(found))
  return { folder, modules: [...names].sort(), ...(script !== undefined && { script }) }
}

// ---- Node.js: the nearest package.json decides how a script is read, and folders above it have its packages -------

function packageLoad(script: string, folder: string, projectDir: string, text: string): ImplicitLoad {
  const isModule = /^[ \t]*(?:import|export)\b(?!\s*\()/m.test(text)
  return { script, folder, package: saysOf(nearestPackage(folder, projectDir), isModule), isModule }
}

function nodePaths(text: string, folder: string, projectDir: string): readonly string[] {
  const names = new Set([...text.matchAll(LOADED)].map(([, , name = '']) => name))
  return [...names].flatMap((name) => {
    if (/^\.\.?(?:\/|$)/.test(name)) return untilThere(triedAt(pathAt(folder, name)))
    if (!/^[@\w]/.test(name) || isBuiltin(name) || name.includes(':')) return []
    const [, own = ''] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? []
    const homes = upTo(projectDir, folder).map((one) => join(one, 'node_modules'))
    const home = homes.findIndex((one) => typeAt(join(one, own)) === 'folder')
    return homes
      .slice(0, Math.max(home, 0))
      .flatMap((one) => [join(one, own, 'package.json'), ...triedAt(join(one, name))])
  })
}

/** The paths before the one that is found, or all of them. */
function untilThere(paths: readonly string[]): readonly string[] {
  const found = paths.findIndex((path) => typeAt(path) === 'file')
  return (found === -1 ? paths : paths.slice(0, found)).filter((path) => typeAt(path) === undefined)
}

// ---- shells: they load only what a script sources ----------------------------------------------------------------

/** Only at the start of a command: the dot in `jq . x` does not source anything. */
const SOURCED =
  /(?:^|[;&|({]|\b(?:then|do|else))[ \t]*(?:\.|source)[ \t]+((?:"[^"\n]*"|'[^'\n]*'|\$\([^()\n]*\)|\$\{[^}\n]*\}|[^\s;&|()"'])+)/gm
const FILLED_IN = /\$\([^()]*\)|\$\{[^}]*\}|\$\w+/g

/** A variable at the beginning may be any of the folders: `. "$(dirname "$0")/rules.sh"`. */
function sourcedPaths(text: string, folders: readonly string[]): readonly string[] {
  const paths = [...text.matchAll(SOURCED)].flatMap(([, word = '']) => {
    const plain = word.replace(/["']/g, '')
    const rest = plain.split(FILLED_IN).at(-1) ?? ''
    if (rest === '' || /[*?[\]{}`$\0]/.test(rest)) return []
    if (rest === plain && rest.startsWith('/')) return [rest]
    return folders.map((folder) => pathAt(folder, `./${rest}`))
  })
  return paths.filter((path) => typeAt(path) === undefined)
}
