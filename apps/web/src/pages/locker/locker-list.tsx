import { useSignal } from '@preact/signals'
import type { ListedLocker } from '@svc/api/lockers'
import { useEffect, useRef } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/locker'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { nameOf } from '../../ui/locker-name.ts'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { stateOf, UsageBar } from './header.tsx'
import { type Identity, knownReceipts } from './session.ts'

const t = texts.list
const PAGE = 50

interface ListProps {
  by: Identity
  /** The owner whose lockers are listed as own ones: the identity, or the owner of a browser key. */
  owner: string
}

/** The lockers that the identity owns or operates, newest payment first. */
export function LockerList({ by, owner }: ListProps) {
  const lockers = useSignal<readonly ListedLocker[]>([])
  const isComplete = useSignal(false)
  const source = useRef<AsyncIterator<ListedLocker> | null>(null)
  const { isBusy, problem, run } = useAction()
  const more = () =>
    run(async () => {
      source.current ??= by.client.lockers()
      const page: ListedLocker[] = []
      try {
        while (page.length < PAGE) {
          const next = await source.current.next()
          if (next.done) {
            isComplete.value = true
            break
          }
          page.push(next.value)
        }
      } catch (error) {
        // An incomplete list starts again.
        source.current = null
        lockers.value = []
        throw error
      }
      for (const { locker_id, receipt_id, opened } of page)
        knownReceipts.set(locker_id, { receiptId: receipt_id, isUnopened: !opened })
      lockers.value = [...lockers.value, ...page]
    })
  useEffect(() => void more(), [])
  const { value } = lockers
  return (
    <Card title={t.title} aside={value.length > 0 && <span class="field-hint">{t.shown(value.length)}</span>}>
      <div class="stack">
        <ul class="lockers" aria-label={t.caption}>
          {value.map((locker) => (
            <Row key={locker.receipt_id} locker={locker} isOwn={locker.owner === owner} />
          ))}
        </ul>
        {isBusy && <Loading label={by.kind === 'wallet' ? texts.opening.waiting : t.waiting} />}
        {problem && <ProblemNote problem={problem} retry={() => void more()} />}
        {isComplete.value && value.length === 0 && (
          <div class="state">
            <h3>{t.none}</h3>
            <p>{t.noneText}</p>
            <a class="button button-primary" href={urlOf('/buy')}>
              {t.buy}
            </a>
          </div>
        )}
        {!isComplete.value && value.length > 0 && !isBusy && (
          <div class="row">
            <Button onClick={() => void more()}>{t.more}</Button>
          </div>
        )}
      </div>
    </Card>
  )
}

/** Shows a locker of others by its id: its owner chose the name, which may imitate an own locker. */
function Row({ locker, isOwn }: { locker: ListedLocker; isOwn: boolean }) {
  const { locker_id, owner, opened, expires_at, total_bytes, file_count, paid_at, terms } = locker
  const now = Date.now()
  const [tone, state] = opened ? stateOf(locker, now) : (['info', texts.state.unopened] as const)
  return (
    <li>
      <a class="locker-row" href={urlOf(`/locker/${locker_id}`)}>
        <span class="locker-name">
          <b>{(isOwn && nameOf(locker)) || locker_id}</b>
          <Status tone={tone}>{state}</Status>
          {!isOwn && <Status tone="neutral">{t.operated}</Status>}
        </span>
        {!isOwn && <span class="soft">{t.sharedBy(owner, nameOf(locker))}</span>}
        {opened ? (
          <>
            <span class="soft">
              {texts.files(file_count)}
              {expires_at !== null && ` · ${texts.until(expires_at, now)}`}
            </span>
            {terms ? (
              <UsageBar used={total_bytes} bought={terms.storage_limit_bytes} />
            ) : (
              <span class="soft">{common.bytes(total_bytes)}</span>
            )}
          </>
        ) : (
          <span class="soft">
            {t.paid(paid_at)}. {t.openIt}
          </span>
        )}
      </a>
    </li>
  )
}
