import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { Button } from '../../../../ui/button.tsx'
import { Dialog } from '../../../../ui/dialog.tsx'
import { Filename } from '../../../../ui/filename.tsx'
import type { ConflictChoice } from './plan.ts'

interface ConflictProps {
  names: readonly string[]
  /** Null uploads nothing. */
  onChoose: (choice: ConflictChoice | null) => void
}

const SHOWN = 5

/** Asks once for all files that were chosen together. */
export function ConflictDialog({ names, onChoose }: ConflictProps) {
  return (
    <Dialog title={t.conflicts.title(names.length)} onClose={() => onChoose(null)}>
      <div class="stack">
        <ul class="conflict-names">
          {names.slice(0, SHOWN).map((name) => (
            <li key={name}>
              <Filename name={name} />
            </li>
          ))}
          {names.length > SHOWN && <li>{t.conflicts.more(common.number(names.length - SHOWN))}</li>}
        </ul>
        <div class="row">
          <Button kind="primary" onClick={() => onChoose('keep-both')}>
            {t.conflicts.keepBoth}
          </Button>
          <Button onClick={() => onChoose('replace')}>{t.conflicts.replace}</Button>
          <Button onClick={() => onChoose('skip')}>{t.conflicts.skip}</Button>
        </div>
        <p class="field-hint">{t.conflicts.hint}</p>
      </div>
    </Dialog>
  )
}
