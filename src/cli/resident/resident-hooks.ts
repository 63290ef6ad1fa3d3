// The hooks of a program that stays: opened once, kept up to date, on record, and unguarded only if the user says so.

import { looserThan, type MergedSettings } from '../../config/merged-settings.js'
import { type Diagnostic, HookError } from '../../core/base/errors.js'
import type { Embedder } from '../../core/session/embedder.js'
import { BYPASSED, bypassNotices, isBypassed } from '../bypass.js'
import { ResidentAudit } from '../project-audit.js'
import { Refusal } from '../refusal.js'
import {
  checkEnvironment,
  lossesOf,
  noticesOf,
  type OpenHooks,
  openHooks,
  projectFolder,
  type Sources,
} from '../sources.js'

export interface ResidentHooks {
  readonly hooks: OpenHooks
  readonly projectDir: string
  /** What an agent should know besides the diagnostics of the hooks. */
  readonly notices: readonly Diagnostic[]
}

export interface Surroundings {
  readonly embedder: Embedder
  /** What to write at the end. */
  readonly audits: ResidentAudit[]
  readonly log: (text: string) => void
  /** What the agent wants on top of the user's settings. It may only tighten them. */
  readonly settings?: Partial<MergedSettings> | undefined
}

export async function residentHooks(sources: Sources, around: Surroundings): Promise<ResidentHooks> {
  const projectDir = projectFolder(sources)
  checkEnvironment(projectDir)
  const audit = new ResidentAudit(projectDir, () => hooks.settings, around.log)
  around.audits.push(audit)
  const { settings: wanted } = around
  const hooks: OpenHooks = await openHooks(sources, {
    ...around.embedder,
    audit: (record) => audit.write(record),
    auditCalls: (call) => audit.keep(call),
    auditLater: (make) => audit.later(make),
    ...(wanted && { settings: wanted, settingsTighten: true }),
    watch: true,
  })
  try {
    checkSettings(wanted, hooks)
    checkLosses(sources, hooks)
  } catch (error) {
    await hooks.close()
    throw error
  }
  if (!isBypassed(hooks)) return { hooks, projectDir, notices: bypassNotices(hooks) }
  around.log(BYPASSED.text)
  await hooks.close()
  return { hooks: await bypassing(hooks, audit, around), projectDir, notices: [BYPASSED] }
}

/** Without any hook. The audit records that nothing was judged. */
async function bypassing(
  { settings: { audit_on_failure } }: OpenHooks,
  audit: ResidentAudit,
  { embedder }: Surroundings,
): Promise<OpenHooks> {
  const { createHooks } = await import('../../runtime.js')
  return createHooks({
    ...embedder,
    globals: false,
    settings: { audit_on_failure },
    audit: ({ time, session, event }) =>
      audit.write({ kind: 'bypass', time, session, event, action: 'continue' }),
  })
}

/** A setting that is silently ignored would leave the agent with other rules than it asked for. */
function checkSettings(wanted: Partial<MergedSettings> = {}, { settings }: OpenHooks): void {
  const [looser] = looserThan(wanted, settings as unknown as Readonly<Record<string, unknown>>)
  if (looser === undefined) return
  throw new HookError('OPTIONS_INVALID', `hello: settings.${looser} would loosen the user's settings`, {
    hint: 'Remove it. The user can change it in ~/.amplifier/settings.json.',
  })
}

function checkLosses(sources: Sources, hooks: OpenHooks): void {
  const [lost] = lossesOf(sources, noticesOf(hooks))
  if (lost) throw new Refusal('CONFIG_INVALID', `A file that was named cannot be used: ${lost.text}`)
}
