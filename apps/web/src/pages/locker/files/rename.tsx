import { useSignal } from '@preact/signals'
import type { FileEntry } from '@svc/api/file-entries'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { isGatewayError } from '@svc/sdk/errors'
import { texts as t } from '#texts/files'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Filename } from '../../../ui/filename.tsx'
import { type Problem, ProblemNote } from '../../../ui/problems.tsx'
import type { LockerSession } from '../session.ts'
import { explainFileError } from './problems.ts'

interface RenameProps {
  session: LockerSession
  file: FileEntry
  /** Cancels pending deletions of both names. */
  onRename: (filenames: readonly string[]) => Promise<void>
  onRenamed: (filename: string) => void
  onClose: () => void
}

export function RenameDialog({ session: { client, locker }, file, onRename, onRenamed, onClose }: RenameProps) {
  const name = useSignal(file.filename)
  const problem = useSignal<Problem | null>(null)
  const isTaken = useSignal(false)
  const isBusy = useSignal(false)
  const wrong = filenameProblem(name.value, DEFAULT_SYSTEM_PREFIX)
  const isSame = name.value === file.filename
  const rename = async (overwrite: boolean) => {
    if (wrong || isSame || isBusy.value) return
    isBusy.value = true
    problem.value = null
    const { filename, content_hash } = file
    try {
      const one = { filename, newFilename: name.value, ...(content_hash && { expectedHash: content_hash }) }
      await onRename([filename, name.value])
      await client.rename(locker, [one], { overwrite })
      onRenamed(name.value)
    } catch (error) {
      // The same code means that the file itself has changed if the error names its old name.
      isTaken.value = isGatewayError(error, 'PRECONDITION_FAILED') && error.details.filename === name.value
      if (!isTaken.value) problem.value = explainFileError(error)
    }
    isBusy.value = false
  }
  return (
    <Dialog title={t.rename.title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void rename(false)
        }}
      >
        <p class="dialog-name">
          <Filename name={file.filename} />
        </p>
        <Field label={t.rename.name} hint={t.rename.hint} error={wrong && t.rename.wrong(wrong)}>
          {(control) => (
            <input
              {...control}
              type="text"
              dir="auto"
              spellcheck={false}
              value={name.value}
              onInput={(event) => {
                name.value = event.currentTarget.value
                isTaken.value = false
              }}
            />
          )}
        </Field>
        {problem.value && <ProblemNote problem={problem.value} />}
        {isTaken.value ? (
          <div class="note note-bad" role="alert">
            <p>{t.rename.taken}</p>
            <div class="row">
              <Button busy={isBusy.value} onClick={() => void rename(true)}>
                {t.rename.replace}
              </Button>
            </div>
          </div>
        ) : (
          <div class="row">
            <Button kind="primary" type="submit" busy={isBusy.value} disabled={Boolean(wrong) || isSame}>
              {t.rename.rename}
            </Button>
          </div>
        )}
      </form>
    </Dialog>
  )
}
