// Everything that opens the locker now, in one list, and the buttons that end it.

import { useSignal } from '@preact/signals'
import type { AccessEntry, AccessList } from '@svc/api/access'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/sharing'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Confirm } from '../../../ui/confirm.tsx'
import { ProblemNote, useAction } from '../../../ui/problems.tsx'
import { Loading } from '../../../ui/states.tsx'
import { toast } from '../../../ui/toast.tsx'
import { browserKeyOf, recordLocker } from '../browser-key.ts'
import type { LockerSession } from '../session.ts'
import { EndAllDialog } from './end-all.tsx'
import { type Ending, endAccess, endingOf } from './ending.ts'
import { AccessRow, whatOf } from './row.tsx'
import './access.css'

const t = texts.access

interface AccessProps {
  session: LockerSession
  /** Called after the key that this page signs with was removed. */
  onLock: () => void
}

interface EndRequest {
  ending: Ending
  /** Null for everything. */
  entry: AccessEntry | null
}

export function Access({ session, onLock }: AccessProps) {
  const { locker } = session
  const list = useSignal<AccessList | null>(null)
  const asked = useSignal<EndRequest | null>(null)
  const { isBusy, problem, run } = useAction()
  const load = () =>
    run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      const { listAccess } = await import('@svc/api/access')
      list.value = (await owner.client.call(listAccess, { params: { locker_id: locker.locker_id } })).body
    })
  const end = ({ ending, entry }: EndRequest) =>
    run(async () => {
      const owner = await session.asOwner()
      if (!owner || !list.value) return
      await endAccess(owner.client, session, ending, entry?.id ?? null)
      list.value = withoutEnded(list.value, ending, entry)
      toast(ending === 'everything' ? t.all.done : t.ended)
      if (ending === 'operator') await forgetOperator(entry?.id ?? null)
    })
  const forgetOperator = async (key: string | null) => {
    const mine = await browserKeyOf(locker.locker_id)
    if (mine && mine.address === key) await recordLocker(mine, locker.locker_id, false)
    if (session.address === key) onLock()
  }
  const isSilentOwner = session.isSilent && session.role === 'owner'
  useEffect(() => {
    if (isSilentOwner) void load()
  }, [session])
  const { value } = list
  if (!value)
    return (
      <Card title={t.title}>
        {problem ? (
          <ProblemNote problem={problem} retry={() => void load()} />
        ) : isBusy || isSilentOwner ? (
          <Loading label={common.states.loading} />
        ) : (
          <div class="state">
            <p>{t.loadText}</p>
            <Button onClick={() => void load()}>{t.load}</Button>
          </div>
        )}
      </Card>
    )
  const open = value.access.filter(({ status }) => status === 'open')
  const ask = (entry: AccessEntry) => {
    const ending = endingOf(locker.locker_id, entry)
    return ending && (() => (asked.value = { ending, entry }))
  }
  return (
    <Card title={t.title} aside={<span class="field-hint">{t.count(open.length)}</span>}>
      <div class="stack">
        <p class="soft">{t.text}</p>
        {open.length === 0 && <p>{t.nothing}</p>}
        <ul class="access" aria-label={t.list}>
          {open.map((entry) => (
            <AccessRow
              key={`${entry.kind} ${entry.id}`}
              entry={entry}
              session={session}
              isBusy={isBusy}
              onEnd={ask(entry)}
            />
          ))}
        </ul>
        {value.truncated && <p class="field-hint">{t.truncated}</p>}
        {problem && <ProblemNote problem={problem} />}
        <div class="row">
          <Button busy={isBusy} onClick={() => (asked.value = { ending: 'everything', entry: null })}>
            {t.all.action}
          </Button>
          <Button kind="quiet" busy={isBusy} onClick={() => void load()}>
            {t.reload}
          </Button>
        </div>
        <p class="field-hint">{t.all.text}</p>
      </div>
      <Question
        asked={asked.value}
        onAnswer={(isSure) => {
          const question = asked.value
          asked.value = null
          if (isSure && question) void end(question)
        }}
      />
    </Card>
  )
}

function Question({ asked, onAnswer }: { asked: EndRequest | null; onAnswer: (isSure: boolean) => void }) {
  if (!asked) return null
  const { ending, entry } = asked
  if (ending === 'everything' || !entry) return <EndAllDialog isForUpload={entry !== null} onAnswer={onAnswer} />
  return <Confirm {...t.ask[ending]} detail={whatOf(entry)} action={t.end} onAnswer={onAnswer} />
}

/** The list without what has ended, so that a wallet is not asked to sign for a new one. */
function withoutEnded(list: AccessList, ending: Ending, ended: AccessEntry | null): AccessList {
  const stays = ({ kind, created_by, ...entry }: AccessEntry) => {
    if (ending === 'everything') return kind === 'operator' || kind === 'public_link'
    // What an operator created ends with the operator.
    if (ending === 'operator' && created_by === ended?.id) return false
    return kind !== ended?.kind || entry.id !== ended.id
  }
  const access = list.access.filter(stays)
  return { ...list, access, count: access.length }
}
