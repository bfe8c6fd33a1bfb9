// Whether the gateway says that the file is proven. The verify page does not take its word for it.

import { useSignal } from '@preact/signals'
import type { InclusionProof } from '@svc/api/proofs'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/view'
import { urlOf } from '../../address.ts'
import { getJson, RequestFailed } from '../../gateway.ts'
import { Card } from '../../ui/card.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import type { OpenedFile } from './source.ts'

const t = texts.proof

interface Saying {
  tone: Tone
  title: string
  text: string
}

/** The link of an owner who has changed it begins so, and is no receipt id. */
const HANDLE = 'link_'

export function Proof({ id, file }: { id: string; file: OpenedFile }) {
  const hasReceipt = !id.startsWith(HANDLE)
  const saying = useSignal<Saying | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    const ask = hasReceipt ? askGateway(id, file, controller.signal) : HIDDEN
    Promise.resolve(ask).then(
      (answer) => {
        saying.value = answer
      },
      () => {},
    )
    return () => controller.abort()
  }, [])
  return (
    <Card title={t.title} aside={saying.value && <Status tone={saying.value.tone}>{saying.value.title}</Status>}>
      <div class="stack" aria-live="polite">
        <p>{saying.value?.text ?? t.loading}</p>
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

const HIDDEN: Saying = { tone: 'neutral', title: t.hidden, text: t.hiddenText }

async function askGateway(id: string, file: OpenedFile, signal: AbortSignal): Promise<Saying> {
  const query = new URLSearchParams({ receipt_id: id, filename: file.filename })
  try {
    return sayingOf(await getJson<InclusionProof>(`/v1/storage/merkle-proof?${query}`, signal), file)
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    if (error.status === 404) return { tone: 'neutral', title: t.none, text: t.noneText }
    return { tone: 'neutral', title: t.failed, text: t.failedText }
  }
}

function sayingOf({ file_entry, anchor }: InclusionProof, { hash, size }: OpenedFile): Saying {
  const isSame = file_entry.size_bytes === size && (hash === null || file_entry.content_hash.endsWith(hash))
  if (!isSame) return { tone: 'warn', title: t.other, text: t.otherText }
  if (!anchor) return { tone: 'info', title: t.signed, text: t.signedText }
  const at = anchor.block_time ? t.provenAt(texts.moment(new Date(anchor.block_time * 1000))) : t.published
  return { tone: 'good', title: t.proven, text: at }
}
