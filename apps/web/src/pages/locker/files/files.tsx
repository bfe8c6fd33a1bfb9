import { useSignal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as frame } from '#texts/frame'
import { ErrorState, Loading } from '../../../ui/states.tsx'
import type { LockerSession } from '../session.ts'

interface FilesProps {
  session: LockerSession
}

/** The files of a locker. The code for them is loaded once the locker is open. */
export function Files({ session }: FilesProps) {
  const browser = useSignal<{ Browser: FunctionComponent<FilesProps> } | 'failed' | null>(null)
  useEffect(() => {
    import('./browser.tsx').then(
      ({ FileBrowser }) => {
        browser.value = { Browser: FileBrowser }
      },
      () => {
        browser.value = 'failed'
      },
    )
  }, [])
  if (browser.value === null) return <Loading label={common.states.loading} />
  if (browser.value === 'failed')
    return (
      <ErrorState
        title={frame.updated}
        text={frame.updatedText}
        retry={() => location.reload()}
        retryLabel={frame.reload}
      />
    )
  const { Browser } = browser.value
  return <Browser key={session.locker.locker_id} session={session} />
}
