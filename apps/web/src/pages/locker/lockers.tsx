// All lockers of a wallet or key, and other ways to one: a key of this browser, or an id.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/locker'
import { navigate, urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { type BrowserKey, browserKeys } from './browser-key.ts'
import { ById, lockerIn } from './by-id.tsx'
import { LockerList } from './locker-list.tsx'
import { identity } from './session.ts'
import { UnlockCard } from './unlock.tsx'
import './locker.css'

const go = (id: string) => navigate(`/locker/${id}`)

export default function LockersPage() {
  useEffect(() => {
    document.title = `${t.title} – ${frame.name}`
    // From a receipt: `/locker#rcpt_…`.
    void lockerIn(location.hash).then((id) => {
      if (id !== null) {
        history.replaceState(null, '', location.pathname)
        go(id)
      }
    })
  }, [])
  const by = identity.value
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
            <Button kind="quiet" onClick={() => (identity.value = null)}>
              {t.identity.lock}
            </Button>
          </p>
          <LockerList key={by.address} by={by} />
        </>
      ) : (
        <>
          <ContinueCard />
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

/** Lockers that this browser has a key for. */
function ContinueCard() {
  const keys = useSignal<BrowserKey[]>([])
  useEffect(() => {
    void browserKeys().then((found) => {
      keys.value = found.filter(({ lockers }) => lockers.length > 0)
    })
  }, [])
  if (keys.value.length === 0) return null
  return (
    <Card title={t.continue.title}>
      <div class="stack">
        {keys.value.map(({ owner, lockers, expiresAt }) => (
          <div key={owner} class="stack">
            <p class="soft">
              {t.continue.text(owner)} {expiresAt === null ? t.continue.whileOpen : t.continue.until(t.day(expiresAt))}
            </p>
            <ul class="row">
              {lockers.map((id) => (
                <li key={id}>
                  <a class="button" href={urlOf(`/locker/${id}`)}>
                    {t.continue.open(id)}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </Card>
  )
}
