// Where we differ from Claude Code on purpose: the rules, and the cases that show both behaviours.

/**
 * @typedef {{ rule: string, section?: string, reason: string, unshown?: string }} Rule
 * @typedef {{ rule: string, ours: Readonly<Record<string, unknown>> }} Difference what we make of the case instead
 */

/**
 * Names with a ≠C are those that the rules of Carabiner mark so, `section` is where they say it.
 * @type {readonly Rule[]}
 */
export const RULES = [
  {
    rule: '≠C equal verdicts',
    section: '§3',
    reason:
      'Among equal verdicts the first in hook order gives the reason, and contexts keep hook order; which hook ends first or last must not matter.',
  },
  {
    rule: '≠C two changes',
    section: '§3',
    reason:
      'Two hooks of one step that change the same key: the later in configuration order wins, not the last to finish.',
  },
  {
    rule: '≠C PermissionRequest',
    section: '§3',
    reason: 'PermissionRequest follows the lattice: a deny wins, whoever answers first.',
  },
  {
    rule: '≠C timeouts',
    section: '§6',
    reason:
      'A limit in the user’s settings also shortens these hooks, and a gate that it cuts short blocks; seconds that look like milliseconds are cut at 600.',
    unshown: 'It would take ten minutes to show.',
  },
  {
    rule: '≠C process group',
    section: '§6',
    reason:
      'When a command hook ends, what is left of its process group is ended too: nothing is left behind.',
  },
  {
    rule: '≠C a deny in a malformed answer',
    section: '§9',
    reason:
      'A deny that stands in its right place is a deny even if another field is malformed: a deny must not be lost.',
  },
  {
    rule: '≠C a deny in an unexpected form',
    section: '§9',
    reason:
      'A deny, an ask or a stop counts wherever it stands and however it is spelled: at the wrong level, in the words of another agent, among log lines, or in output that was never finished. A deny that was read must not be lost.',
  },
  {
    rule: '≠C continue false',
    section: '§9',
    reason:
      'continue: false on PreToolUse: the tool does not run, too. Whoever stops everything does not want one more call.',
  },
  {
    rule: '≠C malformed entry',
    section: '§9',
    reason:
      'A malformed entry drops that entry, never its neighbours: a typing error must not switch off other guards.',
  },
  {
    rule: '≠C comments',
    section: '§9',
    reason:
      'Comments and trailing commas in JSON are accepted: a file that people edit must not lose its guards to one.',
  },
  { rule: '≠C shell bash', section: '§9', reason: '"shell": "bash" runs bash: it is what the file says.' },
  {
    rule: '≠C the same command twice',
    section: '§9',
    reason:
      'A hook that stands twice with another time-out or shell is two hooks: the one that would have answered must not be left out.',
  },
  {
    rule: '≠C if looks inside commands',
    section: '§9',
    reason: 'sudo, env, sh -c, trap, exec, paths and the like are seen through: more often, never less.',
  },
  {
    rule: 'an unclear if',
    reason:
      'An `if` that is no rule, or a command that hides what it runs, filters nothing, and a pattern is taken in each sense it may have (as written, without quotes, from each folder it may begin at): more often, never less. Claude Code runs no such hook.',
  },
  { rule: 'a deferred call', section: '§9', reason: 'We do not keep a turn for later: the person is asked.' },
  {
    rule: 'a deny without a reason',
    section: '§9',
    reason: 'Where nobody gave a reason, the sentence names the hook; where stderr has one, it is not lost.',
  },
  {
    rule: 'wording of failures',
    section: '§6',
    reason: 'A failure has the words of the engine: whose it was, and what happened.',
  },
  {
    rule: 'a block on PostToolBatch',
    section: '§1',
    reason: 'What Claude Code reports as a stop of the loop is what a deny of PostToolBatch means here.',
  },
  {
    rule: 'context on Stop',
    section: '§9',
    reason:
      'On Stop and SubagentStop context alone keeps the agent going, as there: here it is the reason of a deny.',
  },
  {
    rule: 'a changed tool output',
    reason: 'Whether a new output fits a tool only its host knows; it refuses what does not fit.',
  },
  {
    rule: 'JSON on PreCompact',
    section: '§9',
    reason: 'What is one JSON object is an answer, never text for the model.',
  },
  {
    rule: 'text on PostModelSwitch',
    section: '§9',
    reason:
      'Plain text is context on SessionStart, UserPromptSubmit, UserPromptExpansion and PreCompact, and nothing elsewhere.',
  },
  {
    rule: 'context on Setup',
    reason:
      'additionalContext is documented on Setup, and lost by this version in -p; what to make of it is the host’s.',
  },
  {
    rule: 'environment files for hooks',
    section: '§9',
    reason: 'Env-file variables reach later hooks of the session, not only the tool.',
  },
  {
    rule: 'size of an injection',
    section: '§8',
    reason:
      'An injection is at most 10,240 bytes of UTF-8, its marker included; Claude Code counts 10,000 characters.',
  },
  {
    rule: 'disableAllHooks in a project',
    section: '§11',
    reason: 'A file of the project does not switch off hooks that came from elsewhere.',
  },
  {
    rule: 'more file shapes',
    reason:
      'Other shapes that real files have are read as well: a list of { event, hooks }, a single group, events without the wrapper, aliases of events, keys of other programs.',
  },
  {
    rule: 'messages of async hooks',
    reason:
      'What an async hook says to the user goes to the user, not to the model; its effects go out with the next event that may inject.',
  },
  {
    rule: 'text of async hooks',
    reason:
      'Claude Code drops the plain text of an async hook, and all that a hook with asyncRewake says unless it exits with 2; we hand it on.',
  },
  {
    rule: 'environment files for tools',
    reason: 'The variables of an env file are for the host to hand to its tools; we run none.',
  },
  {
    rule: 'stop_block_total',
    section: '§9',
    reason:
      'Stop may be refused 50 times since the last prompt, also with tool calls between: an agent that never ends costs money.',
    unshown: 'It would take fifty turns to show; the eight in a row are shown, and the same.',
  },
]

