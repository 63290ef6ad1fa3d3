// What a container does to a folder of this machine happens on this machine, and commands inside of words are read.

import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import { CONTEXT, isPartOf } from './part-of.js'

async function has(command: string, part: object): Promise<boolean> {
  const effects = await effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
  return effects.some((one) => !one.guess && isPartOf(part, one))
}

const gone = (path: string) => ({ kind: 'delete', place: { path, deep: true } })

describe('a folder in a container', () => {
  const MOUNTS = [
    'docker run -v /home/dev/app:/in',
    'docker run --rm -it -v"/home/dev/app:/in"',
    'docker run -v "$PWD":/in',
    'docker run -v "$(pwd):/in:rw"',
    'docker run --volume /home/dev/app:/in/',
    'docker run --volume=.:/in',
    'docker run --mount type=bind,source=/home/dev/app,target=/in',
    'docker run --mount=type=bind,src=/home/dev/app,dst=/in',
    'docker container run -v ~/app:/in',
    'podman run -v /home/dev/app:/in:Z',
    'nerdctl run -v /home/dev/app:/in',
    'docker compose run -v /home/dev/app:/in',
    'docker-compose run --rm -v /home/dev/app:/in',
    'sudo docker run -v /home/dev/app:/in',
  ]
  it.each(MOUNTS)('%s IMAGE is lost here', async (start) => {
    expect(await has(`${start} alpine rm -rf /in/src`, gone('/home/dev/app/src'))).toBe(true)
    expect(await has(`${start} alpine sh -c 'cd /in && rm -rf src'`, gone('/home/dev/app/src'))).toBe(true)
    expect(await has(`${start} -w /in alpine rm -rf src`, gone('/home/dev/app/src'))).toBe(true)
    expect(await has(`${start} alpine rm -rf src`, gone('/home/dev/app/src'))).toBe(true)
    expect(await has(`${start} alpine rm -rf /`, gone('/home/dev/app'))).toBe(true)
  })

  it('is read, written, moved and left', async () => {
    const run = 'docker run -v /home/dev:/h alpine'
    expect(
      await has(`${run} cat /h/.ssh/id_rsa`, { kind: 'read', place: { path: '/home/dev/.ssh/id_rsa' } }),
    ).toBe(true)
    expect(await has(`${run} tee /h/.bashrc`, { kind: 'write', place: { path: '/home/dev/.bashrc' } })).toBe(
      true,
    )
    expect(await has(`${run} mv /h/a /h/b`, { kind: 'move', to: { path: '/home/dev/b' } })).toBe(true)
    expect(await has(`${run} mv /h/a /tmp/b`, gone('/home/dev/a'))).toBe(true)
    expect(
      await has('docker run --entrypoint rm -v /home/dev:/h alpine -rf /h/.ssh', gone('/home/dev/.ssh')),
    ).toBe(true)
  })

  it('is left alone if it is only read, a volume of its own, or elsewhere', async () => {
    for (const command of [
      'docker run -v /home/dev/app:/in:ro alpine rm -rf /in',
      'docker run -v data:/in alpine rm -rf /in',
      'docker run -v /home/dev/app:/in alpine rm -rf /tmp/x',
      'docker run alpine rm -rf /in',
    ])
      expect(await has(command, { kind: 'delete' }), command).toBe(false)
  })
})

describe('a command in a word of', () => {
  it.each([
    String.raw`psql -c '\! rm -rf src'`,
    `psql -c "COPY users TO PROGRAM 'rm -rf src'"`,
    `echo "COPY x FROM PROGRAM 'rm -rf src'" > /dev/null; psql <<'SQL'\nCOPY x FROM PROGRAM 'rm -rf src';\nSQL`,
    "mysql -e 'system rm -rf src'",
    String.raw`mysql -e '\! rm -rf src'`,
    "sqlite3 a.db '.shell rm -rf src'",
    "sed -n '1e rm -rf src' f",
    "sed '$e rm -rf src' f",
    "sed 's/x/rm -rf src/e' f",
    "sed -E 's|a|rm -rf src|ge' f",
    `awk 'BEGIN{system("rm -rf src")}'`,
    "vim -c '!rm -rf src' -c q f",
    "git -c core.pager='rm -rf src' log",
    "git -c alias.x='!rm -rf src' x",
    "tar cf a.tar --checkpoint=1 --checkpoint-action=exec='rm -rf src' .",
    `rsync -e 'sh -c "rm -rf src"' a h:b`,
    "rsync --rsh='rm -rf src' a h:b",
    "ssh -o ProxyCommand='rm -rf src' h",
    "ssh -oProxyCommand='rm -rf src' h",
    'ssh -o "LocalCommand rm -rf src" h',
    "scp -o ProxyCommand='rm -rf src' a h:b",
    "env -S 'rm -rf src'",
  ])('%s', async (command) => {
    expect(await has(command, gone('/home/dev/app/src'))).toBe(true)
  })

  it('find is a file that it writes', async () => {
    expect(await has("find . -fprintf /etc/x '%p'", { kind: 'write', place: { path: '/etc/x' } })).toBe(true)
  })
})
