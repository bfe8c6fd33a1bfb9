// Size, type and hash; the hash is compared with the bytes that this page received.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/view'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Progress } from '../../ui/progress.tsx'
import { Status } from '../../ui/status.tsx'
import { hashOf, type OpenedFile } from './source.ts'

const t = texts.about

export function About({ file, hash }: { file: OpenedFile; hash: Signal<string | null> }) {
  return (
    <Card title={t.title}>
      <dl class="facts">
        <div>
          <dt>{t.size}</dt>
          <dd title={`${common.number(file.size)} bytes`}>{common.bytes(file.size)}</dd>
        </div>
        <div>
          <dt>{t.type}</dt>
          <dd>
            <code>{file.type || t.noType}</code> {file.type && <span class="field-hint">{t.typeNote}</span>}
          </dd>
        </div>
        {file.modifiedAt && (
          <div>
            <dt>{t.stored}</dt>
            <dd>{texts.moment(file.modifiedAt)}</dd>
          </div>
        )}
        <div>
          <dt>{t.hash}</dt>
          <dd>
            <Hash file={file} hash={hash} />
          </dd>
        </div>
      </dl>
    </Card>
  )
}

function Hash({ file, hash }: { file: OpenedFile; hash: Signal<string | null> }) {
  const recorded = file.hash
  const shown = recorded ?? hash.value
  return (
    <div class="stack view-hash" aria-live="polite">
      {shown && (
        <div>
          <code>{shown}</code> <CopyButton text={shown} what={t.hashLabel} />
        </div>
      )}
      {hash.value === null ? (
        <Compare file={file} hash={hash} />
      ) : recorded === null ? (
        <p class="field-hint">
          {t.computed}. {t.noHash}
        </p>
      ) : hash.value === recorded ? (
        <div>
          <Status tone="good">{t.same}</Status>
          <p class="field-hint">{t.sameText}</p>
        </div>
      ) : (
        <div role="alert">
          <Status tone="bad">{t.differs}</Status>
          <p>{t.differsText(hash.value)}</p>
        </div>
      )}
    </div>
  )
}

/** Compares the hash of a partly shown file by reading all of it. */
function Compare({ file, hash }: { file: OpenedFile; hash: Signal<string | null> }) {
  const done = useSignal<number | null>(null)
  const hasFailed = useSignal(false)
  const running = useSignal(new AbortController())
  useEffect(() => () => running.value.abort(), [])
  const compare = async () => {
    done.value = file.head.length
    hasFailed.value = false
    const { signal } = running.value
    const onProgress = (bytes: number) => {
      done.value = bytes
    }
    try {
      hash.value = await hashOf(file, { signal, onProgress })
    } catch {
      if (!signal.aborted) hasFailed.value = true
    }
    done.value = null
  }
  if (done.value !== null) return <Progress label={t.checkLabel} done={done.value} of={file.size} />
  return (
    <>
      <p class="field-hint">{file.hash === null ? t.noHash : t.unchecked}</p>
      {hasFailed.value && <p role="alert">{t.failed}</p>}
      <Button onClick={() => void compare()}>{t.check(file.size)}</Button>
    </>
  )
}
