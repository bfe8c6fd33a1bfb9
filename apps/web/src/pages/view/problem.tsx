import { common } from '#texts/common'
import { texts as t } from '#texts/view'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import type { ProblemKind, ReadFailed } from './source.ts'

/** Problems that the owner can fix; for the others, retrying helps. */
const FOR_OWNERS: readonly ProblemKind[] = ['link', 'file', 'bytes', 'frozen', 'takenDown']

/** The reason why a file is not shown, and the next step. */
export function Problem({ error, retry }: { error: ReadFailed; retry: () => void }) {
  const { title, text } = t.problems[error.kind ?? 'other']
  return (
    <div class="state" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {FOR_OWNERS.includes(error.kind) ? (
        <a href={urlOf('/locker')}>{t.owner}</a>
      ) : (
        <Button onClick={retry}>{common.states.retry}</Button>
      )}
    </div>
  )
}
