import { useSignal } from '@preact/signals'
import { texts as t } from '#texts/sharing'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icons.tsx'
import type { LockerSession } from '../session.ts'
import type { Selection } from './selection.ts'
import { ShareDialog } from './share.tsx'

interface ShareFolderProps {
  session: LockerSession
  /** The current folder; empty for the top folder, which only the public link opens as a whole. */
  folder: string
  selection: Selection
}

/** Shares the selected folder, or else the current one. */
export function ShareFolder({ session, folder, selection }: ShareFolderProps) {
  const sharing = useSignal<string | null>(null)
  const [only, ...others] = selection.entries.value.values()
  const path = only?.kind === 'folder' && others.length === 0 ? only.name : folder
  if (path === '' && sharing.value === null) return null
  return (
    <div class="row">
      <Button onClick={() => (sharing.value = path)}>
        <Icon name="globe" />
        {t.share.folder}
      </Button>
      {sharing.value !== null && (
        <ShareDialog
          session={session}
          path={sharing.value}
          onClose={() => {
            sharing.value = null
          }}
        />
      )}
    </div>
  )
}
