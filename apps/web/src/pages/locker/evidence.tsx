// Downloads of evidence: the complete bundle, or a redacted one that opens no file.

import { useSignal } from '@preact/signals'
import { texts } from '#texts/locker'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { saveFile } from '../../ui/save-file.ts'
import type { LockerSession } from './session.ts'

const t = texts.proof
const MAX_NAMES = 100

export function Evidence({ session }: { session: LockerSession }) {
  const { locker_id, receipt_id } = session.locker
  return (
    <Card title={t.downloads}>
      <div class="downloads">
        <section class="stack" aria-label={t.bundle}>
          <h3>{t.bundle}</h3>
          <p class="soft">{t.bundleText}</p>
          <div class="row">
            <a
              class="button"
              href={urlOf(`/v1/storage/evidence-bundle?receipt_id=${receipt_id}`)}
              download={`evidence-${locker_id}.json`}
            >
              {t.saveBundle}
            </a>
          </div>
        </section>
        <Redacted session={session} />
      </div>
    </Card>
  )
}

function Redacted({ session }: { session: LockerSession }) {
  const names = useSignal('')
  const { isBusy, problem, run } = useAction()
  const chosen = names.value.split('\n').filter((name) => name !== '')
  const isTooMany = chosen.length > MAX_NAMES
  const save = (event: Event) => {
    event.preventDefault()
    if (isTooMany) return
    void run(async () => {
      const pieces: BlobPart[] = []
      const target = new WritableStream<Uint8Array>({ write: (chunk) => void pieces.push(chunk as BlobPart) })
      const { locker, client } = session
      await client.redactedBundle(locker.receipt_id, target, chosen.length > 0 ? { filenames: chosen } : {})
      saveFile('redacted-evidence.json', new Blob(pieces, { type: 'application/json' }))
    })
  }
  return (
    <section aria-label={t.redacted}>
      <form class="stack" onSubmit={save}>
        <h3>{t.redacted}</h3>
        <p class="soft">{t.redactedText}</p>
        <Field label={t.names} hint={t.namesHint} error={isTooMany ? t.tooMany : null}>
          {(control) => (
            <textarea
              {...control}
              rows={2}
              spellcheck={false}
              value={names.value}
              onInput={(event) => {
                names.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
        <div class="row">
          <Button type="submit" busy={isBusy}>
            {t.save}
          </Button>
        </div>
        {problem && <ProblemNote problem={problem} />}
      </form>
    </section>
  )
}
