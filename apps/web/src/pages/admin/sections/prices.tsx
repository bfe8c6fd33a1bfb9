import type { PriceFeed } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { Card } from '../../../ui/card.tsx'
import { Status, type Tone } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { Shown, When, word } from '../parts.tsx'
import { useOverview } from './overview.tsx'

const t = texts.prices

const FEED_TONES: Record<PriceFeed['state'], Tone> = {
  ok: 'good',
  degraded: 'warn',
  failing: 'bad',
  disabled: 'neutral',
}
const PRICE_TONES: Record<PriceFeed['prices'][number]['state'], Tone> = {
  ok: 'good',
  last_price: 'warn',
  configured: 'info',
  missing: 'bad',
  not_asked: 'neutral',
}

export function Prices() {
  return (
    <Shown live={useOverview()}>
      {({ price_feed: { state, prices } }) => (
        <Card title={t.caption} aside={<Status tone={FEED_TONES[state]}>{word(t.states, state)}</Status>}>
          {prices.length > 0 && (
            <Table
              caption={texts.table(t.caption)}
              head={[t.symbol, t.source, t.age, t.asOf, t.usd]}
              numeric={[4]}
              rows={prices.map(({ symbol, state, usd, as_of, age_seconds }) => [
                <b key="symbol">{symbol}</b>,
                <Status key="state" tone={PRICE_TONES[state]}>
                  {word(t.priceStates, state)}
                </Status>,
                age_seconds === null ? texts.none : texts.duration(age_seconds),
                <When key="as-of" iso={as_of} />,
                usd ?? texts.none,
              ])}
            />
          )}
          {state === 'disabled' && <p class="about">{t.disabled}</p>}
        </Card>
      )}
    </Shown>
  )
}
