// `fleet policy build`, `sign` and `publish`: from a folder to a bundle that machines obey.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../../config/load.js'
import { type Diagnostic, textOf } from '../../../core/base/errors.js'
import { visible, visibleName } from '../../../core/base/text.js'
import { shellQuoted } from '../../../effects/shell/shell-quoted.js'
import { callerPath } from '../../../files/caller.js'
import { bundleFolder } from '../../../files/fleet/policy.js'
import { unpack } from '../../../fleet/machine/policy-files.js'
import { type Bundle, bundleIn, bundleOf } from '../../../fleet/policy/bundle.js'
import {
  hasTargets,
  rolloutOf,
  type SignedTargets,
  signerOf,
  signTargets,
} from '../../../fleet/policy/publication.js'
import { planned, published as withBundle } from '../../../fleet/policy/rollout.js'
import { signersWith } from '../../../fleet/policy/signers.js'
import type { Output } from '../../output.js'
import { counted, nextLines, noticeLines, shortPath } from '../../print/lines.js'
import { severityOf } from '../../print/severity.js'
import { EXIT, Refusal, usage } from '../../refusal.js'
import { again, DATABASE_VARIABLE, type Given, isAboutAll } from '../action.js'
import { FILE_HINT, isOfFile } from '../failure.js'
import { atSigningDesk, publish, type SigningDesk } from './desk.js'
import { rolloutLines } from './list.js'

// ---- build ----------------------------------------------------------------------------------------------------

export async function built({ options, words, output }: Given): Promise<number> {
  const [folder = ''] = words
  const { out } = options
  if (out === undefined) throw usage('Where to? Type carabiner fleet policy build FOLDER --out FILE')
  const bundle = readable(() => bundleOf(callerPath(folder)), `The policy in ${folder} cannot be built`)
  const { hooks, problems } = await loaded(bundle, callerPath(folder))
  if (problems.length > 0)
    return output.result(
      { built: false, problems },
      (paint) => [
        `the policy in ${folder} would not load, so no bundle was made`,
        ...noticeLines(problems, paint),
      ],
      EXIT.failed,
    )
  const file = callerPath(out)
  readable(() => writeFileSync(file, bundle.text), `The bundle cannot be written to ${file}`)
  const { digest, files, policy } = bundle
  const document = { built: true, file, digest, files: files.length, hooks, ...policy }
  return output.result(document, (paint) => [
    `${shortPath(file)} holds ${counted(files.length, 'file')} with ${counted(hooks, 'hook')}`,
    `  digest ${digest}: the same folder gives the same digest everywhere`,
    ...nextLines([`carabiner fleet policy publish ${shellQuoted(out)} --ring 1 --shadow`], paint),
  ])
}

