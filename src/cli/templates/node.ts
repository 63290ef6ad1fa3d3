// A new plugin's script for Node, from one text: TypeScript, and JavaScript exactly as the compiler emits it.

import type { Sample, Script, ScriptFacts } from './sample.js'

/** Runs without installing any package. */
export function nodeScript(facts: ScriptFacts): Script {
  const file = 'hook.mjs'
  return { files: { [file]: withoutTypes(source(facts)) }, executable: [file], handler: HANDLER }
}

/** Ships the compiled file too: only newer versions of Node run TypeScript. */
export function typescriptScript(facts: ScriptFacts): Script {
  // The compiler would add `export {}` otherwise.
  const text = `${source(facts)}export {};\n`
  return {
    files: {
      'hook.mts': withTypes(text),
      'hook.mjs': withoutTypes(text),
      'tsconfig.json': `${JSON.stringify(TSCONFIG, null, 2)}\n`,
      'package.json': `${JSON.stringify({ private: true, type: 'module', scripts: SCRIPTS }, null, 2)}\n`,
    },
    executable: ['hook.mjs'],
    handler: HANDLER,
  }
}

const HANDLER = { type: 'command', command: `node "\${CLAUDE_PLUGIN_ROOT}/hook.mjs"` } as const

/** No node_modules: the whole plugin folder is reviewed, trusted and copied. */
const SCRIPTS = { build: 'npx --yes -p typescript tsc', test: 'carabiner test .' }

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022'],
    types: [],
    strict: true,
    noEmitOnError: true,
  },
  include: ['hook.mts'],
}

/** Types stand between « and ». */
function withTypes(text: string): string {
  return text.replace(/[«»]/g, '')
}

function withoutTypes(text: string): string {
  return text.replace(/«[^»]*»/g, '')
}

/** Laid out like the compiler's output, so that building changes nothing. */
function source(facts: ScriptFacts): string {
  return `#!/usr/bin/env node
// ${facts.name}: runs ${facts.when} (${facts.event}).
${facts.answers.map((line) => `// ${line}\n`).join('')}«
/** The parts of Node that this script uses. */
declare const process: {
    readonly stdin: AsyncIterable<string> & { readonly isTTY?: boolean; setEncoding(encoding: 'utf8'): void };
    readonly stdout: { write(text: string): void };
    readonly stderr: { write(text: string): void };
    exitCode: number | undefined;
};

type Event = Readonly<Record<string, unknown>>;

»async function readEvent()«: Promise<Event | undefined>» {
    process.stdin.setEncoding('utf8');
    let text = '';
    for await (const chunk of process.stdin)
        text += chunk;
    try {
        const event«: unknown» = JSON.parse(text);
        return typeof event === 'object' && event !== null && !Array.isArray(event) ? event« as Event» : undefined;
    }
    catch {
        return undefined;
    }
}
${work(facts.sample)}if (process.stdin.isTTY) {
    process.stderr.write('${facts.usage}\\n');
    process.exitCode = 1;
}
else {
    const event = await readEvent();
    if (event === undefined) {
        process.stderr.write('${facts.noEvent}\\n');
        process.exitCode = ${facts.onFailure};
    }
    else {
${act(facts.sample)}    }
}
`
}

function work(sample: Sample): string {
  if (sample.does === 'say') {
    return `function answerTo(_event«: Event») {
    return ${literal(sample.answer, '    ')};
}
`
  }
  const stop = sample.isStop
    ? `    // The agent was kept going once already: let it stop now.
    if (event.stop_hook_active === true)
        return undefined;
`
    : ''
  return `/** The reason to refuse; undefined to let it pass. */
function reasonToRefuse(event«: Event»)«: string | undefined» {
${stop}    const subject = JSON.stringify(event.${sample.field} ?? '');
    return subject.includes('${sample.word}') ? '${sample.reason}' : undefined;
}
`
}

function act(sample: Sample): string {
  if (sample.does === 'say') {
    return `        process.stdout.write(JSON.stringify(answerTo(event)) + '\\n');
`
  }
  return `        const reason = reasonToRefuse(event);
        if (reason !== undefined) {
${refusal(sample)}        }
`
}

function refusal({ reason, answer }: Extract<Sample, { readonly does: 'refuse' }>): string {
  return answer
    ? `            const answer = ${literal(answer, '            ').replace(`'${reason}'`, 'reason')};
            process.stdout.write(JSON.stringify(answer) + '\\n');
`
    : `            process.stderr.write(reason + '\\n');
            process.exitCode = 2;
`
}

/** JavaScript as a person writes it: bare keys, single quotes. The texts contain no quotes. */
function literal(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 4)
    .replace(/"([A-Za-z]+)":/g, '$1:')
    .replaceAll('"', "'")
    .replaceAll('\n', `\n${indent}`)
}
