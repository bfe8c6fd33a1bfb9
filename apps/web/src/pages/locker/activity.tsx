// What was done to the locker, and what changed who can open it: one page of entries at a time.

import { useSignal } from '@preact/signals'
import type { ActivityEntry } from '@svc/api/activity'
import { printable } from '@svc/verifier/untrusted'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/sharing'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Filename } from '../../ui/filename.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { creatorOf } from './access/row.tsx'
import type { LockerSession } from './session.ts'
import './access/access.css'

const t = texts.activity

const PAGE = 20

export function Activity({ session }: { session: LockerSession }) {
  const entries = useSignal<ActivityEntry[] | null>(null)
  /** Null after the last page. */
  const cursor = useSignal<string | null>(null)
  const { isBusy, problem, run } = useAction()
  const load = () =>
    run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      const { listActivity } = await import('@svc/api/activity')
      const query = { limit: PAGE, ...(cursor.value !== null && { cursor: cursor.value }) }
      const params = { locker_id: session.locker.locker_id }
      const { body } = await owner.client.call(listActivity, { params, query })
      entries.value = [...(entries.value ?? []), ...body.activity]
      cursor.value = body.next_cursor ?? null
    })
  const isSilentOwner = session.isSilent && session.role === 'owner'
  useEffect(() => {
    if (isSilentOwner) void load()
  }, [session])
  const { value } = entries
  return (
    <Card title={t.title}>
      <div class="stack">
        <p class="soft">{t.text}</p>
        {value && (
          <ul class="access" aria-label={t.list}>
            {value.map((entry, index) => (
              <ActivityRow key={index} entry={entry} session={session} />
            ))}
          </ul>
        )}
        {problem && <ProblemNote problem={problem} retry={() => void load()} />}
        {!value && isSilentOwner && !problem && <Loading label={common.states.loading} />}
        {value ? cursor.value !== null && <More isBusy={isBusy} text={t.earlier} onClick={() => void load()} /> : null}
        {!value && !isSilentOwner && (
          <More isBusy={isBusy} text={t.load} hint={t.ownerSigns} onClick={() => void load()} />
        )}
      </div>
    </Card>
  )
}

interface MoreProps {
  isBusy: boolean
  text: string
  hint?: string
  onClick: () => void
}

function More({ isBusy, text, hint, onClick }: MoreProps) {
  return (
    <div class="row">
      <Button busy={isBusy} onClick={onClick}>
        {text}
      </Button>
      {hint && <span class="field-hint">{hint}</span>}
    </div>
  )
}

function ActivityRow({ entry, session }: { entry: ActivityEntry; session: LockerSession }) {
  const { at, what, id, label, path, by, sequence, all_lockers } = entry
  // The id of a receipt can open every file: Settings shows it on request only.
  const isKey = what.startsWith('operator_') || what.startsWith('s3_key_')
  return (
    <li>
      <div class="access-what">
        <b>{t.what[what]}</b>
        {path !== null && <Filename name={path} />}
        {label !== null && <span class="field-hint">{printable(label, 200)}</span>}
        {sequence !== undefined && <span class="field-hint">{t.number(sequence)}</span>}
        {all_lockers && <span class="field-hint">{texts.access.allLockers}</span>}
      </div>
      <div class="access-facts">
        <time dateTime={at}>{texts.access.moment(at)}</time>
        {by !== null && (
          <span>
            {t.by} {creatorOf(by, session)}
          </span>
        )}
        {isKey && id !== null && <code>{printable(id, 100)}</code>}
      </div>
    </li>
  )
}