/** With the same code as a machine, from the same bytes. */
async function loaded(
  bundle: Bundle,
  folder: string,
): Promise<{ readonly hooks: number; readonly problems: readonly Diagnostic[] }> {
  const place = mkdtempSync(join(tmpdir(), 'carabiner-bundle-'))
  try {
    readable(() => unpack(place, bundle), `The policy cannot be tried in ${place}`)
    const path = bundleFolder(place, bundle.digest)
    const { specs, diagnostics } = await loadConfig({ company: { path, owner: process.getuid?.() ?? 0 } })
    const problems = diagnostics
      .filter(({ code }) => severityOf(code) === 'broken')
      .map((one) => {
        return one.file === undefined ? one : { ...one, file: one.file.replace(path, folder) }
      })
    return { hooks: specs.length, problems }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

function readable<T>(work: () => T, what: string): T {
  try {
    return work()
  } catch (error) {
    throw new Refusal('FLEET_POLICY', `${what}: ${textOf(error)}`, isOfFile(error) ? { hint: FILE_HINT } : {})
  }
}

function bundleAt(file: string): Bundle {
  return readable(
    () => bundleIn(readFileSync(callerPath(file), 'utf8')),
    `${file} is not a bundle of carabiner fleet policy build`,
  )
}

// ---- sign -----------------------------------------------------------------------------------------------------

/** Beside the bundle, so that both go to the next signer. */
const signaturesFile = (file: string): string => `${callerPath(file)}.signatures`

export async function signed(given: Given): Promise<number> {
  const [file = ''] = given.words
  const bundle = bundleAt(file)
  return atSigningDesk(given, async (desk) => {
    checkSigner(desk)
    const made = signatures(desk, bundle, file)
    const path = signaturesFile(file)
    readable(() => writeFileSync(path, made.text), `The signatures cannot be written to ${shortPath(path)}`)
    const { by, missing, version } = made
    return given.output.result({ digest: bundle.digest, version, by, missing }, (paint) => [
      `version ${version} is signed by ${by.join(', ')}; the signatures are in ${shortPath(signaturesFile(file))}`,
      ...nextLines(
        [
          missing > 0
            ? missingText(missing, file)
            : signerOf(desk.signers, desk.publisher.key, 'rollout')
              ? again(`carabiner fleet policy publish ${shellQuoted(file)}`, given)
              : `Send both files to somebody with the role rollout, who types: carabiner fleet policy publish ${shellQuoted(file)} --key THEIR-KEY --root-key KEY (KEY is what carabiner fleet init printed)`,
        ],
        paint,
      ),
    ])
  })
}

/** A signature of anybody else would be left out without a word. */
function checkSigner({ publisher, signers }: SigningDesk): void {
  if (signerOf(signers, publisher.key, 'policy')) return
  const names = signersWith(signers.signers, 'policy').map(({ name }) => visibleName(name))
  throw new Refusal(
    'FLEET_POLICY',
    `This key may not sign bundles; those of ${names.join(', ') || 'nobody'} may`,
    {
      hint: 'Give --key FILE with the right key, or let somebody with the key of the fleet add yours: carabiner fleet policy signers add NAME CODE --role policy.',
    },
  )
}

function missingText(missing: number, file: string): string {
  return `Send both files to ${counted(missing, 'more signer')}, who ${missing === 1 ? 'types' : 'type'}: carabiner fleet policy sign ${shellQuoted(file)} --key THEIR-KEY --root-key KEY (KEY is what carabiner fleet init printed)`
}

function signatures({ publisher, state, signers }: SigningDesk, bundle: Bundle, file: string): SignedTargets {
  const path = signaturesFile(file)
  return readable(
    () => {
      const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined
      return signTargets(publisher, { state, signers, bundle }, before)
    },
    `The bundle cannot be signed with ${shortPath(path)}`,
  )
}

/** On a machine of a fleet, it would tell about that machine alone. */
function shadowCommand(version: number, given: Given): string {
  const line = again(`carabiner fleet shadow ${version}`, given, ['org'])
  return isAboutAll(given.options) ? line : `${line} --database "$${DATABASE_VARIABLE}"`
}

/** They are published, so the command has done what it was asked to. */
async function removeSignatures(file: string, output: Output): Promise<void> {
  try {
    rmSync(signaturesFile(file), { force: true })
  } catch (error) {
    const path = shortPath(signaturesFile(file))
    await output.complain([
      `carabiner: the bundle is published, but ${path} cannot be removed: ${visible(textOf(error))}`,
      '  remove it: it is of no use for the next bundle',
    ])
  }
}

// ---- publish --------------------------------------------------------------------------------------------------

export async function published(given: Given): Promise<number> {
  const { options, output } = given
  const [file = ''] = given.words
  const { ring, group, shadow = false } = options
  const bundle = bundleAt(file)
  return atSigningDesk(given, async (desk) => {
    const { state, signers, publisher } = desk
    if (!signerOf(signers, publisher.key, 'rollout'))
      throw new Refusal('FLEET_POLICY', 'This key may not roll out a bundle', {
        hint: 'Somebody with the role rollout publishes it, or the key of the fleet: --key FILE. carabiner fleet policy signers lists the roles.',
      })
    const isSigned = hasTargets({ state, signers, bundle }) && !existsSync(signaturesFile(file))
    const made = isSigned ? undefined : signatures(desk, bundle, file)
    if (made && made.missing > 0)
      throw new Refusal(
        'FLEET_POLICY',
        `The bundle is signed by ${made.by.join(', ') || 'nobody'}, and ${signers.threshold} have to`,
        { hint: missingText(made.missing, file) },
      )
    const before = bundle.policy.plan ? planned(rolloutOf(state), bundle.policy.plan) : rolloutOf(state)
    const where = { ...(ring !== undefined && { ring }), ...(group !== undefined && { group }) }
    const rollout = withBundle(before, bundle.digest, where, shadow)
    await publish(desk, { ...(made && { targets: made.text }), rollout }, bundle)
    await removeSignatures(file, output)
    const entry = state?.entries.find(({ digest }) => digest === bundle.digest)
    const version = made?.version ?? Number(entry?.custom?.version ?? 0)
    const versions = new Map([[bundle.digest, version]])
    return output.result({ version, digest: bundle.digest, shadow, rollout }, (paint) => [
      `version ${version} is published${shadow ? ': its hooks run and are recorded, but decide nothing' : ''}`,
      ...rolloutLines(rollout, state, versions),
      ...nextLines(
        [
          ...(shadow ? [shadowCommand(version, given)] : []),
          again('carabiner fleet policy promote', given),
          `${again('carabiner fleet policy rollback', given)}   # takes it back`,
        ],
        paint,
      ),
    ])
  })
}
