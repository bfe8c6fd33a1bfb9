import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as others } from '#texts/other-verifiers'
import { texts as t } from '#texts/verify'
import { urlOf } from '../../address.ts'
import { index } from '../../gateway.ts'
import { receiveHandedOver } from '../../search/hand-over.ts'
import { Card } from '../../ui/card.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { toast } from '../../ui/toast.tsx'
import { trustedWorkerUrl } from '../../worker-url.ts'
import { type Checking, createChecking } from './checking.ts'
import { receiptSource, sourceOf } from './open-card.tsx'
import { OtherVerifiers } from './other-verifiers.tsx'
import { History } from './pictures/history.tsx'
import { shownStatement } from './pictures/history-chain.ts'
import { VerifyView } from './verify-view.tsx'
import type { CheckedBundle } from './worker/messages.ts'
import { createCheckWorker } from './worker/start.ts'
import workerUrl from './worker/worker.ts?worker&url'

const SITE = { urlOf }

const startWorker = () => new Worker(trustedWorkerUrl(new URL(workerUrl, import.meta.url)), { type: 'module' })

export default function Verify({ params }: { params: Readonly<Record<string, string>> }) {
  const checking = useMemo(() => createChecking(createCheckWorker(startWorker)), [])
  // Before the first paint, so that the layout does not jump.
  useLayoutEffect(() => openNamed(checking, params.receipt_id), [params.receipt_id])
  useEffect(() => {
    document.title = `${t.title} · ${frame.name}`
    // A bundle can also be dropped on the page itself.
    const onHash = () => void openHandedOver(checking)
    addEventListener('hashchange', onHash)
    return () => {
      removeEventListener('hashchange', onHash)
      checking.close()
    }
  }, [params.receipt_id])
  return (
    <VerifyView checking={checking} site={SITE} more={(bundle) => ofGateway(checking, bundle)}>
      <SavedCopy />
    </VerifyView>
  )
}

/** Only for a bundle from this gateway: the page must not reveal the owner of a dropped bundle. */
function ofGateway({ opened, pins }: Checking, { envelope, followed }: CheckedBundle) {
  const source = opened.value?.source
  if (source?.kind !== 'receipt') return []
  const { domainTag } = pins.value
  const shown = shownStatement(envelope)
  const content = (
    <History receiptId={source.receiptId} shown={shown} pinnedKeys={followed.keys} domainTag={domainTag} />
  )
  const history = { name: t.tabs.history, content }
  if (!envelope) return [history]
  const about = { receiptId: source.receiptId, sequence: envelope.body.sequence }
  const trustedKeys = followed.keys.map(({ publicKeyHex }) => publicKeyHex).filter((hex) => !followed.revoked.has(hex))
  return [history, { name: others.tab, content: <OtherVerifiers {...about} trustedKeys={trustedKeys} /> }]
}

/** Opens the source in the address: a receipt, a URL, or a file that was dropped on another page. */
function openNamed(checking: Checking, receiptId: string | undefined): void {
  const source = new URLSearchParams(location.search).get('source')
  if (receiptId !== undefined) void checking.open(receiptSource(receiptId, SITE))
  else if (source !== null) {
    const named = sourceOf(source, SITE)
    if (named) void checking.open(named)
    else toast(t.open.invalid)
  } else void openHandedOver(checking)
}

async function openHandedOver(checking: Checking): Promise<void> {
  const taken = await receiveHandedOver()
  if (taken === null) return
  if (taken.file) await checking.open({ kind: 'file', file: taken.file })
  else toast(t.open.gone)
}

function SavedCopy() {
  const { value } = index.now
  const sha256 = value.state === 'ready' ? value.value.verify_page?.sha256 : undefined
  return (
    <Card title={t.saved.title}>
      <div class="stack">
        <p>{t.saved.text}</p>
        <div class="row">
          <a class="button" href={urlOf('/verify.html')} download="verify.html">
            {t.saved.download}
          </a>
        </div>
        {value.state === 'ready' && (
          <div>
            <h3>{t.saved.hash}</h3>
            {sha256 ? <Copyable text={sha256} what={t.saved.hash} /> : <p>{t.saved.unknown}</p>}
            <p class="part-note">{t.saved.hashText}</p>
          </div>
        )}
      </div>
    </Card>
  )
}
