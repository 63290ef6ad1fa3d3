// The mirror of this machine's open questions, with the queue and the records of its user.

import { visible } from '../../core/base/text.js'
import type { GatewayClient } from '../../fleet/machine/gateway-client.js'
import { Mirror, type MirrorOptions } from '../../fleet/machine/mirror.js'
import { approvalsIn } from '../../store/file-stores.js'
import { recordAnswer } from '../answer-record.js'
import type { Output } from '../output.js'

export async function openMirror(
  client: GatewayClient,
  learnPeople: MirrorOptions['learnPeople'],
  output: Output,
): Promise<Mirror> {
  const onTrouble = (text: string) => void output.complain([`carabiner: ${visible(text)}`])
  return new Mirror({
    client,
    learnPeople,
    queue: await approvalsIn({ onTrouble }),
    onTrouble,
    onAnswer: async (pending, answer) => {
      const problem = await recordAnswer(pending, answer)
      if (problem !== undefined) onTrouble(problem)
    },
  })
}
