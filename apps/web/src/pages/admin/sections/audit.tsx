import { useSignal } from '@preact/signals'
import type { AuditEntry, AuditLog } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { useLive } from '../live.ts'
import { linkTo, param, setParams } from '../location.ts'
import { Pager } from '../pages.tsx'
import { Notice, OPERATIONS, query, Shown, When, word } from '../parts.tsx'

const t = texts.audit
const EVERY_MS = 30_000

export function Audit() {
  const target = param('target')
  const cursor = useSignal('')
  const log = useLive<AuditLog>(
    query(`${OPERATIONS}/audit`, { target, cursor: cursor.value, limit: 100 }),
    undefined,
    EVERY_MS,
  )
  return (
    <Shown live={log}>
      {({ entries, chain, next_cursor }) => (
        <>
          <Notice
            tone={chain.intact ? 'good' : 'bad'}
            title={chain.intact ? t.intact(chain.entries) : t.broken(chain.broken_at ?? 0)}
          />
          {target && (
            <p class="row">
              {t.of(target)}
              <Button
                onClick={() => {
                  cursor.value = ''
                  setParams({ target: '' })
                }}
              >
                {t.all}
              </Button>
            </p>
          )}
          {entries.length === 0 ? (
            <Empty title={t.none} text={t.noneText} />
          ) : (
            <Card title={t.caption}>
              <AuditTable entries={entries} />
              <Pager
                cursor={cursor.value}
                next={next_cursor}
                onCursor={(next) => {
                  cursor.value = next
                }}
              />
            </Card>
          )}
          {chain.head && (
            <Card title={t.head} aside={<CopyButton text={chain.head} what={t.head} />}>
              <p class="about">{t.headText}</p>
              <code>{chain.head}</code>
            </Card>
          )}
        </>
      )}
    </Shown>
  )
}

export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <Table
      caption={texts.table(t.caption)}
      head={[t.sequence, t.at, t.actor, t.what, t.target, t.outcome, t.reason]}
      rows={entries.map(({ sequence, at, actor, action, target, outcome, reason }) => [
        String(sequence),
        <When key="at" iso={at} />,
        actor,
        word(t.actions, action),
        <Target key="target" action={action} target={target} />,
        <Status key="outcome" tone={outcome === 'done' ? 'good' : 'warn'}>
          {word(t.outcomes, outcome)}
        </Status>,
        <span key="reason" class="reason">
          {reason}
        </span>,
      ])}
    />
  )
}

function Target({ action, target }: Pick<AuditEntry, 'action' | 'target'>) {
  const code = <code class="short">{target}</code>
  return action.endsWith('_locker') ? (
    <a href={linkTo('lockers', { locker: target })} title={target}>
      {code}
    </a>
  ) : (
    <span title={target}>{code}</span>
  )
}