/** By rule: each case, and what we make of it wherever that is something else. @type {Readonly<Record<string, Record<string, Record<string, unknown>>>>} */
const SHOWN = {
  '≠C equal verdicts': {
    'two denies, the first is first': { reason: 'one' },
    'two asks, the first is last': { reason: 'one' },
    'two contexts, the first is last': { context: 'one\ntwo' },
    'two prompt contexts, the first is last': { context: 'one\ntwo' },
    'two blocks after, the first is last': { reason: 'one\ntwo' },
    'two stops, the first is first': { reason: 'one' },
    'two stops, the first is last': { reason: 'one' },
  },
  '≠C two changes': {
    'two rewrites, the first is last': {
      updated: { command: 'touch ran.txt && echo TOOL_RAN && echo TWO', description: 'd' },
    },
  },
  '≠C PermissionRequest': {
    'PermissionRequest allow then deny': { decision: 'deny', permission: null },
  },
  '≠C process group': {
    'a child is left': { wrote: ['gone'] },
  },
  '≠C a deny in a malformed answer': {
    'answer reason is a number': { decision: 'deny', failed: false, proceeds: false },
    'answer reason is null': { decision: 'deny', failed: false, proceeds: false },
    'answer block, reason is a number': { decision: 'deny', failed: false, proceeds: false },
    'answer deny beside a bad systemMessage': { decision: 'deny', failed: false, proceeds: false },
    'answer deny beside a bad context': { decision: 'deny', failed: false, proceeds: false },
    'answer block beside a bad part': { decision: 'deny', failed: false, proceeds: false },
    'answer block beside a wrong event name': { decision: 'deny', failed: false, proceeds: false },
  },
  '≠C a deny in an unexpected form': {
    'exit 0, two-documents': { decision: 'deny', failed: false, proceeds: false },
    'exit 1, two-documents': { decision: 'deny', failed: false, proceeds: false },
    'exit 1, log-then-json': { decision: 'deny', failed: false, proceeds: false },
    'exit 1, json-then-log': { decision: 'deny', failed: false, proceeds: false },
    'answer verdict in capitals': { decision: 'deny', failed: false, proceeds: false },
    'answer verdict with a blank': { decision: 'deny', failed: false, proceeds: false },
    'answer decision deny': { decision: 'deny', failed: false, proceeds: false },
    'answer no event name': { decision: 'deny', failed: false, proceeds: false },
    'answer wrong event name': { decision: 'deny', failed: false, proceeds: false },
    'answer unknown event name': { decision: 'deny', failed: false, proceeds: false },
    'answer event name in lower case': { decision: 'deny', failed: false, proceeds: false },
    'time-out after a deny was printed': { decision: 'deny', failed: false, proceeds: false },
    'exit 0, log-then-json': { decision: 'deny', proceeds: false },
    'exit 0, json-then-log': { decision: 'deny', proceeds: false },
    'answer verdict at the top': { decision: 'deny', proceeds: false },
    'answer block inside': { decision: 'deny', proceeds: false },
    'answer unknown keys': { decision: 'deny', proceeds: false },
    'answer of PermissionRequest': { decision: 'deny', proceeds: false },
    'answer camel case': { decision: 'deny', proceeds: false },
    'says async, after a line': { decision: 'deny', proceeds: false },
    'answer continue inside': { decision: 'stop', proceeds: false },
    'answer continue is text': { decision: 'stop', failed: false, proceeds: false },
    'answer deny beside a bad continue': { decision: 'stop', failed: false, proceeds: false },
    'UserPromptSubmit permissionDecision': { decision: 'deny' },
    'PermissionRequest block': { decision: 'deny' },
  },
  '≠C continue false': {
    'answer continue false': { proceeds: false },
    'answer continue false without reason': {
      reason: 'Stopped by hook session-settings.json:PreToolUse#1',
      proceeds: false,
    },
    'ask then halt': { proceeds: false },
    'halt then ask': { proceeds: false },
    'halt then allow': { proceeds: false },
    'allow then halt': { proceeds: false },
    'context then halt': { proceeds: false },
    'halt then context': { proceeds: false },
  },
  '≠C malformed entry': {
    'file PreToolUse, timeout is text': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, timeout is 0': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, timeout is negative': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, type unknown': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, type missing': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, command missing': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, command is a list': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, matcher is a number': { ran: ['EVENT', 'GROUP'] },
    'file PreToolUse, matcher is null': { ran: ['EVENT', 'GROUP'] },
    'file PreToolUse, matcher is a list': { ran: ['EVENT', 'GROUP'] },
    'file PreToolUse, no hooks in the group': { ran: ['EVENT', 'GROUP'] },
    'file PreToolUse, hooks is an object': { ran: ['EVENT', 'GROUP'] },
    'file PreToolUse, a handler in place of a group': { ran: ['EVENT', 'GROUP'] },
    'file PreToolUse, group is null': { ran: ['EVENT', 'GROUP'] },
    'file PreToolUse, if is a number': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    // Only its policy is malformed: it stays, and fails closed.
    'file PreToolUse, onFailure unknown': { ran: ['BAD', 'EVENT', 'GROUP', 'SIBLING'] },
    'file PostToolUse, onFailure unknown': { ran: ['BAD', 'EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, shell unknown': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file PreToolUse, async is text': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
    'file plugin, bad entry': { ran: ['EVENT', 'GROUP', 'SIBLING'] },
  },
  '≠C comments': {
    'file comments': { ran: ['GROUP'] },
    'file trailing comma': { ran: ['GROUP'] },
  },
  '≠C shell bash': {
    'shell bash': { wrote: ['BASH'], failed: false },
  },
  '≠C the same command twice': {
    'twice, another time-out': { ran: ['X', 'X'] },
  },
  '≠C if looks inside commands': {
    'if Bash(git *): /usr/bin/git --version': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): sudo -n git --version; true': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): env git --version': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): sh -c "git --version"': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): nohup git --version': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): command git --version': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): timeout 5 git --version': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): time git --version': { ran: ['A', 'CONTROL'] },
    'if Bash(git *): eval "git --version"': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): trap "git --version" EXIT': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): exec git --version': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): coproc git --version': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): ./git; true': { ran: ['A', 'CONTROL'] },
  },
  'an unclear if': {
    'if Bash(git push *): ls $HOME > /dev/null': { ran: ['A', 'CONTROL'] },
    'if *: true': { ran: ['A', 'CONTROL'] },
    'if Bash(git *)|Bash(true): true': { ran: ['A', 'CONTROL'] },
    'if Bash(: true': { ran: ['A', 'CONTROL'] },
    'if not a rule: true': { ran: ['A', 'CONTROL'] },
    'if Read(!src/**): Read a.md': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git push *): echo "$HOME"': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): x=1; echo $x': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git push *): x=1; echo $x': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): echo $((1+1))': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git push *): echo $((1+1))': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): echo a;;true || true': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git push *): echo a;;true || true': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): FOO=a; ls $FOO': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): X=$(ls | head); true': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): echo $(echo {a,b})': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): for i in $(true); do true; done': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(git *): $HOME/x; true': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(echo "\\(a\\)"): echo "(a)"': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(echo "a b"): echo "a b"': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(echo a > out.txt): echo a > out.txt': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(cd . && git status): cd . && git status': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(LANG=C git *): LANG=C git --version': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(echo $HOME): echo $HOME': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(tru*: true': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash (true): true': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(true) : true': { ran: ['A', 'CONTROL'] },
    'if-syntax Bash(true)x: true': { ran: ['A', 'CONTROL'] },
    'if-syntax Ba*: true': { ran: ['A', 'CONTROL'] },
    'if-syntax mcp__srv: a tool of MCP': { ran: ['A', 'CONTROL'] },
    'if-syntax mcp__srv__*: a tool of MCP': { ran: ['A', 'CONTROL'] },
    'if-syntax mcp__srv__do*: a tool of MCP': { ran: ['A', 'CONTROL'] },
    'if-syntax mcp__srv__do_it(1): a tool of MCP': { ran: ['A', 'CONTROL'] },
    'if-path Write(/x.md): {{FOLDER}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(../*.md): {{FOLDER}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(../**): {{FOLDER}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(**/): {{FOLDER}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(/**/x.md): {{FOLDER}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(../home/*.md): {{HOME}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(~): {{HOME}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(~/): {{HOME}}/x.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(*/): b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(src/b.ts/): src/b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(/): b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(.): b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(./): b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(../**): src/b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(src/./b.ts): src/b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(src/*.{ts,js}): src/b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(src/[!a].ts): src/b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write(src/\\b.ts): src/b.ts': { ran: ['A', 'CONTROL'] },
    'if-path Write( b.md ): b.md': { ran: ['A', 'CONTROL'] },
    'if-path Write(#b.md): #b.md': { ran: ['A', 'CONTROL'] },
    'if-path Write({{PROJECT}}/src/**): src/b.ts': { ran: ['A', 'CONTROL'] },
  },
  'a deferred call': {
    'answer defer': { decision: 'ask', proceeds: true },
  },
  'a deny without a reason': {
    'exit 2, no stderr': { reason: 'Blocked by hook session-settings.json:PreToolUse#1' },
    'exit 2, json block without reason': { reason: 'on stderr' },
    'exit 2, text only': { reason: 'Blocked by hook session-settings.json:PreToolUse#1' },
    'answer deny without reason': { reason: 'Blocked by hook session-settings.json:PreToolUse#1' },
    'answer block without reason': { reason: 'Blocked by hook session-settings.json:PreToolUse#1' },
    'answer wrong event name, exit 2': { reason: 'on stderr', failed: false },
    'UserPromptSubmit block without reason': {
      reason: 'Blocked by hook session-settings.json:UserPromptSubmit#1',
    },
    'PostToolUse block without reason': { reason: 'Blocked by hook session-settings.json:PostToolUse#1' },
    'PostToolUse exit 2 without stderr': { reason: 'Blocked by hook session-settings.json:PostToolUse#1' },
    'Stop block without reason': { reason: 'Blocked by hook session-settings.json:Stop#1' },
    'PermissionRequest deny without message': {
      reason: 'Blocked by hook session-settings.json:PermissionRequest#1',
    },
    'WorktreeCreate exit 1': { reason: 'oops' },
    'WorktreeCreate no path': {
      reason: 'Hook session-settings.json:WorktreeCreate#1 succeeded but returned no worktree path',
    },
  },
  'wording of failures': {
    'onFailure block, exit 1, allow': {
      reason:
        'hook crashed (fail-safe deny): session-settings.json:PreToolUse#1: exited with 1; its answer does not count, because onFailure is "block"',
    },
    'onFailure block, exit 1': {
      reason: 'hook crashed (fail-safe deny): session-settings.json:PreToolUse#1: exited with 1: oops',
    },
    'onFailure block, broken': { reason: { matching: '^hook crashed .*not valid JSON' } },
    'onFailure block, bad field': {
      reason:
        'hook crashed (fail-safe deny): session-settings.json:PreToolUse#1: systemMessage must be a string, got 7',
    },
    'onFailure block, signal': {
      reason: { matching: '^hook crashed .*(exited with 137|was killed by SIGKILL)' },
    },
    'onFailure block, no program': { reason: { matching: '^hook crashed .*exited with 127' } },
    'onFailure block on PostToolUse': {
      reason: 'hook crashed (fail-safe deny): session-settings.json:PostToolUse#1: exited with 1: oops',
    },
    'onFailure block on UserPromptSubmit': {
      reason: 'hook crashed (fail-safe deny): session-settings.json:UserPromptSubmit#1: exited with 1: oops',
    },
    'onFailure block, time-out': {
      reason:
        'hook crashed (fail-safe deny): session-settings.json:PreToolUse#1: it did not answer within its 3 s',
    },
  },
  'a block on PostToolBatch': {
    'PostToolBatch exit 2': { decision: 'deny' },
    'PostToolBatch block': { decision: 'deny' },
  },
  'context on Stop': {
    'Stop context': { decision: 'deny', context: '' },
    'Stop context always': { decision: 'deny', context: '' },
    'SubagentStop context': { decision: 'deny', context: '' },
  },
  'a changed tool output': {
    'PostToolUse updatedToolOutput is text': { decision: 'modify', updated: 'REPLACED' },
  },
  'JSON on PreCompact': {
    'PreCompact halt': { decision: 'continue', context: '' },
    'PreCompact systemMessage': { decision: 'continue', context: '' },
  },
  'text on PostModelSwitch': {
    'PostModelSwitch text': { decision: 'continue', context: '' },
  },
  'context on Setup': {
    'Setup context': { decision: 'inject', context: 'a hint' },
  },
  'environment files for hooks': {
    'env: file of SessionStart, in a later hook': { wrote: ['hook:yes'] },
  },
  'size of an injection': {
    'a long context': { context: { matching: '^é{5000,5120}.*\\[' } },
  },
  'disableAllHooks in a project': {
    'file disableAllHooks in the project': { ran: ['GROUP'] },
  },
  'more file shapes': {
    'file event in camel case': { ran: ['EVENT', 'GROUP'] },
    'file hooks is a list': { ran: ['LIST'] },
    'file event is an object': { ran: ['EVENT', 'GROUP'] },
    'file another bad key': { ran: ['GROUP'] },
    'file plugin, no wrapper': { ran: ['GROUP'] },
  },
  'messages of async hooks': {
    'async everything': { later: ['a hint'] },
  },
  'text of async hooks': {
    'asyncRewake exit 0': { later: ['a hint'] },
    'async text on UserPromptSubmit': { later: ['a line'] },
  },
  'environment files for tools': {
    'env: file of SessionStart, in Bash': { wrote: [] },
    'env: file of CwdChanged, in Bash': { wrote: [] },
  },
}

/** @type {Readonly<Record<string, Difference>>} */
export const DIFFERENT = Object.fromEntries(
  Object.entries(SHOWN).flatMap(([rule, cases]) =>
    Object.entries(cases).map(([name, ours]) => [name, { rule, ours }]),
  ),
)
