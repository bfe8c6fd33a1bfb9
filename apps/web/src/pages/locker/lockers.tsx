// All lockers of a wallet or key, and other ways to open one: a key of this browser, or an id.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/locker'
import { navigate } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { type BrowserKey, browserKeys } from './browser-key.ts'
import { ById, lockerIn } from './by-id.tsx'
import { ContinueCard } from './continue-card.tsx'
import { LockerList } from './locker-list.tsx'
import { createIdentity, identity, lock } from './session.ts'
import { UnlockCard } from './unlock.tsx'
import './locker.css'

const go = (id: string) => navigate(`/locker/${id}`)

export default function LockersPage() {
  useEffect(() => {
    document.title = `${t.title} – ${frame.name}`
    // From a receipt: `/locker#rcpt_…`, or `/locker#open=rcpt_…` after a payment.
    void lockerIn(location.hash, location.hash.startsWith('#open=')).then((id) => {
      if (id !== null) {
        history.replaceState(null, '', location.pathname)
        go(id)
      }
    })
  }, [])
  const keys = useSignal<BrowserKey[]>([])
  useEffect(() => {
    void browserKeys().then((found) => {
      keys.value = found.filter(({ lockers }) => lockers.length > 0)
    })
  }, [])
  const by = identity.value
  const ownerBehind = (address: string) => keys.value.find((key) => key.address === address)?.owner ?? address
  return (
    <div class="wide locker">
      <div class="locker-title">
        <h1>{t.title}</h1>
      </div>
      <p class="soft">{t.lead}</p>
      {by ? (
        <>
          <p class="signed-in">
            <span>
              {t.identity.as} <code>{by.address}</code>{' '}
              {by.kind === 'wallet' ? t.identity.wallet(by.name ?? '') : t.identity[by.kind]}
            </span>
            <Button kind="quiet" onClick={lock}>
              {t.identity.lock}
            </Button>
          </p>
          <LockerList key={by.address} by={by} owner={ownerBehind(by.address)} />
        </>
      ) : (
        <>
          {keys.value.length > 0 && (
            <ContinueCard
              keys={keys.value}
              onContinue={async ({ signer }) => {
                identity.value = await createIdentity({ kind: 'browser', name: null }, signer)
              }}
            />
          )}
          <UnlockCard
            hint={t.unlock.listCost}
            onIdentity={(unlocked) => {
              identity.value = unlocked
            }}
          />
        </>
      )}
      <Card title={t.byId.title}>
        <ById onLocker={go} />
      </Card>
    </div>
  )
}
