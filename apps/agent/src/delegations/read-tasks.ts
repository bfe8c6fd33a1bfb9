// Validates the tasks an owner asks for and fills in the defaults, so that what is stored and shown is what is done.

import { DEFAULT_HOURS, DEFAULT_TASKS, type Mirror, type Tasks } from '@svc/api/agent/tasks'
import { type InvalidInput, ValidationError } from '@svc/http-service/service-error'
import { parseSourceUrl, SourceError } from '@svc/outgoing/public-request'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'

const LOC = ['body', 'tasks']

/** Without a mirror the default watch is added; otherwise there would be nothing to do. */
export function readTasks({ mirror, watch = mirror ? undefined : DEFAULT_TASKS.watch, tell }: Tasks): Tasks {
  const [first, ...rest] = [
    ...(mirror ? sourceProblems(mirror) : []),
    ...(tell ? urlProblems(tell.url, [...LOC, 'tell', 'url']) : []),
  ]
  if (first) throw new ValidationError(first, ...rest)
  return {
    ...(mirror && { mirror: { sources: mirror.sources.map(pickSource), every_hours: hours(mirror) } }),
    ...(watch && { watch: { every_hours: hours(watch), read_bytes: watch.read_bytes ?? true } }),
    ...(tell && { tell: { url: tell.url, only_alerts: tell.only_alerts ?? false } }),
  }
}

type Source = Mirror['sources'][number]

/** Drops unknown fields. */
function pickSource({ url, filename }: Source): Source {
  return { url, filename }
}

function hours({ every_hours = DEFAULT_HOURS }: { every_hours?: number }): number {
  return every_hours
}

function sourceProblems({ sources }: Mirror): InvalidInput[] {
  const names = sources.map(({ filename }) => filename)
  return sources.flatMap(({ url, filename }, i) => {
    const loc = [...LOC, 'mirror', 'sources', i]
    const isDuplicate = names.indexOf(filename) < i
    const problem = isDuplicate ? 'is the name of another source' : filenameProblem(filename, DEFAULT_SYSTEM_PREFIX)
    const problems = urlProblems(url, [...loc, 'url'])
    return problem ? [...problems, { loc: [...loc, 'filename'], msg: problem }] : problems
  })
}

/** Checks the text only; the addresses of the host are checked when connecting. */
function urlProblems(url: string, loc: (string | number)[]): InvalidInput[] {
  try {
    parseSourceUrl(url)
    return []
  } catch (error) {
    if (error instanceof SourceError) return [{ loc, msg: error.message }]
    throw error
  }
}
