// A shared file or folder, for anyone who has its address. Files are untrusted and shown as in the viewer.

import { useSignal } from '@preact/signals'
import type { SharedContent } from '@svc/api/shares'
import { useEffect } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/share'
import { plainFilename } from '../../ui/filename.tsx'
import { Loading } from '../../ui/states.tsx'
import { ShareProblemState } from './share-problem.tsx'
import { problemOf, readShare, type ShareProblem } from './share-source.ts'
import { SharedFile } from './shared-file.tsx'
import { SharedFolder } from './shared-folder.tsx'
import '../view/view.css'
import './share.css'

export default function Share({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.share_id ?? ''
  return <OneShare key={id} id={id} />
}

type Opening =
  | { state: 'loading' }
  | { state: 'ready'; content: SharedContent }
  | { state: 'failed'; problem: ShareProblem }

function OneShare({ id }: { id: string }) {
  const opening = useSignal<Opening>({ state: 'loading' })
  const open = () => {
    opening.value = { state: 'loading' }
    readShare(id).then(
      (content) => {
        opening.value = { state: 'ready', content }
      },
      (error: unknown) => {
        opening.value = { state: 'failed', problem: problemOf(error) }
      },
    )
  }
  useEffect(open, [])
  const { value } = opening
  useEffect(() => {
    const name = value.state === 'ready' ? plainFilename(value.content.name) : null
    document.title = `${name === null ? t.heading : t.title(name)} · ${frame.name}`
  }, [value])
  return (
    <div class="wide view share">
      {value.state !== 'ready' && <h1>{t.heading}</h1>}
      {value.state === 'loading' && <Loading label={t.loading} />}
      {value.state === 'failed' && <ShareProblemState problem={value.problem} retry={open} />}
      {value.state === 'ready' &&
        (value.content.kind === 'folder' ? (
          <SharedFolder id={id} first={value.content} />
        ) : (
          <SharedFile
            id={id}
            file={{ ...value.content, filename: value.content.name }}
            until={value.content.expires_at}
          />
        ))}
    </div>
  )
}
