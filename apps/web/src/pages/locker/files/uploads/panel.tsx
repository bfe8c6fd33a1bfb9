// The upload panel: each file, and the total progress.

import { useSignal } from '@preact/signals'
import { NameTaken } from '@svc/sdk/errors'
import { useId } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/files'
import { Button } from '../../../../ui/button.tsx'
import { Filename, shortFilename } from '../../../../ui/filename.tsx'
import { Icon } from '../../../../ui/icons.tsx'
import { Progress } from '../../../../ui/progress.tsx'
import { explainFileError } from '../problems.ts'
import type { Uploads } from './queue.ts'
import type { Upload } from './upload-list.ts'

/** The number of rows; further uploads are only counted. */
const SHOWN = 50

/** The open list would cover the files there. */
const PHONE = '(max-width: 720px)'

interface PanelProps {
  uploads: Uploads
  /** Called for an upload whose name another file got. */
  onNameTaken: (upload: Upload) => void
}

export function UploadPanel({ uploads, onNameTaken }: PanelProps) {
  void uploads.version.value
  /** Null until the user folds or unfolds the list. */
  const choice = useSignal<boolean | null>(null)
  const id = useId()
  const totals = uploads.totals()
  if (totals.files === 0) return null
  const { files, doneFiles, failedFiles, bytes, doneBytes, isActive, isPaused } = totals
  const isOpen = choice.value ?? (doneFiles < files && !matchMedia(PHONE).matches)
  return (
    <section class="card uploads" aria-label={t.uploads.title}>
      <div class="card-head">
        <h2>{t.uploads.title}</h2>
        <div class="row">
          <button
            type="button"
            class="button button-quiet"
            aria-expanded={isOpen}
            aria-controls={id}
            aria-label={t.uploads.fold(isOpen)}
            title={t.uploads.fold(isOpen)}
            onClick={() => {
              choice.value = !isOpen
            }}
          >
            <Icon name={isOpen ? 'less' : 'more'} />
          </button>
          {isActive && <Button onClick={uploads.pauseAll}>{t.uploads.pauseAll}</Button>}
          {isPaused && (
            <Button kind="primary" onClick={uploads.continueAll}>
              {t.uploads.continueAll}
            </Button>
          )}
          {doneFiles + failedFiles < files && <Button onClick={uploads.cancelAll}>{t.uploads.cancelAll}</Button>}
          {doneFiles > 0 && !isActive && <Button onClick={uploads.clear}>{t.uploads.clear}</Button>}
        </div>
      </div>
      <Progress
        label={t.uploads.total(doneFiles, files, common.bytes(doneBytes), common.bytes(bytes))}
        done={doneBytes}
        of={bytes}
      />
      <p class="quiet-text" role="status">
        {isActive ? '' : t.uploads.summary(doneFiles, failedFiles)}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <ul id={id} class="upload-rows" tabIndex={0} aria-label={t.uploads.list} hidden={!isOpen}>
        {uploads.first(SHOWN).map((upload) => (
          <UploadRow key={upload.filename} upload={upload} uploads={uploads} onNameTaken={onNameTaken} />
        ))}
      </ul>
      {files > SHOWN && <p class="upload-more">{t.uploads.more(files - SHOWN)}</p>}
    </section>
  )
}

function UploadRow({ upload, uploads, onNameTaken }: PanelProps & { upload: Upload }) {
  const { filename, file, state, doneBytes, resumedBytes, error } = upload
  const name = shortFilename(filename)
  const problem = state === 'failed' ? explainFileError(error) : null
  const isTaken = error instanceof NameTaken
  const isMoving = state === 'sending' || state === 'checking'
  return (
    <li class={`upload upload-${state}`}>
      <div class="upload-name">
        <Filename name={filename} />
        <span class="upload-state">
          {t.uploads.states[state]} · {common.bytes(file.size)}
          {resumedBytes > 0 && isMoving && ` · ${t.uploads.resumed(common.bytes(resumedBytes))}`}
        </span>
        {problem && (
          <span class="upload-problem">
            {problem.title}. {problem.text}
          </span>
        )}
        {isMoving && file.size > 0 && (
          <progress value={doneBytes} max={file.size} aria-label={t.uploads.progress(name)} />
        )}
      </div>
      <div class="row">
        {(isMoving || state === 'waiting') && (
          <Button kind="quiet" label={t.uploads.pauseLabel(name)} onClick={() => uploads.pause(upload)}>
            {t.uploads.pause}
          </Button>
        )}
        {state === 'paused' && (
          <Button kind="quiet" label={t.uploads.continueLabel(name)} onClick={() => uploads.proceed(upload)}>
            {t.uploads.continue}
          </Button>
        )}
        {state === 'failed' && isTaken && (
          <Button kind="quiet" label={t.uploads.decideLabel(name)} onClick={() => onNameTaken(upload)}>
            {t.uploads.decide}
          </Button>
        )}
        {state === 'failed' && !isTaken && (
          <Button kind="quiet" label={t.uploads.retryLabel(name)} onClick={() => uploads.proceed(upload)}>
            {common.states.retry}
          </Button>
        )}
        {state !== 'done' && (
          <Button kind="quiet" label={t.uploads.cancelLabel(name)} onClick={() => uploads.cancel(upload)}>
            {t.uploads.cancel}
          </Button>
        )}
      </div>
    </li>
  )
}
