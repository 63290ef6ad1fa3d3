// The acts of the page: what a person can change there.

import type { Acts } from '../../page/act-answers.js'
import type { Commands } from '../command.js'
import { switchAct } from './switch-act.js'
import { trustAct } from './trust-act.js'
import { updateAct } from './update-act.js'

export function actsIn(commands: Commands, project: string): Acts {
  return {
    trust: (body) => trustAct(project, body),
    switch: (body) => switchAct(project, body),
    update: (body) => updateAct(commands, project, body),
  }
}
