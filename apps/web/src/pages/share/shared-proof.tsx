// The proof of a shared file: whether the newest statement includes it, the proof to save, and the check in this browser.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/share'
import { fetchAnswer } from '../../gateway.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Status } from '../../ui/status.tsx'
import { Lazy } from '../view/lazy.tsx'
import type { OpenedFile } from '../view/source.ts'
import { lastPart, sharedProofPath } from './share-source.ts'

const t = texts.proof

const loadCheck = () => import('./proof-check.tsx')

interface SharedProofProps {
  id: string
  attested: boolean | null
  file: OpenedFile
  /** The hash of the received bytes, once all are read. */
  hash: Signal<string | null>
}

export function SharedProof({ id, attested, file, hash }: SharedProofProps) {
  const checks = useSignal(0)
  const isBusy = useSignal(false)
  const isRefused = useSignal<boolean>(false)
  const path = sharedProofPath(id, file.filename)
  // Another version of the file needs another check.
  useEffect(() => {
    checks.value = 0
  }, [file])
  const save = async () => {
    isBusy.value = true
    isRefused.value = false
    try {
      const bundle = await (await fetchAnswer(path, {})).blob()
      saveFile(t.filename(lastPart(file.filename)), bundle)
    } catch {
      isRefused.value = true
    }
    isBusy.value = false
  }
  const state = attested === null ? 'unknown' : attested ? 'included' : 'none'
  return (
    <Card title={t.title} aside={<Status tone={state === 'included' ? 'info' : 'neutral'}>{t[state]}</Status>}>
      <div class="stack">
        <p>{t[`${state}Text`]}</p>
        {state !== 'none' && (
          <>
            <div class="row">
              <Button kind="primary" onClick={() => checks.value++}>
                {checks.value === 0 ? t.check : t.again}
              </Button>
              <Button busy={isBusy.value} onClick={() => void save()}>
                {t.save}
              </Button>
            </div>
            {isRefused.value && (
              <p class="note note-bad" role="alert">
                {texts.check.noProof}. {t.noneText}
              </p>
            )}
            <p class="field-hint">
              {hash.value === null && `${t.reads(file.size)} `}
              {t.saveText}
            </p>
            {checks.value > 0 && <Lazy key={checks.value} load={loadCheck} props={{ path, file, hash }} />}
          </>
        )}
      </div>
    </Card>
  )
}
