import { useSignal } from '@preact/signals'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { texts as t } from '#texts/files'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/text-field.tsx'

interface NewFolderProps {
  /** The current folder. */
  folder: string
  onFolder: (folder: string) => void
  onClose: () => void
}

/** A folder exists as long as it contains a file, so a new one is only shown. */
export function NewFolderDialog({ folder, onFolder, onClose }: NewFolderProps) {
  const name = useSignal('')
  const problem = useSignal<string | null>(null)
  const open = (event: Event) => {
    event.preventDefault()
    const path = folder + name.value.trim().replace(/\/+$/, '')
    const wrong = filenameProblem(path, DEFAULT_SYSTEM_PREFIX)
    problem.value = wrong && t.rename.wrong(wrong)
    if (!wrong) onFolder(`${path}/`)
  }
  return (
    <Dialog title={t.folder.title} onClose={onClose}>
      <form class="stack" onSubmit={open}>
        <TextField label={t.folder.name} hint={t.folder.hint} text={name} problem={problem} />
        <div class="row">
          <Button kind="primary" type="submit" disabled={name.value.trim() === ''}>
            {t.folder.create}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
