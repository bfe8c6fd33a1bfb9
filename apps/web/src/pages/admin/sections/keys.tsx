import { texts } from '#texts/admin'
import { Card } from '../../../ui/card.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { Shown, When, word } from '../parts.tsx'
import { useOverview } from './overview.tsx'

const t = texts.keys
const TONES = { active: 'good', retired: 'neutral', revoked: 'bad' } as const

export function Keys() {
  return (
    <Shown live={useOverview()}>
      {({ keys }) => (
        <Card title={t.caption}>
          <Table
            caption={texts.table(t.caption)}
            head={[t.use, t.status, t.age, t.id, t.from, t.to]}
            rows={keys.map(({ use, id, status, valid_from, valid_to, age_seconds }) => [
              <b key="use">{word(t.uses, use)}</b>,
              <Status key="status" tone={TONES[status]}>
                {word(t.statuses, status)}
              </Status>,
              age_seconds === null ? t.unknown : texts.duration(age_seconds),
              <Copyable key="id" text={id} what={t.id} />,
              <When key="from" iso={valid_from} isDay />,
              <When key="to" iso={valid_to} isDay />,
            ])}
          />
          <p class="faint">{t.text}</p>
        </Card>
      )}
    </Shown>
  )
}
