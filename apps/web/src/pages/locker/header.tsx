import type { LockerMetadata } from '@svc/api/lockers'
import { printable } from '@svc/verifier/untrusted'
import { useEffect, useRef } from 'preact/hooks'
import { texts as t } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icons.tsx'
import { nameOf } from '../../ui/locker-name.ts'
import { Status, type Tone } from '../../ui/status.tsx'
import { PublicLinkSwitch } from './public-link.tsx'
import type { LockerSession } from './session.ts'

const SOON_DAYS = 30
const NEARLY_FULL = 0.8

interface Contents extends Pick<LockerMetadata, 'restriction'> {
  expires_at: string | null
  total_bytes: number
  terms?: { storage_limit_bytes: number } | null | undefined
}

export function stateOf(
  { expires_at, total_bytes, terms, restriction }: Contents,
  now: number,
): [tone: Tone, words: string] {
  if (restriction) return ['bad', t.restricted[restriction.state]]
  const days = expires_at === null ? Number.POSITIVE_INFINITY : (Date.parse(expires_at) - now) / 86_400_000
  if (days <= 0) return ['bad', t.state.ended]
  if (terms && total_bytes >= NEARLY_FULL * terms.storage_limit_bytes) return ['warn', t.state.full]
  return days <= SOON_DAYS ? ['warn', t.state.endsSoon] : ['good', t.state.open]
}

export function LockerHeader({ session, onLock }: { session: LockerSession; onLock: () => void }) {
  const { facts, address, kind, role } = session
  const { value } = facts
  const title = useRef<HTMLHeadingElement>(null)
  // The control that unlocked the locker, and its focus, is gone.
  useEffect(() => title.current?.focus({ preventScroll: true }), [])
  const now = Date.now()
  const [tone, state] = stateOf(value, now)
  const { total_bytes, file_count, terms, expires_at, locker_id, restriction } = value
  return (
    <header class="locker-head">
      <div class="locker-title">
        <h1 ref={title} tabIndex={-1}>
          {nameOf(value) ?? t.unnamed}
        </h1>
        <Status tone={tone}>{state}</Status>
      </div>
      <Copyable text={locker_id} what={t.copyId} />
      {restriction && (
        <div class="note note-bad">
          <b>{t.restrictedText[restriction.state]}</b>
          {restriction.notice !== null && <p>{printable(String(restriction.notice), 400)}</p>}
        </div>
      )}
      <div class="locker-facts">
        <UsageBar used={total_bytes} bought={terms.storage_limit_bytes} />
        <p class="soft">
          {t.files(file_count)} · {t.until(expires_at, now)}
        </p>
      </div>
      <PublicLinkSwitch session={session} />
      <p class="signed-in">
        <Icon name="key" />
        <span>
          {t.identity.as} <code>{address}</code> <Status tone="neutral">{t.identity[role]}</Status>{' '}
          {kind === 'wallet' ? t.identity.wallet(session.name ?? '') : t.identity[kind]}
        </span>
        <Button kind="quiet" onClick={onLock}>
          {t.identity.lock}
        </Button>
      </p>
    </header>
  )
}

export function UsageBar({ used, bought }: { used: number; bought: number }) {
  const label = t.ofBought(used, bought)
  return (
    <div class="usage-bar">
      <progress value={used} max={bought || 1} aria-label={label} />
      <span>{label}</span>
    </div>
  )
}
