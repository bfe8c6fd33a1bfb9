// Opens a session for the locker in the address: with a key of this browser, with the identity that unlocked the page,
// or with a wallet or key that the page asks for.

import { useSignal } from '@preact/signals'
import { isGatewayError } from '@svc/sdk/errors'
import { useEffect } from 'preact/hooks'
import { texts as t } from '#texts/locker'
import { navigate, urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { explain, type Problem, ProblemNote } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { type BrowserKey, browserKeyOf, recordLocker } from './browser-key.ts'
import { ChooseMode } from './choose-mode.tsx'
import { ContinueCard } from './continue-card.tsx'
import { NotOpen, ProvisionCard } from './provision.tsx'
import {
  continueWith,
  type Identity,
  identity,
  knownIdentity,
  knownReceipts,
  type LockerSession,
  lock,
  openLocker,
  openWithBrowserKey,
} from './session.ts'
import { UnlockCard } from './unlock.tsx'

type Stage =
  | { at: 'working'; label: string }
  | { at: 'locked'; note: string | null; key: BrowserKey | null }
  | { at: 'choosing'; by: Identity; isOperator: boolean }
  | { at: 'unopened'; by: Identity; receiptId: string }
  | { at: 'failed'; by: Identity | null; problem: Problem }

interface UnlockingProps {
  id: string
  /** The user has locked the page: use the key of this browser only after a click. */
  isLocked: boolean
  onSession: (session: LockerSession) => void
}

export function Unlocking({ id, isLocked, onSession }: UnlockingProps) {
  const stage = useSignal<Stage>({ at: 'working', label: t.opening.looking })

  const attempt = async (by: Identity | null, label: string, open: () => Promise<LockerSession>) => {
    stage.value = { at: 'working', label }
    try {
      onSession(await open())
    } catch (error) {
      const known = knownReceipts.get(id)
      if (by && known && isGatewayError(error, 'locker_not_found'))
        stage.value = { at: 'unopened', by, receiptId: known.receiptId }
      else if (by?.kind === 'wallet' && isGatewayError(error, 'OWNER_REQUIRED'))
        stage.value = { at: 'choosing', by, isOperator: true }
      else stage.value = { at: 'failed', by, problem: explain(error) }
    }
  }

  const openAs = (by: Identity) => {
    const label = by.kind === 'wallet' ? t.opening.waiting : t.opening.opening
    return attempt(by, label, () => openLocker(by, id))
  }

  const unlock = (by: Identity) => {
    identity.value = by
    const known = knownReceipts.get(id)
    if (known?.isUnopened) stage.value = { at: 'unopened', by, receiptId: known.receiptId }
    else if (by.kind === 'wallet') stage.value = { at: 'choosing', by, isOperator: false }
    else void openAs(by)
  }

  const proceed = async (key: BrowserKey) => {
    stage.value = { at: 'working', label: t.opening.opening }
    try {
      onSession(await continueWith(key, id))
    } catch (error) {
      // The gateway no longer knows a removed operator.
      if (isGatewayError(error, 'SIGNATURE_INVALID')) {
        await recordLocker(key, id, false)
        stage.value = { at: 'locked', note: t.opening.ended, key: null }
      } else stage.value = { at: 'failed', by: null, problem: explain(error) }
    }
  }

  const begin = async () => {
    const key = await browserKeyOf(id)
    if (key && !isLocked) return void proceed(key)
    const by = await knownIdentity()
    if (by) unlock(by)
    else stage.value = { at: 'locked', note: null, key }
  }
  useEffect(() => void begin(), [])

  const unlockOtherwise = () => {
    lock()
    stage.value = { at: 'locked', note: null, key: null }
  }
  const again = (by: Identity | null) => (by ? unlock(by) : void begin())
  const { value } = stage
  return (
    <div class="unlocking stack">
      <div class="locker-title">
        <h1>{t.unnamed}</h1>
        <code>{id}</code>
      </div>
      {value.at === 'working' && <Loading label={value.label} />}
      {value.at === 'locked' && value.note && (
        <p class="note note-warn" role="status">
          {value.note}
        </p>
      )}
      {value.at === 'locked' && value.key && <ContinueCard keys={[value.key]} onContinue={proceed} />}
      {value.at === 'locked' && <UnlockCard onIdentity={unlock} />}
      {value.at === 'choosing' && (
        <ChooseMode
          isOperator={value.isOperator}
          onOnce={(isRemembered) =>
            void attempt(value.by, t.opening.waiting, () => openWithBrowserKey(value.by, id, isRemembered))
          }
          onEach={() => void openAs(value.by)}
          onOther={unlockOtherwise}
        />
      )}
      {value.at === 'unopened' && <ProvisionCard by={value.by} receiptId={value.receiptId} onSession={onSession} />}
      {value.at === 'failed' && (
        <>
          <ProblemNote problem={value.problem} retry={() => again(value.by)} />
          {value.problem.code === 'locker_not_found' && (
            <NotOpen onLocker={(other) => (other === id ? again(value.by) : navigate(`/locker/${other}`))} />
          )}
          <div class="row">
            <Button onClick={unlockOtherwise}>{t.opening.other}</Button>
            <a class="button button-quiet" href={urlOf('/locker')}>
              {t.opening.back}
            </a>
          </div>
        </>
      )}
    </div>
  )
}
