import { useSignal } from '@preact/signals'
import type { FileEntry } from '@svc/api/file-entries'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { isGatewayError } from '@svc/sdk/errors'
import { texts as t } from '#texts/files'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { type Problem, ProblemNote } from '../../../ui/problems.tsx'
import type { LockerSession } from '../session.ts'
import { filesOf } from './deletions.ts'
import { explainFileError } from './problems.ts'
import type { Entry } from './sorting.ts'

/** The gateway moves all of them or none. */
const MOST = 1_000

interface MoveProps {
  session: LockerSession
  entries: readonly Entry[]
  /** The current folder. */
  folder: string
  /** Cancels pending deletions of these names. */
  onMove: (filenames: readonly string[]) => Promise<void>
  onMoved: (files: number) => void
  onClose: () => void
}

export function MoveDialog({ session: { client, locker }, entries, folder, onMove, onMoved, onClose }: MoveProps) {
  const target = useSignal(folder)
  const problem = useSignal<Problem | string | null>(null)
  const isBusy = useSignal(false)
  const to = target.value.replace(/\/*$/, (end) => (target.value === end ? '' : '/'))
  const wrong = entries
    .map(({ name }) => filenameProblem(moved(name, to).replace(/\/$/, ''), DEFAULT_SYSTEM_PREFIX))
    .find(Boolean)
  const isSame = entries.every(({ name }) => moved(name, to) === name)

  const move = async () => {
    if (wrong || isSame || isBusy.value) return
    isBusy.value = true
    problem.value = null
    try {
      const files = await filesOf(client, locker, entries)
      if (files.length > MOST) problem.value = t.move.tooMany(MOST)
      else {
        const renames = files.map((file) => renamed(file, entries, to)).filter(isOther)
        await onMove(renames.flatMap(({ filename, newFilename }) => [filename, newFilename]))
        await client.rename(locker, renames)
        onMoved(renames.length)
      }
    } catch (error) {
      const isTaken = isGatewayError(error, 'PRECONDITION_FAILED')
      problem.value = isTaken ? t.move.taken : explainFileError(error)
    }
    isBusy.value = false
  }
  return (
    <Dialog title={t.move.title(entries.length)} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void move()
        }}
      >
        <Field label={t.move.to} hint={t.move.hint} error={wrong ? t.rename.wrong(wrong) : null}>
          {(control) => (
            <input
              {...control}
              type="text"
              dir="auto"
              spellcheck={false}
              autocomplete="off"
              value={target.value}
              onInput={(event) => {
                target.value = event.currentTarget.value
                problem.value = null
              }}
            />
          )}
        </Field>
        {typeof problem.value === 'string' && (
          <p class="field-error" role="alert">
            {problem.value}
          </p>
        )}
        {problem.value && typeof problem.value !== 'string' && <ProblemNote problem={problem.value} />}
        <div class="row">
          <Button kind="primary" type="submit" busy={isBusy.value} disabled={Boolean(wrong) || isSame}>
            {t.move.move}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The name of an entry in another folder. The name of a folder keeps its final slash. */
function moved(name: string, to: string): string {
  const end = name.endsWith('/') ? name.length - 1 : name.length
  return to + name.slice(name.lastIndexOf('/', end - 1) + 1, end) + name.slice(end)
}

function renamed({ filename, content_hash }: FileEntry, entries: readonly Entry[], to: string) {
  const folder = entries.find(({ kind, name }) => kind === 'folder' && filename.startsWith(name))
  const newFilename = folder ? moved(folder.name, to) + filename.slice(folder.name.length) : moved(filename, to)
  return { filename, newFilename, ...(content_hash && { expectedHash: content_hash }) }
}

function isOther({ filename, newFilename }: { filename: string; newFilename: string }): boolean {
  return filename !== newFilename
}
