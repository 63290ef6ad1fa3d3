import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

it('a hook that its author bundles holds nothing but what answers agents', async () => {
  const { metafile, outputFiles } = await build({
    stdin: {
      contents: "export { runHook } from './author/index.ts'",
      resolveDir: fileURLToPath(new URL('../../src', import.meta.url)),
    },
    ...{ bundle: true, minify: true, platform: 'node', target: 'node20', write: false, metafile: true },
  })
  const late = Object.keys(metafile.inputs).filter((file) => /(?:setup|proof|hook-file)\.ts$/.test(file))
  expect(late).toEqual([])
  expect(outputFiles[0]?.contents.length).toBeLessThan(125_000)
})
