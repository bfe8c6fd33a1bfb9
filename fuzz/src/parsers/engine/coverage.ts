// Which code a case has reached: block coverage of V8, of the parsers only. Modules have to be loaded after it is
// started, because blocks are counted in code that is compiled from then on.

import { Session } from 'node:inspector/promises'

interface TakenFunction {
  /** Script and place. */
  name: string
  /** What was not reached, as [start, end) in order. */
  missed: Span[]
}

type Span = readonly [start: number, end: number]

export interface Coverage {
  /** What was reached since the last call. */
  take(): Promise<TakenFunction[]>
  /** Whether it has something that was never reached before. */
  isNew(taken: readonly TakenFunction[]): boolean
  /** Remembers it; returns whether it was new. */
  add(taken: readonly TakenFunction[]): boolean
}

export async function startCoverage(): Promise<Coverage> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  /** What was never reached, of each function that was. */
  const never = new Map<string, Span[]>()

  function remaining({ name, missed }: TakenFunction): { spans: Span[]; isNew: boolean } {
    const known = never.get(name)
    if (!known) return { spans: missed, isNew: true }
    const spans = intersection(known, missed)
    return { spans, isNew: lengthOf(spans) < lengthOf(known) }
  }

  return {
    async take() {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      return result
        .filter(({ url }) => isOurs(url))
        .flatMap(({ url, functions }) =>
          functions
            .filter(({ ranges }) => ranges[0]!.count > 0)
            .map(({ ranges }) => ({
              name: `${url} ${ranges[0]!.startOffset}`,
              missed: ranges
                .filter(({ count }) => count === 0)
                .map(({ startOffset, endOffset }): Span => [startOffset, endOffset])
                .sort(([a], [b]) => a - b),
            })),
        )
    },
    isNew: (taken) => taken.some((one) => remaining(one).isNew),
    add(taken) {
      let isNew = false
      for (const one of taken) {
        const found = remaining(one)
        if (!found.isNew) continue
        isNew = true
        never.set(one.name, found.spans)
      }
      return isNew
    },
  }
}

/** Neither libraries nor the fuzzer itself. */
function isOurs(url: string): boolean {
  return url.startsWith('file:') && !/\/(?:node_modules|fuzz\/src)\//.test(url)
}

function intersection(left: readonly Span[], right: readonly Span[]): Span[] {
  return left.flatMap(([start, end]) =>
    right.flatMap(([from, to]): Span[] => {
      const [first, last] = [Math.max(start, from), Math.min(end, to)]
      return first < last ? [[first, last]] : []
    }),
  )
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, [start, end]) => sum + end - start, 0)
}
