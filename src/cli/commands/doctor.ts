// `carabiner doctor`: everything that keeps hooks from doing what their files say, and what puts it right.

import { COMMON_OPTIONS, type Command } from '../command.js'
import { examine, summaryOf } from '../doctor/examine.js'
import { gather } from '../doctor/facts.js'
import { familyLines } from '../doctor/print.js'
import { painter } from '../print/paint.js'
import { projectLine } from '../print/project-line.js'
import { withProgress } from '../progress.js'
import { EXIT } from '../refusal.js'
import { SOURCE_OPTIONS } from '../sources.js'

const OPTIONS = { ...SOURCE_OPTIONS, ...COMMON_OPTIONS } as const

export const command: Command<typeof OPTIONS> = {
  name: 'doctor',
  summary: 'Find out what is wrong with hooks, and what puts it right.',
  positionals: [],
  about:
    'Looks at files, trust, plugins, programs, scripts, matchers, duplicates, the audit, its own folders and the ' +
    'environment; runs no hook. Each finding has its place and a fix. broken: a hook does not run, or not as its file ' +
    'says. warning: it runs, and may surprise. note: as somebody decided.',
  options: OPTIONS,
  exits: [
    [0, 'nothing is broken'],
    [1, 'something is broken'],
    [64, 'wrong usage'],
  ],
  examples: [
    { does: 'What is wrong here?', line: 'carabiner doctor' },
    {
      does: "Would another agent's hooks work here?",
      line: 'carabiner doctor --config .claude/settings.json',
    },
    {
      does: 'For CI: one finding an entry; exit 1 where something is broken.',
      line: 'carabiner doctor --json',
    },
  ],
  async run({ options }, output) {
    const { facts, families } = await withProgress('looking', output, async (tick) => {
      const facts = await gather(options)
      return { facts, families: await examine(facts, tick) }
    })
    const summary = summaryOf(families)
    if (output.json) {
      await output.document({
        project: facts.project,
        ok: summary.broken === 0,
        summary,
        checked: families.map(({ name, what }) => ({ family: name, what })),
        findings: families.flatMap(({ name, findings }) =>
          findings.map((finding) => ({ family: name, ...finding })),
        ),
      })
    } else {
      const paint = painter(1)
      await output.print([...projectLine(options, paint), ...familyLines(families, paint)])
    }
    return summary.broken === 0 ? EXIT.ok : EXIT.failed
  },
}
