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
  add(taken: readonly TakenFunction[]): void
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
              missed: outermost(ranges.filter(({ count }) => count === 0)),
            })),
        )
    },
    isNew: (taken) => taken.some((one) => remaining(one).isNew),
    add(taken) {
      for (const one of taken) never.set(one.name, remaining(one).spans)
    },
  }
}

/** Neither libraries nor the fuzzer itself. */
function isOurs(url: string): boolean {
  return url.startsWith('file:') && !/\/(?:node_modules|fuzz\/src)\//.test(url)
}

/** Ranges come in order, those within others right after them. */
function outermost(ranges: readonly { startOffset: number; endOffset: number }[]): Span[] {
  const spans: Span[] = []
  for (const { startOffset, endOffset } of ranges) {
    const [, end] = spans.at(-1) ?? [0, 0]
    if (endOffset > end) spans.push([Math.max(startOffset, end), endOffset])
  }
  return spans
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
