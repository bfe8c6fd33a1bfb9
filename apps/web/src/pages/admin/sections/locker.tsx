// One locker, and the admin actions on it.

import { useSignal } from '@preact/signals'
import type { AdminLocker, AdminLockerDetails } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { Field } from '../../../ui/field.tsx'
import { networkTitle, providerTitle } from '../../../ui/names.ts'
import { Empty } from '../../../ui/states.tsx'
import { Status } from '../../../ui/status.tsx'
import { ActionButton } from '../action.tsx'
import { useLive } from '../live.ts'
import { linkTo } from '../location.ts'
import { Facts, Notice, OPERATIONS, Shown, word } from '../parts.tsx'
import { AuditTable } from './audit.tsx'

const t = texts.lockers
type Restriction = 'none' | 'frozen' | 'taken_down'

export function LockerState({ restriction }: Pick<AdminLocker, 'restriction'>) {
  const state = restriction?.state ?? 'none'
  const tone = { none: 'good', frozen: 'warn', taken_down: 'bad' } as const
  return <Status tone={tone[state]}>{word(t.states, state)}</Status>
}

export function OneLocker({ id, mayAct }: { id: string; mayAct: boolean }) {
  const live = useLive<AdminLockerDetails>(`${OPERATIONS}/lockers/${encodeURIComponent(id)}`)
  const back = (
    <p>
      <a href={linkTo('lockers')}>{t.back}</a>
    </p>
  )
  if (live.error && [404, 422].includes(live.error.status))
    return (
      <>
        {back}
        <Empty title={t.missing} text={t.missingText} />
      </>
    )
  return (
    <>
      {back}
      <Shown live={live}>
        {(locker) => (
          <>
            <Card title={locker.locker_id} aside={<LockerState restriction={locker.restriction} />}>
              <div class="stack">
                <LockerFacts locker={locker} />
                {mayAct && <Restrict locker={locker} />}
              </div>
            </Card>
            <Card title={t.history}>
              {locker.audit.length === 0 ? <p>{t.noHistory}</p> : <AuditTable entries={locker.audit} />}
            </Card>
          </>
        )}
      </Shown>
    </>
  )
}

function LockerFacts({ locker }: { locker: AdminLockerDetails }) {
  const { bytes, files, egress, restriction, operators } = locker
  return (
    <>
      {restriction && (
        <Notice tone="warn" title={t.restricted(word(t.states, restriction.state), texts.time(restriction.since))}>
          {restriction.notice && `${t.notice}: ${restriction.notice}`}
        </Notice>
      )}
      <Facts
        facts={[
          [t.owner, <Copyable key="owner" text={locker.owner} what={t.owner} />],
          [t.receipt, <Copyable key="receipt" text={locker.receipt_id} what={t.receipt} />],
          [t.operators, operators.length > 0 ? operators.join(', ') : texts.none],
          [t.network, networkTitle(locker.network)],
          [t.provider, providerTitle(locker.provider)],
          [t.storage, t.usedOf(common.bytes(bytes.used), common.bytes(bytes.bought))],
          [t.files, t.usedOf(common.number(files.used), common.number(files.bought))],
          [t.egress, t.usedOf(common.bytes(egress.used), common.bytes(egress.bought))],
          [t.link, word(t.links, locker.public_link)],
          [t.created, texts.time(locker.created_at)],
          [t.expires, `${texts.time(locker.expires_at)}${locker.ended ? `, ${t.ended}` : ''}`],
        ]}
      />
    </>
  )
}

function Restrict({ locker: { locker_id, restriction } }: { locker: AdminLockerDetails }) {
  const notice = useSignal('')
  const state = restriction?.state ?? 'none'
  const others = (['none', 'frozen', 'taken_down'] as const).filter((to) => to !== state)
  const actionTo = (to: Restriction) => ({
    ...t.actions[to],
    title: t.actions[to].title(locker_id),
    isDangerous: to === 'taken_down',
    target: locker_id,
    method: 'PUT' as const,
    path: `${OPERATIONS}/lockers/${encodeURIComponent(locker_id)}/restriction`,
    body: () => ({ restriction: to, ...(to !== 'none' && notice.value.trim() && { notice: notice.value.trim() }) }),
    ...(to !== 'none' && {
      fields: () => (
        <Field label={t.notice} hint={t.noticeHint}>
          {(control) => (
            <textarea
              {...control}
              rows={2}
              maxLength={500}
              value={notice.value}
              onInput={(event) => {
                notice.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
      ),
    }),
  })
  return (
    <div class="row">
      {others.map((to) => (
        <ActionButton key={to} action={actionTo(to)} />
      ))}
    </div>
  )
}
