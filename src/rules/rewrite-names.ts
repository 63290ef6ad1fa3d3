// The changes that a rule may ask for, by name.

const MEANS = {
  'force-with-lease':
    '`git push --force` becomes `git push --force-with-lease`, which overwrites only what you have seen.',
  'ignore-scripts': '`npm install` becomes `npm install --ignore-scripts`, so that packages run nothing.',
  'dry-run':
    '`git clean`, `git push`, `npm publish` and `rsync` get `--dry-run`, so that they only show what they would do.',
} as const

export type RewriteName = keyof typeof MEANS
export const REWRITE_NAMES = Object.keys(MEANS) as readonly RewriteName[]

export function rewriteMeans(name: RewriteName): string {
  return MEANS[name]
}
