// Shows whether the gateway reports the file as proven. The verify page checks it independently.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/view'
import { urlOf } from '../../address.ts'
import { getJson, RequestFailed } from '../../gateway.ts'
import { Card } from '../../ui/card.tsx'
import { Status } from '../../ui/status.tsx'
import { type Answer, proofStatus } from './proof-status.ts'
import type { OpenedFile } from './source.ts'

const t = texts.proof

/** The prefix of a rotated public link, which is not a receipt id. */
const HANDLE = 'link_'

interface ProofProps {
  id: string
  file: OpenedFile
  /** The hash of the received bytes, once all are read. */
  hash: Signal<string | null>
}

export function Proof({ id, file, hash }: ProofProps) {
  const hasReceipt = !id.startsWith(HANDLE)
  const answer = useSignal<Answer | null>(hasReceipt ? null : 'hidden')
  useEffect(() => {
    if (!hasReceipt) return
    const controller = new AbortController()
    askGateway(id, file, controller.signal).then(
      (answered) => {
        answer.value = answered
      },
      () => {},
    )
    return () => controller.abort()
  }, [])
  const proof = answer.value && proofStatus(answer.value, file, hash.value)
  return (
    <Card title={t.title} aside={proof && <Status tone={proof.tone}>{proof.title}</Status>}>
      <div class="stack" aria-live="polite">
        <p>{proof?.text ?? t.loading}</p>
        {hasReceipt && (
          <div>
            <p class="field-hint">{t.says}</p>
            <a href={urlOf(`/verify/${encodeURIComponent(id)}`)}>{t.verify}</a>
          </div>
        )}
      </div>
    </Card>
  )
}

async function askGateway(id: string, file: OpenedFile, signal: AbortSignal): Promise<Answer> {
  const query = new URLSearchParams({ receipt_id: id, filename: file.filename })
  try {
    return { proof: await getJson<unknown>(`/v1/storage/merkle-proof?${query}`, signal) }
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    return error.status === 404 ? 'none' : 'failed'
  }
}
