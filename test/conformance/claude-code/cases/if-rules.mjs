// `if`: a rule beside the matcher, over what the tool is about to do.

import { at, bash, COMMAND, on, pre } from './make.mjs'

/** @param {string} rule @param {string} command @param {string} [about] */
function rule(rule, command, about = 'whether the rule lets the hook run') {
  return bash(
    `if ${rule}: ${command.replaceAll('\n', ' NEWLINE ')}`,
    about,
    [pre('A', { fields: { if: rule } }), pre('CONTROL')],
    {
      tool_input: { command, description: 'd' },
    },
  )
}

/** @param {string} rule @param {string} tool_name @param {Record<string, unknown>} tool_input @param {Record<string, string>} [files] */
function fileRule(rule, tool_name, tool_input, files = {}) {
  const name = String(tool_input.file_path).replace('{{PROJECT}}/', '')
  return bash(
    `if ${rule}: ${tool_name} ${name}`,
    'whether the rule lets the hook run',
    [pre('A', { fields: { if: rule } }), pre('CONTROL')],
    {
      tool_name,
      tool_input,
      files,
    },
  )
}

/** @param {string} file_path */
const write = (file_path) => ({ file_path: `{{PROJECT}}/${file_path}`, content: 'x' })
/** @param {string} file_path */
const read = (file_path) => ({ file_path: `{{PROJECT}}/${file_path}` })
const FILES = { 'a.md': 'text', 'src/a.ts': 'text', 'lib/src/a.ts': 'text' }

