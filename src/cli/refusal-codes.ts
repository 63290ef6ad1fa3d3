// The codes with which a command refuses, for `--json` and docs/reference/errors.md. Commands import only the type.

import type { CodeEntry } from '../core/base/errors.js'
import type { PluginProblemCode } from '../plugins/plugin-problem.js'

/** Codes beyond those of `HookError`, which commands also use. */
export const REFUSAL_CODES = {
  // the command line
  USAGE: {
    means: 'The command line is wrong: an unknown command or option, or a value that is missing or invalid.',
    todo: 'Correct it. carabiner COMMAND --help shows what the command accepts.',
  },
  INTERNAL: {
    means: 'The command failed in a way that nobody expected. This is a bug.',
    todo: 'Report it, with the text of the message.',
  },
  NOT_A_PERSON: {
    means: 'The command loosens protection, so only a person may run it, and an agent is running it.',
    todo: 'Run the same command in your own terminal.',
  },
  NO_TERMINAL: {
    means: 'The command wants to ask, and there is no terminal to ask at.',
    todo: 'Run it in a terminal, or give the option that the message names.',
  },
  PROJECT_NOT_FOUND: {
    means: 'The project, plugin or folder that was named is not there.',
    todo: 'Correct the path or the name. Without one, the project around the current folder is used.',
  },
  NOT_DOCUMENTED: {
    means: 'No page of the documentation has these words.',
    todo: 'Type carabiner docs: it lists the pages.',
  },
  PROGRAM_NOT_FOUND: {
    means: 'The program of Carabiner that agents should start is not where it should be.',
    todo: 'Install Carabiner again, then run the command again.',
  },
  AGENT_NOT_FOUND: {
    means: 'No program of the agents that should be proven is in PATH.',
    todo: 'Install the agent, or add the folder of its program to PATH.',
  },
  SERVER_UNUSABLE: {
    means: 'The MCP server that carabiner mcp should guard cannot be started.',
    todo: 'Run its command without carabiner mcp -- to see what is wrong, or correct the address.',
  },
  DOCS_MISSING: {
    means: 'The pages of the documentation are missing from this installation.',
    todo: 'Install Carabiner again.',
  },
  // payloads and tests
  PAYLOAD_NOT_JSON: {
    means: 'The payload of an event is not one JSON object.',
    todo: 'Send one object, such as {"tool_name":"Bash","tool_input":{"command":"ls"}}.',
  },
  PAYLOAD_UNREADABLE: {
    means: 'The payload cannot be read.',
    todo: 'Correct the path given with --payload, or send the payload on standard input.',
  },
  NOT_RECORDED: {
    means: 'The call was fired, but --record could not add it to the test file.',
    todo: 'Correct what the message names, and fire it again.',
  },
  NO_CASES: {
    means: 'There are no test cases here, or none that --filter selects.',
    todo: 'Write a hooks.test.json beside the hooks, or record a call: carabiner fire --record FILE.',
  },
  REPORT_NOT_WRITTEN: {
    means: 'The cases ran, but the report of --junit could not be written.',
    todo: 'Choose a place where you can write.',
  },
  // fleets
  NO_FLEET: {
    means: 'The command is about the fleet of this machine, and it is in none.',
    todo: 'Join one: carabiner fleet join URL --token TOKEN.',
  },
  PERSON_EXISTS: {
    means: 'Somebody else on the list of people has this key.',
    todo: 'Make a key for each person: carabiner fleet key.',
  },
  UNKNOWN_PERSON: {
    means: 'Nobody on the list of people of the fleet has this name.',
    todo: 'Type carabiner fleet people: it lists them.',
  },
  FLEET_UNUSABLE: {
    means: 'A file, port or folder that a fleet needs cannot be used, or is taken.',
    todo: 'Correct what the message names.',
  },
  FLEET_DATABASE: {
    means: 'The database of the fleet cannot be reached, is not prepared, or does not let this user do it.',
    todo: 'Check the address, and the role of its user; carabiner fleet init prepares the database.',
  },
  FLEET_UNREACHABLE: {
    means: 'The gateway of the fleet cannot be reached.',
    todo: 'Check the address, the network and the certificate, and try again.',
  },
  FLEET_UNAVAILABLE: {
    means: 'The gateway of the fleet answered, and cannot do this now.',
    todo: 'Read the output of the gateway: it says why, such as a database that is away. Try again later.',
  },
  FLEET_REFUSED: {
    means: 'The gateway of the fleet was reached, and refused.',
    todo: 'Do what the message says: a token works once, and a machine that left has to join again.',
  },
  FLEET_UNSHIPPED: {
    means: 'The machine would leave its fleet, which does not have all its records yet.',
    todo: 'Type carabiner fleet ship, or leave with --anyway.',
  },
  FLEET_POLICY: {
    means: 'The policy of the fleet cannot be built, signed, published or fetched.',
    todo: 'Do what the message says. Until then, machines keep the policy that they have.',
  },
  UNKNOWN_TOKEN: {
    means: 'There is no token with this id.',
    todo: 'Type carabiner fleet token list: it shows them.',
  },
  UNKNOWN_MACHINE: {
    means: 'No machine of the fleet has this name.',
    todo: 'Type carabiner fleet machines: it lists them.',
  },
  // configuration and records
  CONFIG_INVALID: {
    means: 'A file that decides which hooks run cannot be used, so the command did not go on.',
    todo: 'Correct what the message names; carabiner doctor shows each problem with a fix.',
  },
  PRE_TRUSTED_INVALID: {
    means: 'The list given with --pre-trusted cannot be read or is not valid.',
    todo: 'Correct it. carabiner trust --show prints the lines of such a file.',
  },
  STORE_UNUSABLE: {
    means: 'The files in which Carabiner keeps trust, grants or switches cannot be used.',
    todo: 'Repair what the message names.',
  },
  STATE_FAILED: {
    means: 'The state of a project could not be written.',
    todo: 'Set CARABINER_HOME to keep the files of Carabiner in another folder.',
  },
  NO_AUDIT: {
    means: 'The audit log of this project cannot be opened.',
    todo: 'Repair what the message names.',
  },
  NOT_EXPORTED: {
    means: 'Entries of the audit log were not sent to the collector.',
    todo: 'Correct what the message names. What was not sent is sent the next time.',
  },
  PORT_TAKEN: {
    means: 'Another program uses the port that the page should have.',
    todo: 'Choose another one with --port, or leave the option out.',
  },
  UNKNOWN_ENTRY: {
    means: 'The audit has no entry with this number.',
    todo: 'carabiner audit lists the newest entries.',
  },
  // settings of agents
  SETTINGS_UNUSABLE: {
    means: 'The settings file of an agent cannot be read or changed.',
    todo: 'Correct the file that the message names.',
  },
  NOT_REMOVED: {
    means: 'carabiner remove did not remove what it showed.',
    todo: 'Do what the hint says, and run it again.',
  },
  SERVICE_NOT_STOPPED: {
    means: 'A service did not answer, or still works on calls.',
    todo: 'Do what the hint says. Hooks work without the service, too.',
  },
  // hooks, units and switches
  UNKNOWN_HOOK: { means: 'No hook has this name or id.', todo: 'carabiner list shows the names.' },
  UNKNOWN_PLUGIN: { means: 'No plugin has this name.', todo: 'carabiner list shows the names.' },
  UNKNOWN_UNIT: {
    means: 'Nothing that can be trusted or untrusted has this name or digest.',
    todo: 'carabiner list shows the names.',
  },
  AMBIGUOUS_NAME: {
    means: 'Several plugins or hooks have this name.',
    todo: 'Add one of the options that the hint names, or use an id.',
  },
  AMBIGUOUS_ID: { means: 'More than one id starts with these characters.', todo: 'Type more of the id.' },
  AMBIGUOUS_UNIT: {
    means: 'Several plugins or files that can be trusted have this name.',
    todo: 'Use the path or the digest, as the hint says.',
  },
  NOT_SWITCHED_OFF: {
    means: 'What should be switched on again is not switched off here.',
    todo: 'carabiner disable shows what is switched off.',
  },
  // questions
  UNKNOWN_QUESTION: { means: 'No open question has this id.', todo: 'carabiner approvals lists them.' },
  NEEDS_PASSKEY: {
    means: 'On this machine, only a person with a passkey may allow calls.',
    todo: 'Type carabiner open, and allow it there.',
  },
  UNKNOWN_APPROVER: {
    means: 'Nobody with this name may allow calls here.',
    todo: 'carabiner approvers lists the names.',
  },
  APPROVER_EXISTS: {
    means: 'Another passkey on the list has this name, so the record could not tell who allowed a call.',
    todo: 'Choose another name, or remove the other passkey first.',
  },
  UNKNOWN_GRANT: { means: 'No grant has this id.', todo: 'carabiner approvals grants lists them.' },
  ALREADY_ANSWERED: {
    means: 'Somebody has answered the question already. The first answer counts.',
    todo: 'Nothing.',
  },
  QUESTION_EXPIRED: { means: 'The question is too old to be answered.', todo: 'Fire the event again.' },
  NOT_ANSWERED: {
    means: 'A question was not answered, or its answer could not be recorded, so nothing was done.',
    todo: 'Do what the hint says.',
  },
  NOT_OFFERED: {
    means: 'The question does not offer this answer, such as --always.',
    todo: 'Choose one of the answers that the message names.',
  },
  // plugins
  ALREADY_THERE: { means: 'Something is already in this place.', todo: 'Choose another name or folder.' },
  ALREADY_INSTALLED: {
    means: 'A plugin of this name is already installed here.',
    todo: 'Update it with carabiner update, or uninstall it first.',
  },
  NOT_INSTALLED: { means: 'No plugin of this name is installed.', todo: 'carabiner list shows the names.' },
  NOT_UNINSTALLED: { means: 'The plugin was not uninstalled.', todo: 'Do what the hint says.' },
  NOT_MIGRATED: { means: 'The hooks were not migrated.', todo: 'Do what the hint says.' },
  NOT_TRUSTED: {
    means: 'The plugin is installed or changed, but not trusted, so it does not run.',
    todo: 'Review it: carabiner trust NAME.',
  },
  SOURCE_INVALID: {
    means: 'The source of a plugin is not valid.',
    todo: 'Give a folder, a git address, an archive or the name of a plugin in a catalog.',
  },
  SOURCE_NOT_FOUND: { means: 'There is no plugin at this source.', todo: 'Correct the address.' },
  SOURCE_MOVED: {
    means: 'The source of a plugin is no longer the one that you accepted.',
    todo: 'Make sure that you trust the new source, then install the plugin from it.',
  },
  SOURCE_REFUSED: {
    means: 'A project names a source that you have not accepted.',
    todo: 'Look at the source, and accept it at a terminal.',
  },
  FETCH_FAILED: {
    means: 'A plugin or catalog could not be fetched.',
    todo: 'Check the address and the network.',
  },
  ARCHIVE_INVALID: { means: 'An archive is damaged or malformed.', todo: 'Ask its author for another one.' },
  UNSAFE_ENTRY: {
    means: 'A plugin has a file that may not be installed, such as a link out of its folder.',
    todo: 'Do not install it, or ask its author to remove the file.',
  },
  TOO_LARGE: {
    means: 'A plugin has too many files or bytes.',
    todo: 'Install only the folder with the plugin.',
  },
  NAME_INVALID: {
    means: 'A name cannot be the name of a plugin.',
    todo: 'Use letters, digits, dots and dashes.',
  },
  NO_PLUGIN: {
    means: 'The source holds no plugin.',
    todo: 'Name the folder that holds hooks.json or .claude-plugin.',
  },
  SEVERAL_PLUGINS: {
    means: 'The source holds several plugins.',
    todo: 'Name one of them, as the hint shows.',
  },
  NO_HOOKS: {
    means: 'The plugin has no hooks, so there is nothing to run.',
    todo: 'Choose another plugin.',
  },
  NEWER_FORMAT: {
    means: 'A newer version of Carabiner wrote the file or plugin.',
    todo: 'Update Carabiner.',
  },
  MISMATCH: {
    means: 'What was fetched is not what the lock file or the catalog says.',
    todo: 'Find out why it differs. If you expect it, run carabiner update.',
  },
  TAG_MOVED: {
    means: 'A tag now points to a different commit.',
    todo: 'Ask the author why. Review the new commit before you take it.',
  },
  LOCK_INVALID: {
    means: 'hooks.lock.json cannot be read or is not valid.',
    todo: 'Restore it from version control, or remove it.',
  },
  BUSY: { means: 'Another process is changing the same plugins.', todo: 'Try again when it has finished.' },
  PLACE_UNSAFE: {
    means: 'The folder for plugins is not safe to write to.',
    todo: 'Correct what the message names.',
  },
  NOT_READ: { means: 'A file could not be read.', todo: 'Let this user read it.' },
  NOT_WRITTEN: { means: 'A file could not be written.', todo: 'Let this user write it.' },
  CATALOG_INVALID: { means: 'A catalog is malformed.', todo: 'Ask its author to correct it.' },
  CATALOG_UNKNOWN: { means: 'No catalog has this name.', todo: 'carabiner catalog lists them.' },
  CATALOG_TAKEN: { means: 'Another catalog has this name.', todo: 'Choose another name.' },
  NOT_IN_CATALOG: {
    means: 'The catalog has no plugin of this name.',
    todo: 'Type carabiner catalog search WORD.',
  },
} as const satisfies Record<string, CodeEntry> & Record<PluginProblemCode, CodeEntry>
