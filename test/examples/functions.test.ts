// The patterns of examples/functions: each handler in isolation, and each file run as a program.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from 'carabiner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkForIssues, comprehensiveHook } from '../../examples/functions/everything-at-once.mjs'
import { linterHook } from '../../examples/functions/lint-feedback.mjs'
import { progressHook } from '../../examples/functions/output-control.mjs'
import { productionProtectionHook } from '../../examples/functions/production-protection.mjs'
import { safeHook } from '../../examples/functions/safe-hook.mjs'
import { validate, validationHook } from '../../examples/functions/validation.mjs'
import { runExample } from './run-example.js'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'functions-test-'))
})
afterAll(() => rm(cwd, { recursive: true }))

/** What a hook reads after `content` was written for real. */
async function written(file_path: string, content: string) {
  await writeFile(join(cwd, file_path), content)
  return { tool_name: 'Write', tool_input: { file_path, content }, tool_result: { success: true }, cwd }
}

const write = (file_path: string) => ({ tool_name: 'Write', tool_input: { file_path }, cwd: '/home/me/shop' })

async function printed(file: string): Promise<string> {
  const { code, stdout, stderr } = await runExample(`functions/${file}`)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('lint-feedback', () => {
  it('injects what is wrong with the file', async () => {
    const result = await linterHook('tool:post', await written('broken.mjs', 'export const a = (\n'))
    expect(result.action).toBe('inject_context')
    expect(result.contextInjection).toMatch(/^Linter found issues in broken\.mjs:\nline \d+: SyntaxError: /)
    expect(result.userMessage).toBe('Found linting issues in broken.mjs')
    expect(result.userMessageLevel).toBe('warning')
  })

  it('names the line', async () => {
    const data = await written('third.cjs', 'const a = 1\nconst b = 2\nconst a = 3\n')
    expect((await linterHook('tool:post', data)).contextInjection).toContain('line 3: SyntaxError')
  })

  it('has nothing to say about a file that is right', async () => {
    const result = await linterHook('tool:post', await written('right.mjs', 'export const a = 1\n'))
    expect(result).toEqual({ action: 'continue' })
  })

  it.for(['notes.md', 7])('leaves %s alone', async (file_path) => {
    const result = await linterHook('tool:post', { tool_name: 'Write', tool_input: { file_path }, cwd })
    expect(result).toEqual({ action: 'continue' })
  })

  it('fails where the file cannot be checked, which is not the same as clean', async () => {
    const data = { tool_name: 'Write', tool_input: { file_path: 'gone.mjs' }, cwd }
    await expect(linterHook('tool:post', data)).rejects.toThrow('could not check the file')
  })

  it('stops the check when it is told to', async () => {
    const data = await written('slow.mjs', 'export const a = 1\n')
    const signal = AbortSignal.abort()
    await expect(linterHook('tool:post', data, { signal })).rejects.toThrow('could not check')
  })

  it('runs', async () => {
    const lines = (await printed('lint-feedback.mjs')).split('\n')
    expect(lines[0]).toBe(String.raw`Wrote "export const sum = (a, b) => a +\n": continue`)
    expect(lines[1]).toBe('  to the model, from linter_feedback: Linter found issues in sum.mjs:')
    expect(lines[2]).toMatch(/^ {4}line \d+: SyntaxError: /)
    expect(lines[3]).toBe('  to the user, warning: Found linting issues in sum.mjs')
    expect(lines[4]).toBe(String.raw`Wrote "export const sum = (a, b) => a + b\n": continue`)
    expect(lines.slice(5)).toEqual([''])
  })
})

describe('validation', () => {
  const returned = (tool_result: Json) => ({ tool_name: 'PlanRelease', tool_input: {}, tool_result })

  it('injects what is wrong with the result', () => {
    expect(validationHook('tool:post', returned({ version: '2', changes: ['a'] }))).toEqual({
      action: 'inject_context',
      contextInjection: 'Validation errors:\n- version must look like 1.2.3, got "2"',
      contextInjectionRole: 'system',
      userMessage: 'Validation found issues',
      userMessageLevel: 'warning',
      suppressOutput: true,
    })
  })

  it('lets a right result pass', () => {
    const result = validationHook('tool:post', returned({ version: '1.2.3', changes: ['a'] }))
    expect(result).toEqual({ action: 'continue' })
  })

  it.for([undefined, null, 'a plan', ['1.2.3']])('validates %j, which is no plan', (result) => {
    expect(validate(result)).toEqual(['the release plan must be an object'])
  })

  it('finds every mistake', () => {
    expect(validate({ changes: ['a', 'a'] })).toEqual([
      'version must look like 1.2.3, got nothing',
      'changes must not name a change twice',
    ])
  })

  it('runs', async () => {
    expect(await printed('validation.mjs')).toBe(
      [
        'A hasty plan: continue',
        '  to the model, from validation: Validation errors:',
        '    - version must look like 1.2.3, got "2.0"',
        '    - changes must be a list of at least one',
        '  to the user, warning: Validation found issues',
        'A plan: continue',
        '',
      ].join('\n'),
    )
  })
})

describe('production-protection', () => {
  it('asks, and denies by default', () => {
    expect(productionProtectionHook('tool:pre', write('/srv/production/app.yaml'))).toEqual({
      action: 'ask_user',
      approvalPrompt: 'Allow write to production file: /srv/production/app.yaml?',
      approvalOptions: ['Allow once', 'Allow always', 'Deny'],
      approvalTimeout: 300,
      approvalDefault: 'deny',
      reason: 'Production file requires explicit user approval',
    })
  })

  it.for([
    '.env',
    'config/prod.env',
    '.ENV',
    'production/app.yaml',
    'src/../production/app.yaml',
    '/srv/Production/app.yaml',
  ])('asks about %s', (path) => {
    expect(productionProtectionHook('tool:pre', write(path)).action).toBe('ask_user')
  })

  it.for(['README.md', 'production.md', 'src/environment.mjs'])('does not ask about %s', (path) => {
    expect(productionProtectionHook('tool:pre', write(path)).action).toBe('continue')
  })

  it('asks about a notebook', () => {
    const data = { tool_name: 'NotebookEdit', tool_input: { notebook_path: '/production/a.ipynb' } }
    expect(productionProtectionHook('tool:pre', data).action).toBe('ask_user')
  })

  it('does not trip over a call without a path', () => {
    const data = { tool_name: 'Write', tool_input: {} }
    expect(productionProtectionHook('tool:pre', data).action).toBe('continue')
  })

  it('runs', async () => {
    expect(await printed('production-protection.mjs')).toBe(
      [
        'Write /srv/production/app.yaml: continue',
        '  asked: Allow write to production file: /srv/production/app.yaml?',
        '  answered: Allow once',
        '  the tool ran',
        'Write .env: deny (User denied: Allow write to production file: .env?)',
        '  asked: Allow write to production file: .env?',
        '  answered: Deny',
        '  the tool did not run',
        'Write README.md: continue',
        '  the tool ran',
        '',
      ].join('\n'),
    )
  })
})

describe('output-control', () => {
  it.for([
    [{ files_processed: 1 }, 'Processed 1 file'],
    [{ files_processed: 12 }, 'Processed 12 files'],
    [{ files_processed: 'many' }, 'Processed 0 files'],
    [{}, 'Processed 0 files'],
  ] as const)('%j is shown as "%s"', ([data, userMessage]) => {
    expect(progressHook('index:progress', data)).toEqual({
      action: 'continue',
      userMessage,
      userMessageLevel: 'info',
      suppressOutput: true,
    })
  })

  it('runs', async () => {
    expect(await printed('output-control.mjs')).toBe(
      [
        'Indexing: continue',
        '  to the user, info: Processed 1 file',
        'Indexing: continue',
        '  to the user, info: Processed 240 files',
        '',
      ].join('\n'),
    )
  })
})

describe('everything-at-once', () => {
  const wrote = (content: string) => ({ tool_name: 'Write', tool_input: { file_path: 'a.mjs', content } })

  it('tells model and user of critical issues', () => {
    const key = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ')
    expect(comprehensiveHook('tool:post', wrote(`${key}\n>>>>>>> theirs\n`))).toEqual({
      action: 'inject_context',
      contextInjection: 'Critical issues in a.mjs:\n- a merge conflict that is not resolved\n- a private key',
      userMessage: 'Found 2 critical issues',
      userMessageLevel: 'error',
      suppressOutput: true,
    })
  })

  it('tells the user alone of warnings', () => {
    expect(comprehensiveHook('tool:post', wrote('debugger\n'))).toEqual({
      action: 'continue',
      userMessage: 'Found 1 warning: a debugger statement',
      userMessageLevel: 'warning',
      suppressOutput: true,
    })
  })

  it('reads what an edit puts in', () => {
    const data = { tool_name: 'Edit', tool_input: { file_path: 'a.mjs', new_string: '// FIXME' } }
    expect(comprehensiveHook('tool:post', data).userMessage).toBe('Found 1 warning: a TODO')
  })

  it('has nothing to say about a clean file, or about what is no text', () => {
    expect(comprehensiveHook('tool:post', wrote('export const a = 1\n'))).toEqual({ action: 'continue' })
    expect(checkForIssues(undefined)).toEqual({ critical: [], warnings: [] })
  })

  it('runs', async () => {
    expect(await printed('everything-at-once.mjs')).toBe(
      [
        String.raw`Wrote "<<<<<<< HEAD\nexport const a = 1\n": continue`,
        '  to the model, from comprehensive: Critical issues in a.mjs:',
        '    - a merge conflict that is not resolved',
        '  to the user, error: Found 1 critical issue',
        String.raw`Wrote "console.log(1) // TODO\n": continue`,
        '  to the user, warning: Found 2 warnings: a console.log, a TODO',
        String.raw`Wrote "export const a = 1\n": continue`,
        '',
      ].join('\n'),
    )
  })
})

describe('safe-hook', () => {
  it('injects what it found', async () => {
    expect(await safeHook('tool:post', await written('bad.json', '{ "a": 1, }'))).toEqual({
      action: 'inject_context',
      contextInjection: 'Issues found: bad.json is not valid JSON',
      userMessage: 'Validation found issues',
    })
  })

  it('has nothing to say about a right file, or about what is no JSON file', async () => {
    expect(await safeHook('tool:post', await written('good.json', '{ "a": 1 }'))).toEqual({
      action: 'continue',
    })
    expect(await safeHook('tool:post', write('gone.md'))).toEqual({ action: 'continue' })
  })

  it('answers its own error instead of throwing it', async () => {
    expect(await safeHook('tool:post', write('gone.json'))).toEqual({
      action: 'continue',
      userMessage: 'Hook error: cannot read gone.json (ENOENT)',
      userMessageLevel: 'error',
    })
  })

  it('runs', async () => {
    expect(await printed('safe-hook.mjs')).toBe(
      [
        'settings.json: continue',
        '  to the model, from safe_hook: Issues found: settings.json is not valid JSON',
        '  to the user, info: Validation found issues',
        'gone.json: continue',
        '  to the user, error: Hook error: cannot read gone.json (ENOENT)',
        '',
      ].join('\n'),
    )
  })
})
