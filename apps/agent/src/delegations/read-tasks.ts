// Validates the tasks that an owner requests and fills in defaults, so that the stored tasks are complete.

import { DEFAULT_HOURS, DEFAULT_TASKS, type Mirror, type Tasks } from '@svc/api/agent/tasks'
import { inParallel } from '@svc/concurrency/parallel'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { parseSourceUrl, SourceError, targetProblem } from '@svc/service/outgoing/public-request'
import { type InvalidInput, ValidationError } from '@svc/service/service-error'
import type { Context } from '../context.ts'

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

/** A caller is waiting. A host that cannot be resolved in this time is checked when it is contacted. */
const LOOKUP_TIMEOUT_MS = 5_000
const MAX_LOOKUPS = 8

/** Throws for hosts that are not public: the agent will never contact them. */
export async function requirePublicTargets({ resolve }: Pick<Context, 'resolve'>, tasks: Tasks): Promise<void> {
  const signal = AbortSignal.timeout(LOOKUP_TIMEOUT_MS)
  const sources = tasks.mirror?.sources ?? []
  const targets = [
    ...sources.map(({ url }, i) => ({ url, loc: [...LOC, 'mirror', 'sources', i, 'url'] })),
    ...(tasks.tell ? [{ url: tasks.tell.url, loc: [...LOC, 'tell', 'url'] }] : []),
  ]
  const problems = targets.map((): InvalidInput[] => [])
  await inParallel(targets, MAX_LOOKUPS, async ({ url, loc }, i) => {
    const msg = await targetProblem(url, { resolve }, signal)
    if (msg !== null) problems[i] = [{ loc, msg }]
  })
  const [first, ...rest] = problems.flat()
  if (first) throw new ValidationError(first, ...rest)
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

/** Checks the text only; `requirePublicTargets` resolves the host. */
function urlProblems(url: string, loc: (string | number)[]): InvalidInput[] {
  try {
    parseSourceUrl(url)
    return []
  } catch (error) {
    if (error instanceof SourceError) return [{ loc, msg: error.message }]
    throw error
  }
}
