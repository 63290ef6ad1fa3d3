// Paths that code builds of the home folder and of literals: `os.homedir() + '/x'`, `Path.home() / 'x'`, `path.join('a', 'b')`.

const NAME = String.raw`\(?\[?\s*['"]HOME['"]\s*\]?\)?`

/** A path in Python that is the home folder. */
const HOME_PATH = /(?<![\w.])(?:pathlib\.)?Path\.home\(\s*\)/g

/** The other spellings of the home folder, in every language. */
const HOME = new RegExp(
  [
    String.raw`(?:require\(\s*['"](?:node:)?os['"]\s*\)|(?<![\w.])os)\.homedir\(\s*\)`,
    String.raw`(?<![\w.])homedir\(\s*\)|(?:os\.)?userInfo\(\s*\)\.homedir\b`,
    String.raw`(?<!\w)process\.env(?:\.HOME\b|\[\s*['"]HOME['"]\s*\])`,
    String.raw`(?:os\.)?environ(?:\.get\(\s*['"]HOME['"]\s*\)|\[\s*['"]HOME['"]\s*\])`,
    String.raw`(?:os\.|Deno\.env\.)?(?<!\w)get(?:env)?\(\s*['"]HOME['"]\s*\)`,
    String.raw`(?:os\.path\.)?expanduser\(\s*['"]~['"]\s*\)`,
    String.raw`(?<![\w$])ENV(?:\.fetch)?${NAME}|\$ENV\{\s*['"]?HOME['"]?\s*\}|\$_(?:SERVER|ENV)\[\s*['"]HOME['"]\s*\]`,
    String.raw`(?<!\w)Dir\.home\b(?:\(\s*\))?`,
  ].join('|'),
  'g',
)

/** In the text of a string: `${…}`, `#{…}`, `{…}`. */
const IN_TEXT = /(?<=['"`])[$#]?\{\s{0,9}'~'\s{0,9}\}/g
/** Perl needs no brackets. */
const IN_PERL = /(?<=")\$ENV\{\s{0,9}HOME\s{0,9}\}/g

const QUOTED = String.raw`(?:'[^'\n]{0,300}'|"[^"\n]{0,300}")`
const EXPANDED = new RegExp(
  String.raw`(?:os\.path\.)?(?<!\w)(?:expanduser|File\.expand_path)\(\s{0,9}(${QUOTED})\s{0,9}\)`,
  'g',
)
const JOINED = new RegExp(
  String.raw`(?:require\(\s{0,9}['"](?:node:)?path['"]\s{0,9}\)\.|\b(?:os\.)?path\.|\bFile\.|(?<![\w.'"]))(?<!['"\`]\.)(?:posix\.)?(?:join|resolve)\(\s{0,9}(${QUOTED}(?:\s{0,9},\s{0,9}${QUOTED}){1,20})\s{0,9}\)`,
  'g',
)
const PATH = String.raw`(?:pathlib\.)?(?<!\w)Path\(\s{0,9}(?:Path\(\s{0,9})?(${QUOTED})\s{0,9}\)?`
const BELOW = new RegExp(String.raw`${PATH}\s{0,9}(?:\)\s{0,9}\/\s{0,9}|\/\s{0,9})(${QUOTED})`)
const JOINED_PATH = new RegExp(
  String.raw`(?:pathlib\.)?(?<!\w)Path\(\s{0,9}(${QUOTED})\s{0,9}\)\.joinpath\(\s{0,9}(${QUOTED}(?:\s{0,9},\s{0,9}${QUOTED}){0,20})\s{0,9}\)`,
  'g',
)
const PATH_OF_PARTS = new RegExp(
  String.raw`(?<!\w)Path\(\s{0,9}(?:Path\(\s{0,9}('~')\s{0,9}\)|(${QUOTED}))((?:\s{0,9},\s{0,9}${QUOTED}){1,20})\s{0,9}\)`,
  'g',
)
const IN_BRACKETS = new RegExp(String.raw`(?<![\w\])])\(\s{0,9}(Path\(${QUOTED}\))\s{0,9}\)`, 'g')

/** A name that stands for the home folder. */
const NAMED = /(?<![\w.$])\$?([A-Za-z_]\w{0,30})\s{0,9}=\s{0,9}(?:Path\()?'~'\)?(?=\s*(?:[;,\n]|$))/g

const MOST_NAMES = 5
const MOST_PARTS = 20

/** The same code, with `'~/x'` in place of an expression that builds this path. */
export function withHome(code: string): string {
  if (!/HOME\b|home|~|join/.test(code)) return code
  const plain = code
    .replace(IN_PERL, '~')
    .replace(HOME_PATH, "Path('~')")
    .replace(HOME, "'~'")
    .replace(EXPANDED, '$1')
    .replace(/\.expanduser\(\s*\)/g, '')
  return joined(withNames(plain).replace(IN_TEXT, '~'))
}

function withNames(code: string): string {
  const names = [...new Set([...code.matchAll(NAMED)].map(([, name = '']) => name))].slice(0, MOST_NAMES)
  return names.reduce((text, name) => {
    const home = /=\s*Path\('~'\)/.test(text) ? "Path('~')" : "'~'"
    return text
      .replace(new RegExp(String.raw`(?<![\w.$])\$?${name}(?=\s*(?:[+,/.]|\+ )\s*['"\`])`, 'g'), home)
      .replace(new RegExp(String.raw`(?<=['"\`])[$#]?\{\s{0,9}\$?${name}\s{0,9}\}`, 'g'), '~')
  }, code)
}

function joined(code: string): string {
  let text = code
    .replace(JOINED, (_, parts: string) => quoted([parts]))
    .replace(JOINED_PATH, (_, start: string, parts: string) => `Path(${quoted([start, parts])})`)
    .replace(
      PATH_OF_PARTS,
      (_, home: string | undefined, start: string | undefined, parts: string) =>
        `Path(${quoted([home ?? start ?? '', parts])})`,
    )
  for (let i = 0; i < MOST_PARTS && BELOW.test(text); i++)
    text = text.replace(BELOW, (_, start: string, part: string) => `Path(${quoted([start, part])})`)
  return text.replace(IN_BRACKETS, '$1')
}

/** One literal of several. */
function quoted(literals: readonly string[]): string {
  const parts = [...literals.join(',').matchAll(new RegExp(QUOTED, 'g'))].map(([one]) => one.slice(1, -1))
  return `'${parts.join('/').replace(/\/{2,}/g, '/')}'`
}
