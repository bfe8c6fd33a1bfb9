import { texts as t } from '#texts/share'
import { Empty, ErrorState } from '../../ui/states.tsx'
import type { ShareProblem } from './share-source.ts'

/** The problems that may pass. */
const PASSING: readonly ShareProblem[] = ['bytes', 'offline', 'other']

export function ShareProblemState({ problem, retry }: { problem: ShareProblem; retry: () => void }) {
  const { title, text } = t.problems[problem]
  if (!PASSING.includes(problem)) return <Empty title={title} text={text} />
  return <ErrorState title={title} text={text} retry={retry} />
}