export const ifRules = [
  rule('Bash(git *)', 'git status'),
  rule('Bash(git *)', 'git'),
  rule('Bash(git *)', 'gitk --version; true'),
  rule('Bash(git *)', 'echo git status'),
  rule('Bash(git *)', 'cd . && git status'),
  rule('Bash(git *)', 'true; git status'),
  rule('Bash(git *)', 'true || git status'),
  rule('Bash(git *)', 'echo x | git hash-object --stdin'),
  rule('Bash(git *)', 'echo $(git --version)'),
  rule('Bash(git *)', 'echo `git --version`'),
  rule('Bash(git *)', 'echo "$(git --version)"'),
  rule('Bash(git *)', "echo '$(git --version)'"),
  rule('Bash(git *)', '"git" --version'),
  rule('Bash(git *)', 'g\\it --version'),
  rule('Bash(git *)', 'LANG=C git --version'),
  rule('Bash(git *)', '(git --version)'),
  rule('Bash(git *)', '{ git --version; }'),
  rule('Bash(git *)', 'if true; then git --version; fi'),
  rule('Bash(git *)', 'for i in 1; do git --version; done'),
  rule('Bash(git *)', 'cat <(git --version)'),
  rule('Bash(git *)', 'git --version > out.txt'),
  rule('Bash(git *)', 'git --version &'),
  rule('Bash(git *)', 'echo a\ngit --version'),
  rule('Bash(git *)', '# git\ntrue'),
  rule('Bash(git *)', 'true # git status'),
  rule('Bash(git *)', '/usr/bin/git --version', 'an absolute path'),
  rule('Bash(git *)', 'sudo -n git --version; true', 'behind sudo'),
  rule('Bash(git *)', 'env git --version', 'behind env'),
  rule('Bash(git *)', 'sh -c "git --version"', 'inside another shell'),
  rule('Bash(git *)', 'echo --version | xargs git', 'behind xargs'),
  rule('Bash(git *)', 'nohup git --version', 'behind nohup'),
  rule('Bash(git *)', 'timeout 5 git --version', 'behind timeout'),
  rule('Bash(git *)', 'time git --version', 'behind time'),
  rule('Bash(git *)', 'command git --version', 'behind command'),
  rule('Bash(git *)', 'eval "git --version"', 'behind eval'),
  rule('Bash(git *)', 'X=git; $X --version', 'a variable in place of the command'),
  rule('Bash(git *)', 'echo "unclosed', 'what cannot be parsed'),
  rule('Bash(git:*)', 'git status'),
  rule('Bash(git:*)', 'gitk --version; true'),
  rule('Bash(git push *)', 'git status'),
  rule('Bash(git push *)', 'git push --help > /dev/null'),
  rule('Bash(git push *)', 'echo $(date)', 'a rule for more than the name, beside a substitution'),
  rule('Bash(git push *)', 'ls $HOME > /dev/null', 'a rule for more than the name, beside a variable'),
  rule('Bash(true)', 'true', 'exact'),
  rule('Bash(true)', 'true x', 'exact'),
  rule('Bash(*)', 'true'),
  rule('Bash', 'true', 'a tool alone'),
  rule('Write', 'true', 'another tool'),
  rule('*', 'true', 'a star'),
  rule('', 'true', 'an empty rule'),
  rule('Bash(git *)|Bash(true)', 'true', 'two rules in one'),
  rule('Bash(', 'true', 'no rule'),
  rule('not a rule', 'true', 'no rule'),
  rule('Bash()', 'true', 'nothing in the parentheses'),
  rule('Bash(* --version)', 'git --version', 'a star in front'),
  rule('Bash(g* --version)', 'git --version', 'a star inside'),
  fileRule('Write(*.md)', 'Write', write('b.md')),
  fileRule('Write(*.md)', 'Write', write('deep/b.md')),
  fileRule('Write(*.md)', 'Write', write('b.ts')),
  fileRule('Write(src/**)', 'Write', write('src/b.ts')),
  fileRule('Write(src/**)', 'Write', write('lib/src/b.ts')),
  fileRule('Write(**/src/**)', 'Write', write('lib/src/b.ts')),
  fileRule('Write(./src/**)', 'Write', write('src/b.ts')),
  fileRule('Write(/src/**)', 'Write', write('src/b.ts')),
  fileRule('Write(/{{PROJECT}}/**)', 'Write', write('src/b.ts')),
  fileRule('Write(~/**)', 'Write', write('src/b.ts')),
  fileRule('Write(src)', 'Write', write('src/b.ts')),
  fileRule('Edit(src/**)', 'Write', write('src/b.ts')),
  fileRule('Write(src/**)', 'Read', read('src/a.ts'), FILES),
  fileRule('Read(src/**)', 'Read', read('src/a.ts'), FILES),
  fileRule('Read(/{{PROJECT}}/**)', 'Read', read('a.md'), FILES),
  fileRule('Read(//nowhere/**)', 'Read', read('a.md'), FILES),
  fileRule('Read(!src/**)', 'Read', read('a.md'), FILES),
  at('PostToolUse', 'if on PostToolUse', 'the rule holds there, too', [
    on('PostToolUse', 'A', { fields: { if: 'Bash(touch *)' } }),
    on('PostToolUse', 'B', { fields: { if: 'Bash(git *)' } }),
  ]),
  at('UserPromptSubmit', 'if on UserPromptSubmit', 'never runs on an event that has no tool', [
    on('UserPromptSubmit', 'A', { fields: { if: 'Bash(touch *)' } }),
    on('UserPromptSubmit', 'CONTROL'),
  ]),
  at('UserPromptSubmit', 'if empty on UserPromptSubmit', 'an empty rule is none', [
    on('UserPromptSubmit', 'A', { fields: { if: '' } }),
    on('UserPromptSubmit', 'CONTROL'),
  ]),
  at('Stop', 'if on Stop', 'never runs on an event that has no tool', [
    on('Stop', 'A', { fields: { if: 'Bash' } }),
    on('Stop', 'CONTROL'),
  ]),
  bash(
    'if and matcher',
    'both must let it run',
    [
      pre('A', { matcher: 'Bash', fields: { if: 'Bash(touch *)' } }),
      pre('B', { group: 1, matcher: 'Write', fields: { if: 'Bash(touch *)' } }),
      pre('C', { group: 2, matcher: 'Bash', fields: { if: 'Write(*)' } }),
    ],
    { tool_input: { command: COMMAND, description: 'd' } },
  ),
]
