// The price calculator. Every figure comes from `GET /v1/price`, which stores nothing.

import { useSignal } from '@preact/signals'
import type { Price } from '@svc/api/purchases'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/welcome'
import { resource } from '../../gateway.ts'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorState, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'

const t = texts.price

const MAX_UNITS = 1_000_000
/** The slider moves through these; any number can be typed. */
const STEPS = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000]
/** After the last change. */
const ASK_AFTER_MS = 250

const price = resource<Price>('/v1/price')

export function PriceCalculator() {
  const units = useSignal(1)
  const provider = useSignal('')
  const ask = () => {
    const chosen = provider.value && `&provider=${provider.value}`
    return price.load(`/v1/price?units=${units.value}${chosen}`)
  }
  useEffect(() => {
    const timer = setTimeout(() => void ask(), price.now.value.state === 'ready' ? ASK_AFTER_MS : 0)
    return () => clearTimeout(timer)
  }, [units.value, provider.value])
  const { value } = price.now
  const setUnits = (text: string) => {
    const number = Math.trunc(Number(text))
    if (number >= 1 && number <= MAX_UNITS) units.value = number
  }
  return (
    <Card title={t.title}>
      <div class="price">
        <form class="stack" onSubmit={(event) => event.preventDefault()}>
          <Field label={t.units} hint={t.unitsHint}>
            {(control) => (
              <div class="units">
                <input
                  {...control}
                  type="number"
                  min={1}
                  max={MAX_UNITS}
                  value={units.value}
                  onInput={(event) => setUnits(event.currentTarget.value)}
                />
                <input
                  type="range"
                  aria-label={t.units}
                  aria-valuetext={common.number(units.value)}
                  min={0}
                  max={STEPS.length - 1}
                  value={STEPS.findLastIndex((step) => step <= units.value)}
                  onInput={(event) => setUnits(String(STEPS[Number(event.currentTarget.value)]))}
                />
              </div>
            )}
          </Field>
          <Field label={t.provider}>
            {(control) => (
              <select
                {...control}
                onChange={(event) => {
                  provider.value = event.currentTarget.value
                }}
              >
                {providersOf(value).map((name) => (
                  <option key={name} value={name} selected={name === chosenProvider(value, provider.value)}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </form>
        {value.state === 'loading' && <Loading label={common.states.loading} />}
        {value.state === 'failed' && (
          <ErrorState title={t.failed} text={value.error.message} retry={() => void ask()} />
        )}
        {value.state === 'ready' && <Offer price={value.value} />}
      </div>
    </Card>
  )
}

type State = typeof price.now.value

function providersOf(value: State): string[] {
  return value.state === 'ready' ? Object.keys(value.value.providers) : []
}

function chosenProvider(value: State, chosen: string): string {
  return chosen || (value.state === 'ready' ? value.value.provider : '')
}

function Offer({ price: { units, provider, total_usd, amounts, providers } }: { price: Price }) {
  const terms = providers[provider]?.terms
  return (
    <div class="offer" aria-live="polite">
      {terms && (
        <dl class="terms">
          <Term name={t.storage} value={common.bytes(terms.storage_limit_bytes * units)} />
          <Term name={t.files} value={common.number(terms.file_limit * units)} />
          <Term name={t.egress} value={common.bytes(terms.egress_included_bytes * units)} />
          <Term name={t.time} value={t.days(terms.ttl_days)} />
        </dl>
      )}
      <p class="total">
        <span>{t.total}</span> <b>{common.dollars(total_usd)}</b> <span>{t.once}</span>
      </p>
      {terms?.storage === 'gateway' && <p class="field-hint">{t.gatewayDisk}</p>}
      <Table
        caption={t.caption}
        head={[t.asset, t.network, t.amount]}
        numeric={[2]}
        rows={amounts.map(({ pay_asset, pay_network, human_amount }) => [
          <b key="asset">{pay_asset}</b>,
          pay_network,
          human_amount,
        ])}
      />
    </div>
  )
}

function Term({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
