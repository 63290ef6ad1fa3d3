// A place in which commands can do no harm: a user without rights, a namespace without network, and a root that is gone
// afterwards.

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Report } from './driver.js'

/** With `packed.txt` in it. */
const ZIP = Buffer.from(
  'UEsDBBQAAAAAAAAAIVBD4EEvBwAAAAcAAAAKAAAAcGFja2VkLnR4dHBhY2tlZApQSwECFAMUAAAAAAAAACFQQ+BBLwcAAAAHAAAACgAAAAAAAAAAAAAAgAEAAAAAcGFja2VkLnR4dFBLBQYAAAAAAQABADgAAAAvAAAAAAA=',
  'base64',
)

/**
 * Builds a root of a few folders that cannot be written, and a scratch folder in memory. Programs such as awk and vi are
 * links through /etc/alternatives.
 */
const ROOT = `
set -e
root=$1; base=$2; shift 2
mount -t tmpfs tmpfs "$root"
for each in /usr /bin /sbin /lib /lib32 /lib64 /libx32 "$@" "$base"; do
  [ -e "$each" ] || continue
  mkdir -p "$root$each"
  mount --rbind "$each" "$root$each"
done
mkdir -p "$root/dev" "$root/tmp" "$root/scratch"
for each in null zero random urandom; do : > "$root/dev/$each"; mount --bind "/dev/$each" "$root/dev/$each"; done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/proc"; mount -t proc proc "$root/proc"
mkdir "$root/etc"; echo 'root:x:0:0::/:/bin/sh' > "$root/etc/passwd"
for each in /etc/alternatives /etc/java-*; do
  [ -e "$each" ] || continue
  mkdir -p "$root$each"
  mount --bind "$each" "$root$each"
done
mount --rbind "$root/etc" "$root/etc"; mount -o remount,ro,bind "$root/etc"
`
const ENTER = 'exec chroot "$root" setpriv --no-new-privs --bounding-set=-all --inh-caps=-all'

const isRoot = process.getuid?.() === 0
/** A user without rights outside, who seems to be root inside. */
const AS_NOBODY = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
const ALONE = ['unshare', '--user', '--map-root-user', '--mount', '--net', '--pid', '--fork', '--kill-child']

/** The command line that runs a command in the throw-away root. */
function inside(folder: string, command: string): readonly [string, ...string[]] {
  const root = join(folder, 'root')
  const script = ['sh', '-c', `${ROOT}${ENTER} ${command}`, 'sh', root, folder, dirname(process.execPath)]
  const [program = '', ...rest] = [...AS_NOBODY, ...ALONE, ...script]
  return [program, ...rest]
}

const OPTIONS = { env: { PATH: process.env.PATH, HOME: '/' }, cwd: '/' }

/** Its parts are not everywhere: strace, unshare, setpriv, and namespaces for users. */
export function isPossible(): boolean {
  if (process.platform !== 'linux') return false
  const folder = newFolder()
  try {
    const [program, ...words] = inside(folder, `strace -qq -o /dev/null '${process.execPath}' --version`)
    return spawnSync(program, words, OPTIONS).status === 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Predicts and runs each command, and says where both differ. Each processor has a sandbox of its own. */
export async function tried(commands: readonly string[]): Promise<Report> {
  const folder = newFolder()
  try {
    await furnish(folder)
    const size = Math.ceil(commands.length / availableParallelism())
    const parts = Array.from({ length: Math.ceil(commands.length / size) }, (_, i) =>
      commands.slice(i * size, (i + 1) * size),
    )
    const reports = await Promise.all(parts.map((part) => triedIn(folder, part)))
    return {
      ran: sum(reports, 'ran'),
      changed: sum(reports, 'changed'),
      unknown: sum(reports, 'unknown'),
      missed: reports.flatMap(({ missed }) => missed),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function sum(reports: readonly Report[], field: 'ran' | 'changed' | 'unknown'): number {
  return reports.reduce((total, report) => total + report[field], 0)
}

async function triedIn(folder: string, commands: readonly string[]): Promise<Report> {
  const [program, ...words] = inside(
    folder,
    `'${process.execPath}' "${folder}/driver.mjs" /scratch "${folder}"`,
  )
  const child = spawn(program, words, OPTIONS)
  child.stdin.end(JSON.stringify({ commands }))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout) as Report
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-random-'))
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, 'root'))
  return folder
}

async function furnish(folder: string): Promise<void> {
  writeFileSync(join(folder, 'z.gz'), gzipSync('packed\n'))
  writeFileSync(join(folder, 'f.zip'), ZIP)
  writeFileSync(join(folder, 'packed.txt'), 'packed\n')
  const packed = spawnSync('tar', ['cf', 'f.tar', 'packed.txt'], { cwd: folder })
  if (packed.status !== 0) throw new Error(String(packed.stderr))
  await build({
    entryPoints: [fileURLToPath(new URL('driver.ts', import.meta.url))],
    outfile: join(folder, 'driver.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
  })
}
