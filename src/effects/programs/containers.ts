// Containers and images: what is lost with them, and containers that own the machine.

import { cloud, type Draft, type Program, plainWords, privilege, type Use } from '../program.js'
import { destroys, operations } from './cloud-operation.js'

/** `docker exec NAME COMMAND` and similar are read as that command, elsewhere. */
const docker = (use: Use): readonly Draft[] => {
  const [verb = '', noun = ''] = plainWords(
    use.texts,
    /^(?:-H|--host|--context|-f|--file|-p|--project-name|--profile)$/,
  )
  const usual = operations({
    valued: /^(?:-H|--host|--context|--filter|-f|--file|-p|--project-name)$/,
    words:
      /^(?:system|volume|network|image|container|stack|swarm|compose|builder|buildx|context|service|node|secret|config|machine)$/.test(
        verb,
      )
        ? 2
        : 1,
    also: /^(?:prune|rmi|kill|leave|reset)$/,
  })
  // In the table of publishers.
  if (verb === 'push') return []
  if (verb === 'run' || verb === 'create') return started(use)
  if (verb === 'exec') return []
  // Containers come back with `up`, volumes do not.
  if (verb === 'compose' || use.call.name.endsWith('-compose')) {
    const isDown = use.texts.includes('down') || use.texts.includes('rm')
    const destroys = isDown && use.texts.some((text) => /^(?:-\w*v\w*|--volumes|--rmi(?:=.*)?)$/.test(text))
    return destroys ? [cloud('compose down --volumes', true)] : []
  }
  // One that is named can be made again; a list of all cannot be looked over.
  if (/^(?:rm|rmi|kill)$/.test(verb)) {
    const isList = use.args.some(({ known, text }) => !known && !text.startsWith('-'))
    return [cloud(verb, isList || use.texts.some((text) => /^(?:-v|--volumes|-fv|-vf)$/.test(text)), noun)]
  }
  const isAll = use.texts.some((text) => /^(?:-\w*a\w*|--all)$/.test(text))
  // Only what nothing refers to, which is built or started again.
  if (/^(?:image|builder|buildx|container)$/.test(verb) && noun === 'prune' && !isAll)
    return [cloud(`${verb} prune`, false)]
  return /^(?:pull|stop|start|restart|tag|login|logout|logs|info|version|save|load|export|import|commit|cp|port|top|stats|events|history|search|rename|pause|unpause|update|wait|diff|build|buildx)$/.test(
    verb,
  )
    ? []
    : usual(use)
}

/** A container that owns the machine: privileged, or with the whole disk or docker itself inside. */
function started(use: Use): readonly Draft[] {
  const owns = use.texts.some(
    (text, i) =>
      /^--privileged$|^--(?:pid|net|network|ipc|uts|userns)=host$|^--cap-add=(?:ALL|SYS_ADMIN)/i.test(text) ||
      (/^(?:-v|--volume|--mount)$/.test(use.texts[i - 1] ?? '') && MOUNTED.test(text)) ||
      (/^(?:-v|--volume=|--mount=)/.test(text) && MOUNTED.test(text.replace(/^(?:-v|--volume=)/, ''))),
  )
  return owns ? [privilege(`${use.call.name} run with the machine inside`)] : []
}

const MOUNTED =
  /^(?:\/|\/etc|\/root|\/home(?:\/[^/:]+)?|\/Users\/[^/:]+|~|\$HOME|\/var\/run\/docker\.sock|\/var\/lib|\/usr|\/boot|\/dev|\/proc|\/sys)(?::|$)|(?:source|src)=\/(?:,|$)/

export const CONTAINER_PROGRAMS: readonly Program[] = [
  {
    names: ['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose', 'buildah'],
    hasVerb: true,
    effects: docker,
    examples: [
      { command: 'docker system prune -af', effects: [destroys('system prune')] },
      { command: 'docker image prune -f', effects: [{ kind: 'cloud', destroys: false }] },
      { command: 'docker compose down -v', effects: [destroys()] },
      { command: 'docker compose down', effects: [] },
      { command: 'docker run -v /:/host alpine', effects: [{ kind: 'privilege' }] },
      { command: "docker exec db psql -c 'DROP TABLE x'", effects: [{ kind: 'database', destroys: true }] },
      { command: 'docker run -v /home/dev:/h alpine', effects: [{ kind: 'privilege' }] },
      { command: 'docker run -v /home/dev/app:/app alpine', effects: [] },
      { command: 'docker ps', effects: [] },
    ],
  },
]
