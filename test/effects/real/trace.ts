// Which files the commands of a batch opened and which programs they started, read from the output of strace.

/** One process for each command, in their order, below the first process of the trace. */
export interface Deeds {
  /** Files that were opened for reading. */
  readonly reads: ReadonlySet<string>
  /** Names of programs that a shell, or a program that runs others, has started. */
  readonly runs: ReadonlySet<string>
}

export const STRACE = [
  ...['strace', '-f', '-y', '-qq', '--seccomp-bpf', '-e', 'signal=none'],
  ...['-e', 'trace=openat,execve,fork,vfork,clone,clone3'],
] as const

/** What other programs start is their own affair: tar starts gzip. */
const RUNNERS = new Set(
  'bash sh dash env nice timeout nohup setsid stdbuf xargs find time ionice chrt busybox'.split(' '),
)

interface Step {
  readonly pid: string
  readonly text: string
}

export function deedsOf(trace: string, count: number): readonly Deeds[] {
  const steps = stepsOf(trace)
  const [first] = steps
  const parents = new Map<string, string>()
  const firsts: string[] = []
  for (const { pid, text } of steps) {
    const [, child] = /^(?:v?fork|clone3?)\(.*\) = (\d+)$/.exec(text) ?? []
    if (child === undefined) continue
    parents.set(child, pid)
    if (pid === first?.pid) firsts.push(child)
  }
  if (firsts.length !== count) throw new Error(`${firsts.length} of ${count} commands were traced`)
  const worlds = new Map(firsts.map((pid, i) => [pid, i]))
  const worldOf = (pid: string): number | undefined => {
    for (let at: string | undefined = pid; at !== undefined; at = parents.get(at)) {
      const world = worlds.get(at)
      if (world !== undefined) return world
    }
    return undefined
  }
  const deeds = firsts.map(() => ({ reads: new Set<string>(), runs: new Set<string>() }))
  const programs = new Map<string, string>()
  /** What happens before a world's command is read is ours. */
  const begun = new Set<number>()
  const isRunner = (pid: string): boolean => {
    for (let at: string | undefined = pid; at !== undefined; at = parents.get(at)) {
      const program = programs.get(at)
      if (program !== undefined && !RUNNERS.has(program)) return false
    }
    return true
  }
  for (const { pid, text } of steps) {
    const world = worldOf(pid)
    const own = world === undefined ? undefined : deeds[world]
    if (!own || world === undefined) continue
    if (!begun.has(world)) {
      if (/^openat\(.*\/command"?, O_RDONLY/.test(text)) begun.add(world)
      continue
    }
    const [, program] = /^execve\("([^"]*)".* = 0$/.exec(text) ?? []
    if (program !== undefined) {
      const name = program.slice(program.lastIndexOf('/') + 1)
      // To bash, `time` is no program.
      if (isRunner(pid) && name !== 'time') own.runs.add(name)
      programs.set(pid, name)
    }
    const [, path] = /^openat\(.*\) = \d+<(.*)>$/.exec(text) ?? []
    if (path !== undefined && /O_RD(?:ONLY|WR)/.test(text) && !text.includes('O_DIRECTORY'))
      own.reads.add(path)
  }
  return deeds
}

/** A call that another process interrupts is printed in two parts. */
function stepsOf(trace: string): readonly Step[] {
  const steps: Step[] = []
  const begun = new Map<string, string>()
  for (const line of trace.split('\n')) {
    const [, pid, text] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (pid === undefined || text === undefined) continue
    const [, start] = /^(.*) <unfinished \.\.\.>$/.exec(text) ?? []
    if (start !== undefined) {
      begun.set(pid, start)
      continue
    }
    const [, end] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? []
    steps.push({ pid, text: end === undefined ? text : `${begun.get(pid) ?? ''}${end}` })
  }
  return steps
}
