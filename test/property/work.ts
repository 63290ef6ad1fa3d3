// How much work code does, counted in blocks that ran: the same on every machine, however busy it is.

import { Session } from 'node:inspector/promises'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { build } from 'esbuild'

export interface Counted<Module> {
  readonly module: Module
  /** How many blocks of the module ran. */
  work(act: (module: Module) => unknown): Promise<number>
  close(): Promise<void>
}

let count = 0

/** Loads a file of `src` once more, with counters: code that is compiled already has none. */
export async function counted<Module>(entry: string): Promise<Counted<Module>> {
  const name = `counted-${process.pid}-${count++}.cjs`
  const { outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(entry)}`, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    footer: { js: `// ${name}` },
  })
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const module = { exports: {} as Module }
  compileFunction(outputFiles[0]?.text ?? '', ['module', 'exports', 'require'], { filename: name })(
    module,
    module.exports,
    createRequire(import.meta.url),
  )
  /** Reading the counters sets them back. */
  const taken = async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const ranges = result
      .filter(({ url }) => url.endsWith(name))
      .flatMap(({ functions }) => functions.flatMap((one) => one.ranges))
    return ranges.reduce((sum, range) => sum + range.count, 0)
  }
  return {
    module: module.exports,
    work: async (act) => {
      await taken()
      await act(module.exports)
      return taken()
    },
    close: async () => {
      await session.post('Profiler.stopPreciseCoverage')
      session.disconnect()
    },
  }
}
