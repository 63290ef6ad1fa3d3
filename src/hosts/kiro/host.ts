// Kiro: Claude Code's names of events, answers by exit code; what a hook prints is context for the model.

import { type Data, isObject, type Json } from '../../core/base/json.js'
import { byExitCode } from '../answer.js'
import { definedFields, EDITOR_FIELDS, type Host, keepsIn, same, tool } from '../host.js'

const FIELDS = { ...EDITOR_FIELDS, text: 'content', oldStr: 'old_string', newStr: 'new_string' } as const

/** What happened to a file, by the event's name. */
const FILE_EVENTS: Readonly<Record<string, string>> = {
  postfilecreate: 'add',
  filecreated: 'add',
  postfilesave: 'change',
  filesaved: 'change',
  fileedited: 'change',
  postfiledelete: 'unlink',
  filedeleted: 'unlink',
}

export const kiro: Host<'kiro'> = {
  name: 'kiro',
  title: 'Kiro',
  guarded: ['.kiro/hooks/', '.kiro/agents/'],
  sends: (payload) =>
    keepsIn(payload, '.kiro') ||
    (typeof payload.session_id === 'string' && payload.session_id.startsWith('sess_')),
  events: {
    ...same('SessionStart UserPromptSubmit PreToolUse PostToolUse Stop'),
    PostFileSave: 'FileChanged',
    PostFileCreate: 'FileChanged',
    PostFileDelete: 'FileChanged',
    PreTaskExec: 'TaskCreated',
    PostTaskExec: 'TaskCompleted',
    // Older versions of its editor.
    promptSubmit: 'UserPromptSubmit',
    preToolUse: 'PreToolUse',
    postToolUse: 'PostToolUse',
    agentStop: 'Stop',
    sessionStart: 'SessionStart',
    fileEdited: 'FileChanged',
    fileSaved: 'FileChanged',
    fileCreated: 'FileChanged',
    fileDeleted: 'FileChanged',
    preTaskExecution: 'TaskCreated',
    postTaskExecution: 'TaskCompleted',
    userTriggered: null,
    manual: null,
  },
  read,
  tools: {
    execute_bash: tool('Bash'),
    shell: tool('Bash'),
    fs_read: tool('Read', FIELDS),
    read: tool('Read', FIELDS),
    read_file: tool('Read', FIELDS),
    read_multiple_files: tool('Read', FIELDS),
    fs_write: tool('Write Edit', FIELDS),
    write: tool('Write', FIELDS),
    fs_append: tool('Write Edit', FIELDS),
    str_replace: tool('Edit', FIELDS),
    delete_file: tool('Write Edit', FIELDS),
  },
  can: {
    PreToolUse: ['block', 'context'],
    PostToolUse: ['context'],
    UserPromptSubmit: ['block', 'context'],
    SessionStart: ['context'],
    Stop: ['context'],
    FileChanged: [],
  },
  answer: byExitCode,
  timeout: 60,
}

function read(payload: Data, event: string): Data {
  const happened = Object.hasOwn(FILE_EVENTS, event) ? FILE_EVENTS[event] : undefined
  if (happened === undefined) return {}
  return definedFields({ file_path: payload.file_path ?? pathIn(payload.file), event: happened })
}

function pathIn(file: Json | undefined): Json | undefined {
  return isObject(file) ? file.path : file
}
